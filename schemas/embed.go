// Package schemas owns the contract as data: the JSON Schemas, the tables of
// kinds, codes and pairings, and the list of rules. It reads them from the
// binary and refuses to hold any logic: what a payload is judged to be is
// decided elsewhere, from these files.
package schemas

import "embed"

//go:generate go run ./gen -examples examples -out ../docs/contract.md

// Names of the schemas, as Read takes them.
const (
	ErrorEnvelope = "error-envelope.schema.json"
	ResponseMeta  = "response-meta.schema.json"
	Capabilities  = "capabilities.schema.json"
	AgentSuccess  = "agent-success.schema.json"
	AgentError    = "agent-error.schema.json"
)

// BaseURL is what the $id of every schema starts with. It is a name, and
// nothing is ever fetched from it.
const BaseURL = "https://soakgate.dev/schemas/v1/"

//go:embed *.json
var files embed.FS

// All lists the names of the schemas.
func All() []string {
	return []string{ErrorEnvelope, ResponseMeta, Capabilities, AgentSuccess, AgentError}
}

// Read is the text of the embedded file of that name. The error names the file.
func Read(name string) ([]byte, error) { return files.ReadFile(name) }
