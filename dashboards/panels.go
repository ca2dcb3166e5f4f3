package dashboards

import (
	"strings"

	"github.com/grafana/grafana-foundation-sdk/go/bargauge"
	"github.com/grafana/grafana-foundation-sdk/go/common"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/stat"
	"github.com/grafana/grafana-foundation-sdk/go/statetimeline"
	"github.com/grafana/grafana-foundation-sdk/go/table"
	"github.com/grafana/grafana-foundation-sdk/go/timeseries"

	"github.com/soakgate/soakgate/internal/soak"
)

// lines is a panel of time series. Buckets that a series lacks are bridged, since a
// wide frame has a null wherever one series alone has a row.
func lines(title, description, unit string) *timeseries.PanelBuilder {
	bridge := true
	return timeseries.NewPanelBuilder().Title(title).Description(description).Datasource(clickhouseRef()).
		Unit(unit).Min(0).NoValue("Nothing in this time range").
		LineWidth(2).FillOpacity(0).ShowPoints(common.VisibilityModeAuto).Interval("1h").
		SpanNulls(common.BoolOrFloat64{Bool: &bridge}).
		Tooltip(common.NewVizTooltipOptionsBuilder().Mode(common.TooltipDisplayModeMulti).Sort(common.SortOrderDescending)).
		Legend(legend("max", "lastNotNull"))
}

// legend is a table below the graph: long names stay readable at any width.
func legend(calcs ...string) *common.VizLegendOptionsBuilder {
	return common.NewVizLegendOptionsBuilder().DisplayMode(common.LegendDisplayModeTable).
		Placement(common.LegendPlacementBottom).ShowLegend(true).Calcs(calcs)
}

// line is a legend in one line after the other: for more series than a table has room for.
func line(calcs ...string) *common.VizLegendOptionsBuilder {
	return legend(calcs...).DisplayMode(common.LegendDisplayModeList)
}

// bars is a panel of stacked counts by interval.
func bars(title, description, unit string) *timeseries.PanelBuilder {
	return lines(title, description, unit).DrawStyle(common.GraphDrawStyleBars).FillOpacity(70).LineWidth(0).
		ShowPoints(common.VisibilityModeNever).
		Stacking(common.NewStackingConfigBuilder().Mode(common.StackingModeNormal).Group("A")).
		Legend(line("sum"))
}

// label names a series by its labels alone: the panel's title says what is counted.
func label(names ...string) string {
	parts := make([]string, len(names))
	for i, n := range names {
		parts[i] = "${__field.labels." + n + "}"
	}
	return strings.Join(parts, " ")
}

// limit draws a threshold as a dashed line.
func limit() *common.GraphThresholdsStyleConfigBuilder {
	return common.NewGraphThresholdsStyleConfigBuilder().Mode(common.GraphThresholdsStyleModeDashed)
}

// number is a panel of one or a few figures.
func number(title, description, unit string) *stat.PanelBuilder {
	return stat.NewPanelBuilder().Title(title).Description(description).Datasource(clickhouseRef()).
		Unit(unit).NoValue("none").GraphMode(common.BigValueGraphModeNone).ColorMode(common.BigValueColorModeValue).
		TextMode(common.BigValueTextModeAuto).JustifyMode(common.BigValueJustifyModeAuto).WideLayout(false).Orientation(common.VizOrientationAuto).
		ReduceOptions(common.NewReduceDataOptionsBuilder().Calcs([]string{"lastNotNull"}).Values(false))
}

// figures is a panel of several figures, all of one size.
func figures(title, description string) *stat.PanelBuilder {
	return number(title, description, "locale").Thresholds(neutral()).
		Text(common.NewVizTextDisplayOptionsBuilder().TitleSize(14).ValueSize(30))
}

// list is a table. Columns that need a unit or a colour get an override by name.
// They may be narrow, so that all of them are seen at 1,280 pixels. A cell without a
// value is a dash; the sentence is for a table without rows.
func list(title, description string) *table.PanelBuilder {
	return table.NewPanelBuilder().Title(title).Description(description).Datasource(clickhouseRef()).
		NoValue("None in this time range").OverrideByRegexp("/./", []dashboard.DynamicConfigValue{property("noValue", "-")}).
		OverrideByRegexp("/^(server|deployment)$/", width(135)).OverrideByName("tool", width(200)).OverrideByName("kind", width(165)).OverrideByName("version", width(75)).
		MinWidth(60).CellHeight(common.TableCellHeightSm).ShowHeader(true).
		Footer(common.NewTableFooterOptionsBuilder().Show(false).Reducer([]string{"sum"})) // the SDK's default reducer is null
}

