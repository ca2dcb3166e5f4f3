package httpface_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/soakgate/soakgate/internal/store/embedded/internal/statement"
)

// TestNothingReachesOutside runs statements that read or write beyond the store
// against the real engine: each must fail, and neither may the secret appear in
// an answer nor the marker file appear on disk.
func TestNothingReachesOutside(t *testing.T) {
	f := newFace(t)
	dir := t.TempDir()
	secret := filepath.Join(dir, "secret")
	require.NoError(t, os.WriteFile(secret, []byte("(1,'hush')\n"), 0o644))
	marker := filepath.Join(dir, "marker")
	f.ok("CREATE TABLE t (a UInt8, s String) ENGINE = MergeTree ORDER BY a")
	for _, text := range []string{
		// Scalar function, in every dress.
		"SELECT file('SECRET')",
		"SELECT `file`('SECRET')",
		`SELECT "file"('SECRET')`,
		"SELECT file\n/* x */ -- y\n ('SECRET')",
		"SELECT arrayMap(file, ['SECRET'])",
		"SELECT arrayMap(`file`, ['SECRET'])",
		"SELECT arrayMap((file), ['SECRET'])",
		"SELECT * APPLY(file) FROM (SELECT 'SECRET')",
		"SELECT * APPLY file FROM (SELECT 'SECRET')",
		"WITH (x -> file(x)) AS f SELECT f('SECRET')",
		"EXPLAIN SELECT file('SECRET')",
		"SELECT /* /* */ 1, */ file('SECRET')",
		"SELECT 1 --\n, file('SECRET')",
		"SELECT '\\'', file('SECRET'), '\\''",
		"SELECT '''', file('SECRET')",
		"SELECT `a``b`, file('SECRET') FROM (SELECT 1 AS `a``b`)",
		"INSERT INTO t VALUES (1, file('SECRET'))",
		"INSERT INTO t VALUES (1, 'a'), (2, (SELECT file('SECRET')))",
		"INSERT INTO t SELECT 1, file('SECRET')",
		"CREATE TABLE u (a UInt8, s String DEFAULT file('SECRET')) ENGINE = Memory",
		"ALTER TABLE t ADD COLUMN x String DEFAULT file('SECRET')",
		"ALTER TABLE t UPDATE s = file('SECRET') WHERE 1",
		"CREATE VIEW v AS SELECT file('SECRET')",
		// Code in strings.
		"SELECT * FROM format(Values, 'a UInt8, s String', '(1, file(\\'SECRET\\'))')",
		"SELECT * FROM format('Values', 'a UInt8, s String', '(1, file(\\'SECRET\\'))')",
		"SELECT * FROM format(JSONEachRow, 'a UInt8, s String DEFAULT file(\\'SECRET\\')', '{\"a\":1}')",
		"SELECT * FROM values('a UInt8, s String DEFAULT file(\\'SECRET\\')', (1))",
		"SELECT * FROM eval('SELECT file(\\'SECRET\\')')",
		// Table functions and engines.
		"SELECT * FROM file('SECRET', 'LineAsString')",
		"SELECT * FROM FILE('SECRET', 'LineAsString')",
		"SELECT * FROM `SECRET`",
		`SELECT * FROM "SECRET"`,
		"SELECT * FROM default.`SECRET`",
		"DESCRIBE TABLE default.`SECRET`",
		"SHOW CREATE TABLE default.`SECRET`",
		"CREATE TABLE u AS default.`SECRET`",
		"INSERT INTO default.`MARKER` VALUES (1)",
		"INSERT INTO default.`MARKER.csv` SELECT 1",
		"SELECT * FROM fileCluster('c', 'SECRET', 'LineAsString')",
		"SELECT * FROM url('file://SECRET', 'LineAsString')",
		"SELECT * FROM remote('127.0.0.1', system.one)",
		"SELECT * FROM executable('cat SECRET', TSV, 's String')",
		"SELECT * FROM sqlite('SECRET', 't')",
		"SELECT * FROM filesystem('DIR')",
		"DESCRIBE TABLE file('SECRET', 'LineAsString')",
		"INSERT INTO FUNCTION file('MARKER', 'CSV', 'a UInt8') VALUES (1)",
		"INSERT INTO TABLE FUNCTION file('MARKER', 'CSV', 'a UInt8') SELECT 1",
		"CREATE TABLE u AS file('SECRET', 'LineAsString')",
		"CREATE TABLE u (s String) ENGINE = File(LineAsString, 'SECRET')",
		"CREATE TABLE u (s String) engine File(LineAsString, 'SECRET')",
		"CREATE TABLE u ENGINE = File(CSV, 'MARKER') AS SELECT 1",
		"CREATE TABLE u (s String) ENGINE = `URL`('http://127.0.0.1:1/', 'CSV')",
		"CREATE TABLE u (s String) ENGINE = Executable('x', TSV)",
		"CREATE TABLE u (a UInt8) ENGINE = MergeTree ORDER BY a SETTINGS disk = disk(type = local, path = 'MARKER/')",
		"CREATE DATABASE u ENGINE = Filesystem('DIR')",
		"CREATE DATABASE u ENGINE = SQLite('SECRET')",
		"CREATE DICTIONARY u (a UInt64, s String) PRIMARY KEY a SOURCE(FILE(PATH 'SECRET' FORMAT Values)) LAYOUT(FLAT()) LIFETIME(0)",
		"CREATE FUNCTION u AS x -> file(x)",
		"CREATE NAMED COLLECTION u AS a = 1",
		"ATTACH TABLE u FROM 'DIR' (a UInt8) ENGINE = MergeTree ORDER BY a",
		// Client-side reads and writes, which the engine does not check.
		"SELECT 1 INTO OUTFILE 'MARKER'",
		"SELECT 1 into\noutfile 'MARKER' TRUNCATE FORMAT CSV",
		"SHOW TABLES INTO OUTFILE 'MARKER'",
		"INSERT INTO t FROM INFILE 'SECRET' FORMAT Values",
		"INSERT INTO t from/**/infile 'SECRET' COMPRESSION 'none' FORMAT Values",
		// Formats and settings that name files.
		"SELECT 1 AS s FORMAT Template SETTINGS format_template_row = 'SECRET'",
		"SELECT 1 AS s FORMAT Protobuf SETTINGS format_schema = 'SECRET:x'",
		"INSERT INTO t SETTINGS `format_schema` = 'SECRET:x' FORMAT Protobuf\n",
		"INSERT INTO t SETTINGS input_format_record_errors_file_path = 'MARKER', input_format_allow_errors_num = 9 FORMAT CSV\nbad\n",
		// Administration.
		"SYSTEM SHUTDOWN", "SYSTEM KILL", "SYSTEM RELOAD CONFIG", "SYSTEM DROP REPLICA 'x'",
		"BACKUP TABLE t TO File('MARKER')", "BACKUP DATABASE default TO Disk('default', 'x')",
		"CREATE USER u", "GRANT ALL ON *.* TO default", "SET ROLE DEFAULT", "EXECUTE AS u SELECT 1",
		"DROP DATABASE default", "DROP DATABASE IF EXISTS `default`", "DROP DATABASE system", "RENAME DATABASE default TO u", "DETACH TABLE t",
		"CREATE VIEW v SQL SECURITY NONE AS SELECT 1",
		// Several statements.
		"SELECT 1; SELECT file('SECRET')", "SELECT 1; SELECT 2", "CREATE TABLE u (a UInt8) ENGINE = Memory PARALLEL WITH DROP TABLE t",
		// What two lexers might read in two ways.
		"SELECT $$', file('SECRET'), '$$", "SELECT ‘a’, 1", "SELECT 1 #!\n, 2", "SELECT\u00a01",
	} {
		t.Run(text, func(t *testing.T) {
			f := &face{tb: t, base: f.base, database: f.database}
			filled := strings.NewReplacer("SECRET", secret, "MARKER", marker, "DIR", dir).Replace(text)
			resp, body := f.do(call{body: filled})
			require.NotEqual(t, http.StatusOK, resp.StatusCode, body)
			require.NotEmpty(t, resp.Header.Get("X-ClickHouse-Exception-Code"))
			require.NotContains(t, body, "hush")
			require.NoFileExists(t, marker)
			require.NoDirExists(t, marker)
		})
	}
	require.Equal(t, "0\n", f.ok("SELECT count() FROM t"), "one of the statements wrote a row")
	for name, query := range map[string][2]string{
		"setting":        {"format_schema", secret + ":x"},
		"default format": {"default_format", "Template"},
		"errors file":    {"input_format_record_errors_file_path", marker},
	} {
		resp, body := f.do(call{query: params(query[0], query[1]), body: "SELECT 1 AS s"})
		require.Equal(t, http.StatusForbidden, resp.StatusCode, "%s: %s", name, body)
	}
	long := "(1, file('" + secret + "')),"
	resp, body := f.do(call{body: "INSERT INTO t VALUES " + strings.Repeat(long, 5<<20/len(long)) + "(1,'')"})
	require.NotEqual(t, http.StatusOK, resp.StatusCode, body)
	require.Equal(t, "0\n", f.ok("SELECT count() FROM t"), "a long insert evaluated an expression")
}

