package store

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/soakgate/soakgate/internal/classify"
)

// TestSchemaDocument runs every query of docs/schema.md, and wants a section for
// every table.
func TestSchemaDocument(t *testing.T) {
	text, err := os.ReadFile("../../docs/schema.md")
	require.NoError(t, err)
	s := testStore(t)
	f := newFeed(t, s)
	f.send(at(10, 0, 0), failureOf(1), event(classify.EventResponseMeta, normalized, at(10, 0, 0), 2))
	seal(t, s)
	queries := regexp.MustCompile("(?s)```sql\n(.*?)```").FindAllStringSubmatch(string(text), -1)
	require.NotEmpty(t, queries)
	for _, q := range queries {
		rows := ask(t, s, strings.ReplaceAll(q[1], "soakgate.", "DB."))
		if strings.Contains(q[1], "first_copies != sealed") {
			assert.Empty(t, rows, "the books of the example balance")
		}
	}
	assert.Contains(t, string(text), "first_copies != sealed")
	for _, row := range ask(t, s, "SELECT name FROM system.tables WHERE database || '.' = 'DB.' AND engine != 'View'") {
		section := "\n### `" + row["name"].(string) + "`\n"
		if !strings.Contains(string(text), section) {
			t.Errorf("no section %q", section)
		}
	}
}
