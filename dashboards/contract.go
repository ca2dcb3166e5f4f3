package dashboards

import "github.com/grafana/grafana-foundation-sdk/go/dashboard"

var contractPage = page{
	name: "contract", title: "Soakgate Contract", from: "now-7d",
	description: "Which rules of the contract are broken, where, and by what",
	variables:   scope, annotations: []string{"conformance", "complaints", "versions", "holes"},
	fill: fillContract,
}

func fillContract(b *board) {
	b.row("Validity")
	put(b, gridWidth, 4, figures("Envelopes", "Error envelopes and which part of them keeps every rule; error texts that are no envelope; texts that look like one and cannot be read, and those among them that a carrier cut.").
		OverrideByName("valid_share", append(unit("percentunit", 2), colorsOf(steps("red", step{0.99, "orange"}, step{1, "green"}))...)).
		OverrideByName("unreadable", colorsOf(tooMuch(1))).WithTarget(b.rows("contract_totals")))
	put(b, 12, 9, lines("Validity by server", "The part of the error envelopes that keeps every rule of the contract.", "percentunit").Max(1).
		Legend(legend("min", "lastNotNull")).DisplayName(label("server")).WithTarget(b.series("contract_validity")))
	put(b, 12, 9, bars("Unrecognised and unreadable", "Error texts that are no envelope, and texts that purport to be one and hold no JSON object.", "short").
		WithTarget(b.series("contract_unread")))

	b.row("Violations")
	put(b, gridWidth, 10, bars("Violations by rule", "Broken rules by rule id; an envelope may break several.", "short").Interval("10m").DisplayName(label("rule")).WithTarget(b.series("contract_rules")))
	put(b, gridWidth, 10, list("Rules and paths", "Where the contract is broken: rule, JSON pointer (array indices are *), and how often. The hundred most frequent.").
		OverrideByRegexp("/^(violations|records)$/", unit("locale", 0)).OverrideByRegexp("/^(first|last)_seen$/", ago()).
		OverrideByName("path", width(300)).OverrideByName("rule", width(160)).WithTarget(b.rows("contract_violations")))
	put(b, gridWidth, 10, list("Latest examples", "The 20 newest payloads that break the contract, from the last day of the time range. Payloads are redacted when they are stored, and kept for 30 days.").
		OverrideByName("received_at", ago()).OverrideByName("broken", width(215)).OverrideByName("tool", width(135)).
		OverrideByName("message", append(width(260), inspect)).OverrideByName("payload_begins", []dashboard.DynamicConfigValue{inspect}).
		WithTarget(b.rows("contract_examples")))

	b.row("Servers against each other")
	put(b, gridWidth, 11, list("Same codes for the same facts", "The share of each kind and code in a server's errors, servers side by side, without the servers' own prefixes: the contract asks for the same code for the same shape (R75). A dash is a code that this server never sent.").
		WithTransformation(matrix("code", "server", "share")).
		Unit("percentunit").Decimals(2).WithTarget(b.rows("contract_codes")))
	put(b, gridWidth, 7, list("Capabilities, declared and seen", "The error kinds and the default that each version declares, against the kinds it sent in this time range.").
		OverrideByName("told_at", ago()).OverrideByName("seen_not_declared", width(240)).
		OverrideByName("declared_not_seen", width(240)).WithTarget(b.rows("contract_capabilities")))
}
