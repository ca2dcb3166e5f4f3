package dsquery

import (
	"strings"
	"testing"
	"time"

	"github.com/grafana/grafana-plugin-sdk-go/backend"
)

func TestInterpolate(t *testing.T) {
	chosen := Choices{"one": {"a"}, "many": {"a", "o'b", `c"d\`}, "none": nil}
	for text, want := range map[string]string{
		"IN (${one:singlequote})":  "IN ('a')",
		"IN (${many:singlequote})": `IN ('a','o\'b','c"d\')`,
		"IN (${none:singlequote})": "IN ()",
		"[$__rate_interval]":       "[75s]",
		"$__timeFilter(minute)":    "$__timeFilter(minute)",
		"price in $ and $__all":    "price in $ and $__all",
	} {
		got, err := chosen.Interpolate(text, time.Minute)
		if err != nil || got != want {
			t.Errorf("%s became %s, wanted %s: %v", text, got, want, err)
		}
	}
	for text, want := range map[string]string{"${nope:singlequote}": "no variable nope", "${one:csv}": `format "csv"`, "$one": `format ""`} {
		if _, err := chosen.Interpolate(text, time.Minute); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, wanted %s", text, err, want)
		}
	}
	if got, _ := chosen.Interpolate("$__rate_interval", time.Second); got != "60s" {
		t.Errorf("a rate needs four scrapes, and asks for %s", got)
	}
}

func TestInterval(t *testing.T) {
	for _, c := range []struct {
		span  time.Duration
		panel Panel
		want  time.Duration
	}{
		{time.Hour, Panel{}, 5 * time.Second},
		{24 * time.Hour, Panel{}, 2 * time.Minute},
		{30 * 24 * time.Hour, Panel{}, time.Hour},
		{time.Hour, Panel{Interval: "1h"}, time.Hour},
		{24 * time.Hour, Panel{MaxDataPoints: 24}, time.Hour},
		{20 * 365 * 24 * time.Hour, Panel{MaxDataPoints: 100}, 7 * 24 * time.Hour},
	} {
		over := backend.TimeRange{From: time.Unix(0, 0), To: time.Unix(0, 0).Add(c.span)}
		if got := Interval(over, &c.panel); got != c.want {
			t.Errorf("%v over %s gave %s, wanted %s", c.panel, c.span, got, c.want)
		}
	}
}

func TestMacros(t *testing.T) {
	query := backend.DataQuery{
		RefID: "A", Interval: time.Minute,
		TimeRange: backend.TimeRange{From: time.UnixMilli(1_796_036_400_123).UTC(), To: time.UnixMilli(1_796_040_000_456).UTC()},
	}
	for text, want := range map[string]string{
		"$__timeFilter(at)":         "at >= toDateTime(1796036400) AND at <= toDateTime(1796040000)",
		"$__fromTime, $__toTime":    "toDateTime(1796036400), toDateTime(1796040000)",
		"$__timeInterval(at)":       "toStartOfInterval(toDateTime(at), INTERVAL 60 second)",
		`SELECT 'it\'s $5 or ${x}'`: `SELECT 'it\'s $5 or ${x}'`,
	} {
		query.JSON = []byte(`{"format":1,"rawSql":` + quoted(text) + `}`)
		got, _, err := SQL(query)
		if err != nil || got != want {
			t.Errorf("%s became %s, wanted %s: %v", text, got, want, err)
		}
	}
	for text, want := range map[string]string{"$__timeFilter()": "wants one argument", "SELECT ${nope}": "nothing stands for", "SELECT 'a', $b": "nothing stands for"} {
		query.JSON = []byte(`{"format":1,"rawSql":` + quoted(text) + `}`)
		if _, _, err := SQL(query); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, wanted %s", text, err, want)
		}
	}
}
