package httpface_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/soakgate/soakgate/internal/store/embedded/embeddedtest"
)

// connect opens clickhouse-go on a fresh database.
func connect(tb testing.TB, compression clickhouse.CompressionMethod) driver.Conn {
	tb.Helper()
	opts, err := clickhouse.ParseDSN(embeddedtest.Start(tb))
	require.NoError(tb, err)
	opts.Compression = &clickhouse.Compression{Method: compression}
	conn, err := clickhouse.Open(opts)
	require.NoError(tb, err)
	tb.Cleanup(func() { require.NoError(tb, conn.Close()) })
	return conn
}

// typesTable has a column of every type that the store's schema uses, and of
// those that clients are known to stumble over.
const typesTable = `CREATE TABLE types (
	id UInt64,
	i8 Int8, i64 Int64, u8 UInt8, u32 UInt32, f32 Float32, f64 Float64,
	flag Bool, maybe_flag Nullable(Bool),
	text String, maybe_text Nullable(String), fixed FixedString(4),
	low LowCardinality(String), maybe_low LowCardinality(Nullable(String)),
	day Date, at DateTime('UTC'), ms DateTime64(3, 'UTC'), ns DateTime64(9, 'UTC'), maybe_ms Nullable(DateTime64(3, 'UTC')),
	key UUID, kind Enum8('a' = 1, 'b' = 2), wide Enum16('x' = 1, 'y' = 1000),
	list Array(String), deep Array(Array(UInt32)), maybe_list Array(Nullable(String)), low_list Array(LowCardinality(String)),
	attributes Map(LowCardinality(String), String), counts Map(String, UInt64),
	pair Tuple(String, Int32), amount Decimal(18, 4), big UInt128, addr IPv4, addr6 IPv6,
	violations Nested(rule LowCardinality(String), path String, message String)
) ENGINE = MergeTree ORDER BY id`

func TestEveryTypeGoesThereAndBack(t *testing.T) {
	for _, compression := range []struct {
		name   string
		method clickhouse.CompressionMethod
	}{
		{"none", clickhouse.CompressionNone},
		{"lz4", clickhouse.CompressionLZ4},
		{"zstd", clickhouse.CompressionZSTD},
		{"gzip", clickhouse.CompressionGZIP},
		{"deflate", clickhouse.CompressionDeflate},
		{"brotli", clickhouse.CompressionBrotli},
	} {
		t.Run(compression.name, func(t *testing.T) {
			ctx := t.Context()
			conn := connect(t, compression.method)
			require.NoError(t, conn.Exec(ctx, typesTable))
			const rows = 1000
			insertTypes(ctx, t, conn, rows)

			var n, ids, flags, nulls, rules uint64
			require.NoError(t, conn.QueryRow(ctx, "SELECT count(), sum(id), countIf(flag), countIf(maybe_low IS NULL), sum(length(violations.rule)) FROM types").
				Scan(&n, &ids, &flags, &nulls, &rules))
			require.Equal(t, [5]uint64{rows, rows * (rows - 1) / 2, rows / 2, rows / 2, rows * 2}, [5]uint64{n, ids, flags, nulls, rules})

			readTypes(ctx, t, conn, 7)
			readTypes(ctx, t, conn, 8)
		})
	}
}

// typesRow is row id of the table, in the order of its columns; odd rows hold
// the nulls and the empty lists.
func typesRow(id uint64) []any {
	day := time.Date(2026, 2, 3, 0, 0, 0, 0, time.UTC)
	at := day.Add(time.Duration(id) * time.Second)
	ns := at.Add(123456789)
	even := id%2 == 0
	var flag *bool
	var text, low *string
	var ms *time.Time
	lists := []string{}
	if even {
		flag, text, low = new(bool), new(string), new(string)
		*flag, *text, *low = true, "t\x00'\\\n", "low"
		stamp := at.Add(5 * time.Millisecond)
		ms = &stamp
		lists = []string{"a", ""}
	}
	return []any{
		id, int8(-8), int64(-1 << 60), uint8(255), uint32(1 << 31), float32(1.5), 2.25,
		even, flag,
		fmt.Sprintf("text %d ü", id), text, "abcd",
		fmt.Sprintf("low %d", id%3), low,
		day, at, at.Add(7 * time.Millisecond), ns, ms,
		uuid.MustParse("12345678-9abc-def0-1234-56789abcdef0"), "b", "y",
		lists,
		[][]uint32{{1, 2}, {}},
		[]*string{text, nil},
		[]string{"x", "y", "x"},
		map[string]string{"k": "v"},
		map[string]uint64{"n": id},
		[]any{"pair", int32(-5)},
		money(), bigInt("340282366920938463463374607431768211455"), ip("10.1.2.3"), ip("2001:db8::1"),
		[]string{"R1", "R2"},
		[]string{"/a", "/b"},
		[]string{"m1", "m2"},
	}
}

