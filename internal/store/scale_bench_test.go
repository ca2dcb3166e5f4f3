package store

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/soakgate/soakgate/config"
	"github.com/soakgate/soakgate/internal/soak"
	"github.com/soakgate/soakgate/internal/soak/policy"
)

// scaleDays of rollups of scaleRecords records a day in all: 100 million in 90 days.
const (
	scaleDays    = 90
	scaleRecords = 100_000_000 / scaleDays
)

// scaleStore is a store with 90 days of rollups of 100 million records: two
// servers with three deployments of three instances each and 20 tools, one in a
// hundred calls normalized, three in a hundred failed. The rollups are generated,
// with no records behind them. $SOAKGATE_BENCH_DSN names a store that keeps them
// for the next run.
func scaleStore(b *testing.B) *Store {
	b.Helper()
	dsn := os.Getenv("SOAKGATE_BENCH_DSN")
	if dsn == "" {
		dsn = testDSN(b)
	}
	s, err := Open(dsn)
	require.NoError(b, err)
	b.Cleanup(func() { s.Close() })
	_, err = s.Migrate(b.Context(), DefaultRetention, "bench")
	require.NoError(b, err)
	if count(b, s, "count() FROM DB.slice_seals") == 0 {
		end := time.Now().UTC().Truncate(time.Minute)
		for day := scaleDays; day > 0; day-- {
			fillDay(b, s, end.AddDate(0, 0, -day))
		}
		for _, table := range []string{"calls", "activity", "errors", "rate_limits", "blocks", "normalizations"} {
			require.NoError(b, s.conn.Exec(b.Context(), "OPTIMIZE TABLE "+s.database+"."+table+"_by_minute FINAL"))
		}
	}
	sealer, err := NewSealer(s, uuid.New())
	require.NoError(b, err)
	for {
		n, err := sealer.SealHours(b.Context())
		require.NoError(b, err)
		if n == 0 {
			return s
		}
	}
}

// dims are the columns that all rollups begin with, of cell c.
const dims = `minute, minute AS arrived,
    ['amazon_sp_mcp', 'amazon_ads_mcp'][c % 2 + 1] AS server, ['sp', 'ads'][c % 2 + 1] AS server_family,
    if(minute < now() - INTERVAL 5 DAY, '2.1.0', '2.2.0') AS server_version, 'production' AS environment,
    'deployment-' || toString(intDiv(c, 2) % 3) AS deployment, 'mcp.deployment.id' AS deployment_source,
    deployment || '-' || toString(intDiv(c, 6) % 3) AS instance, 'on' AS option, if(deployment = 'deployment-2', 'on', 'off') AS strict, '' AS replay_id`

const dimNames = "minute, arrived, server, server_family, server_version, environment, deployment, deployment_source, instance, option, strict, replay_id"

