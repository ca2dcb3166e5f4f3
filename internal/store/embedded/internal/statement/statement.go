// Package statement looks at the text of a SQL statement before the embedded
// engine sees it. It owns two things: which statements are run at all, and how
// an INSERT divides into statement and data. It refuses what reaches outside
// the store (files, hosts, programs), what would leave a trace in another
// request's session, and what only an administrator of a server would do.
//
// It cuts the text into tokens and judges those; it is not a parser, and a text
// that it passes may still be wrong SQL. The engine's own grants are a second
// fence behind it. Two things have no second fence, since the engine does them
// on its client's side or without asking: INTO OUTFILE and FROM INFILE, and the
// scalar function file().
package statement

// Kind sorts statements by how they are run.
type Kind uint8

const (
	// KindOther is run as a whole and may answer with rows: DDL, SHOW, EXPLAIN.
	KindOther Kind = iota + 1
	// KindSelect answers with rows that can be taken piece by piece.
	KindSelect
	// KindInsertData is an INSERT whose rows follow its text.
	KindInsertData
	// KindInsertSelect is an INSERT whose rows come from a query.
	KindInsertSelect
)

// Statement is what is known of a text that is not refused.
type Statement struct {
	Kind Kind
	// Text is the statement without a trailing semicolon. Of KindInsertData it
	// is "INSERT INTO ... SETTINGS ..." without its FORMAT clause.
	Text string
	// Format is the output format that the text asks for, or the input format of
	// KindInsertData; empty when it asks for none.
	Format string
	// Data is where the rows of a KindInsertData begin in the text.
	Data int
	// Implicit says that a KindInsertData ended without FORMAT or VALUES, so that
	// more of the statement may follow.
	Implicit bool
}

// Inspect judges a text. For KindInsertData only the statement is judged, not
// what follows Data; see CheckValues for rows that are SQL themselves.
func Inspect(text string) (Statement, error) {
	lx := &lexer{text: text}
	verb, err := lx.next()
	for err == nil && verb.symbol("(") {
		verb, err = lx.next()
	}
	if err != nil {
		return Statement{}, err
	}
	if verb.kind == kindEnd {
		return Statement{}, syntax("the query is empty")
	}
	if verb.is("INSERT") {
		return inspectInsert(text)
	}
	tokens, err := all(text)
	if err != nil {
		return Statement{}, err
	}
	tokens, err = oneStatement(tokens)
	if err != nil {
		return Statement{}, err
	}
	if len(tokens) == 0 {
		return Statement{}, syntax("the query is empty")
	}
	if err := judge(tokens); err != nil {
		return Statement{}, err
	}
	st := Statement{Kind: KindOther, Text: text[:tokens[len(tokens)-1].end], Format: outputFormat(tokens)}
	if verb.is("SELECT") || verb.is("WITH") {
		st.Kind = KindSelect
	}
	return st, nil
}

// all cuts a whole text into tokens, without the end.
func all(text string) ([]token, error) {
	lx := &lexer{text: text}
	var tokens []token
	for {
		t, err := lx.next()
		if err != nil {
			return nil, err
		}
		if t.kind == kindEnd {
			return tokens, nil
		}
		tokens = append(tokens, t)
	}
}

// oneStatement drops closing semicolons and refuses a second statement.
func oneStatement(tokens []token) ([]token, error) {
	for i, t := range tokens {
		if !t.symbol(";") {
			continue
		}
		for _, rest := range tokens[i+1:] {
			if !rest.symbol(";") {
				return nil, refuse("it holds several statements; send one a request")
			}
		}
		return tokens[:i], nil
	}
	return tokens, nil
}

// outputFormat finds "FORMAT name" outside brackets, at the end or before the
// SETTINGS that may follow it.
func outputFormat(tokens []token) string {
	depth := 0
	for i, t := range tokens {
		switch {
		case t.symbol("(") || t.symbol("["):
			depth++
		case t.symbol(")") || t.symbol("]"):
			depth--
		case depth == 0 && i > 0 && t.is("FORMAT") && i+1 < len(tokens) && tokens[i+1].name():
			if i+2 == len(tokens) || tokens[i+2].is("SETTINGS") {
				return tokens[i+1].text
			}
		}
	}
	return ""
}
