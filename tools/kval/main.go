// Command kval validates rendered manifests with Kubernetes' own code: strict
// decoding, defaulting, then each kind's create strategy, as an API server does.
// It reads YAML documents from standard input and exits 1 when one is refused.
// It does not know custom resources, and it admits nothing: quotas, webhooks and
// other objects of a cluster are out of its reach. The chart's tests, which share
// its code, are here too.
package main

import (
	"fmt"
	"os"
)

func main() {
	findings, err := validateAll(os.Stdin)
	if err != nil {
		fmt.Fprintln(os.Stderr, "kval:", err)
		os.Exit(2)
	}
	bad := false
	for _, f := range findings {
		if f.err != nil {
			bad = true
			fmt.Println("FAIL", f.name, f.err)
			continue
		}
		fmt.Println("ok  ", f.name)
	}
	if bad {
		os.Exit(1)
	}
}
