package dashboards

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/common"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/prometheus"
)

// page is one dashboard: what it is called, which variables and annotations it has,
// and what fills it.
type page struct {
	name, title, description string
	from                     string
	variables                []string // query variables, those that others depend on first
	annotations              []string
	prometheus               bool
	fill                     func(b *board)
}

// pages are the dashboards in the order of their links.
var pages = []page{soakPage, errorsPage, contractPage, upstreamPage, collectorPage}

// uid is stable: links, bookmarks and runbooks rest on it.
func (p page) uid() string { return "soakgate-" + p.name }

// panelVersion is the release of Grafana whose form the panels have, which is the SDK's.
// Grafana takes a panel without one for a very old one, and migrates its options.
const panelVersion = "12.0.0"

// gridWidth is the width of Grafana's grid in columns.
const gridWidth = 24

// board builds the dashboard of one page.
type board struct {
	texts   map[string]string
	options Options
	page    page
	out     *dashboard.DashboardBuilder
	nextID  uint32
	x, y    uint32            // where the next panel goes
	line    uint32            // height of the current line
	last    dashboard.GridPos // of the last panel
	errs    []error
}

func (b *board) build() (dashboard.Dashboard, error) {
	p := b.page
	b.out = dashboard.NewDashboardBuilder(p.title).Uid(p.uid()).Description(p.description).
		Tags([]string{"soakgate"}).Timezone("browser").Time(p.from, "now").Refresh("1m").
		Tooltip(dashboard.DashboardCursorSyncCrosshair).Editable()
	for _, other := range pages {
		if other.name == p.name {
			continue
		}
		b.out.Link(dashboard.NewDashboardLinkBuilder(other.title).Type(dashboard.DashboardLinkTypeLink).
			Icon("dashboard").Tooltip(other.description).Url("/d/" + other.uid()).KeepTime(true).IncludeVars(true))
	}
	b.datasources()
	for _, name := range p.variables {
		b.out.WithVariable(b.variable(name))
	}
	for _, name := range p.annotations {
		b.out.Annotation(b.annotation(name))
	}
	p.fill(b)
	d, err := b.out.Build()
	settle(&d)
	return d, errors.Join(append(b.errs, err)...)
}

// settle sets what the SDK's builders leave out or set to a default of their own.
func settle(d *dashboard.Dashboard) {
	for _, panel := range d.Panels {
		if panel.Panel != nil {
			panel.Panel.PluginVersion = new(panelVersion)
		}
	}
	for i := range d.Links {
		d.Links[i].Placement = nil // above the panels; the SDK puts links into a menu where nobody finds them
	}
}

// text is a statement's text. One that is not there ends the build, by the error kept.
func (b *board) text(name string) string {
	text, ok := b.texts[name]
	if !ok {
		b.errs = append(b.errs, fmt.Errorf("there is no statement %s in panels", name))
		return "missing"
	}
	return strings.TrimSpace(text)
}

// placed is a panel's builder of any type.
type placed[B any] interface {
	cog.Builder[dashboard.Panel]
	Id(id uint32) B
	GridPos(pos dashboard.GridPos) B
}

// put places a panel right of the last one, or on a new line where it is too wide.
func put[B placed[B]](b *board, width, height uint32, panel B) {
	if b.x+width > gridWidth {
		b.newLine()
	}
	b.last = dashboard.GridPos{X: b.x, Y: b.y, W: width, H: height}
	b.out.WithPanel(panel.Id(b.nextID).GridPos(b.last))
	b.nextID++
	b.x += width
	b.line = max(b.line, height)
}

// under places a panel below the last one, in its column: beside a tall one.
func under[B placed[B]](b *board, height uint32, panel B) {
	b.last.Y, b.last.H = b.last.Y+b.last.H, height
	b.out.WithPanel(panel.Id(b.nextID).GridPos(b.last))
	b.nextID++
	b.line = max(b.line, b.last.Y+height-b.y)
}

func (b *board) newLine() {
	b.x, b.y, b.line = 0, b.y+b.line, 0
}

// row puts a heading over the panels that follow.
func (b *board) row(title string) {
	b.newLine()
	b.out.WithRow(dashboard.NewRowBuilder(title).Id(b.nextID).GridPos(dashboard.GridPos{X: 0, Y: b.y, W: gridWidth, H: 1}))
	b.nextID++
	b.y++
}

// rows asks a statement for a table.
func (b *board) rows(name string) Query { return b.query("A", FormatTable, name) }

// series asks a statement for time series.
func (b *board) series(name string) Query { return b.query("A", FormatTimeSeries, name) }

func (b *board) query(ref string, f Format, name string) Query {
	source := clickhouseRef()
	return Query{
		RefID: ref, Datasource: &source, EditorType: "sql", QueryType: queryTypes[f], Format: f,
		RawSQL: b.text(name), PluginVersion: pluginVersion, Meta: QueryMeta{Timezone: "UTC"},
	}
}