// gauges is a bar for each row, by its first text column.
func gauges(title, description, unit string) *bargauge.PanelBuilder {
	return bargauge.NewPanelBuilder().Title(title).Description(description).Datasource(clickhouseRef()).
		Unit(unit).Min(0).NoValue("Nothing in this time range").
		Orientation(common.VizOrientationHorizontal).DisplayMode(common.BarGaugeDisplayModeBasic).
		ValueMode(common.BarGaugeValueModeText).ShowUnfilled(true).Text(common.NewVizTextDisplayOptionsBuilder().TitleSize(14).ValueSize(20)).
		ReduceOptions(common.NewReduceDataOptionsBuilder().Values(true).Calcs([]string{"lastNotNull"}))
}

// states is a panel of states over time.
func states(title, description string) *statetimeline.PanelBuilder {
	return statetimeline.NewPanelBuilder().Title(title).Description(description).
		NoValue("No verdict in this time range yet").ShowValue(common.VisibilityModeNever).MergeValues(true).
		RowHeight(0.8).LineWidth(0).FillOpacity(80).AlwaysSpanNulls().
		Tooltip(common.NewVizTooltipOptionsBuilder().Mode(common.TooltipDisplayModeSingle).Sort(common.SortOrderNone)). // the SDK's default words are empty
		Legend(common.NewVizLegendOptionsBuilder().DisplayMode(common.LegendDisplayModeList).Placement(common.LegendPlacementBottom).ShowLegend(true))
}

// property is one setting of a column.
func property(id string, value any) dashboard.DynamicConfigValue {
	return dashboard.DynamicConfigValue{Id: id, Value: value}
}

// unit sets a column's unit and decimals.
func unit(name string, decimals int) []dashboard.DynamicConfigValue {
	return []dashboard.DynamicConfigValue{property("unit", name), property("decimals", decimals)}
}

// ago tells a time as how long it is past.
func ago() []dashboard.DynamicConfigValue {
	return append(unit("dateTimeFromNow", 0), width(130)...)
}

// width fixes a column's width in pixels, so that long texts keep the rest.
func width(pixels int) []dashboard.DynamicConfigValue {
	return []dashboard.DynamicConfigValue{property("custom.width", pixels)}
}

// inspect lets a reader open a cell whose text is longer than its column.
var inspect = property("custom.inspect", true)

// colored shows a column's threshold as the cell's colour.
func colored(t *dashboard.ThresholdsConfigBuilder, more ...dashboard.DynamicConfigValue) []dashboard.DynamicConfigValue {
	config, _ := t.Build() // its builder has no way to fail
	return append([]dashboard.DynamicConfigValue{
		property("custom.cellOptions", map[string]any{"type": "color-text"}), property("thresholds", config),
	}, more...)
}

// gateStates and verdicts give words and colours to the numbers of the metrics.
var (
	gateStates = mapping(
		named{soak.StatePass.Number(), "pass", "green"}, named{soak.StateWaived.Number(), "waived", "blue"},
		named{soak.StateHold.Number(), "hold", "orange"}, named{soak.StateBlock.Number(), "BLOCK", "red"},
		named{soak.StateUnknown.Number(), "unknown", "purple"})
	verdicts = mapping(
		named{soak.DecisionFlip.Number(), "FLIP", "green"}, named{soak.DecisionHold.Number(), "HOLD", "orange"},
		named{soak.DecisionBlock.Number(), "BLOCK", "red"}, named{soak.DecisionCouldNotTell.Number(), "could not tell", "purple"})
)

// colorsOf gives a figure its own threshold.
func colorsOf(t *dashboard.ThresholdsConfigBuilder) []dashboard.DynamicConfigValue {
	config, _ := t.Build() // its builder has no way to fail
	return []dashboard.DynamicConfigValue{property("thresholds", config)}
}