// fillDay writes the rollups of one day.
func fillDay(b *testing.B, s *Store, from time.Time) {
	const cells = 18 * 20
	cell := fmt.Sprintf("(SELECT toDateTime(%d, 'UTC') + intDiv(number, %d) * 60 AS minute, number %% %d AS c, sipHash64(number, %d) AS h, 'tool_' || toString(intDiv(c, 18)) AS tool FROM numbers(%d))",
		from.Unix(), cells, cells, from.Unix(), 1440*cells)
	beats := fmt.Sprintf("(SELECT toDateTime(%d, 'UTC') + intDiv(number, 18) * 60 AS minute, number %% 18 AS c, sipHash64(number, %d) AS h FROM numbers(%d))", from.Unix(), from.Unix(), 1440*18)
	// How many calls a cell's minute has: Poisson of mean 2.14.
	const calls = "toUInt64(multiIf(h % 1000 < 118, 0, h % 1000 < 370, 1, h % 1000 < 639, 2, h % 1000 < 831, 3, h % 1000 < 934, 4, h % 1000 < 978, 5, 6))"
	for _, statement := range []string{
		"calls_by_minute (" + dimNames + ", tool, outcome, mistake, calls, weighted_calls, duration_ns_sum, duration_count, version) SELECT " + dims +
			", tool, 'success', '', " + calls + " AS calls, calls * 1000000, calls * 20000000, calls, now64(6) FROM " + cell + " WHERE calls > 0",
		"calls_by_minute (" + dimNames + ", tool, outcome, mistake, calls, weighted_calls, duration_ns_sum, duration_count, version) SELECT " + dims +
			", tool, 'error', if(h % 2 = 0, 'caller', 'server'), 1, 1000000, 20000000, 1, now64(6) FROM " + cell + " WHERE intDiv(h, 1000) % 15 = 0",
		"activity_by_minute (" + dimNames + ", calls, version) SELECT " + dims + ", 43, now64(6) FROM " + beats,
		"errors_by_minute (" + dimNames + ", tool, shape, error_kind, error_code, legacy_error_kind, http_status, retryable, valid, off_taxonomy, opaque, errors, unreadable, cut, weighted_errors, version) SELECT " + dims +
			", tool, 'mcp_envelope_v1', ['invalid_input', 'rate_limited', 'unauthorized', 'not_found', 'upstream_error', 'internal_error', 'timeout'][intDiv(h, 100000) % 7 + 1] AS kind, upper(kind), NULL, [400, 429, 401, 404, 502, 500, 504][intDiv(h, 100000) % 7 + 1], h % 2 = 0, true, false, false, 1, 0, 0, 1000000, now64(6) FROM " + cell + " WHERE intDiv(h, 1000) % 15 = 0",
		"normalizations_by_minute (" + dimNames + ", tool, kind, valid, events, calls, version) SELECT " + dims +
			", tool, if(strict = 'on' AND h % 7 = 0, 'unknown_field_rejected', if(h % 7 = 0, 'unknown_field_passed_through', ['renamed', 'dropped_alias', 'coerced'][h % 3 + 1])), true, 1, 1, now64(6) FROM " + cell + " WHERE intDiv(h, 1000) % 47 = 0",
		"blocks_by_minute (" + dimNames + ", tool, blocks, envelope_blocks, weighted_blocks, malformed, sizes, bytes_sum, known_size_blocks, known_bytes_sum, response_bytes_sum, version) SELECT " + dims +
			", tool, 1, 0, 1000000, 0, map(toUInt32(80 + h % 200), toUInt64(1)), 80 + h % 200, 1, 80 + h % 200, 20000 + h % 3000, now64(6) FROM " + cell + " WHERE intDiv(h, 1000) % 47 = 0",
		"rate_limits_by_minute (" + dimNames + ", tool, records, least_remaining, at_zero, retry_after_count, retry_after_ms_sum, retry_after_ms_max, version) SELECT " + dims +
			", tool, 1, h % 10, h % 10 = 0, h % 10 = 0, if(h % 10 = 0, 2000, 0), if(h % 10 = 0, 2000, 0), now64(6) FROM " + cell + " WHERE intDiv(h, 1000) % 10 = 0",
		"warnings_by_minute (" + dimNames + ", kind, warnings, records, version) SELECT " + dims + ", 'pagination_truncated', 1, 1, now64(6) FROM " + beats + " WHERE h % 5 = 0",
		"violations_by_minute (" + dimNames + ", rule, path, violations, records, version) SELECT " + dims + ", 'required', '/hints', 1, 1, now64(6) FROM " + beats + " WHERE h % 50 = 0",
		"lateness_by_day (arrived, server, environment, deployment, instance, replay_id, records, late, ahead, least_ms, greatest_ms, version) SELECT minute, ['amazon_sp_mcp', 'amazon_ads_mcp'][c % 2 + 1], 'production', 'deployment-' || toString(intDiv(c, 2) % 3) AS deployment, deployment || '-' || toString(intDiv(c, 6) % 3), '', 43, 0, 0, 100, 3000, now64(6) FROM " + beats,
		"collector_heartbeats (journal_id, minute, collector, at, inserted_through, backlog_records, backlog_age_ms, parked_batches, refused_requests, accepted_records, inserted_records, rejected_records, parked_records, ignored_records, retired) SELECT toUUID('11111111-1111-1111-1111-11111111111' || toString(c)), minute, 'collector-' || toString(c), minute + 58, minute + 58, 0, 0, 0, 0, 0, 0, 0, 0, 0, false FROM " + beats + " WHERE c < 2",
		fmt.Sprintf("slice_writes (slice, journal_id, wrote_at) SELECT minute, toUUID('11111111-1111-1111-1111-111111111110'), minute + 61 FROM %s WHERE c = 0", beats),
		fmt.Sprintf("slice_seals (slice, version, sealed_at, collector, records, calls) SELECT minute, minute + 62, minute + 63, toUUID('11111111-1111-1111-1111-111111111110'), 0, 770 FROM %s WHERE c = 0", beats),
	} {
		require.NoError(b, s.conn.Exec(b.Context(), "INSERT INTO "+s.database+"."+statement), strings.SplitN(statement, " ", 2)[0])
	}
}

// BenchmarkFigures reads all that a verdict rests on, and judges it.
func BenchmarkFigures(b *testing.B) {
	s := scaleStore(b)
	p, err := policy.Parse(config.SoakPolicy)
	require.NoError(b, err)
	for i := range p.Servers { // as a policy has it once the first call is known
		p.Servers[i].Anchor = time.Now().UTC().AddDate(0, 0, 5-scaleDays)
	}
	var queries map[string]string
	for b.Loop() {
		asOf := soak.AsOf{At: time.Now()}
		var f soak.Figures
		f, queries, err = s.Figures(b.Context(), p, asOf, soak.Registers{})
		require.NoError(b, err)
		v := soak.Judge(p, f, asOf)
		require.NotEqual(b, soak.DecisionCouldNotTell, v.Decision, v.Deciding)
	}
	for name, text := range queries {
		started := time.Now()
		require.NoError(b, s.conn.Exec(b.Context(), text+" FORMAT Null"))
		b.ReportMetric(float64(time.Since(started).Milliseconds()), name+"-ms")
	}
	b.ReportMetric(float64(count(b, s, "sum(calls) FROM DB.calls_by_hour FINAL")), "calls")
}
