package dsquery

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/grafana/grafana-plugin-sdk-go/backend"
)

// Choices are the values chosen for each variable, by its name.
type Choices map[string][]string

// reference is ${name}, ${name:format} or $name.
var reference = regexp.MustCompile(`\$\{(\w+)(?::(\w+))?\}|\$(\w+)`)

// Interpolate puts variables into a text as Grafana's front end does. Macros stay, for
// the backend. A variable that is not there, or in a format that is not safe within
// SQL, stays or passes in Grafana, and fails here.
func (c Choices) Interpolate(text string, interval time.Duration) (string, error) {
	var failed error
	out := reference.ReplaceAllStringFunc(text, func(m string) string {
		parts := reference.FindStringSubmatch(m)
		name, format := or(parts[1], parts[3]), parts[2]
		values, found := c[name]
		switch {
		case name == "__rate_interval":
			return rateInterval(interval)
		case strings.HasPrefix(name, "__"):
			return m
		case !found:
			failed = fmt.Errorf("there is no variable %s", name)
		case format != "singlequote":
			failed = fmt.Errorf("variable %s: the format %q is not singlequote", name, format)
		}
		return singleQuoted(values)
	})
	return out, failed
}

// rateInterval is four scrapes of Prometheus' default interval at least, so that a
// rate has two samples.
func rateInterval(interval time.Duration) string {
	const scrape = 15 * time.Second
	return fmt.Sprintf("%.0fs", max(4*scrape, interval+scrape).Seconds())
}

// singleQuoted is Grafana's format of that name: a backslash passes as it is.
func singleQuoted(values []string) string {
	out := make([]string, len(values))
	for i, v := range values {
		out[i] = "'" + strings.ReplaceAll(v, "'", `\'`) + "'"
	}
	return strings.Join(out, ",")
}

// Ready makes a query ready to be asked: variables put in, and the interval that
// the browser would ask for.
func (q Query) Ready(choices Choices, over backend.TimeRange) (backend.DataQuery, error) {
	interval := Interval(over, q.Panel)
	fields := map[string]any{}
	if err := json.Unmarshal(q.JSON, &fields); err != nil {
		return backend.DataQuery{}, fmt.Errorf("%s: %w", q.Place, err)
	}
	for _, name := range []string{"rawSql", "expr", "legendFormat"} {
		text, isText := fields[name].(string)
		if !isText {
			continue
		}
		put, err := choices.Interpolate(text, interval)
		if err != nil {
			return backend.DataQuery{}, fmt.Errorf("%s: %w", q.Place, err)
		}
		fields[name] = put
	}
	fields["datasource"] = map[string]string{"type": q.Datasource}
	fields["intervalMs"] = interval.Milliseconds()
	raw, err := json.Marshal(fields)
	if err != nil {
		return backend.DataQuery{}, fmt.Errorf("%s: %w", q.Place, err)
	}
	return ParseQuery(raw, over)
}

// panelPoints is how many points a panel of half a window's width asks for.
const panelPoints = 600

// rounded are the intervals that Grafana asks for, each up to a bound.
var rounded = []struct{ below, interval time.Duration }{
	{1500 * time.Millisecond, time.Second},
	{3500 * time.Millisecond, 2 * time.Second},
	{7500 * time.Millisecond, 5 * time.Second},
	{12500 * time.Millisecond, 10 * time.Second},
	{17500 * time.Millisecond, 15 * time.Second},
	{25 * time.Second, 20 * time.Second},
	{45 * time.Second, 30 * time.Second},
	{90 * time.Second, time.Minute},
	{210 * time.Second, 2 * time.Minute},
	{450 * time.Second, 5 * time.Minute},
	{750 * time.Second, 10 * time.Minute},
	{1050 * time.Second, 15 * time.Minute},
	{1500 * time.Second, 20 * time.Minute},
	{2700 * time.Second, 30 * time.Minute},
	{5400 * time.Second, time.Hour},
	{9000 * time.Second, 2 * time.Hour},
	{16200 * time.Second, 3 * time.Hour},
	{32400 * time.Second, 6 * time.Hour},
	{24 * time.Hour, 12 * time.Hour},
	{7 * 24 * time.Hour, 24 * time.Hour},
}

// Interval is the time between two points that a browser asks a panel's query
// for: at least the panel's own minimum.
func Interval(over backend.TimeRange, panel *Panel) time.Duration {
	points, least := int64(panelPoints), time.Duration(0)
	if panel != nil {
		if panel.MaxDataPoints > 0 {
			points = panel.MaxDataPoints
		}
		least = duration(panel.Interval)
	}
	exact := over.To.Sub(over.From) / time.Duration(points)
	interval := 7 * 24 * time.Hour
	for _, r := range rounded {
		if exact < r.below {
			interval = r.interval
			break
		}
	}
	return max(interval, least)
}

// duration reads Grafana's 30s, 5m, 1h, 1d.
func duration(text string) time.Duration {
	text = strings.TrimPrefix(strings.TrimSpace(text), ">")
	if days, found := strings.CutSuffix(text, "d"); found {
		n, err := strconv.Atoi(days)
		if err == nil {
			return time.Duration(n) * 24 * time.Hour
		}
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		return 0 // none is set
	}
	return d
}
