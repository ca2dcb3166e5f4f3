package dsquery

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/grafana/grafana-plugin-sdk-go/backend"
	"github.com/grafana/grafana-plugin-sdk-go/data"
)

// The data sources that are known, by their plugin's id.
const (
	ClickHouseType = "grafana-clickhouse-datasource"
	PrometheusType = "prometheus"
)

// Sources answers queries, each by its data source.
type Sources struct {
	ClickHouse *ClickHouse
	Prometheus *Prometheus
}

// target is the part of a query that tells where it goes and how finely.
type target struct {
	RefID      string `json:"refId"`
	Datasource struct {
		Type string `json:"type"`
	} `json:"datasource"`
	IntervalMS    float64 `json:"intervalMs"`
	MaxDataPoints int64   `json:"maxDataPoints"`
}

// Query answers one query.
func (s *Sources) Query(ctx context.Context, query backend.DataQuery) (data.Frames, error) {
	switch {
	case query.QueryType == ClickHouseType && s.ClickHouse != nil:
		return s.ClickHouse.Query(ctx, query)
	case query.QueryType == PrometheusType && s.Prometheus != nil:
		return s.Prometheus.Query(ctx, query)
	}
	return nil, fmt.Errorf("query %s: there is no data source of type %q", query.RefID, query.QueryType)
}

// QueryData answers a browser's request, query by query.
func (s *Sources) QueryData(ctx context.Context, request *backend.QueryDataRequest) *backend.QueryDataResponse {
	response := backend.NewQueryDataResponse()
	for _, query := range request.Queries {
		r := backend.DataResponse{Status: backend.StatusOK}
		if r.Frames, r.Error = s.Query(ctx, query); r.Error != nil {
			r.Status = backend.StatusBadRequest
		}
		response.Responses[query.RefID] = r
	}
	return response
}

// ParseRequest reads the body of POST /api/ds/query.
func ParseRequest(body []byte) (*backend.QueryDataRequest, error) {
	var in struct {
		Queries  []json.RawMessage `json:"queries"`
		From, To json.Number
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return nil, fmt.Errorf("read request: %w", err)
	}
	from, err1 := in.From.Int64()
	to, err2 := in.To.Int64()
	if err := errors.Join(err1, err2); err != nil {
		return nil, fmt.Errorf("read the request's time range: %w", err)
	}
	request := &backend.QueryDataRequest{}
	for _, raw := range in.Queries {
		query, err := ParseQuery(raw, backend.TimeRange{From: time.UnixMilli(from).UTC(), To: time.UnixMilli(to).UTC()})
		if err != nil {
			return nil, err
		}
		request.Queries = append(request.Queries, query)
	}
	return request, nil
}

// ParseQuery reads one query of a request. Its QueryType is the data source's type.
func ParseQuery(raw json.RawMessage, over backend.TimeRange) (backend.DataQuery, error) {
	var t target
	if err := json.Unmarshal(raw, &t); err != nil {
		return backend.DataQuery{}, fmt.Errorf("read query: %w", err)
	}
	return backend.DataQuery{
		RefID: t.RefID, QueryType: t.Datasource.Type, JSON: raw, MaxDataPoints: t.MaxDataPoints, TimeRange: over,
		Interval: time.Duration(t.IntervalMS * float64(time.Millisecond)),
	}, nil
}
