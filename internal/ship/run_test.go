package ship

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"google.golang.org/grpc/codes"

	"github.com/soakgate/soakgate/internal/ship/fleet"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// testEnd is the end of the event times in tests.
var testEnd = time.Date(2026, 3, 20, 15, 4, 5, 0, time.UTC)

// quickRetry tries again at once, and gives up soon.
var quickRetry = Retry{Initial: time.Millisecond, Max: 2 * time.Millisecond, For: 5 * time.Second}

// fakeClock goes forward by its sleeps only.
type fakeClock struct {
	mu    sync.Mutex
	now   time.Time
	slept []time.Duration
}

func (c *fakeClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *fakeClock) Sleep(ctx context.Context, d time.Duration) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
	c.slept = append(c.slept, d)
	return ctx.Err()
}

func scenario(t *testing.T, name string) fleet.Scenario {
	t.Helper()
	s, err := fleet.LookupScenario(name)
	require.NoError(t, err)
	return s
}

func plan(t *testing.T, o Options) *Plan {
	t.Helper()
	if o.Clock == nil {
		o.Clock = &fakeClock{now: testEnd}
	}
	if o.Retry == (Retry{}) {
		o.Retry = quickRetry
	}
	p, err := NewPlan(o)
	require.NoError(t, err)
	return p
}

func TestRunArrivesAsTallied(t *testing.T) {
	for _, tt := range []struct {
		scenario, protocol string
		connections        int
	}{
		{"fleet", ProtocolGRPC, 1},
		{"fleet", ProtocolHTTP, 1},
		{"demo", ProtocolGRPC, 3},
		{"twins", ProtocolHTTP, 1},
		{"hold-late", ProtocolGRPC, 1},
		{"hold-option-off", ProtocolGRPC, 1},
	} {
		t.Run(tt.scenario+"/"+tt.protocol, func(t *testing.T) {
			r := startReceiver(t, tt.protocol)
			s := scenario(t, tt.scenario)
			sum, err := plan(t, Options{
				Endpoint: r.endpoint, Protocol: tt.protocol, Scenario: s, Days: s.Days, Records: 8000, Seed: 7, Connections: tt.connections,
			}).Run(t.Context())
			require.NoError(t, err)
			assert.EqualValues(t, 8000, sum.Acknowledged)
			assert.Zero(t, sum.NotAcknowledged)
			got := recount(r.taken)
			assert.Equal(t, unjudged(sum.Tally), unjudged(got))
			if tt.scenario == "twins" {
				assert.Positive(t, got.Twins)
			} else {
				assert.Zero(t, got.Twins, "a call is told of twice")
			}
		})
	}
}

func TestRunIsDeterministic(t *testing.T) {
	ship := func(seed uint64, replay string) []byte {
		r := startReceiver(t, ProtocolGRPC)
		sum, err := plan(t, Options{
			Endpoint: r.endpoint, Scenario: scenario(t, "demo"), Days: 16, Records: 2000, Seed: seed, ReplayID: replay,
		}).Run(t.Context())
		require.NoError(t, err)
		// The exporter orders resources at random within a request: compare what
		// does not depend on it.
		lines := map[string]int{}
		for _, l := range r.taken {
			for _, rl := range l.ResourceLogs().All() {
				for _, sl := range rl.ScopeLogs().All() {
					for _, lr := range sl.LogRecords().All() {
						body, _ := bodyText(lr.Body())
						attrs, err := json.Marshal(lr.Attributes().AsRaw())
						require.NoError(t, err)
						lines[attr(rl.Resource().Attributes(), "service.instance.id")+lr.Timestamp().String()+lr.TraceID().String()+lr.SpanID().String()+string(body)+string(attrs)]++
					}
				}
			}
		}
		assert.Len(t, lines, 2000, "records must differ from each other")
		out, err := json.Marshal(map[string]any{"lines": lines, "tally": sum.Tally})
		require.NoError(t, err)
		return out
	}
	first := ship(3, "a")
	assert.Equal(t, string(first), string(ship(3, "a")), "same seed and options")
	assert.NotEqual(t, string(first), string(ship(4, "a")), "another seed")
	assert.NotEqual(t, string(first), string(ship(3, "b")), "another replay must have ids of its own")
}

