package soakgatereceiver

import (
	"context"
	"errors"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

// scope is the instruments' scope.
const scope = "github.com/soakgate/soakgate/internal/soakgatereceiver"

// The transports, as labels.
const (
	transportGRPC = "grpc"
	transportHTTP = "http"
)

// reason says why a request was refused before it reached the pipeline: a closed
// set, used as a metric label.
type reason string

const (
	reasonTooLarge    reason = "too_large"
	reasonUndecodable reason = "undecodable"
	reasonMediaType   reason = "media_type"
	reasonMethod      reason = "method"
	reasonOther       reason = "other" // authentication, content encodings
)

// metrics are the component's instruments. Their names are whole: the
// Collector's Prometheus endpoint adds nothing. Labels hold closed sets only.
type metrics struct {
	refusals, empties, answers, unforwarded metric.Int64Counter
}

func newMetrics(provider metric.MeterProvider) (*metrics, error) {
	meter := provider.Meter(scope)
	m := &metrics{}
	var errs []error
	for _, c := range []struct {
		into              *metric.Int64Counter
		name, description string
	}{
		{&m.refusals, "soakgate_receiver_refused_requests_total", "Requests refused before they reached the pipeline, by transport and reason."},
		{&m.empties, "soakgate_receiver_empty_requests_total", "Requests that held no log record and no span, by transport."},
		{&m.answers, "soakgate_receiver_findings_total", "Requests whose answer told the sender of findings, by transport."},
		{&m.unforwarded, "soakgate_receiver_not_forwarded_requests_total", "Requests that are stored here and that another exporter of the pipeline refused, by transport."},
	} {
		counter, err := meter.Int64Counter(c.name, metric.WithDescription(c.description))
		*c.into = counter
		errs = append(errs, err)
	}
	return m, errors.Join(errs...)
}

func (m *metrics) refused(ctx context.Context, transport string, r reason) {
	m.refusals.Add(ctx, 1, metric.WithAttributes(attribute.String("transport", transport), attribute.String("reason", string(r))))
}

func (m *metrics) empty(ctx context.Context, transport string) {
	m.empties.Add(ctx, 1, metric.WithAttributes(attribute.String("transport", transport)))
}

func (m *metrics) told(ctx context.Context, transport string) {
	m.answers.Add(ctx, 1, metric.WithAttributes(attribute.String("transport", transport)))
}

func (m *metrics) notForwarded(ctx context.Context, transport string) {
	m.unforwarded.Add(ctx, 1, metric.WithAttributes(attribute.String("transport", transport)))
}