// TestOrdinaryStatementsAreNotRefused holds the other side: what only looks like
// the above must pass.
func TestOrdinaryStatementsAreNotRefused(t *testing.T) {
	f := newFace(t)
	f.ok("CREATE TABLE t (a UInt8, url String, engine String, outfile String DEFAULT 'x', format String) ENGINE = ReplacingMergeTree ORDER BY a")
	for _, text := range []string{
		"SELECT 'file(''/etc/passwd'')', \"url\" FROM t -- url('http://x')",
		"SELECT url, engine, format FROM t WHERE url = 'remote(a)' /* s3('x') */",
		"SELECT name, engine FROM system.tables WHERE engine = 'File' AND database = currentDatabase()",
		"SELECT name FROM system.tables WHERE engine = name",
		"CREATE VIEW v1 AS SELECT name FROM system.tables WHERE engine = name",
		"INSERT INTO t (a, url) VALUES (1, 'INTO OUTFILE ''x''')",
		"INSERT INTO t (a, url, outfile) SELECT 2, 'url', 'outfile'",
		"SELECT format('{} of {}', 'a', 'b'), format('{0}', url) FROM t",
		"SELECT * FROM values('a UInt8, s String', (1, 'DEFAULT'), (2, 'file()'))",
		"SELECT * FROM (SELECT 1 AS set, 2 AS use)",
		"SELECT count() FROM numbers(10) AS n JOIN (SELECT 1 AS number) AS m USING (number)",
		"SELECT * FROM view(SELECT 1)",
		"SELECT a FROM merge(currentDatabase(), '^t$') FINAL",
		"SELECT * FROM generateRandom('a UInt8, s String') LIMIT 1 FORMAT Null",
		"SELECT tupleElement(CAST(tuple('y'), 'Tuple(file String)'), 'file')",
		"CREATE TABLE plain (a UInt8) ENGINE = MergeTree ORDER BY a TTL toDateTime(a) + INTERVAL 1 DAY SETTINGS index_granularity = 512",
		"CREATE TABLE like_t AS t",
		"CREATE MATERIALIZED VIEW mv (a UInt8) ENGINE = SummingMergeTree ORDER BY a AS SELECT a FROM t",
		"CREATE OR REPLACE TABLE plain (a UInt8) ENGINE = Memory",
		"ALTER TABLE t ADD COLUMN b UInt8 DEFAULT 1, MODIFY COLUMN url String CODEC(ZSTD)",
		"ALTER TABLE t DELETE WHERE a = 9 SETTINGS mutations_sync = 1",
		"DELETE FROM t WHERE a = 8",
		"OPTIMIZE TABLE t FINAL", "CHECK TABLE t", "SHOW CREATE TABLE t", "DESC t", "EXPLAIN PLAN SELECT 1", "EXISTS t",
		"RENAME TABLE like_t TO renamed", "EXCHANGE TABLES renamed AND plain", "TRUNCATE TABLE plain", "DROP TABLE plain SYNC",
		"SYSTEM STOP MERGES t", "SYSTEM START MERGES t", "KILL QUERY WHERE query_id = 'none'", "KILL MUTATION WHERE 0",
		"SELECT 1 UNION ALL SELECT 2 UNION DISTINCT SELECT 3",
		"SELECT x'61', 0x1F, 1e-3, .5, 1_000, [1, 2][1], (1, 2).1, map('k', 1)['k']",
	} {
		t.Run(text, func(t *testing.T) {
			f := &face{tb: t, base: f.base, database: f.database}
			resp, body := f.do(call{body: text})
			require.Equal(t, http.StatusOK, resp.StatusCode, body)
		})
	}
}

