package dashboards

var upstreamPage = page{
	name: "upstream", title: "Soakgate Upstream", from: "now-7d",
	description: "What the upstream APIs tell through _meta: limits, waits, warnings, statuses",
	variables:   scope, annotations: []string{"conformance", "complaints", "versions", "holes"},
	fill: fillUpstream,
}

func fillUpstream(b *board) {
	b.row("Rate limits")
	put(b, 8, 9, lines("Least remaining", "The least number of requests that upstream said were left, by server.", "short").
		Legend(legend("min", "lastNotNull")).DisplayName(label("server")).WithTarget(b.series("upstream_remaining")))
	put(b, 8, 9, lines("Time at zero", "The part of the answers with a rate limit that told of none remaining.", "percentunit").Max(1).
		Thresholds(tooMuch(0.1)).ThresholdsStyle(limit()).DisplayName(label("server")).WithTarget(b.series("upstream_zero")))
	put(b, 8, 9, lines("Retry after", "How long servers told callers to wait: mean and longest.", "s").Legend(line("max", "lastNotNull")).WithTarget(b.series("upstream_retry")))
	put(b, gridWidth, 9, list("Tools", "Rate limits by tool; those most often at zero first.").
		OverrideByRegexp("/^(answers|told_to_wait|least_remaining)$/", unit("locale", 0)).
		OverrideByName("share_at_zero", colored(tooMuch(0.1), unit("percentunit", 1)...)).
		OverrideByRegexp("/_wait$/", unit("s", 1)).OverrideByName("told_to_wait", unit("locale", 0)).WithTarget(b.rows("upstream_tools")))
	put(b, gridWidth, 9, list("Limits", "The newest limit that each tool's answers told, from the last day of the time range.").
		OverrideByName("per_second", unit("reqps", 2)).OverrideByName("told_at", ago()).WithTarget(b.rows("upstream_limits")))

	b.row("Warnings and statuses")
	put(b, 12, 9, bars("Warnings by kind", "Rows of _meta.warnings by kind.", "short").Interval("10m").DisplayName(label("warning")).WithTarget(b.series("upstream_warnings")))
	put(b, 12, 9, bars("HTTP status codes", "Upstream's HTTP status, of the failed calls that tell one.", "short").DisplayName(label("status")).WithTarget(b.series("upstream_status")))

	b.row("Rate limits of two kinds, never added up")
	put(b, 12, 9, bars("MCP: rate_limited", "Envelopes of kind rate_limited by code: upstream answered 429, or the server held the call back before it.", "short").
		DisplayName(label("server", "code")).WithTarget(b.series("upstream_mcp")))
	put(b, 12, 9, bars("Agent API: codes", "Errors of the agent API by code. Its rate_limited is its own throttling by key, another fact than MCP's (R148).", "short").
		DisplayName(label("server", "code")).WithTarget(b.series("upstream_agent")))
}