func TestRunTriesAgain(t *testing.T) {
	for _, protocol := range []string{ProtocolGRPC, ProtocolHTTP} {
		t.Run(protocol, func(t *testing.T) {
			r := startReceiver(t, protocol)
			r.answers = []codes.Code{codes.Unavailable, codes.Unavailable, codes.OK, codes.Unavailable}
			sum, err := plan(t, Options{Endpoint: r.endpoint, Protocol: protocol, Scenario: scenario(t, "fleet"), Records: 2000}).Run(t.Context())
			require.NoError(t, err)
			assert.EqualValues(t, 2000, sum.Acknowledged)
			assert.Equal(t, 3, r.refused)
			assert.EqualValues(t, 4, sum.Requests, "2,000 records in requests of 512")
			assert.Equal(t, unjudged(sum.Tally), unjudged(recount(r.taken)))
		})
	}
}

func TestRunCountsWhatWasNotAcknowledged(t *testing.T) {
	for _, protocol := range []string{ProtocolGRPC, ProtocolHTTP} {
		for _, tt := range []struct {
			name  string
			setup func(*receiver)
			acked int64
			why   string
		}{
			{"refused for good", func(r *receiver) { r.answers = []codes.Code{codes.OK, codes.InvalidArgument} }, 500, "refused by the test"},
			{"taken in part", func(r *receiver) { r.rejects = 3 }, 0, "partial success: too strange (3"},
			{"nobody there", func(r *receiver) { r.endpoint = "127.0.0.1:1" }, 0, "refused"},
		} {
			t.Run(protocol+"/"+tt.name, func(t *testing.T) {
				r := startReceiver(t, protocol)
				tt.setup(r)
				sum, err := plan(t, Options{
					Endpoint: r.endpoint, Protocol: protocol, Scenario: scenario(t, "fleet"), Records: 1500, Batch: 500,
					Retry: Retry{Initial: time.Millisecond, Max: time.Millisecond, For: 20 * time.Millisecond},
				}).Run(t.Context())
				var lost *NotAcknowledgedError
				require.ErrorAs(t, err, &lost)
				assert.Equal(t, 1500-tt.acked, lost.NotAcknowledged)
				require.ErrorContains(t, err, "of 1500 records were not acknowledged by 127.0.0.1:")
				require.ErrorContains(t, err, tt.why)
				assert.Equal(t, tt.acked, sum.Acknowledged)
				assert.Equal(t, tt.acked, sum.Tally.Records, "the tally holds acknowledged records only")
			})
		}
	}
}

// TestAMessageIsNoRefusal ships to a collector that answers with findings.
func TestAMessageIsNoRefusal(t *testing.T) {
	for _, protocol := range []string{ProtocolGRPC, ProtocolHTTP} {
		t.Run(protocol, func(t *testing.T) {
			r := startReceiver(t, protocol)
			r.warns = true
			sum, err := plan(t, Options{Endpoint: r.endpoint, Protocol: protocol, Scenario: scenario(t, "fleet"), Records: 1500, Batch: 500}).Run(t.Context())
			require.NoError(t, err)
			assert.EqualValues(t, 1500, sum.Acknowledged)
		})
	}
}

func TestRunStopsWithItsContext(t *testing.T) {
	r := startReceiver(t, ProtocolGRPC)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	sum, err := plan(t, Options{Endpoint: r.endpoint, Scenario: scenario(t, "fleet")}).Run(ctx)
	var lost *NotAcknowledgedError
	require.ErrorAs(t, err, &lost)
	require.ErrorContains(t, err, "stopped before its end")
	assert.Zero(t, sum.Acknowledged)
}

