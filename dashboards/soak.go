package dashboards

import (
	"github.com/grafana/grafana-foundation-sdk/go/common"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/prometheus"
)

// What the built-in policy asks for. A test holds them to config/soak-policy.yaml.
const (
	soakDays       = 14
	malformedRate  = 0.001
	normalizedP99  = 2048 // bytes
	normalizedMost = 16384
	answerShare    = 0.05
	kindCalls      = 30
	toolCalls      = 20
	reviewDays     = 7
)

// finePoints makes the steps of a month some ten minutes long. Prometheus answers up
// to the last whole step, so with coarse ones a young installation shows nothing.
const finePoints = 4000

// enoughBlocks is the least time that quantiles and shares are taken over: the few
// blocks of a quiet hour say nothing.
const enoughBlocks = "6h"

var soakPage = page{
	name: "soak", title: "Soakgate Soak", from: "now-30d", prometheus: true,
	description: "May the servers flip MCP_SCHEMA_KEY_NORMALIZATION_META: the verdict, its gates, and what they rest on",
	variables:   scope, annotations: []string{"conformance", "complaints", "versions", "holes"},
	fill: fillSoak,
}

func fillSoak(b *board) {
	fillVerdict(b)
	fillTraffic(b)
	fillBytes(b)
	fillCoverage(b)
	fillRegisters(b)
}

func fillVerdict(b *board) {
	b.row("Verdict")
	put(b, 5, 4, number("Verdict", "The verdict of collector soak for all servers together. Where several collectors judge, the worst counts.", "none").
		Datasource(prometheusRef()).Mappings(verdicts).Thresholds(steps("text")).ColorMode(common.BigValueColorModeBackground).
		NoValue("No verdict is served: set soak::interval").
		WithTarget(promNow("A", "min(soakgate_soak_verdict)", "verdict", prometheus.PromQueryFormatTimeSeries)))
	put(b, 19, 4, states("Verdict over time", "How the verdict has stood. A FLIP needs every gate at the same instant: green yesterday is nothing.").
		Datasource(prometheusRef()).Mappings(verdicts).Thresholds(steps("text")).MaxDataPoints(finePoints).
		WithTarget(promRange("A", "min(soakgate_soak_verdict)", "verdict")))
	put(b, 12, 26, list("Gates by server", "The gate rows of `collector soak --format json`, server by server; * stands for gates over all servers. Any BLOCK decides, then any unknown, then any hold.").
		Datasource(prometheusRef()).NoValue("No verdict is served: set soak::interval").Mappings(gateStates).Thresholds(steps("text")).
		CellOptions(colorText()).
		WithTransformation(matrix("gate", "server", "Value")).
		WithTarget(promNow("A", "min by (server, gate) (soakgate_soak_gate)", "__auto", prometheus.PromQueryFormatTable)))
	put(b, 12, 13, states("Gates that do not pass", "Gates over time while they hold, block or could not be read, at their worst of all servers. A gate that passes leaves no trace here.").
		Datasource(prometheusRef()).Mappings(gateStates).Thresholds(steps("text")).NoValue("Every gate passes, or no verdict is served").NeverSpanNulls().MaxDataPoints(finePoints).
		WithTarget(promRange("A", "min by (gate) (soakgate_soak_gate) < 1", "{{gate}}")))
	under(b, 5, gauges("Days done of 14", "Elapsed days with the option on in production, by server, within the time range shown (D4). The clock restarts after the option was off, after an unrefilled hole in collecting and after 72 silent hours; shorter silences from 6 hours are subtracted. The gate `duration` decides.", "suffix: days").
		Max(soakDays).Decimals(1).Thresholds(tooLittle(soakDays)).WithTarget(b.rows("soak_days")))
	under(b, 8, lines("Upper bound of malformed blocks", "While no block is malformed, at most this share of them is, at the confidence that the gate asks (D6: 97.5 % for the first try, more after each version that had a malformed block): it falls with every block, counted from the left edge. Below the line the gate `malformed` can pass. Not drawn for a version with a malformed block: that is a BLOCK at any rate.", "percentunit").
		Thresholds(tooMuch(malformedRate)).ThresholdsStyle(limit()).
		ScaleDistribution(common.NewScaleDistributionConfigBuilder().Type(common.ScaleDistributionLog).Log(10)).Min(0.0001).Decimals(2).DisplayName(label("server", "version")).
		Legend(legend("lastNotNull")).WithTarget(b.series("soak_bound")))
}

func fillTraffic(b *board) {
	b.row("Traffic with the option on")
	put(b, 14, 8, list("Deployments", "Installations with the option on. One counts with 300 calls on 7 days, seen within 48 hours, and an identity that is more than a host's name; 3 are needed for each server (D5).").
		OverrideByName("named_by", width(135)).OverrideByName("counts", width(70)).OverrideByName("calls", unit("locale", 0)).OverrideByName("last_call", ago()).
		WithTarget(b.rows("soak_deployments")))
	put(b, 10, 8, bars("Calls with the option on", "Tool calls by server, each once, with the option on.", "short").
		DisplayName(label("server")).Interval("10m").WithTarget(b.series("soak_calls")))
}