// TestEveryWayOutOfThisReleaseIsKnown fails when the engine has a table function,
// engine or setting that the lists do not name: somebody must then decide.
func TestEveryWayOutOfThisReleaseIsKnown(t *testing.T) {
	f := newFace(t)
	for name := range strings.FieldsSeq(f.ok("SELECT lower(name) FROM system.table_functions")) {
		require.NotEqual(t, statement.AllowedTableFunctions[name], statement.RefusedTableFunctions[name], "the table function %s must be in one of the two lists", name)
	}
	engines := f.ok("SELECT lower(name) FROM system.table_engines")
	for name := range statement.AllowedTableEngines {
		require.Contains(t, strings.Fields(engines), name)
	}
	databases := f.ok("SELECT lower(name) FROM system.database_engines")
	for name := range statement.AllowedDatabaseEngines {
		require.Contains(t, strings.Fields(databases), name)
	}
	for _, name := range statement.RefusedSettings() {
		require.Equal(t, "1\n", f.ok("SELECT count() FROM system.settings WHERE name = '"+name+"'"), "the setting %s is unknown to the engine", name)
	}
	require.Equal(t, "1\t1\n", f.ok("SELECT sumIf(value = '1', name = 'fsync_after_insert'), sumIf(value = '1', name = 'fsync_part_directory') FROM system.merge_tree_settings"))
	require.Equal(t, "1073741824\t67108864\n", f.ok("SELECT anyIf(value, name = 'max_server_memory_usage'), anyIf(value, name = 'mark_cache_size') FROM system.server_settings"))
}