func TestRunPaces(t *testing.T) {
	r := startReceiver(t, ProtocolGRPC)
	clock := &fakeClock{now: testEnd}
	sum, err := plan(t, Options{Endpoint: r.endpoint, Scenario: scenario(t, "fleet"), Minutes: 0.5, Rate: 100, Clock: clock}).Run(t.Context())
	require.NoError(t, err)
	assert.EqualValues(t, 3000, sum.Acknowledged, "30 s at 100 a second")
	assert.InDelta(t, 30, clock.now.Sub(testEnd).Seconds(), 1e-6)
	assert.Len(t, clock.slept, 150, "five requests a second")
	for _, d := range clock.slept {
		assert.InDelta(t, 0.2, d.Seconds(), 1e-6)
	}
}

func TestRunUntilTheTimeIsUp(t *testing.T) {
	r := startReceiver(t, ProtocolGRPC)
	clock := &tickingClock{fakeClock{now: testEnd}}
	sum, err := plan(t, Options{Endpoint: r.endpoint, Scenario: scenario(t, "fleet"), Minutes: 0.1, Clock: clock}).Run(t.Context())
	require.NoError(t, err)
	assert.Positive(t, sum.Acknowledged)
	assert.Less(t, sum.Acknowledged, int64(20_000), "6 s at less than 1 ms a record")
	assert.Equal(t, sum.Planned, sum.Acknowledged)
	assert.Equal(t, unjudged(sum.Tally), unjudged(recount(r.taken)))
}

// tickingClock goes forward by a millisecond a reading.
type tickingClock struct{ fakeClock }

func (c *tickingClock) Now() time.Time {
	_ = c.Sleep(context.Background(), time.Millisecond)
	return c.fakeClock.Now()
}

func TestBackdatedRecordsCarryTheReplay(t *testing.T) {
	for _, tt := range []struct {
		scenario string
		late     bool
	}{{"flip", false}, {"hold-late", true}} {
		t.Run(tt.scenario, func(t *testing.T) {
			r := startReceiver(t, ProtocolGRPC)
			p := plan(t, Options{Endpoint: r.endpoint, Scenario: scenario(t, tt.scenario), Days: 20, Seed: 1, Records: 6000})
			replay, ok := p.Replay()
			require.True(t, ok)
			assert.Equal(t, "ship-"+tt.scenario+"-1-20260320T150405.000Z", replay.ID)
			assert.Equal(t, 20*24*time.Hour, replay.To.Sub(replay.From))
			_, err := p.Run(t.Context())
			require.NoError(t, err)
			without := 0
			for _, l := range r.taken {
				for _, rl := range l.ResourceLogs().All() {
					id := attr(rl.Resource().Attributes(), "mcp.replay.id")
					for _, lr := range rl.ScopeLogs().At(0).LogRecords().All() {
						at := lr.Timestamp().AsTime()
						if id == "" {
							without++
							assert.Greater(t, testEnd.Sub(at), 24*time.Hour)
							continue
						}
						assert.Equal(t, replay.ID, id)
						assert.False(t, at.Before(replay.From) || !at.Before(replay.To), "%s lies outside the replay", at)
					}
				}
			}
			assert.Equal(t, tt.late, without > 100, "%d records without the replay's id", without)
			if !tt.late {
				assert.Zero(t, without)
			}
		})
	}
}

func TestLiveRecordsAreNoReplay(t *testing.T) {
	r := startReceiver(t, ProtocolGRPC)
	p := plan(t, Options{Endpoint: r.endpoint, Scenario: scenario(t, "hold-late"), Records: 1000})
	_, ok := p.Replay()
	assert.False(t, ok)
	_, err := p.Run(t.Context())
	require.NoError(t, err)
	for _, l := range r.taken {
		for _, rl := range l.ResourceLogs().All() {
			assert.Empty(t, attr(rl.Resource().Attributes(), "mcp.replay.id"))
			for _, lr := range rl.ScopeLogs().At(0).LogRecords().All() {
				assert.True(t, lr.Timestamp().AsTime().Equal(testEnd))
			}
		}
	}
}