func fillBytes(b *board) {
	b.row("Blocks: answers that carry _meta.normalized")
	put(b, 12, 12, lines("Bytes of normalized", "Exact quantiles of the size of the member `normalized`, by server and at least six hours. At most 1 % of the blocks may be larger than the line (D10).", "bytes").Interval(enoughBlocks).
		Thresholds(tooMuch(normalizedP99)).ThresholdsStyle(limit()).Legend(line("lastNotNull")).WithTarget(b.series("soak_bytes")))
	put(b, 12, 12, lines("Share of the answer", "Bytes of `normalized` out of all bytes of the answers whose size is known, by server and at least six hours. The gate `share` judges the whole of a version (D10), as the table below does.", "percentunit").Interval(enoughBlocks).
		Thresholds(tooMuch(answerShare)).ThresholdsStyle(limit()).AxisSoftMax(1.2*answerShare).DisplayName(label("server")).WithTarget(b.series("soak_share")))
	put(b, gridWidth, 7, list("Blocks by version", "What the gates malformed, bytes and share judge, by server and version: one malformed block or one larger than 16,384 bytes is a BLOCK. Known: for which part of the blocks the answer's size is known; below half the share holds.").
		OverrideByName("blocks", unit("locale", 0)).OverrideByName("malformed", colored(tooMuch(1))).
		OverrideByName("p50", unit("bytes", 0)).OverrideByName("p95", unit("bytes", 0)).
		OverrideByName("p99", colored(tooMuch(normalizedP99+1), unit("bytes", 0)...)).
		OverrideByName("largest", colored(tooMuch(normalizedMost+1), unit("bytes", 0)...)).
		OverrideByName("share", colored(tooMuch(answerShare), unit("percentunit", 2)...)).
		OverrideByName("known", colored(tooLittle(0.5), unit("percentunit", 0)...)).
		WithTarget(b.rows("soak_blocks")))
}

func fillCoverage(b *board) {
	b.row("Coverage")
	put(b, gridWidth, 8, list("Normalization kinds", "Well-formed calls by kind, every kind of the contract: 0 was never exercised. renamed, dropped_alias and coerced need 30 calls from 2 deployments; of the two unknown_field kinds, the one that the deployments' strictness implies (D9).").
		OverrideByName("calls", colored(tooLittle(kindCalls), unit("locale", 0)...)).
		OverrideByName("kind", width(220)).
		WithTarget(b.rows("soak_kinds")))
	put(b, gridWidth, 10, list("Tools", "Calls by tool, those with the option on (20 are needed, D9), and well-formed calls by normalization kind: 0 was never exercised.").
		OverrideByName("calls", unit("locale", 0)).OverrideByName("with_option_on", colored(tooLittle(toolCalls), unit("locale", 0)...)).
		OverrideByRegexp("/^(renamed|dropped_alias|coerced|passed_through|rejected)$/", colored(steps("orange", step{1, "text"}), unit("locale", 0)...)).
		WithTarget(b.rows("soak_tools")))
}

func fillRegisters(b *board) {
	b.row("Conformance, complaints, lockstep")
	put(b, gridWidth, 5, list("Lockstep", "The candidates: versions that answered in production with the option on within a day of the right edge. All must pass at one instant, on one conformance suite, and declare the same default.").
		OverrideByRegexp("/^(first_call|last_call)$/", ago()).OverrideByName("calls_last_day", unit("locale", 0)).
		WithTarget(b.rows("soak_lockstep")))
	put(b, gridWidth, 5, list("Conformance runs", "The newest run of each version: items 1 to 6 of the suite. A failed item blocks, one not tested holds unless the policy allows it (D12).").
		OverrideByName("run_at", ago()).
		OverrideByRegexp("/^item_/", []dashboard.DynamicConfigValue{property("custom.width", 90)}).
		WithTarget(b.rows("soak_conformance")))
	put(b, gridWidth, 5, list("Reviews for complaints", "Who last looked for complaints. No complaint counts only while a review is at most 7 days old (D13): `collector complaint review`.").
		NoValue("No review yet: the gate `complaints` holds").OverrideByName("days_ago", colored(tooMuch(reviewDays), unit("short", 1)...)).
		OverrideByName("reviewed", ago()).
		WithTarget(b.rows("soak_reviews")))
	put(b, gridWidth, 6, list("Complaints", "The register of complaints about payload size and parsing. An open one blocks (D13).").
		OverrideByRegexp("/^(entered|changed)$/", ago()).OverrideByRegexp("/^(id|kind|state|ref)$/", width(120)).
		WithTarget(b.rows("soak_complaints")))
}

// matrix turns rows of (row, column, value) into a table with a column for each
// value of the second: servers side by side.
func matrix(row, column, value string) dashboard.DataTransformerConfig {
	return dashboard.DataTransformerConfig{Id: "groupingToMatrix", Options: map[string]any{
		"rowField": row, "columnField": column, "valueField": value, "emptyValue": "null",
	}}
}

// colorText shows the colour of a value's mapping or threshold as the text's.
func colorText() common.TableCellOptions {
	return common.TableCellOptions{TableColorTextCellOptions: common.NewTableColorTextCellOptions()}
}
