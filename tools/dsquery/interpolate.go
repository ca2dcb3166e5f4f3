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

// Choice is what stands in a variable: one value, several, or a text that the
// dashboard gives for All and that is put in as it is.
type Choice struct {
	Values []string
	Raw    string // the dashboard's own text for All
	Multi  bool   // a list, though it may hold one value
}

// Choices are the values of all variables, by name.
type Choices map[string]Choice

// reference is ${name}, ${name:format} or $name.
var reference = regexp.MustCompile(`\$\{(\w+)(?::(\w+))?\}|\$(\w+)`)

// Interpolate puts variables into a text as Grafana's front end does. Macros
// stay, for the backend. A variable that is not there stays in Grafana, and fails here.
func (c Choices) Interpolate(text string, over backend.TimeRange, interval time.Duration) (string, error) {
	builtin := builtins(over, interval)
	var failed error
	out := reference.ReplaceAllStringFunc(text, func(m string) string {
		parts := reference.FindStringSubmatch(m)
		name, format := or(parts[1], parts[3]), parts[2]
		if value, found := builtin[name]; found {
			return value
		}
		choice, found := c[name]
		switch {
		case strings.HasPrefix(name, "__"):
			return m
		case !found:
			failed = fmt.Errorf("there is no variable %s", name)
			return m
		}
		value, err := choice.format(format)
		if err != nil {
			failed = fmt.Errorf("variable %s: %w", name, err)
		}
		return value
	})
	return out, failed
}

// builtins are Grafana's own variables of time.
func builtins(over backend.TimeRange, interval time.Duration) map[string]string {
	span := over.To.Sub(over.From)
	rate := max(4*15*time.Second, interval+15*time.Second) // of the default scrape interval
	return map[string]string{
		"__from": strconv.FormatInt(over.From.UnixMilli(), 10), "__to": strconv.FormatInt(over.To.UnixMilli(), 10),
		"__range_s": whole(span.Seconds()), "__range_ms": strconv.FormatInt(span.Milliseconds(), 10), "__range": whole(span.Seconds()) + "s",
		"__interval": promDuration(interval), "__interval_ms": strconv.FormatInt(interval.Milliseconds(), 10), "__rate_interval": promDuration(rate),
	}
}

func whole(f float64) string { return strconv.FormatFloat(f, 'f', 0, 64) }

func promDuration(d time.Duration) string {
	if d%time.Second != 0 {
		return strconv.FormatInt(d.Milliseconds(), 10) + "ms"
	}
	return whole(d.Seconds()) + "s"
}

func (c Choice) format(format string) (string, error) {
	if c.Raw != "" {
		return c.Raw, nil
	}
	switch format {
	case "singlequote": // a backslash passes as it is
		return c.each("'", ",", func(v string) string { return strings.ReplaceAll(v, "'", `\'`) }), nil
	case "sqlstring":
		return c.each("'", ",", func(v string) string { return strings.NewReplacer("'", "''", `"`, `\"`).Replace(v) }), nil
	case "raw", "csv":
		return strings.Join(c.Values, ","), nil
	case "pipe":
		return strings.Join(c.Values, "|"), nil
	case "text":
		return strings.Join(c.Values, " + "), nil
	case "regex":
		quoted := make([]string, len(c.Values))
		for i, v := range c.Values {
			quoted[i] = escapeRegexp(v)
		}
		if len(quoted) == 1 {
			return quoted[0], nil
		}
		return "(" + strings.Join(quoted, "|") + ")", nil
	case "": // the ClickHouse data source's own way
		if c.Multi {
			return "'" + strings.Join(c.Values, "','") + "'", nil
		}
		return strings.Join(c.Values, ","), nil
	}
	return "", fmt.Errorf("the format %q is not known here", format)
}

var special = regexp.MustCompile(`[\\^$*+?.()|[\]{}/]`)

func escapeRegexp(v string) string { return special.ReplaceAllString(v, `\$0`) }

func (c Choice) each(quote, separator string, escape func(string) string) string {
	out := make([]string, len(c.Values))
	for i, v := range c.Values {
		out[i] = quote + escape(v) + quote
	}
	return strings.Join(out, separator)
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
		put, err := choices.Interpolate(text, over, interval)
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
