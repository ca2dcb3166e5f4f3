package dashboards

var errorsPage = page{
	name: "errors", title: "Soakgate Errors", from: "now-7d",
	description: "Failed calls by kind, code, server, version and tool",
	variables:   scope, annotations: []string{"conformance", "complaints", "versions", "holes"},
	fill: fillErrors,
}

func fillErrors(b *board) {
	b.row("Errors")
	put(b, 12, 4, figures("Calls", "Tool calls in the time range, those that failed, and their share.").
		OverrideByName("error_rate", unit("percentunit", 2)).WithTarget(b.rows("errors_totals")))
	put(b, 12, 4, figures("Of the errors", "The share that may be retried, of the errors that say so; errors outside the taxonomy; errors that still carry a legacy kind.").
		OverrideByName("retryable_share", unit("percentunit", 1)).
		OverrideByName("outside_taxonomy", colorsOf(tooMuch(1))).WithTarget(b.rows("errors_shares")))
	put(b, 12, 9, lines("Error rate by server", "Failed calls out of all calls.", "percentunit").DisplayName(label("server")).WithTarget(b.series("errors_rate")))
	put(b, 12, 9, bars("Errors by kind", "Failed calls by error_kind; none given are errors without an envelope.", "short").DisplayName(label("kind")).WithTarget(b.series("errors_kinds")))
	put(b, gridWidth, 10, list("Kinds and codes", "Errors by kind and code, their share of all errors, and which part of those that say so may be retried.").
		OverrideByName("code", width(280)).
		OverrideByName("errors", unit("locale", 0)).OverrideByRegexp("/share$/", unit("percentunit", 1)).
		OverrideByRegexp("/^(first|last)_seen$/", ago()).WithTarget(b.rows("errors_codes")))

	b.row("Where")
	put(b, gridWidth, 6, list("Servers and versions", "Calls and failures by server and version, and whose mistake the failures were.").
		OverrideByRegexp("/^(calls|failed|servers_mistake|callers_mistake|upstreams_mistake)$/", unit("locale", 0)).OverrideByName("error_rate", unit("percentunit", 2)).
		OverrideByName("last_call", ago()).WithTarget(b.rows("errors_versions")))
	put(b, gridWidth, 9, list("Tools with most failures", "The 50 tools that failed most often, and how long their calls took on average.").
		OverrideByRegexp("/^(calls|failed)$/", unit("locale", 0)).OverrideByName("error_rate", unit("percentunit", 2)).
		OverrideByName("mean_time", unit("s", 2)).WithTarget(b.rows("errors_tools")))

	b.row("What is new")
	put(b, gridWidth, 8, list("First seen in this time range", "Kinds and codes that a server sent in this time range and not in the week before it.").
		OverrideByName("first_seen", ago()).OverrideByName("errors", unit("locale", 0)).WithTarget(b.rows("errors_new")))
	put(b, gridWidth, 6, list("Before and after a version change", "Errors for a thousand calls of each server's newest version, against the version before it.").
		OverrideByName("since", ago()).OverrideByRegexp("/^(before|after)$/", unit("short", 2)).
		OverrideByName("change", colored(tooMuch(1), unit("short", 2)...)).WithTarget(b.rows("errors_change")))

	b.row("Outside the contract's words")
	put(b, gridWidth, 6, list("Off-taxonomy", "Values of error_kind that the taxonomy does not know. In production with the option on, one of a candidate is a BLOCK (D11).").
		OverrideByRegexp("/^(first|last)_seen$/", ago()).WithTarget(b.rows("errors_offtaxonomy")))
	put(b, gridWidth, 6, list("Legacy kinds", "Errors that still carry legacy_error_kind. One that outlives its release is a BLOCK (D14).").
		OverrideByRegexp("/^(first|last)_seen$/", ago()).WithTarget(b.rows("errors_legacy")))
}
