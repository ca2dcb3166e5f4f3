package soakgatereceiver

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/receiver"
	"go.opentelemetry.io/collector/receiver/receiverhelper"
	"go.uber.org/zap"
	"google.golang.org/grpc"

	"github.com/soakgate/soakgate/internal/findings"
)

// server is the running component: the listeners, and what they serve.
type server struct {
	config  *Config
	set     receiver.Settings
	metrics *metrics
	forget  func()
	signals []signal

	start, stop sync.Once
	startErr    error
	stopErr     error

	warnTooLarge   sync.Once
	partnerRefuses atomic.Bool

	grpc    *grpc.Server
	http    *http.Server
	serving sync.WaitGroup
	// Where the listeners are bound, for logs and tests.
	grpcAddress, httpAddress string
}

func newServer(set receiver.Settings, config *Config, forget func()) (*server, error) {
	m, err := newMetrics(set.MeterProvider)
	if err != nil {
		return nil, fmt.Errorf("make the receiver's metrics: %w", err)
	}
	return &server{config: config, set: set, metrics: m, forget: forget}, nil
}

// Start opens the listeners, once the pipeline behind them has shown that
// findings come back through it.
func (s *server) Start(ctx context.Context, host component.Host) error {
	s.start.Do(func() {
		if s.startErr = s.probe(ctx); s.startErr != nil {
			return
		}
		if s.startErr = s.listen(ctx, host); s.startErr != nil {
			s.startErr = errors.Join(s.startErr, s.Shutdown(ctx))
		}
	})
	return s.startErr
}

// probe sends an empty request through each pipeline and expects the exporter's
// report: the exporters have started before, and only a walk through the
// pipeline can tell what each of its components does with the context.
func (s *server) probe(ctx context.Context) error {
	for _, sig := range s.signals {
		report := &findings.Report{RejectInvalid: s.config.RejectInvalid}
		err := sig.probe(findings.NewContext(ctx, report))
		if _, delivered := report.Found(); delivered {
			continue
		}
		if err != nil {
			// A refusal, such as that of a full memory_limiter, says nothing of the pipeline.
			s.set.Logger.Warn("Whether findings come back to senders could not be tried", zap.String("of", sig.things), zap.Error(err))
			continue
		}
		consequence := "findings cannot be answered: use the otlp receiver there"
		if s.config.RejectInvalid {
			consequence = "nothing would reject what breaks the contract, as reject_invalid asks"
		}
		return fmt.Errorf("the pipeline for %s of receiver %s has no soakgate exporter that answers, or a batch processor or queue stands before it: %s", sig.things, s.set.ID, consequence)
	}
	return nil
}

func (s *server) listen(ctx context.Context, host component.Host) error {
	if c := s.config.Protocols.GRPC.Get(); c != nil {
		if err := s.serveGRPC(ctx, *c, host); err != nil {
			return fmt.Errorf("listen for OTLP over gRPC at %s: %w", c.NetAddr.Endpoint, err)
		}
	}
	if c := s.config.Protocols.HTTP.Get(); c != nil {
		if err := s.serveHTTP(ctx, *c, host); err != nil {
			return fmt.Errorf("listen for OTLP over HTTP at %s: %w", c.Server.NetAddr.Endpoint, err)
		}
	}
	return nil
}

// Shutdown ends the listeners when the requests under way are answered, or when
// the context ends. Safe twice, and without Start.
func (s *server) Shutdown(ctx context.Context) error {
	s.stop.Do(func() {
		s.forget()
		if s.http != nil {
			s.stopErr = s.http.Shutdown(ctx)
		}
		if s.grpc != nil {
			// GracefulStop knows no deadline of its own.
			end := context.AfterFunc(ctx, s.grpc.Stop)
			s.grpc.GracefulStop()
			end()
		}
		s.serving.Wait()
	})
	return s.stopErr
}

// export takes a decoded request through the pipeline and makes the answer.
func (s *server) export(ctx context.Context, sig *signal, r request, obs *receiverhelper.ObsReport, transport, format string) (answer, error) {
	n := r.count()
	if n == 0 {
		s.metrics.empty(ctx, transport)
		return r.answer(0, findings.Found{}.Message(0, sig.things)), nil
	}
	report := &findings.Report{RejectInvalid: s.config.RejectInvalid}
	err := r.consume(findings.NewContext(ctx, report), obs, format)
	found, held := report.Found()
	if err != nil && !held {
		return nil, err
	}
	s.partner(ctx, transport, err)
	message := found.Message(n, sig.things)
	if message == "" {
		return nothing{}, nil
	}
	s.metrics.told(ctx, transport)
	return r.answer(found.Rejected, message), nil
}

// partner takes note of an exporter beside ours that refused what ours holds. The
// sender is not told: were it to send again, we would get what is on our disk.
func (s *server) partner(ctx context.Context, transport string, err error) {
	if err != nil {
		s.metrics.notForwarded(ctx, transport)
	}
	if refusing := err != nil; s.partnerRefuses.Swap(refusing) != refusing {
		if refusing {
			s.set.Logger.Warn("Another exporter refuses data that is stored here; senders are not asked to repeat it, and it is lost to that exporter", zap.Error(err))
		} else {
			s.set.Logger.Info("Other exporters take data again")
		}
	}
}

// observer makes the Collector's own telemetry of one transport.
func (s *server) observer(transport string) (*receiverhelper.ObsReport, error) {
	return receiverhelper.NewObsReport(receiverhelper.ObsReportSettings{
		ReceiverID: s.set.ID, Transport: transport, ReceiverCreateSettings: s.set,
	})
}
