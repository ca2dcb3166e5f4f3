package native_test

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"testing"
	"time"

	chproto "github.com/ClickHouse/ch-go/proto"
	"github.com/ClickHouse/clickhouse-go/v2/lib/proto"
	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/soakgate/soakgate/internal/store/native"
)

// kinds is a block with a column of every kind, and what each row set it to.
type kinds struct {
	native.Block
	random *rand.Rand
	said   map[string][]any

	u64, u32, flag               *native.Fixed
	seconds, millis, nanos       *native.Moments
	enum                         *native.Enum
	id                           *native.UUIDs
	text, hex                    *native.Text
	low                          *native.Low
	optionalLow                  *native.OptionalLow
	optionalText                 *native.OptionalText
	ou64, ou32, ou16, oi64, of64 *native.Optional
	oflag, omillis               *native.Optional
	nested                       *native.Nested
	nestedText                   *native.Text
	nestedLow                    *native.Low
	nestedOptionalText           *native.OptionalText
	nestedOptionalLow            *native.OptionalLow
	pairs                        *native.Map
}

func newKinds(seed uint64) *kinds {
	k := &kinds{random: rand.New(rand.NewPCG(seed, 1))}
	k.u64, k.u32, k.flag = k.UInt64("u64"), k.UInt32("u32"), k.Bool("flag")
	k.seconds, k.millis, k.nanos = k.DateTime("seconds"), k.DateTime64("millis", 3), k.DateTime64("nanos", 9)
	k.enum, k.id = k.Enum8("enum", "none", "on", "off"), k.UUID("id")
	k.text, k.hex, k.low = k.Text("text"), k.Text("hex"), k.Low("low")
	k.optionalLow, k.optionalText = k.OptionalLow("optionalLow"), k.OptionalText("optionalText")
	k.ou64, k.ou32, k.ou16 = k.OptionalUInt64("ou64"), k.OptionalUInt32("ou32"), k.OptionalUInt16("ou16")
	k.oi64, k.of64, k.oflag = k.OptionalInt64("oi64"), k.OptionalFloat64("of64"), k.OptionalBool("oflag")
	k.omillis = k.OptionalDateTime64("omillis")
	k.nested = k.Nested("nested")
	k.nestedText, k.nestedLow = k.nested.Text("text"), k.nested.Low("low")
	k.nestedOptionalText, k.nestedOptionalLow = k.nested.OptionalText("optionalText"), k.nested.OptionalLow("optionalLow")
	k.pairs = k.Map("pairs")
	return k
}

func (k *kinds) say(column string, value any) { k.said[column] = append(k.said[column], value) }

// sometimes tells whether a row sets a column: often not, and now and then all.
func (k *kinds) sometimes() bool { return k.random.IntN(4) == 0 }

func (k *kinds) word() string {
	if k.sometimes() {
		return ""
	}
	return fmt.Sprint("word", k.random.IntN(20), "é")
}

// row appends a row.
func (k *kinds) row() {
	k.Begin()
	r := k.random
	set := k.sometimes()
	number := map[bool]uint64{true: r.Uint64()}[set]
	k.u64.Set(number)
	k.say("u64", number)
	k.u32.Set(uint64(uint32(number)))
	k.say("u32", uint32(number))
	k.flag.SetBool(set)
	k.say("flag", set)

	moment := time.Unix(r.Int64N(1<<32), r.Int64N(1e9)).UTC()
	if k.sometimes() {
		moment = time.Time{}
	}
	k.seconds.SetTime(moment)
	k.millis.SetTime(moment)
	k.nanos.SetTime(moment)
	stored := moment
	if moment.IsZero() {
		stored = time.Unix(0, 0).UTC()
	}
	k.say("seconds", stored.Truncate(time.Second))
	k.say("millis", stored.Truncate(time.Millisecond))
	k.say("nanos", stored)

	name := []string{"none", "on", "off", "strange"}[r.IntN(4)]
	k.enum.SetName(name)
	if name == "strange" {
		name = "none"
	}
	k.say("enum", name)
	id := uuid.UUID{byte(r.Uint32()), 2: byte(r.Uint32()), 8: byte(r.Uint32()), 15: byte(r.Uint32())}
	k.id.Add(id)
	k.say("id", id)
	k.texts()
	k.optionals(set, number)
	k.arrays()
}

func (k *kinds) texts() {
	word, long := k.word(), ""
	if k.sometimes() {
		long = string(bytes.Repeat([]byte("x"), k.random.IntN(3000)))
	}
	k.text.Set(long)
	k.say("text", long)
	span := []byte{byte(k.random.IntN(2)), 0xAB}
	if k.sometimes() {
		span = make([]byte, 2)
	}
	k.hex.SetHex(span)
	k.say("hex", map[bool]string{true: fmt.Sprintf("%x", span)}[!bytes.Equal(span, []byte{0, 0})])
	k.low.Set(word)
	k.say("low", word)
	set := k.sometimes()
	k.optionalLow.Set(word, set)
	k.say("optionalLow", orNil(word, set))
	set = k.sometimes()
	k.optionalText.Set(long, set)
	k.say("optionalText", orNil(long, set))
}

