// Command gen writes docs/contract.md from the schemas, the tables, the rules
// and their examples, so that the document cannot say anything else. Run it at
// the module's root: go run ./schemas/gen.
package main

import (
	"flag"
	"fmt"
	"os"
)

func main() {
	examples := flag.String("examples", "schemas/examples", "folder of the examples")
	out := flag.String("out", "docs/contract.md", "file to write")
	flag.Parse()
	if err := write(*examples, *out); err != nil {
		fmt.Fprintln(os.Stderr, "Error:", err)
		os.Exit(1)
	}
}

func write(examples, out string) error {
	text, err := render(os.DirFS(examples))
	if err != nil {
		return fmt.Errorf("render the contract: %w", err)
	}
	if err := os.WriteFile(out, text, 0o644); err != nil { //nolint:gosec // a document for everybody
		return fmt.Errorf("write the contract: %w", err)
	}
	return nil
}
