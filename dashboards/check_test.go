package dashboards

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
)

// object is any JSON object: the checks look at what Grafana will read, not at the
// types that wrote it.
type object = map[string]any

var (
	panelTypes = []string{"row", "timeseries", "stat", "table", "bargauge", "state-timeline"}
	units      = []string{"none", "short", "locale", "percentunit", "bytes", "s", "suffix: days", perSecond, "reqps", "dateTimeFromNow"}
	// enums are the values that Grafana knows, by the member's name wherever it stands.
	enums = map[string][]string{
		"graphMode": {"none", "line", "area"}, "colorMode": {"value", "background", "background_solid", "none"},
		"justifyMode": {"auto", "center"}, "textMode": {"auto", "value", "value_and_name", "name", "none"},
		"orientation": {"auto", "vertical", "horizontal"}, "drawStyle": {"line", "bars", "points"},
		"showPoints": {"auto", "never", "always"}, "showValue": {"auto", "never", "always"},
		"cellHeight": {"sm", "md", "lg", "auto"}, "valueMode": {"color", "text", "hidden"},
		"displayMode": {"list", "table", "hidden", "basic", "gradient", "lcd"}, "placement": {"bottom", "right", "inControlsMenu"}, "sort": {"none", "asc", "desc"},
		"queryType": {"timeseries", "table"}, "editorType": {"sql"},
	}
	reference = regexp.MustCompile(`\$\{(\w+)(?::\w+)?\}|\$(\w+)`)
	// listed is the one form in which a variable's values are safe within SQL.
	listed = regexp.MustCompile(`IN \(\$\{\w+:singlequote\}\)`)
)

// maxBytes is where client-side apply and sidecars of Grafana give up.
const maxBytes = 256 << 10

// strict is the SDK's own reading of the file.
func strict(raw []byte) error {
	cog.NewRuntime().RegisterDataqueryVariant(variant())
	var d dashboard.Dashboard
	// The SDK returns an error also when it found nothing: a list of none.
	var found cog.BuildErrors
	if err := d.UnmarshalJSONStrict(raw); err != nil && (!errors.As(err, &found) || len(found) > 0) {
		return fmt.Errorf("decode strictly: %w", err)
	}
	// Strict decoding drops the panels, so what is validated is decoded again.
	d = dashboard.Dashboard{}
	if err := json.Unmarshal(raw, &d); err != nil {
		return fmt.Errorf("decode: %w", err)
	}
	if err := d.Validate(); err != nil && (!errors.As(err, &found) || len(found) > 0) {
		return fmt.Errorf("validate: %w", err)
	}
	return nil
}

// check finds what the SDK lets through.
func check(raw []byte) []string {
	var faults []string
	fault := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	if len(raw) > maxBytes {
		fault("size: %d bytes are more than %d", len(raw), maxBytes)
	}
	var d object
	if err := json.Unmarshal(raw, &d); err != nil {
		return append(faults, err.Error())
	}
	defined := variables(d, fault)
	used := map[string]bool{}
	walk(d, "", func(path, name string, v any) {
		visit(path, name, v, fault)
		if text, ok := v.(string); ok && !strings.HasPrefix(path, "/links") && name != "definition" {
			for _, m := range reference.FindAllStringSubmatch(text, -1) {
				used[m[1]+m[2]] = true
			}
		}
	})
	for name := range used {
		if !slices.Contains(defined, name) && !strings.HasPrefix(name, "__") {
			fault("variable: %s is used and not defined", name)
		}
	}
	for _, name := range defined {
		if !used[name] {
			fault("variable: %s is defined and not used", name)
		}
	}
	for _, link := range items(d, "links") {
		if link["placement"] != nil {
			fault("link: %v is hidden in a menu", link["title"])
		}
	}
	panels(d, fault)
	return faults
}

func variables(d object, fault func(string, ...any)) []string {
	var names []string
	for _, v := range items(d, "templating", "list") {
		names = append(names, fmt.Sprint(v["name"]))
		if v["type"] != "query" {
			continue
		}
		if v["refresh"] != 1.0 && v["refresh"] != 2.0 {
			fault("variable: %v is refreshed %v", v["name"], v["refresh"])
		}
		if v["includeAll"] != true || v["multi"] != true {
			fault("variable: %v has no All or takes one value only", v["name"])
		}
	}
	return names
}

