package httpface_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/ClickHouse/ch-go/proto"
	"github.com/stretchr/testify/require"
)

func TestInsertsInEveryForm(t *testing.T) {
	f := newFace(t)
	f.ok("CREATE TABLE t (a UInt64, s String) ENGINE = MergeTree ORDER BY a")
	f.ok("CREATE TABLE src (a UInt64, s String) ENGINE = Memory")
	f.ok("INSERT INTO src VALUES (1, 'x'), (2, 'y')")
	long := strings.Repeat("(1, 'x'), ", 600_000) // longer than what may hold expressions
	for _, tc := range []struct {
		name string
		call call
		want string // of SELECT count(), sum(a), max(s)
	}{
		{"values", call{body: "INSERT INTO t VALUES (1, 'x'), (2, 'y')"}, "2\t3\ty\n"},
		{"values with expressions", call{body: "INSERT INTO t (s, a) VALUES (upper('x'), 1 + 2), (concat('y', 'z'), 4);"}, "2\t7\tyz\n"},
		{"values with literals that look like more", call{body: "INSERT INTO t VALUES (1, 'FORMAT CSV; SELECT file(''/etc/passwd'')')"}, "1\t1\tFORMAT CSV; SELECT file(\\'/etc/passwd\\')\n"},
		{"values split over URL and body", call{query: params("query", "INSERT INTO t VALUES"), body: "(1, 'x')"}, "1\t1\tx\n"},
		{"statement split over URL and body", call{query: params("query", "INSERT INTO t"), body: "FORMAT CSV\n5,five\n"}, "1\t5\tfive\n"},
		{"long values", call{body: "INSERT INTO t VALUES " + strings.TrimSuffix(long, ", ")}, "600000\t600000\tx\n"},
		{"CSV of the body", call{query: params("query", "INSERT INTO t FORMAT CSV"), body: "1,x\n2,y\n"}, "2\t3\ty\n"},
		{"CSV behind the statement", call{body: "INSERT INTO t FORMAT CSV\n1,x\n2,y\n"}, "2\t3\ty\n"},
		{"CSV behind a carriage return", call{body: "INSERT INTO t FORMAT CSV\r\n1,x\n2,y\n"}, "2\t3\ty\n"},
		{"column list and lower case", call{body: "insert into t (s) format tsv\nx\ny\n"}, "2\t0\ty\n"},
		{"JSON lines", call{body: "INSERT INTO t FORMAT JSONEachRow {\"a\":1,\"s\":\"x\"} {\"a\":2,\"s\":\"y\"}"}, "2\t3\ty\n"},
		{"settings before the format", call{body: "INSERT INTO t SETTINGS input_format_allow_errors_num = 1 FORMAT CSV\n1,x\nbad\n2,y\n"}, "2\t3\ty\n"},
		{"settings behind the format", call{body: "INSERT INTO t FORMAT CSV SETTINGS input_format_allow_errors_num = 1\n1,x\nbad\n2,y\n"}, "2\t3\ty\n"},
		{"settings of the URL", call{query: params("input_format_allow_errors_num", "1"), body: "INSERT INTO t FORMAT CSV\n1,x\nbad\n2,y\n"}, "2\t3\ty\n"},
		{"data that looks like settings", call{body: "INSERT INTO t FORMAT CSV\n3,SETTINGS a = 1\n"}, "1\t3\tSETTINGS a = 1\n"},
		{"from a query", call{body: "INSERT INTO t SELECT a, s FROM src"}, "2\t3\ty\n"},
		{"from a query in brackets", call{body: "INSERT INTO t (a, s) (SELECT a, s FROM src)"}, "2\t3\ty\n"},
		{"from a query with WITH", call{body: "INSERT INTO t WITH 5 AS five SELECT five, s FROM src"}, "2\t10\ty\n"},
		{"from a query with a parameter", call{query: params("param_n", "1"), body: "INSERT INTO t SELECT a, s FROM src WHERE a = {n:UInt64}"}, "1\t1\tx\n"},
		{"table by parameter", call{query: params("param_t", "t"), body: "INSERT INTO {t:Identifier} FORMAT CSV\n1,x\n"}, "1\t1\tx\n"},
		{"no rows", call{query: params("query", "INSERT INTO t FORMAT CSV")}, "0\t0\t\n"},
		{"last line without a break", call{query: params("query", "INSERT INTO t FORMAT CSV"), body: "1,x"}, "1\t1\tx\n"},
		{"async_insert is settled before the answer", call{query: params("async_insert", "1", "wait_for_async_insert", "0"), body: "INSERT INTO t FORMAT CSV\n1,x\n"}, "1\t1\tx\n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f := &face{tb: t, base: f.base, database: f.database}
			f.ok("TRUNCATE TABLE t")
			resp, body := f.do(tc.call)
			require.Equal(t, http.StatusOK, resp.StatusCode, body)
			require.Empty(t, body)
			require.Equal(t, tc.want, f.ok("SELECT count(), sum(a), max(s) FROM t"))
		})
	}
}

