package statement

import "strings"

// inspectInsert judges an INSERT up to its data.
func inspectInsert(text string) (Statement, error) {
	lx := &lexer{text: text}
	var tokens []token
	depth := 0
	for {
		t, err := lx.next()
		if err != nil {
			return Statement{}, err
		}
		switch {
		case t.symbol("("):
			depth++
			if depth == 1 && startsQuery(lx) {
				return inspectInsertSelect(text)
			}
		case t.symbol(")"):
			depth--
		case depth == 0 && (t.is("SELECT") || t.is("WITH")):
			return inspectInsertSelect(text)
		case depth == 0 && t.is("VALUES"):
			return insertData(text, tokens, "Values", lx.pos)
		case depth == 0 && t.is("FORMAT") && len(tokens) > 2:
			return insertFormat(text, tokens, lx)
		case t.symbol(";"), t.kind == kindEnd:
			// Without FORMAT or VALUES the rows are in the Values format, as in ClickHouse.
			st, err := insertData(text, tokens, "Values", t.end)
			st.Implicit = t.kind == kindEnd
			return st, err
		}
		tokens = append(tokens, t)
	}
}

// startsQuery looks whether a bracket opens a query rather than a list.
func startsQuery(lx *lexer) bool {
	ahead := *lx
	t, err := ahead.next()
	for err == nil && t.symbol("(") {
		t, err = ahead.next()
	}
	return err == nil && (t.is("SELECT") || t.is("WITH"))
}

func inspectInsertSelect(text string) (Statement, error) {
	tokens, err := all(text)
	if err != nil {
		return Statement{}, err
	}
	if tokens, err = oneStatement(tokens); err != nil {
		return Statement{}, err
	}
	if err := judge(tokens); err != nil {
		return Statement{}, err
	}
	return Statement{Kind: KindInsertSelect, Text: text[:tokens[len(tokens)-1].end], Format: outputFormat(tokens)}, nil
}

// insertFormat reads the format's name, and the SETTINGS that may follow it,
// which belong to the statement and not to the data.
func insertFormat(text string, tokens []token, lx *lexer) (Statement, error) {
	name, err := lx.next()
	if err != nil {
		return Statement{}, err
	}
	if !name.name() {
		return Statement{}, syntax("FORMAT names no format")
	}
	ahead := *lx
	if t, err := ahead.next(); err == nil && t.is("SETTINGS") {
		end := settingsEnd(&ahead)
		if end > 0 {
			list, err := all(text[t.start:end])
			if err != nil {
				return Statement{}, err
			}
			if err := judgeTokens(list); err != nil {
				return Statement{}, err
			}
			st, err := insertData(text, tokens, name.text, end)
			st.Text += " " + text[t.start:end]
			return st, err
		}
	}
	return insertData(text, tokens, name.text, lx.pos)
}

// settingsEnd reads "name = literal, ..." and returns where it ends, or 0 when
// the text is no such list and so belongs to the data.
func settingsEnd(lx *lexer) int {
	for {
		name, err := lx.next()
		if err != nil || !name.name() {
			return 0
		}
		if eq, err := lx.next(); err != nil || !eq.symbol("=") {
			return 0
		}
		value, err := lx.next()
		if err != nil || value.kind == kindEnd {
			return 0
		}
		if value.symbol("-") || value.symbol("+") {
			if value, err = lx.next(); err != nil {
				return 0
			}
		}
		end := value.end
		comma, err := lx.next()
		if err != nil || !comma.symbol(",") {
			return end
		}
	}
}

// insertData closes the statement: what is before is judged, what is after is
// data, from behind the first line break as ClickHouse has it.
func insertData(text string, tokens []token, format string, from int) (Statement, error) {
	if err := judge(tokens); err != nil {
		return Statement{}, err
	}
	if RefusedFormat(format) {
		return Statement{}, refuse("the format " + format + " reads a schema from a file or a registry")
	}
	st := Statement{Kind: KindInsertData, Format: format, Text: text[:tokens[len(tokens)-1].end], Data: from}
	if strings.EqualFold(format, "Values") {
		return st, nil
	}
	for st.Data < len(text) && strings.IndexByte(" \t\f;", text[st.Data]) >= 0 {
		st.Data++
	}
	if strings.HasPrefix(text[st.Data:], "\r") {
		st.Data++
	}
	if strings.HasPrefix(text[st.Data:], "\n") {
		st.Data++
	}
	return st, nil
}

// CheckValues judges rows in the Values format, which are SQL expressions.
func CheckValues(rows string) error {
	tokens, err := all(rows)
	if err != nil {
		return err
	}
	return judgeTokens(tokens)
}