// visit checks one member wherever it stands.
func visit(path, name string, v any, fault func(string, ...any)) {
	text, isText := v.(string)
	if v == nil && !strings.HasSuffix(path, "/steps/0/value") {
		fault("null: %s", path)
	}
	if isText && text == "" {
		fault("empty: %s", path) // the SDK writes its unset enums so
	}
	if values := enums[name]; values != nil && isText && !slices.Contains(values, text) {
		fault("enum: %s is %q", path, text)
	}
	if name == "rawSql" || name == "query" {
		for _, m := range reference.FindAllString(listed.ReplaceAllString(text, ""), -1) {
			if !strings.HasPrefix(m, "$__") {
				fault("variable: %s stands in %s other than as IN (${...:singlequote})", m, path)
			}
		}
	}
	if name == "unit" && isText && !slices.Contains(units, text) {
		fault("unit: %s is %q", path, text)
	}
	if name == "thresholds" {
		if t, ok := v.(object); ok && t["mode"] != "absolute" && t["mode"] != "percentage" {
			fault("enum: %s has mode %v", path, t["mode"])
		}
	}
	if name == "datasource" {
		source, _ := v.(object)
		want := map[any]any{ClickHouse: "${datasource}", "prometheus": "${prometheus}"}[source["type"]]
		if want == nil || source["uid"] != want {
			fault("datasource: %s is %v", path, v)
		}
	}
}

func panels(d object, fault func(string, ...any)) {
	ids := map[any]bool{}
	taken := map[[2]int]any{}
	for _, p := range items(d, "panels") {
		title := p["title"]
		if !slices.Contains(panelTypes, fmt.Sprint(p["type"])) {
			fault("type: %v is a %v", title, p["type"])
		}
		if id, _ := p["id"].(float64); id < 1 || ids[p["id"]] {
			fault("id: %v has id %v", title, p["id"])
		}
		ids[p["id"]] = true
		place(p, taken, fault)
		if p["type"] == "row" {
			continue
		}
		if text, _ := p["description"].(string); len(text) < 20 {
			fault("description: %v has none", title)
		}
		if p["datasource"] == nil {
			fault("datasource: %v names none", title)
		}
		if p["options"] == nil {
			fault("null: %v has no options", title)
		}
		if p["pluginVersion"] == nil {
			fault("version: %v has none, and is migrated as an old one", title)
		}
		defaults, _ := p["fieldConfig"].(object)["defaults"].(object)
		if _, ok := defaults["noValue"]; !ok {
			fault("empty state: %v does not say what nothing means", title)
		}
		if p["type"] != "table" && defaults["unit"] == nil && defaults["mappings"] == nil {
			fault("unit: %v has none", title)
		}
		for key := range defaults {
			if !slices.Contains([]string{"unit", "decimals", "min", "max", "mappings", "thresholds", "noValue", "custom", "color", "displayName", "links"}, key) {
				fault("field: %v has %s", title, key)
			}
		}
		targets(p, fault)
	}
}

func targets(p object, fault func(string, ...any)) {
	list := items(p, "targets")
	if len(list) == 0 {
		fault("target: %v asks nothing", p["title"])
	}
	for _, t := range list {
		source, _ := t["datasource"].(object)
		if own, _ := p["datasource"].(object); source == nil || own["type"] != source["type"] {
			fault("datasource: a target of %v goes elsewhere than its panel", p["title"])
		}
		query, _ := t["rawSql"].(string)
		if source != nil && source["type"] == ClickHouse && query == "" {
			fault("target: %v has no rawSql", p["title"])
		}
		order := query[max(strings.LastIndex(query, "ORDER BY "), 0):] // those before it sort windows
		if t["format"] == 0.0 && !strings.HasPrefix(order, "ORDER BY time") {
			fault("target: the series of %v are not sorted", p["title"])
		}
	}
}

// place marks the cells of a panel, each of which belongs to one panel.
func place(p object, taken map[[2]int]any, fault func(string, ...any)) {
	pos, _ := p["gridPos"].(object)
	at := func(key string) int { n, _ := pos[key].(float64); return int(n) }
	if at("w") < 1 || at("h") < 1 || at("x")+at("w") > gridWidth {
		fault("layout: %v is at %v", p["title"], pos)
	}
	for x := at("x"); x < at("x")+at("w"); x++ {
		for y := at("y"); y < at("y")+at("h"); y++ {
			if other := taken[[2]int{x, y}]; other != nil {
				fault("layout: %v lies on %v", p["title"], other)
				return
			}
			taken[[2]int{x, y}] = p["title"]
		}
	}
}

// walk visits every member with its JSON pointer and name.
func walk(v any, path string, visit func(path, name string, v any)) {
	step := func(key string, child any) {
		visit(path+"/"+key, key, child)
		walk(child, path+"/"+key, visit)
	}
	switch v := v.(type) {
	case object:
		for key, child := range v {
			step(key, child)
		}
	case []any:
		for i, child := range v {
			step(fmt.Sprint(i), child)
		}
	}
}

// items is the list of objects at a path.
func items(d object, path ...string) []object {
	var v any = d
	for _, key := range path {
		o, _ := v.(object)
		v = o[key]
	}
	list, _ := v.([]any)
	objects := make([]object, 0, len(list))
	for _, item := range list {
		o, _ := item.(object)
		objects = append(objects, o)
	}
	return objects
}