func TestNewPlanRefuses(t *testing.T) {
	ok := Options{Scenario: scenario(t, "fleet")}
	for _, tt := range []struct {
		name   string
		change func(*Options)
		want   string
	}{
		{"no scenario", func(o *Options) { o.Scenario = fleet.Scenario{} }, "no scenario"},
		{"protocol", func(o *Options) { o.Protocol = "udp" }, `protocol "udp": want grpc or http`},
		{"negative days", func(o *Options) { o.Days = -1 }, "days -1: want 0 to 120"},
		{"too many days", func(o *Options) { o.Days = 121 }, "days 121"},
		{"negative rate", func(o *Options) { o.Rate = -1 }, "not negative"},
		{"two ends", func(o *Options) { o.Records, o.Minutes = 1, 1 }, "want one of them"},
		{"backdated by time", func(o *Options) { o.Days, o.Minutes = 1, 1 }, "give records"},
		{"too few records", func(o *Options) { o.Records = 20 }, "raise"},
		{"fewer than declarations", func(o *Options) { o.Records = 2 }, "raise"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o := ok
			tt.change(&o)
			_, err := NewPlan(o)
			require.ErrorContains(t, err, tt.want)
		})
	}
}

func TestSplitEndpoint(t *testing.T) {
	for _, tt := range []struct {
		endpoint, protocol string
		host, path         string
		secure             bool
	}{
		{"", ProtocolGRPC, "127.0.0.1:4317", "/v1/logs", false},
		{"", ProtocolHTTP, "127.0.0.1:4318", "/v1/logs", false},
		{"collector:14317", ProtocolGRPC, "collector:14317", "/v1/logs", false},
		{"https://otlp.example.com/tenant/", ProtocolHTTP, "otlp.example.com:4318", "/tenant/v1/logs", true},
		{"http://[::1]", ProtocolHTTP, "[::1]:4318", "/v1/logs", false},
		{"http://h:1/v1/logs", ProtocolHTTP, "h:1", "/v1/logs", false},
	} {
		t.Run(tt.endpoint+tt.protocol, func(t *testing.T) {
			host, path, secure, err := splitEndpoint(tt.endpoint, tt.protocol)
			require.NoError(t, err)
			assert.Equal(t, []any{tt.host, tt.path, tt.secure}, []any{host, path, secure})
		})
	}
	for _, bad := range []string{"ftp://h", "http://", "http://h:port"} {
		_, _, _, err := splitEndpoint(bad, ProtocolGRPC)
		require.ErrorContains(t, err, "want host:port", bad)
	}
}

func TestOpenFailsOnABadEndpoint(t *testing.T) {
	_, err := plan(t, Options{Endpoint: "ftp://h", Scenario: scenario(t, "fleet")}).Run(t.Context())
	require.Error(t, err)
	assert.NotErrorAs(t, err, new(*NotAcknowledgedError))
}

func BenchmarkFill(b *testing.B) {
	s, err := fleet.LookupScenario("flip")
	require.NoError(b, err)
	p, err := NewPlan(Options{Scenario: s, Days: 20, Records: 1 << 40})
	require.NoError(b, err)
	st, err := p.stream()
	require.NoError(b, err)
	e := newEmitter(st)
	b.ReportAllocs()
	for b.Loop() {
		batch, _ := e.fill(st, DefaultBatch)
		require.Len(b, batch.records, DefaultBatch)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*DefaultBatch), "ns/record")
}

// BenchmarkRun ships over HTTP to an endpoint that reads and forgets, so that
// what is measured is nearly the sender alone.
func BenchmarkRun(b *testing.B) {
	srv := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
	}))
	defer srv.Close()
	s, err := fleet.LookupScenario("flip")
	require.NoError(b, err)
	const records = 40_000
	b.ReportAllocs()
	for b.Loop() {
		p, err := NewPlan(Options{Endpoint: srv.URL, Protocol: ProtocolHTTP, Scenario: s, Days: 20, Records: records})
		require.NoError(b, err)
		sum, err := p.Run(b.Context())
		require.NoError(b, err)
		require.EqualValues(b, records, sum.Acknowledged)
	}
	b.ReportMetric(records*float64(b.N)/b.Elapsed().Seconds(), "records/s")
}