// promRange asks Prometheus for time series.
func promRange(ref, expr, legend string) *prometheus.DataqueryBuilder {
	return prometheus.NewDataqueryBuilder().RefId(ref).Datasource(prometheusRef()).EditorMode(prometheus.QueryEditorModeCode).
		Expr(expr).LegendFormat(legend).Range()
}

// promNow asks Prometheus for the newest values.
func promNow(ref, expr, legend string, f prometheus.PromQueryFormat) *prometheus.DataqueryBuilder {
	return prometheus.NewDataqueryBuilder().RefId(ref).Datasource(prometheusRef()).EditorMode(prometheus.QueryEditorModeCode).
		Expr(expr).LegendFormat(legend).Instant().Format(f)
}

func clickhouseRef() common.DataSourceRef { return ref(ClickHouse, "${datasource}") }
func prometheusRef() common.DataSourceRef { return ref("prometheus", "${prometheus}") }

func ref(kind, uid string) common.DataSourceRef {
	return common.DataSourceRef{Type: &kind, Uid: &uid}
}

// datasources are the variables that panels name instead of a data source.
func (b *board) datasources() {
	source := dashboard.NewDatasourceVariableBuilder("datasource").Label("ClickHouse").Type(ClickHouse)
	if uid := b.options.Datasource; uid != "" {
		source.Current(option(uid))
	}
	b.out.WithVariable(source)
	if b.page.prometheus {
		b.out.WithVariable(dashboard.NewDatasourceVariableBuilder("prometheus").Label("Prometheus").Type("prometheus"))
	}
}

func option(values ...string) dashboard.VariableOption {
	selected := true
	value := dashboard.StringOrArrayOfString{ArrayOfString: values}
	if len(values) == 1 {
		value = dashboard.StringOrArrayOfString{String: &values[0]}
	}
	return dashboard.VariableOption{Selected: &selected, Text: value, Value: value}
}

// scope are the variables that nearly all panels on ClickHouse are bounded by.
var scope = []string{"server", "environment", "deployment", "version", "tool"}

var variableLabels = map[string]string{
	"server": "Server", "environment": "Environment", "deployment": "Deployment", "version": "Version", "tool": "Tool",
}

// variable is a list of values to choose from, all at first. The soak judges
// production, so that is the environment at first.
func (b *board) variable(name string) *dashboard.QueryVariableBuilder {
	text := b.text("variable_" + name)
	v := dashboard.NewQueryVariableBuilder(name).Label(variableLabels[name]).Datasource(clickhouseRef()).
		Query(dashboard.StringOrMap{String: &text}).Definition(text).
		Refresh(dashboard.VariableRefreshOnTimeRangeChanged).Sort(dashboard.VariableSortNaturalAsc).
		Multi(true).IncludeAll(true)
	if name == "environment" {
		production := []string{"production"}
		many := dashboard.StringOrArrayOfString{ArrayOfString: production}
		return v.Current(dashboard.VariableOption{Text: many, Value: many})
	}
	all, value := []string{"All"}, []string{"$__all"}
	return v.Current(dashboard.VariableOption{Text: dashboard.StringOrArrayOfString{ArrayOfString: all}, Value: dashboard.StringOrArrayOfString{ArrayOfString: value}})
}

// events are the annotations: title and colour by statement.
var events = map[string]struct{ title, color string }{
	"conformance": {"Conformance runs", "green"},
	"complaints":  {"Complaints", "orange"},
	"versions":    {"Version changes", "blue"},
	"holes":       {"Holes in collecting", "red"},
}

func (b *board) annotation(name string) *dashboard.AnnotationQueryBuilder {
	e := events[name]
	return dashboard.NewAnnotationQueryBuilder().Name(e.title).Enable(true).IconColor(e.color).Datasource(clickhouseRef()).
		Target(b.query("Anno", FormatTable, "annotation_"+name))
}

// step is a colour from a value on.
type step struct {
	from  float64
	color string
}

// steps are the colours of a threshold: base, and others from their values on.
func steps(base string, more ...step) *dashboard.ThresholdsConfigBuilder {
	list := []dashboard.Threshold{{Color: base}} // without a value: from minus infinity
	for _, s := range more {
		list = append(list, dashboard.Threshold{Value: &s.from, Color: s.color})
	}
	return dashboard.NewThresholdsConfigBuilder().Mode(dashboard.ThresholdsModeAbsolute).Steps(slices.Clip(list))
}

// tooMuch is red from the limit on. tooLittle is orange below it: the evidence is not
// there yet, and waiting brings it.
func tooMuch(limit float64) *dashboard.ThresholdsConfigBuilder {
	return steps("green", step{limit, "red"})
}

func tooLittle(limit float64) *dashboard.ThresholdsConfigBuilder {
	return steps("orange", step{limit, "green"})
}

// neutral has one colour: the value is no judgement.
func neutral() *dashboard.ThresholdsConfigBuilder { return steps("blue") }
