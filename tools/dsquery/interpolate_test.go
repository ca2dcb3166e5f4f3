package dsquery

import (
	"strings"
	"testing"
	"time"

	"github.com/grafana/grafana-plugin-sdk-go/backend"
)

func TestInterpolate(t *testing.T) {
	over := backend.TimeRange{From: time.UnixMilli(1_000_000), To: time.UnixMilli(4_600_000)}
	chosen := Choices{
		"one": {Values: []string{"a"}}, "many": {Values: []string{"a", "o'b", `c"d`}, Multi: true}, "whole": {Raw: ".*"}, "dotted": {Values: []string{"a.b", "c"}},
	}
	for text, want := range map[string]string{
		"${one}":                        "a",
		"$one.x":                        "a.x",
		"${many}":                       `'a','o'b','c"d'`,
		"${many:singlequote}":           `'a','o\'b','c"d'`,
		"${many:sqlstring}":             `'a','o''b','c\"d'`,
		"${many:pipe}":                  `a|o'b|c"d`,
		"${dotted:regex}":               `(a\.b|c)`,
		"${whole:singlequote}":          ".*",
		"${__from}, $__to":              "1000000, 4600000",
		"$__interval $__interval_ms":    "60s 60000",
		"$__rate_interval":              "75s",
		"$__range":                      "3600s",
		"$__timeFilter(minute)":         "$__timeFilter(minute)",
		"price in $, ${one} and $__all": "price in $, a and $__all",
	} {
		got, err := chosen.Interpolate(text, over, time.Minute)
		if err != nil || got != want {
			t.Errorf("%s became %s, wanted %s: %v", text, got, want, err)
		}
	}
	for text, want := range map[string]string{"${nope}": "no variable nope", "${one:percentencode}": `format "percentencode"`} {
		if _, err := chosen.Interpolate(text, over, time.Minute); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, wanted %s", text, err, want)
		}
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
		"$__timeFilter_ms(at)":      "at >= fromUnixTimestamp64Milli(1796036400123) AND at <= fromUnixTimestamp64Milli(1796040000456)",
		"$__dateFilter(day)":        "day >= toDate('2026-11-30') AND day <= toDate('2026-11-30')",
		"$__fromTime, $__toTime":    "toDateTime(1796036400), toDateTime(1796040000)",
		"$__timeInterval(at)":       "toStartOfInterval(toDateTime(at), INTERVAL 60 second)",
		"$__timeInterval_ms(at)":    "toStartOfInterval(toDateTime64(at, 3), INTERVAL 60000 millisecond)",
		"$__interval_s":             "60",
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
