package classify

import (
	"time"

	"github.com/soakgate/soakgate/internal/classify/jsontape"
)

// isAgentError recognises {"error": {...}} with a code or a message, and no
// jsonrpc beside it (R156). An error that is text is something older (R163).
func (w *judging) isAgentError(t *jsontape.Tape, m *members) bool {
	if m[mError] == 0 || m[mJSONRPC] != 0 {
		return false
	}
	_, code := t.Member(m[mError], "code")
	_, message := t.Member(m[mError], "message")
	return code || message
}

// agentErrorBody judges the REST body of an agent API error (R156 to R160).
func (w *judging) agentErrorBody(t *jsontape.Tape, root, body uint32) {
	d := w.dst
	w.recognise(ShapeAgentError, t, root)
	code, _ := t.Member(body, "code")
	d.ErrorCode = w.textOf(t, code)
	retryAfter, _ := t.Member(body, "retry_after")
	if f := numberOf(t, retryAfter); f.Set && f.Value >= 0 {
		d.RetryAfterSeconds = f
	}
	w.schema(&w.agentError, t)
	if d.ErrorCode.Set {
		row, listed := w.agent[d.ErrorCode.Value]
		if !listed {
			w.adviseUnlistedAgentCode()
		}
		resetAt, _ := t.Member(body, "reset_at")
		if at := w.textOf(t, resetAt); row.ResetsMonthly && at.Set && !monthStart(at.Value) {
			w.advise(RuleResetAtMonthStart, "/error/reset_at", "/error/reset_at: expected the first instant of a month, UTC, as YYYY-MM-01T00:00:00Z")
		}
	}
	w.hygiene(t)
}

func (w *judging) adviseUnlistedAgentCode() {
	w.advise(RuleCodeUnlisted, "/error/code", "/error/code: this code is not in the agent API's vocabulary; it is kept and counted as it is")
}

// monthStart tells whether text is the first instant of a month, UTC (R160).
func monthStart(text string) bool {
	at := instant(text)
	if !at.Set {
		return false
	}
	u := at.Value
	return u.Equal(time.Date(u.Year(), u.Month(), 1, 0, 0, 0, 0, time.UTC))
}

// isAgentSuccess recognises data beside an object meta, with pagination or
// meta.source (R155).
func (w *judging) isAgentSuccess(t *jsontape.Tape, m *members) bool {
	if m[mData] == 0 || m[mAgentMeta] == 0 || t.Nodes[m[mAgentMeta]].Kind != jsontape.Object {
		return false
	}
	_, source := t.Member(m[mAgentMeta], "source")
	return source || m[mPagination] != 0
}

// agentSuccessBody judges a success of the agent API (R149 to R154).
func (w *judging) agentSuccessBody(t *jsontape.Tape, root uint32, m *members) {
	w.recognise(ShapeAgentSuccess, t, root)
	w.telemetry(t, m[mMeta])
	w.schema(&w.agentSuccess, t)
	w.decimals(t, m[mData])
	w.hygiene(t)
}

// decimals walks data for numbers that should be decimals in strings, and for
// null lines (R152). It is a flat walk: a node's parts follow it on the tape.
func (w *judging) decimals(t *jsontape.Tape, data uint32) {
	end := t.Nodes[data].Next
	for i := data; i < end; i++ {
		n := &t.Nodes[i]
		if n.Has(jsontape.Overridden) {
			i = n.Next - 1
			continue
		}
		if n.Kind == jsontape.Object {
			w.perValue(t, i)
		}
		if i != data && n.KeyEnd != 0 && (n.Kind == jsontape.Object || n.Kind == jsontape.Array) && t.KeyIs(i, "lines") {
			for line := range t.Children(i) {
				if t.Nodes[line].Kind == jsontape.Null {
					w.adviseAt(RuleNoNull, t, line, "expected no such key where there is no line; null is not absence")
				}
			}
		}
	}
}

// perValue reports a number under value, beside a member that makes the object
// a per-value object.
func (w *judging) perValue(t *jsontape.Tape, i uint32) {
	var number uint32
	beside := false
	for j := range t.Children(i) {
		switch {
		case t.KeyIs(j, "value"):
			if t.Nodes[j].Kind == jsontape.Number {
				number = j
			}
		case t.KeyIs(j, "unit"), t.KeyIs(j, "currency"), t.KeyIs(j, "as_of"), t.KeyIs(j, "accession_number"):
			beside = true
		}
	}
	if number != 0 && beside {
		w.adviseAt(RuleDecimalString, t, number, "expected a decimal in a JSON string, got a JSON number")
	}
}
