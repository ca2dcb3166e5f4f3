package classify

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/soakgate/soakgate/schemas"
)

// TestEveryKindIsSomebodysMistake holds the rows to the taxonomy: a kind without
// one would count against the server in silence.
func TestEveryKindIsSomebodysMistake(t *testing.T) {
	tax, err := schemas.LoadTaxonomy()
	require.NoError(t, err)
	for _, k := range tax.Kinds {
		assert.NotEmpty(t, mistakes[k.Kind], k.Kind)
	}
	assert.Len(t, mistakes, len(tax.Kinds), "a row for a kind that is none")
}
