package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/spf13/cobra"
)

// defaultAlive is the liveness endpoint of config/production.yaml.
const defaultAlive = "http://127.0.0.1:13133/"

// newHealthCommand makes `collector health URL...`, for images that have no
// other client: a container's health check, and the test of an installation.
func newHealthCommand() *cobra.Command {
	var timeout time.Duration
	c := &cobra.Command{
		Use:   "health [URL...]",
		Short: "Ask endpoints whether they are well: http(s):// must answer 2xx, tcp:// must take a connection",
		Long: "Asks each URL once. http:// and https:// must answer with a 2xx status, tcp://HOST:PORT must take a connection.\n" +
			"Without a URL it asks " + defaultAlive + ", where config/production.yaml says whether the collector is alive.\n" +
			"Exit status: 0 all are well, 1 one is not, 2 wrong usage.",
		Example: "  collector health\n" +
			"  collector health http://soakgate:13134/ tcp://soakgate:4317",
	}
	c.Flags().DurationVar(&timeout, "timeout", 5*time.Second, "how long each may take")
	c.RunE = func(c *cobra.Command, args []string) error {
		if len(args) == 0 {
			args = []string{defaultAlive}
		}
		var failed []error
		for _, text := range args {
			u, err := url.Parse(text)
			if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https" && u.Scheme != "tcp") {
				return usage("%q is no http://, https:// or tcp:// URL", text)
			}
			err = ask(c.Context(), u, timeout)
			if err != nil {
				failed = append(failed, fmt.Errorf("%s: %w", u.Redacted(), err))
				continue
			}
			fmt.Fprintln(c.OutOrStdout(), "well:", u.Redacted())
		}
		return errors.Join(failed...)
	}
	return c
}

// ask says why one endpoint is not well.
func ask(ctx context.Context, u *url.URL, timeout time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	if u.Scheme == "tcp" {
		conn, err := new(net.Dialer).DialContext(ctx, "tcp", u.Host)
		if err != nil {
			return err
		}
		return conn.Close()
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), http.NoBody)
	if err != nil {
		return err
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return errors.Unwrap(err) // the outer error repeats the URL
	}
	defer res.Body.Close()
	if res.StatusCode/100 != 2 {
		text, _ := io.ReadAll(io.LimitReader(res.Body, 200)) // only to explain
		return fmt.Errorf("answered %s %s", res.Status, text)
	}
	return nil
}