// native encodes one Native block of revision 0 with ch-go.
func native(t testing.TB, columns ...proto.InputColumn) []byte {
	t.Helper()
	var buf proto.Buffer
	b := proto.Block{Columns: len(columns), Rows: columns[0].Data.Rows()}
	require.NoError(t, b.EncodeRawBlock(&buf, 0, columns))
	return buf.Buf
}

// ch-go writes LowCardinality(Nullable(String)) in a form that ClickHouse does
// not read; a Nullable(String) of its is converted on the way into such a column.
func TestDictionaryColumnsFromChGo(t *testing.T) {
	f := newFace(t)
	f.ok("CREATE TABLE t (a UInt64, low LowCardinality(Nullable(String)), list Array(LowCardinality(String)), m Map(LowCardinality(String), String)) ENGINE = MergeTree ORDER BY a")
	var ids proto.ColUInt64
	nullable := proto.NewColNullable[string](new(proto.ColStr))
	list := proto.NewArray(new(proto.ColStr).LowCardinality())
	m := proto.NewMap(new(proto.ColStr).LowCardinality(), new(proto.ColStr))
	for i := range 6 {
		ids.Append(uint64(i))
		if i%2 == 0 {
			nullable.Append(proto.NewNullable(fmt.Sprintf("v%d", i%4)))
		} else {
			nullable.Append(proto.Null[string]())
		}
		list.Append([]string{"a", "b", "a"}[:i%4%3])
		m.Append(map[string]string{"k": fmt.Sprint(i)})
	}
	block := native(t, proto.InputColumn{Name: "a", Data: ids}, proto.InputColumn{Name: "low", Data: nullable},
		proto.InputColumn{Name: "list", Data: list}, proto.InputColumn{Name: "m", Data: m})
	resp, body := f.do(call{query: params("query", "INSERT INTO t FORMAT Native"), body: string(block)})
	require.Equal(t, 200, resp.StatusCode, body)
	require.Equal(t, "0\tv0\t[]\t{'k':'0'}\n1\t\\N\t['a']\t{'k':'1'}\n2\tv2\t['a','b']\t{'k':'2'}\n", f.ok("SELECT * FROM t WHERE a < 3 ORDER BY a"))
	require.Equal(t, "6\t3\n", f.ok("SELECT count(), countIf(low IS NULL) FROM t"))
}

// numbers is a block of the column "a" with n values from first.
func numbers(t testing.TB, first, n int) []byte {
	var c proto.ColUInt64
	for i := range n {
		c.Append(uint64(first + i))
	}
	return native(t, proto.InputColumn{Name: "a", Data: c})
}

func TestBlocksOfOneBodyBecomeOnePart(t *testing.T) {
	f := newFace(t)
	f.ok("CREATE TABLE t (a UInt64) ENGINE = MergeTree ORDER BY a")
	f.ok("SYSTEM STOP MERGES t")
	var body bytes.Buffer
	const blocks, rows = 50, 1000
	for i := range blocks {
		body.Write(numbers(t, i*rows, rows))
	}
	whole := params("query", "INSERT INTO t FORMAT Native", "max_insert_block_size", "100000000", "min_insert_block_size_rows", "100000000", "min_insert_block_size_bytes", "1000000000")
	resp, text := f.do(call{query: whole, body: body.String()})
	require.Equal(t, 200, resp.StatusCode, text)
	require.Equal(t, "1\t50000\n", f.ok("SELECT count(), sum(rows) FROM system.parts WHERE database = '"+f.database+"' AND table = 't' AND active"))

	t.Run("a bad block at the end leaves nothing", func(t *testing.T) {
		f := &face{tb: t, base: f.base, database: f.database}
		resp, text := f.do(call{query: whole, body: body.String() + "\x01\x05\x01a\x06String broken"})
		require.NotEqual(t, 200, resp.StatusCode, text)
		require.Equal(t, "50000\n", f.ok("SELECT count() FROM t"))
	})
	t.Run("small thresholds make several parts", func(t *testing.T) {
		f := &face{tb: t, base: f.base, database: f.database}
		f.ok("TRUNCATE TABLE t")
		small := params("query", "INSERT INTO t FORMAT Native", "min_insert_block_size_rows", "1", "min_insert_block_size_bytes", "1")
		resp, text := f.do(call{query: small, body: body.String()})
		require.Equal(t, 200, resp.StatusCode, text)
		require.Equal(t, "50\n", f.ok("SELECT count() FROM system.parts WHERE database = '"+f.database+"' AND table = 't' AND active"))
	})
}

