package store

import (
	"fmt"
	"testing"

	"github.com/ClickHouse/ch-go/proto"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestDictionariesOfEveryWidth has the engine read columns whose indexes take one,
// two and four bytes, with "", NULL and repeats among the texts.
func TestDictionariesOfEveryWidth(t *testing.T) {
	s := testStore(t)
	table := s.database + ".dictionaries"
	require.NoError(t, s.conn.Exec(t.Context(),
		"CREATE TABLE "+table+" (i UInt64, low LowCardinality(String), optional LowCardinality(Nullable(String))) ENGINE = MergeTree ORDER BY i"))
	rows, low, optional := new(proto.ColUInt64), newLowText(), newOptionalText()
	input := proto.Input{{Name: "i", Data: rows}, {Name: "low", Data: low}, {Name: "optional", Data: optional}}
	for _, texts := range []int{3, 254, 255, 256, 257, 65_534, 65_535, 65_536, 65_537} {
		t.Run(fmt.Sprint(texts), func(t *testing.T) {
			input.Reset()
			for i := range 2 * texts {
				rows.Append(uint64(i))
				text := fmt.Sprint(i % texts)
				switch i {
				case texts:
					low.Append("")
					optional.Append(proto.Null[string]())
				case texts + 1:
					low.Append("")
					optional.Append(proto.NewNullable(""))
				default:
					low.Append(text)
					optional.Append(proto.NewNullable(text))
				}
			}
			var buffer proto.Buffer
			require.NoError(t, proto.Block{Columns: len(input), Rows: len(*rows)}.EncodeRawBlock(&buffer, 0, input))
			require.NoError(t, s.conn.Exec(t.Context(), "TRUNCATE TABLE "+table))
			require.NoError(t, s.inserter.insert(t.Context(), table, "i, low, optional", packed(t, buffer.Buf)))
			n := fmt.Sprint(texts)
			assert.Equal(t, 2*texts, count(t, s, "countIf(low = if(i IN ("+n+", "+n+" + 1), '', toString(i % "+n+"))"+
				" AND ifNull(optional, 'null') = multiIf(i = "+n+", 'null', i = "+n+" + 1, '', toString(i % "+n+"))) FROM DB.dictionaries"))
		})
	}
}
