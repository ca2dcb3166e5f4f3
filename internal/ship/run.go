package ship

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/soakgate/soakgate/internal/ship/fleet"
)

// Summary is what became of a run.
type Summary struct {
	Scenario string    `json:"scenario"`
	Seed     uint64    `json:"seed"`
	Endpoint string    `json:"endpoint"`
	Protocol string    `json:"protocol"`
	ReplayID string    `json:"replay_id,omitempty"`
	From     time.Time `json:"from"` // of the event times; those of late records may lie before
	To       time.Time `json:"to"`
	// Planned is how many records were to be shipped; without a number given,
	// how many were generated.
	Planned         int64             `json:"planned"`
	Acknowledged    int64             `json:"acknowledged"`
	NotAcknowledged int64             `json:"not_acknowledged"`
	Reasons         []string          `json:"reasons,omitempty"` // why not, each once
	Requests        int64             `json:"requests"`          // acknowledged ones
	Seconds         float64           `json:"seconds"`
	Expect          fleet.Expectation `json:"expect"`
	Tally           fleet.Tally       `json:"tally"`
}

// NotAcknowledgedError tells that records were not acknowledged in the end.
type NotAcknowledgedError struct {
	Endpoint                 string
	NotAcknowledged, Planned int64
	Reasons                  []string
}

func (e *NotAcknowledgedError) Error() string {
	return fmt.Sprintf("%d of %d records were not acknowledged by %s: %s; see that the collector is up and takes data there, then ship again",
		e.NotAcknowledged, e.Planned, e.Endpoint, strings.Join(e.Reasons, "; "))
}

// maxReasons bounds the list of reasons: past these, they repeat each other.
const maxReasons = 5

// run is the state that the senders of a run share.
type run struct {
	plan         *Plan
	mu           sync.Mutex // guards all below
	acknowledged *fleet.Counter
	generated    int64
	requests     int64
	reasons      []string
	stop         context.CancelFunc
}

// Run ships the plan. A request that is not acknowledged in spite of the
// exporter's retries ends the run; what the endpoint took only in part is
// counted as not acknowledged, and the run goes on. The error is then a
// *NotAcknowledgedError, and the Summary holds all the same.
func (p *Plan) Run(ctx context.Context) (sum Summary, err error) {
	s, err := p.stream()
	if err != nil {
		return Summary{}, err
	}
	host, _, _, err := splitEndpoint(p.Endpoint, p.Protocol)
	if err != nil {
		return Summary{}, err
	}
	sctx, stop := context.WithCancel(ctx)
	defer stop()
	r := &run{plan: p, stop: stop, acknowledged: s.NewCounter()}
	batches := make(chan batch) // made by this goroutine, which closes it
	var senders sync.WaitGroup
	for range p.Connections {
		e, err := newExporter(sctx, &p.Options)
		if err != nil {
			close(batches)
			senders.Wait()
			return Summary{}, fmt.Errorf("open the OTLP exporter to %s: %w", host, err)
		}
		senders.Go(func() {
			for b := range batches {
				r.send(sctx, e, b)
			}
			if err := e.Shutdown(context.WithoutCancel(ctx)); err != nil {
				r.note("close the exporter: " + err.Error())
			}
		})
	}
	began := p.Clock.Now()
	r.generate(sctx, s, newEmitter(s), batches)
	senders.Wait()
	ended := p.Clock.Now()
	if ctx.Err() != nil {
		r.note("the run was stopped before its end")
	}
	return r.summary(host, began, ended)
}

// generate fills batches, and paces them under a rate: a batch goes out when
// its last record is due.
func (r *run) generate(ctx context.Context, s *fleet.Stream, e *emitter, batches chan<- batch) {
	defer close(batches)
	began := r.plan.Clock.Now()
	for more := true; more && ctx.Err() == nil; {
		var b batch
		if b, more = e.fill(s, r.plan.Batch); len(b.records) == 0 {
			return
		}
		r.mu.Lock()
		r.generated += int64(len(b.records))
		due := r.generated
		r.mu.Unlock()
		if r.plan.Rate > 0 {
			wait := time.Duration(float64(due)/r.plan.Rate*float64(time.Second)) - r.plan.Clock.Now().Sub(began)
			if wait > 0 && r.plan.Clock.Sleep(ctx, wait) != nil {
				return
			}
		}
		select {
		case batches <- b:
		case <-ctx.Done():
			return
		}
		if !r.plan.deadline.IsZero() && !r.plan.Clock.Now().Before(r.plan.deadline) {
			return
		}
	}
}

// send exports one batch and counts what came of it.
func (r *run) send(ctx context.Context, e exporter, b batch) {
	err := e.Export(ctx, b.records)
	r.mu.Lock()
	defer r.mu.Unlock()
	if err == nil || takenWhole(err) {
		r.requests++
		r.acknowledged.Add(b.items)
		return
	}
	partial := strings.Contains(err.Error(), "partial success")
	if !partial {
		r.stop() // an endpoint that is away stays away for the next batch, too
	}
	if ctx.Err() == nil || partial || !errors.Is(err, context.Canceled) {
		r.noteLocked(err.Error())
	}
}

// takenWhole tells whether an answer took every record and had something to say
// of them: the SDK returns any partial success as an error, of a type that it
// keeps to itself.
func takenWhole(err error) bool { return strings.HasSuffix(err.Error(), "(0 logs rejected)") }

func (r *run) note(reason string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.noteLocked(reason)
}

func (r *run) noteLocked(reason string) {
	if slices.Contains(r.reasons, reason) {
		return
	}
	if len(r.reasons) < maxReasons {
		r.reasons = append(r.reasons, reason)
	}
}

func (r *run) summary(host string, began, ended time.Time) (Summary, error) {
	p := r.plan
	planned := p.total
	if planned == math.MaxInt64 {
		planned = r.generated
	}
	sum := Summary{
		Scenario: p.Scenario.Name, Seed: p.Seed, Endpoint: host, Protocol: p.Protocol, ReplayID: p.ReplayID,
		From: p.to.Add(-p.span()), To: p.to, Planned: planned, Requests: r.requests, Reasons: r.reasons,
		Seconds: ended.Sub(began).Seconds(), Expect: p.Scenario.Expect, Tally: r.acknowledged.Tally(),
	}
	if p.Days == 0 {
		sum.From, sum.To = began.UTC(), ended.UTC()
	}
	sum.Acknowledged = sum.Tally.Records
	sum.NotAcknowledged = planned - sum.Acknowledged
	if sum.NotAcknowledged > 0 {
		return sum, &NotAcknowledgedError{Endpoint: host, NotAcknowledged: sum.NotAcknowledged, Planned: planned, Reasons: sum.Reasons}
	}
	return sum, nil
}