func TestBodyThatIsCutOffStoresNothing(t *testing.T) {
	f := newFace(t)
	f.ok("CREATE TABLE t (a UInt64) ENGINE = MergeTree ORDER BY a")
	for _, tc := range []struct {
		name, head, rows string
		chunked          bool
	}{
		{"length, row format", "INSERT INTO t FORMAT TSV", strings.Repeat("12345\n", 100_000), false},
		{"chunked, row format", "INSERT INTO t FORMAT TSV", strings.Repeat("12345\n", 100_000), true},
		{"chunked, Native between blocks", "INSERT INTO t FORMAT Native", string(numbers(t, 0, 1000)) + string(numbers(t, 1000, 1000)), true},
		{"chunked, values", "INSERT INTO t VALUES", strings.Repeat("(1),", 1000) + "(1)", true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f := &face{tb: t, base: f.base, database: f.database}
			conn, err := net.Dial("tcp", strings.TrimPrefix(f.base, "http://"))
			require.NoError(t, err)
			w := bufio.NewWriter(conn)
			_, _ = fmt.Fprintf(w, "POST /%s?query=%s HTTP/1.1\r\nHost: localhost\r\n", f.database, strings.ReplaceAll(tc.head, " ", "+"))
			if tc.chunked {
				_, _ = fmt.Fprintf(w, "Transfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n", len(tc.rows), tc.rows)
			} else {
				_, _ = fmt.Fprintf(w, "Content-Length: %d\r\n\r\n%s", len(tc.rows)+1, tc.rows)
			}
			require.NoError(t, w.Flush())
			require.NoError(t, conn.(*net.TCPConn).CloseWrite())
			answer, _ := io.ReadAll(conn)
			require.NoError(t, conn.Close())
			require.NotContains(t, string(answer), "200 OK")
			for range 5 {
				require.Equal(t, "0\n", f.ok("SELECT count() FROM t"))
				time.Sleep(200 * time.Millisecond)
			}
		})
	}
}

func TestInsertStreams(t *testing.T) {
	f := newFace(t)
	f.ok("CREATE TABLE t (s String) ENGINE = Null")
	// Far more than the engine's memory limit passes through: nothing is kept.
	const rows, size = 1100, 1 << 20
	line := strings.Repeat("x", size) + "\n"
	r, w := io.Pipe()
	go func() {
		var err error
		for range rows {
			if _, err = io.WriteString(w, line); err != nil {
				break
			}
		}
		w.CloseWithError(err)
	}()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, f.base+"/"+f.database+"?"+params("query", "INSERT INTO t FORMAT LineAsString", "max_insert_block_size", "50", "min_insert_block_size_bytes", "1000000").Encode(), r)
	require.NoError(t, err)
	resp, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	require.Equal(t, 200, resp.StatusCode, string(body))
	require.Contains(t, resp.Header.Get("X-ClickHouse-Summary"), fmt.Sprintf(`"written_rows":"%d"`, rows))
}

func TestLongBodyOfAFailedInsertIsStillAnswered(t *testing.T) {
	f := newFace(t)
	f.ok("CREATE TABLE t (a UInt8) ENGINE = MergeTree ORDER BY a")
	resp, body := f.do(call{query: params("query", "INSERT INTO t FORMAT TSV"), body: "bad\n" + strings.Repeat("1\n", 8<<20)})
	require.Equal(t, http.StatusBadRequest, resp.StatusCode, body)
	resp, body = f.do(call{query: params("query", "INSERT INTO nowhere FORMAT TSV"), body: strings.Repeat("1\n", 8<<20)})
	require.Equal(t, http.StatusNotFound, resp.StatusCode, body)
}
