// Command generate writes the committed dashboards into the folder it runs in. It
// refuses arguments: `collector dashboards` writes those of other installations.
package main

import (
	"fmt"
	"os"

	"github.com/soakgate/soakgate/dashboards"
)

func main() {
	if len(os.Args) > 1 {
		fmt.Fprintln(os.Stderr, "generate takes no arguments: `collector dashboards` does")
		os.Exit(2)
	}
	if _, err := dashboards.Write(".", dashboards.Options{}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
