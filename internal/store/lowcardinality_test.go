package store

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/soakgate/soakgate/internal/store/native"
)

// TestDictionariesOfEveryWidth has the engine read columns whose indexes take one,
// two and four bytes, with "", NULL and repeats among the texts.
func TestDictionariesOfEveryWidth(t *testing.T) {
	s := testStore(t)
	table := s.database + ".dictionaries"
	require.NoError(t, s.conn.Exec(t.Context(),
		"CREATE TABLE "+table+" (i UInt64, low LowCardinality(String), optional LowCardinality(Nullable(String))) ENGINE = MergeTree ORDER BY i"))
	var b native.Block
	row, low, optional := b.UInt64("i"), b.Low("low"), b.OptionalLow("optional")
	for _, texts := range []int{3, 254, 255, 256, 257, 65_534, 65_535, 65_536, 65_537} {
		t.Run(fmt.Sprint(texts), func(t *testing.T) {
			b.Reset()
			for i := range 2 * texts {
				b.Begin()
				row.Set(uint64(i))
				text := fmt.Sprint(i % texts)
				switch i {
				case texts:
				case texts + 1:
					optional.Set("", true)
				default:
					low.Set(text)
					optional.Set(text, true)
				}
			}
			packed, err := b.AppendPacked(nil)
			require.NoError(t, err)
			require.NoError(t, s.conn.Exec(t.Context(), "TRUNCATE TABLE "+table))
			require.NoError(t, s.inserter.insert(t.Context(), table, b.Columns(), packed))
			n := fmt.Sprint(texts)
			assert.Equal(t, 2*texts, count(t, s, "countIf(low = if(i IN ("+n+", "+n+" + 1), '', toString(i % "+n+"))"+
				" AND ifNull(optional, 'null') = multiIf(i = "+n+", 'null', i = "+n+" + 1, '', toString(i % "+n+"))) FROM DB.dictionaries"))
		})
	}
}
