// Package ship sends the traffic of a synthetic fleet of MCP servers through
// the OpenTelemetry SDK's own OTLP log exporter, and tells exactly what of it
// was acknowledged.
//
// It owns pacing, retries and the account of a run. What is sent is the fleet's
// matter. It refuses to ship a backdated record without the id of its replay,
// except the late records of a scenario that is about them.
package ship

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/soakgate/soakgate/internal/ship/fleet"
)

// The protocols of OTLP.
const (
	ProtocolGRPC = "grpc"
	ProtocolHTTP = "http" // protobuf over HTTP
)

const (
	// DefaultBatch is the number of records in a request: the default of the
	// SDK's batch processor.
	DefaultBatch = 512
	// pacedRequests is how many requests a second are aimed at under a rate, so
	// that slow traffic does not wait for a full batch.
	pacedRequests = 5
	// maxDays keeps event times within what a store that keeps 150 days may hold.
	maxDays = 120
)

// Clock is the time that a run goes by.
type Clock interface {
	Now() time.Time
	// Sleep waits for d, or until the context ends, and then returns its error.
	Sleep(ctx context.Context, d time.Duration) error
}

// Options say what to ship, where to, and how.
type Options struct {
	Endpoint string // host:port or URL; https means TLS. Default: OTLP's port on 127.0.0.1
	Protocol string // grpc (default) or http
	Scenario fleet.Scenario
	Days     int   // event times reach back over so many days; 0 is now
	Records  int64 // log records in all; 0: the scenario's number, or by Minutes
	Minutes  float64
	Rate     float64 // records a second; 0 is as fast as possible
	Seed     uint64
	Batch    int // records a request, DefaultBatch when 0
	// Connections is how many exporters send at a time, 1 when 0.
	Connections int
	// ReplayID is mcp.replay.id. With Days and without an id, one is made.
	ReplayID string
	By       string    // who ships, for the declaration of the replay
	Until    time.Time // the end of the event times; default now
	Retry    Retry
	Clock    Clock // default: the machine's
}

// Retry is the exporter's patience with an endpoint that is away or busy.
type Retry struct {
	Initial, Max time.Duration // between tries
	For          time.Duration // in all; 0 is a single try
}

// DefaultRetry outlasts a collector's restart.
var DefaultRetry = Retry{Initial: 250 * time.Millisecond, Max: 5 * time.Second, For: time.Minute}

// Replay is the declaration of backdated shipping (D16).
type Replay struct {
	ID       string    `json:"id"`
	From, To time.Time // of the events, half open
	By       string    `json:"by"`
	At       time.Time `json:"at"`
}

// DeclareReplay writes the declaration of a replay into the store at the DSN.
type DeclareReplay func(ctx context.Context, dsn string, r Replay) error

// Plan is a run whose every record is settled.
type Plan struct {
	Options
	to       time.Time
	total    int64     // records; math.MaxInt64 when only time ends the run
	deadline time.Time // zero when the number of records ends the run
}

// NewPlan checks the options and fills in their defaults.
func NewPlan(o Options) (*Plan, error) {
	if o.Scenario.Name == "" {
		return nil, errors.New("plan a run: no scenario given")
	}
	if o.Protocol == "" {
		o.Protocol = ProtocolGRPC
	}
	if o.Protocol != ProtocolGRPC && o.Protocol != ProtocolHTTP {
		return nil, fmt.Errorf("protocol %q: want grpc or http", o.Protocol)
	}
	if o.Days < 0 || o.Days > maxDays {
		return nil, fmt.Errorf("days %d: want 0 to %d", o.Days, maxDays)
	}
	if o.Records < 0 || !(o.Rate >= 0) || !(o.Minutes >= 0) || math.IsInf(o.Rate+o.Minutes, 0) || o.Batch < 0 || o.Connections < 0 || o.Retry.For < 0 {
		return nil, errors.New("records, rate, minutes, batch, connections and retry time must be finite and not negative")
	}
	if o.Records > 0 && o.Minutes > 0 {
		return nil, errors.New("records and minutes were both given: want one of them")
	}
	if o.Days > 0 && o.Minutes > 0 {
		return nil, errors.New("days and minutes were both given: backdated traffic ends with its records, so give records")
	}
	if o.Clock == nil {
		o.Clock = wallClock{}
	}
	if o.Batch == 0 {
		o.Batch = DefaultBatch
	}
	if o.Rate > 0 {
		o.Batch = min(o.Batch, max(1, int(o.Rate/pacedRequests)))
	}
	o.Connections = max(o.Connections, 1)
	if o.Retry == (Retry{}) {
		o.Retry = DefaultRetry
	}
	if o.Until.IsZero() {
		o.Until = o.Clock.Now()
	}
	p := &Plan{Options: o, to: o.Until.UTC(), total: o.Records}
	if p.Days > 0 && p.ReplayID == "" {
		p.ReplayID = fmt.Sprintf("ship-%s-%d-%s", o.Scenario.Name, o.Seed, p.to.Format("20060102T150405.000Z"))
	}
	switch {
	case p.total > 0:
	case p.Minutes > 0 && p.Rate > 0:
		p.total = max(1, int64(math.Round(p.Minutes*60*p.Rate)))
	case p.Minutes > 0:
		p.total = math.MaxInt64
		p.deadline = o.Clock.Now().Add(time.Duration(p.Minutes * float64(time.Minute)))
	default:
		p.total = int64(o.Scenario.Records)
	}
	_, err := p.stream()
	return p, err
}

// Replay is the declaration that must be in the store before the run begins,
// or false when nothing is backdated.
func (p *Plan) Replay() (Replay, bool) {
	return Replay{ID: p.ReplayID, From: p.to.Add(-p.span()), To: p.to, By: p.By, At: p.Clock.Now().UTC()}, p.ReplayID != ""
}

// stream readies the fleet's records.
func (p *Plan) stream() (*fleet.Stream, error) {
	return fleet.NewStream(fleet.Options{
		Scenario: p.Scenario, Seed: p.Seed, Days: p.Days, Records: p.total,
		ReplayID: p.ReplayID, Until: p.to, Now: p.Clock.Now,
	})
}

// span is how far the event times reach back.
func (p *Plan) span() time.Duration { return time.Duration(p.Days) * 24 * time.Hour }

// wallClock is the machine's clock.
type wallClock struct{}

func (wallClock) Now() time.Time { return time.Now() }

func (wallClock) Sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
