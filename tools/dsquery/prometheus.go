package dsquery

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/grafana/grafana-plugin-sdk-go/backend"
	"github.com/grafana/grafana-plugin-sdk-go/data"
)

// Prometheus answers queries through Prometheus' HTTP interface.
type Prometheus struct{ url string }

// OpenPrometheus names the server, such as http://127.0.0.1:9090.
func OpenPrometheus(address string) *Prometheus {
	return &Prometheus{url: strings.TrimSuffix(address, "/")}
}

// maxAnswer bounds what is read of one answer.
const maxAnswer = 32 << 20

// promQuery is a panel's query for Prometheus.
type promQuery struct {
	Expr         string `json:"expr"`
	Instant      bool   `json:"instant"`
	LegendFormat string `json:"legendFormat"`
	Format       string `json:"format"`
}

// sample is a time in seconds and a value as text.
type sample [2]any

type promAnswer struct {
	Status, Error string
	Data          struct {
		Result []struct {
			Metric map[string]string
			Value  sample   // of an instant
			Values []sample // of a range
		}
	}
}

// Query runs one query: a frame for each series, or one table.
func (p *Prometheus) Query(ctx context.Context, query backend.DataQuery) (data.Frames, error) {
	var q promQuery
	if err := json.Unmarshal(query.JSON, &q); err != nil {
		return nil, fmt.Errorf("read query %s: %w", query.RefID, err)
	}
	if strings.Contains(q.Expr, "$") {
		return nil, fmt.Errorf("query %s: a variable is left in %s", query.RefID, q.Expr)
	}
	path, form := "/api/v1/query", url.Values{"query": {q.Expr}, "time": {unix(query.TimeRange.To)}}
	if !q.Instant {
		every := max(query.Interval, time.Second)
		// Grafana aligns a range to its step, so that panels agree.
		path, form = "/api/v1/query_range", url.Values{
			"query": {q.Expr}, "step": {strconv.FormatFloat(every.Seconds(), 'f', -1, 64)},
			"start": {unix(query.TimeRange.From.Truncate(every))}, "end": {unix(query.TimeRange.To.Truncate(every))},
		}
	}
	answer, err := p.ask(ctx, path, form)
	if err != nil {
		return nil, fmt.Errorf("query %s: %w\n%s", query.RefID, err, q.Expr)
	}
	frames, err := answer.frames(q)
	if err != nil {
		return nil, fmt.Errorf("query %s: %w", query.RefID, err)
	}
	if q.Format == "table" {
		frames = table(frames, answer)
	}
	for _, f := range frames {
		f.RefID = query.RefID
	}
	return frames, nil
}

func unix(t time.Time) string { return strconv.FormatFloat(float64(t.UnixMilli())/1000, 'f', 3, 64) }

func (p *Prometheus) ask(ctx context.Context, path string, form url.Values) (*promAnswer, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, p.url+path, strings.NewReader(form.Encode()))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	if err != nil {
		return nil, err
	}
	var answer promAnswer
	if err := json.Unmarshal(body, &answer); err != nil {
		return nil, fmt.Errorf("%s: %w", response.Status, err)
	}
	if answer.Status != "success" {
		return nil, fmt.Errorf("prometheus refuses it: %s", answer.Error)
	}
	return &answer, nil
}

// frames makes a frame of time and value for each series.
func (a *promAnswer) frames(q promQuery) (data.Frames, error) {
	frames := data.Frames{}
	for _, r := range a.Data.Result {
		samples := r.Values
		if q.Instant {
			samples = []sample{r.Value}
		}
		times, values := make([]time.Time, 0, len(samples)), make([]float64, 0, len(samples))
		for _, s := range samples {
			at, isNumber := s[0].(float64)
			text, isText := s[1].(string)
			if !isNumber || !isText {
				return nil, fmt.Errorf("prometheus sent the sample %v", s)
			}
			v, err := strconv.ParseFloat(text, 64)
			if err != nil {
				return nil, fmt.Errorf("read a value: %w", err)
			}
			times, values = append(times, time.UnixMilli(int64(at*1000)).UTC()), append(values, v)
		}
		name := legend(q.LegendFormat, r.Metric)
		value := data.NewField("Value", r.Metric, values).SetConfig(&data.FieldConfig{DisplayNameFromDS: name})
		frames = append(frames, data.NewFrame(name, data.NewField("Time", nil, times), value))
	}
	return frames, nil
}

var placeholder = regexp.MustCompile(`\{\{\s*(\w+)\s*\}\}`)

// legend names a series, as a format with {{label}} in it says.
func legend(format string, labels data.Labels) string {
	if format == "" || format == "__auto" {
		return labels.String()
	}
	return placeholder.ReplaceAllStringFunc(format, func(m string) string {
		return labels[placeholder.FindStringSubmatch(m)[1]]
	})
}

// table puts all series into one frame: time, a column for each label, value.
func table(frames data.Frames, a *promAnswer) data.Frames {
	names := map[string]bool{}
	for _, r := range a.Data.Result {
		for name := range r.Metric {
			names[name] = true
		}
	}
	out := data.NewFrame("", data.NewField("Time", nil, []time.Time{}))
	labels := slices.Sorted(maps.Keys(names))
	for _, name := range labels {
		out.Fields = append(out.Fields, data.NewField(name, nil, []string{}))
	}
	out.Fields = append(out.Fields, data.NewField("Value", nil, []float64{}))
	for i, f := range frames {
		for row := range f.Rows() {
			cells := []any{f.At(0, row)}
			for _, name := range labels {
				cells = append(cells, a.Data.Result[i].Metric[name])
			}
			out.AppendRow(append(cells, f.At(1, row))...)
		}
	}
	return data.Frames{out}
}
