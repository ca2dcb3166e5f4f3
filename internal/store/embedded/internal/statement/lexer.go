package statement

import "strings"

// kind is what a token is.
type kind uint8

const (
	kindEnd    kind = iota // the end of the text
	kindWord               // a bare identifier or keyword
	kindQuoted             // an identifier in back-ticks or double quotes
	kindString             // a string literal
	kindNumber
	kindSymbol // one byte of punctuation
)

// token is one piece of a statement with its place in the text.
type token struct {
	kind       kind
	text       string // a word as written, the inside of a quoted identifier or literal, or the symbol
	start, end int
}

// is reports whether a token is the given keyword, in any case.
func (t token) is(keyword string) bool {
	return t.kind == kindWord && strings.EqualFold(t.text, keyword)
}

// symbol reports whether a token is the given punctuation.
func (t token) symbol(s string) bool { return t.kind == kindSymbol && t.text == s }

// name reports whether a token can name something: a bare or a quoted word.
func (t token) name() bool { return t.kind == kindWord || t.kind == kindQuoted }

// lexer cuts a text into tokens, as ClickHouse's own lexer does for the part of
// the language that it takes. What the two might read differently (curly
// quotes, here-documents, `#` comments, bytes beyond ASCII outside quotes) it
// refuses, so that a literal here is a literal there.
type lexer struct {
	text string
	pos  int
}

// next returns the next token, skipping white space and comments.
func (l *lexer) next() (token, error) {
	if err := l.skipBlank(); err != nil {
		return token{}, err
	}
	start := l.pos
	if start >= len(l.text) {
		return token{kind: kindEnd, start: start, end: start}, nil
	}
	switch c := l.text[start]; {
	case c == '\'':
		return l.quoted(kindString, c)
	case c == '"' || c == '`':
		return l.quoted(kindQuoted, c)
	case isDigit(c):
		l.number()
		return l.token(kindNumber, start), nil
	case isWordStart(c):
		for l.pos < len(l.text) && isWordByte(l.text[l.pos]) {
			l.pos++
		}
		return l.token(kindWord, start), nil
	case c == '$':
		return token{}, refuse("it uses `$` outside quotes (a here-document); write a string in single quotes")
	case c == '#':
		return token{}, refuse("it uses `#` outside quotes; start a comment with `--`")
	case c >= 0x80:
		return token{}, refuse("it has a character beyond ASCII outside quotes; put names in back-ticks and text in straight quotes")
	case c < ' ' || c == 0x7f:
		return token{}, refuse("it has a control character outside quotes")
	default:
		l.pos++
		return l.token(kindSymbol, start), nil
	}
}

func (l *lexer) token(k kind, start int) token {
	return token{kind: k, text: l.text[start:l.pos], start: start, end: l.pos}
}

// skipBlank passes over white space and comments. Block comments nest, as they
// do in ClickHouse.
func (l *lexer) skipBlank() error {
	for l.pos < len(l.text) {
		rest := l.text[l.pos:]
		switch {
		case strings.IndexByte(" \t\n\r\f\v", rest[0]) >= 0:
			l.pos++
		case strings.HasPrefix(rest, "--"), strings.HasPrefix(rest, "//"):
			end := strings.IndexByte(rest, '\n')
			if end < 0 {
				end = len(rest)
			}
			l.pos += end
		case strings.HasPrefix(rest, "/*"):
			if err := l.skipBlockComment(); err != nil {
				return err
			}
		default:
			return nil
		}
	}
	return nil
}

func (l *lexer) skipBlockComment() error {
	depth := 0
	for l.pos < len(l.text) {
		rest := l.text[l.pos:]
		switch {
		case strings.HasPrefix(rest, "/*"):
			depth++
			l.pos += 2
		case strings.HasPrefix(rest, "*/"):
			depth--
			l.pos += 2
			if depth == 0 {
				return nil
			}
		default:
			l.pos++
		}
	}
	return syntax("a comment that starts with /* is not closed")
}

// quoted reads a literal or identifier up to its closing quote; a backslash
// takes the next byte with it, and a doubled quote stands for one.
func (l *lexer) quoted(k kind, quote byte) (token, error) {
	start := l.pos
	var inside strings.Builder
	for l.pos++; l.pos < len(l.text); l.pos++ {
		switch c := l.text[l.pos]; {
		case c == '\\':
			if l.pos++; l.pos < len(l.text) {
				inside.WriteByte(l.text[l.pos])
			}
		case c == quote && l.pos+1 < len(l.text) && l.text[l.pos+1] == quote:
			l.pos++
			inside.WriteByte(quote)
		case c == quote:
			l.pos++
			return token{kind: k, text: inside.String(), start: start, end: l.pos}, nil
		default:
			inside.WriteByte(c)
		}
	}
	return token{}, syntax("a quote " + string(quote) + " is not closed")
}

// number reads digits with what may cling to them (hex digits, exponents,
// separators), and a fraction.
func (l *lexer) number() {
	digits := func() {
		for l.pos < len(l.text) && isWordByte(l.text[l.pos]) && l.text[l.pos] != '$' {
			l.pos++
		}
	}
	digits()
	if l.pos+1 < len(l.text) && l.text[l.pos] == '.' && isDigit(l.text[l.pos+1]) {
		l.pos++
		digits()
	}
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isWordStart(c byte) bool {
	return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')
}

func isWordByte(c byte) bool { return isWordStart(c) || isDigit(c) || c == '$' }
