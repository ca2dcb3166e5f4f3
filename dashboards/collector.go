package dashboards

import (
	"github.com/grafana/grafana-foundation-sdk/go/common"
	"github.com/grafana/grafana-foundation-sdk/go/prometheus"
	"github.com/grafana/grafana-foundation-sdk/go/timeseries"
)

var collectorPage = page{
	name: "collector", title: "Soakgate Collector", from: "now-6h", prometheus: true,
	description: "Is all that was received stored: the collector's own figures",
	annotations: []string{"holes"},
	fill:        fillCollector,
}

// perSecond is the unit of records and requests a second.
const perSecond = "suffix: /s"

// journalHalf is where the alert SoakgateJournalFilling fires.
const journalHalf = 0.5

// own is a panel of the collector's own metrics.
func own(title, description, unit string) *timeseries.PanelBuilder {
	return lines(title, description, unit).Datasource(prometheusRef()).Interval("30s")
}

func fillCollector(b *board) {
	b.row("Now")
	now := func(ref, expr, legend string) *prometheus.DataqueryBuilder {
		return promNow(ref, expr, legend, prometheus.PromQueryFormatTimeSeries)
	}
	put(b, 9, 4, number("Flow", "Records a second over five minutes: judged and acknowledged, and stored in ClickHouse.", perSecond).
		Text(common.NewVizTextDisplayOptionsBuilder().TitleSize(14).ValueSize(40)).
		Datasource(prometheusRef()).Thresholds(neutral()).Decimals(1).
		WithTarget(now("A", "sum(rate(soakgate_observations_total[5m]))", "received")).
		WithTarget(now("B", "sum(rate(soakgate_inserted_records_total[5m]))", "stored")))
	put(b, 5, 4, number("Waiting", "Age of the oldest record in any collector's journal. It keeps growing while ClickHouse is away.", "s").
		Datasource(prometheusRef()).Thresholds(steps("green", step{60, "orange"}, step{600, "red"})).
		WithTarget(now("A", "max(soakgate_journal_backlog_age_seconds)", "oldest record")))
	put(b, 5, 4, number("Journal full to", "The fullest journal of any collector, as a part of journal::max_size_mib. Above one half an alert fires; a full one refuses senders.", "percentunit").
		Datasource(prometheusRef()).Thresholds(tooMuch(journalHalf)).Decimals(1).
		WithTarget(now("A", "max(soakgate_journal_bytes / soakgate_journal_max_bytes)", "fullest")))
	put(b, 5, 4, number("Refused in an hour", "Requests answered with a time to come back. Senders keep them; nothing is lost.", "short").
		Datasource(prometheusRef()).Thresholds(tooMuch(1)).Decimals(0).
		WithTarget(now("A", "sum(increase(soakgate_refused_requests_total[1h])) or vector(0)", "refused")))

	b.row("Received, stored, ignored, refused")
	put(b, 8, 9, own("Received by shape", "Observations judged and acknowledged, by what they are.", perSecond).
		WithTarget(promRange("A", "sum by (shape) (rate(soakgate_observations_total[$__rate_interval]))", "{{shape}}")))
	put(b, 8, 9, own("Stored and set aside", "Records that ClickHouse stored, repeats included, and records kept in rejected_records only.", perSecond).
		WithTarget(promRange("A", "sum(rate(soakgate_inserted_records_total[$__rate_interval]))", "stored")).
		WithTarget(promRange("B", "sum(rate(soakgate_rejected_records_total[$__rate_interval])) or vector(0)", "rejected")))
	put(b, 8, 9, own("Ignored, refused, failed", "What is not ours by reason; requests refused by reason; inserts that failed and are tried again.", perSecond).
		WithTarget(promRange("A", "sum by (reason) (rate(soakgate_ignored_total[$__rate_interval]))", "ignored: {{reason}}")).
		WithTarget(promRange("B", "sum by (reason) (rate(soakgate_refused_requests_total[$__rate_interval]))", "refused: {{reason}}")).
		WithTarget(promRange("C", "sum by (reason) (rate(soakgate_insert_errors_total[$__rate_interval]))", "insert failed: {{reason}}")).
		NoValue("Nothing ignored, refused or failed"))

	b.row("Journal and inserts")
	put(b, 6, 9, own("Journal backlog", "Records that wait in the journal for ClickHouse, by collector.", "short").
		WithTarget(promRange("A", "soakgate_journal_backlog_records", "{{instance}}")))
	put(b, 6, 9, own("Journal on disk", "Bytes of the journal, by collector. At its limit requests are refused.", "bytes").
		WithTarget(promRange("A", "soakgate_journal_bytes", "{{instance}}")))
	put(b, 6, 9, latency("Fsync", "Time of one write and fsync of the journal. Every acknowledgement waits for one.", "soakgate_journal_fsync_seconds"))
	put(b, 6, 9, latency("Insert", "Time of one insert into ClickHouse.", "soakgate_insert_seconds"))

	b.row("Collectors, as ClickHouse knows them")
	put(b, gridWidth, 7, list("Heartbeats", "The newest stored heartbeat of each collector. It came through the journal, so all that was taken before stored_through is stored. Books off by: accepted records that are neither stored, rejected, parked nor waiting; it must be 0.").
		OverrideByRegexp("/^(seen|stored_through)$/", ago()).OverrideByName("journal", width(275)).
		OverrideByName("age", colored(steps("green", step{120, "orange"}, step{600, "red"}), unit("s", 0)...)).
		OverrideByName("backlog", unit("locale", 0)).OverrideByName("backlog_age", append(unit("s", 0), width(100)...)).
		OverrideByName("books_off_by", colored(steps("red", step{0, "green"}, step{1, "red"}), width(110)...)).
		WithTarget(b.rows("collector_heartbeats")))
	put(b, 10, 8, lines("Backlog by heartbeat", "Records that waited when each heartbeat was written. A gap in a line is time without that collector.", "short").
		Interval("1m").SpanNulls(common.BoolOrFloat64{Float64: new(300_000.0)}).DisplayName(label("collector")).WithTarget(b.series("collector_alive")))
	put(b, 14, 8, list("Lateness", "How late records came, by the sender's clock against ours: late is over 24 hours, ahead over 5 minutes into the future.").
		OverrideByName("environment", width(100)).
		OverrideByRegexp("/^(records|late|ahead)$/", unit("locale", 0)).OverrideByName("late_share", colored(tooMuch(0.01), append(unit("percentunit", 2), width(90)...)...)).
		OverrideByRegexp("/^(least|greatest)$/", unit("s", 0)).WithTarget(b.rows("collector_lateness")))
	put(b, gridWidth, 7, list("Rejected records", "Records that ClickHouse refused for a value, or the receiver for breaking the contract. Open ones hold the verdict: `collector rejected explain` or `replay`.").
		OverrideByRegexp("/^(first|last)$/", ago()).OverrideByName("records", unit("locale", 0)).
		WithTarget(b.rows("collector_rejected")))
}

// latency shows the quantiles of a histogram.
func latency(title, description, metric string) *timeseries.PanelBuilder {
	quantile := func(ref, q, legend string) *prometheus.DataqueryBuilder {
		return promRange(ref, "histogram_quantile("+q+", sum by (le) (rate("+metric+"_bucket[$__rate_interval])))", legend)
	}
	return own(title, description, "s").WithTarget(quantile("A", "0.5", "p50")).WithTarget(quantile("B", "0.99", "p99"))
}