func insertTypes(ctx context.Context, t *testing.T, conn driver.Conn, rows uint64) {
	t.Helper()
	batch, err := conn.PrepareBatch(ctx, "INSERT INTO types")
	require.NoError(t, err)
	defer func() { require.NoError(t, batch.Close()) }()
	for id := range rows {
		require.NoError(t, batch.Append(typesRow(id)...))
	}
	require.NoError(t, batch.Send())
}

// readTypes reads one row with clickhouse-go's own types and compares every value.
func readTypes(ctx context.Context, t *testing.T, conn driver.Conn, id uint64) {
	t.Helper()
	rows, err := conn.Query(ctx, "SELECT * FROM types WHERE id = ?", id)
	require.NoError(t, err)
	defer func() { require.NoError(t, rows.Close()) }()
	require.True(t, rows.Next(), "row %d is missing: %v", id, rows.Err())
	got := scanTargets(rows)
	require.NoError(t, rows.Scan(got...))
	want := typesRow(id)
	require.Len(t, got, len(want))
	for i, name := range rows.Columns() {
		require.Equal(t, plain(want[i]), plain(got[i]), "column %s of row %d", name, id)
	}
	require.False(t, rows.Next())
	require.NoError(t, rows.Err())
}

func TestParametersAreBoundByTheEngine(t *testing.T) {
	conn := connect(t, clickhouse.CompressionLZ4)
	ctx := clickhouse.Context(t.Context(), clickhouse.WithParameters(clickhouse.Parameters{
		"text": "it's \\ a `quote` and {x:String}", "n": "41", "list": "['a','b']", "table": "one", "database": "system",
	}))
	var text string
	var n uint64
	var list []string
	require.NoError(t, conn.QueryRow(ctx, "SELECT {text:String}, {n:UInt64} + 1, {list:Array(String)} FROM {database:Identifier}.{table:Identifier}").Scan(&text, &n, &list))
	require.Equal(t, "it's \\ a `quote` and {x:String}", text)
	require.Equal(t, uint64(42), n)
	require.Equal(t, []string{"a", "b"}, list)
}

func TestErrorsKeepTheEnginesCode(t *testing.T) {
	conn := connect(t, clickhouse.CompressionLZ4)
	require.NoError(t, conn.Exec(t.Context(), "CREATE TABLE narrow (a UInt8) ENGINE = MergeTree ORDER BY a"))
	for _, tc := range []struct {
		name string
		do   func(ctx context.Context) error
		code int32
	}{
		{"unknown table", func(ctx context.Context) error { return conn.Exec(ctx, "SELECT * FROM nowhere") }, 60},
		{"syntax", func(ctx context.Context) error { return conn.Exec(ctx, "SELECT FROM WHERE") }, 62},
		{"unknown setting", func(ctx context.Context) error {
			return conn.Exec(clickhouse.Context(ctx, clickhouse.WithSettings(clickhouse.Settings{"nonesuch": 1})), "SELECT 1")
		}, 115},
		{"refused here", func(ctx context.Context) error {
			return conn.Exec(ctx, "SELECT * FROM url('http://127.0.0.1:1/', 'LineAsString')")
		}, 497},
		{"unknown setting of an insert", func(ctx context.Context) error {
			ctx = clickhouse.Context(ctx, clickhouse.WithSettings(clickhouse.Settings{"nonesuch": 1}),
				clickhouse.WithColumnNamesAndTypes([]clickhouse.ColumnNameAndType{{Name: "a", Type: "UInt8"}}))
			batch, err := conn.PrepareBatch(ctx, "INSERT INTO narrow")
			if err != nil {
				return err
			}
			defer batch.Close()
			if err := batch.Append(uint8(1)); err != nil {
				return err
			}
			return batch.Send()
		}, 115},
		{"in the middle of an answer", func(ctx context.Context) error {
			rows, err := conn.Query(ctx, "SELECT throwIf(number = 1500000), number FROM numbers(2000000)")
			if err != nil {
				return err
			}
			defer rows.Close()
			for rows.Next() {
			}
			return rows.Err()
		}, 395},
	} {
		t.Run(tc.name, func(t *testing.T) {
			err := tc.do(t.Context())
			var exception *clickhouse.Exception
			require.ErrorAs(t, err, &exception, "no exception of ClickHouse: %v", err)
			require.Equal(t, tc.code, exception.Code)
		})
	}
}

func TestLargeAnswersArriveWhole(t *testing.T) {
	conn := connect(t, clickhouse.CompressionLZ4)
	const want = 500_000
	rows, err := conn.Query(t.Context(), "SELECT number, toString(number) FROM numbers(?)", uint64(want))
	require.NoError(t, err)
	defer func() { require.NoError(t, rows.Close()) }()
	var n, sum, number uint64
	var text string
	for rows.Next() {
		require.NoError(t, rows.Scan(&number, &text))
		n++
		sum += number
	}
	require.NoError(t, rows.Err())
	require.Equal(t, uint64(want), n)
	require.Equal(t, uint64(want)*(want-1)/2, sum)
}