func (k *kinds) optionals(set bool, number uint64) {
	k.ou64.Set(number, set)
	k.say("ou64", orNil(number, set))
	k.ou32.Set(uint64(uint32(number)), set)
	k.say("ou32", orNil(uint32(number), set))
	k.ou16.Set(0, set)
	k.say("ou16", orNil(uint16(0), set))
	k.oi64.Set(^uint64(6), set)
	k.say("oi64", orNil(int64(-7), set))
	half := float64(k.random.IntN(9)) / 2
	k.of64.SetFloat(half, !set)
	k.say("of64", orNil(half, !set))
	yes := k.sometimes()
	k.oflag.SetBool(yes, !set)
	k.say("oflag", orNil(yes, !set))
	k.omillis.Set(1_800_000_000_123, set)
	k.say("omillis", orNil(time.UnixMilli(1_800_000_000_123).UTC(), set))
}

func (k *kinds) arrays() {
	words, lows, texts, optionalLows := []string{}, []string{}, []*string{}, []*string{}
	pairs := map[string]string{}
	for range k.random.IntN(4) * k.random.IntN(2) {
		word, set := k.word(), k.sometimes()
		k.nested.Add()
		k.nestedText.Set(word)
		k.nestedLow.Set(word)
		k.nestedOptionalText.Set(word, set)
		k.nestedOptionalLow.Set(word, !set)
		words, lows = append(words, word), append(lows, word)
		texts, optionalLows = append(texts, pointer(word, set)), append(optionalLows, pointer(word, !set))
		if _, double := pairs[word]; !double {
			pairs[word] = "of " + word
			k.pairs.Add(word, "of "+word)
		}
	}
	k.say("nested.text", words)
	k.say("nested.low", lows)
	k.say("nested.optionalText", texts)
	k.say("nested.optionalLow", optionalLows)
	k.say("pairs", pairs)
}

func orNil[T any](v T, set bool) any {
	if !set {
		return nil
	}
	return v
}

func pointer(v string, set bool) *string {
	if !set {
		return nil
	}
	return &v
}

// TestBlocksTellWhatWasSet has clickhouse-go read blocks with columns of every
// kind, of which rows set some, and one block after the other from the same
// columns; packed too.
func TestBlocksTellWhatWasSet(t *testing.T) {
	k := newKinds(3)
	for _, rows := range []int{0, 1, 2, 700, 3, 9000} {
		k.Reset()
		k.said = map[string][]any{}
		for range rows {
			k.row()
		}
		require.Equal(t, rows, k.Rows())
		plain := k.AppendPlain([]byte("before"))
		require.Equal(t, "before", string(plain[:6]))
		packed, err := k.AppendPacked(nil)
		require.NoError(t, err)
		unpacked, err := native.Unpack(packed)
		require.NoError(t, err)
		require.True(t, bytes.Equal(plain[6:], unpacked))

		block := proto.NewBlock()
		require.NoError(t, block.Decode(chproto.NewReader(bytes.NewReader(unpacked)), 0))
		require.Equal(t, rows, block.Rows())
		for i, c := range block.Columns {
			name := block.ColumnsNames()[i]
			require.Equal(t, rows, c.Rows(), name)
			for at := range rows {
				require.Equal(t, k.said[name][at], dereference(c.Row(at, false)), "%s of row %d of %d", name, at, rows)
			}
		}
	}
}

// dereference turns the pointers that stand for Nullable values into values.
func dereference(v any) any {
	switch p := v.(type) {
	case *string:
		return valueOf(p)
	case *uint64:
		return valueOf(p)
	case *uint32:
		return valueOf(p)
	case *uint16:
		return valueOf(p)
	case *int64:
		return valueOf(p)
	case *float64:
		return valueOf(p)
	case *bool:
		return valueOf(p)
	case *time.Time:
		return valueOf(p)
	}
	return v
}

func valueOf[T any](p *T) any {
	if p == nil {
		return nil
	}
	return *p
}

// TestNothingStandsUnderNull finds zero under NULL, which some of ClickHouse's
// functions look at.
func TestNothingStandsUnderNull(t *testing.T) {
	var b native.Block
	c := b.OptionalUInt32("c")
	for i := range 3 {
		b.Begin()
		c.Set(uint64(7+i), i == 1)
	}
	want := []byte("\x01\x03\x01c\x10Nullable(UInt32)\x01\x00\x01\x00\x00\x00\x00\x08\x00\x00\x00\x00\x00\x00\x00")
	assert.Equal(t, want, b.AppendPlain(nil))
	assert.Equal(t, "`c`", b.Columns())
}

func TestBlocksThatAreAppendedKeepTheirOrder(t *testing.T) {
	var b native.Block
	c := b.UInt64("c")
	var packed []byte
	var err error
	for i := range 3 {
		b.Reset()
		b.Begin()
		c.Set(uint64(i))
		packed, err = b.AppendPacked(packed)
		require.NoError(t, err)
	}
	unpacked, err := native.Unpack(packed)
	require.NoError(t, err)
	reader := chproto.NewReader(bytes.NewReader(unpacked))
	for i := range 3 {
		block := proto.NewBlock()
		require.NoError(t, block.Decode(reader, 0))
		assert.Equal(t, uint64(i), block.Columns[0].Row(0, false))
	}
	require.ErrorIs(t, proto.NewBlock().Decode(reader, 0), io.EOF)
}
