// Command deploy checks deployment files with the code of the tools that read
// them, for machines without those tools: compose files with compose-go, and the
// release configuration with GoReleaser's own strict types. It runs nothing and
// pulls nothing: whether an image exists is not its business.
package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/compose-spec/compose-go/v2/cli"
	"github.com/compose-spec/compose-go/v2/types"
	"github.com/goreleaser/goreleaser/v2/pkg/config"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: deploy compose|release FILE")
		os.Exit(2)
	}
	check, ok := map[string]func(string) error{"compose": checkCompose, "release": checkRelease}[os.Args[1]]
	if !ok {
		fmt.Fprintln(os.Stderr, "deploy: say compose or release")
		os.Exit(2)
	}
	if err := check(os.Args[2]); err != nil {
		fmt.Fprintf(os.Stderr, "deploy: %s: %v\n", os.Args[2], err)
		os.Exit(1)
	}
}

// checkRelease loads the configuration, where an unknown or mistyped field fails.
func checkRelease(file string) error {
	project, err := config.Load(file)
	if err != nil {
		return err
	}
	if project.ProjectName == "" || len(project.Builds) == 0 || project.Checksum.NameTemplate == "" {
		return errors.New("names no project, no build or no checksum file")
	}
	return nil
}

// checkCompose loads the file with every profile, as Compose would.
func checkCompose(file string) error {
	options, err := cli.NewProjectOptions([]string{file}, cli.WithProfiles([]string{"*"}), cli.WithInterpolation(true))
	if err != nil {
		return err
	}
	project, err := options.LoadProject(context.Background())
	if err != nil {
		return err
	}
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(project.Services)) {
		for _, e := range checkService(project, project.Services[name]) {
			errs = append(errs, fmt.Errorf("service %s: %w", name, e))
		}
	}
	return errors.Join(errs...)
}

// checkService holds what Compose does not ask for.
func checkService(project *types.Project, s types.ServiceConfig) []error {
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if _, tag, ok := strings.Cut(s.Image, ":"); !ok || tag == "latest" {
		bad("its image %q has no fixed tag", s.Image)
	}
	if !slices.Contains(s.SecurityOpt, "no-new-privileges:true") {
		bad("may gain privileges")
	}
	for _, p := range s.Ports {
		if p.HostIP != "127.0.0.1" {
			bad("port %s is open beyond loopback", p.Published)
		}
	}
	for _, v := range s.Volumes {
		switch v.Type {
		case types.VolumeTypeBind:
			if _, err := os.Stat(v.Source); err != nil {
				bad("mounts what is not there: %w", err)
			}
		case types.VolumeTypeVolume:
			if _, ok := project.Volumes[v.Source]; !ok {
				bad("the volume %q is anonymous, and is lost with its container", v.Source)
			}
		}
	}
	for name, dep := range s.DependsOn {
		if dep.Condition == types.ServiceConditionHealthy && project.AllServices()[name].HealthCheck == nil {
			bad("waits for the health of %s, which has no check", name)
		}
	}
	if len(s.Ports) > 0 && s.HealthCheck == nil {
		bad("has no health check")
	}
	return errs
}
