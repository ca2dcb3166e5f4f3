package httpface

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/soakgate/soakgate/internal/store/embedded/internal/statement"
)

const (
	// maxHead is how far into a body an INSERT's text may reach before its data.
	maxHead = 1 << 20
	// maxStatement bounds every other statement, which is read as a whole. The
	// engine's own max_query_size (256 KiB unless set) usually says no first.
	maxStatement = 16 << 20
)

// readStatement takes the statement from the URL and the body, which ClickHouse
// joins with a line break, and for an INSERT the rows that follow.
func readStatement(req *request, body io.Reader) (statement.Statement, io.Reader, error) {
	text := req.query
	if text != "" {
		text += "\n"
		st, err := statement.Inspect(text)
		if err == nil && st.Kind == statement.KindInsertData && !st.Implicit {
			return st, rows(text, st, body), nil
		}
	}
	if req.readOnly {
		body = strings.NewReader("") // GET carries its query in the URL
	}
	head, more, err := readUpTo(body, maxHead)
	if err != nil {
		return statement.Statement{}, nil, cutOff(err)
	}
	text += head
	st, err := statement.Inspect(text)
	if err == nil && st.Kind == statement.KindInsertData {
		return st, rows(text, st, body), nil
	}
	if more {
		rest, tooLong, readErr := readUpTo(body, maxStatement-maxHead)
		if readErr != nil {
			return statement.Statement{}, nil, cutOff(readErr)
		}
		if tooLong {
			return statement.Statement{}, nil, &exception{code: codeQueryTooLarge, text: fmt.Sprintf("the query is longer than %d MiB", maxStatement>>20)}
		}
		st, err = statement.Inspect(text + rest)
	}
	return st, nil, err
}

// rows are the data of an INSERT: what follows it in the text, then the body.
func rows(text string, st statement.Statement, body io.Reader) io.Reader {
	return io.MultiReader(strings.NewReader(text[st.Data:]), body)
}

// readUpTo reads at most limit bytes and says whether there may be more.
func readUpTo(r io.Reader, limit int) (string, bool, error) {
	var b strings.Builder
	n, err := io.Copy(&b, io.LimitReader(eofReader{r}, int64(limit)))
	return b.String(), n == int64(limit), err
}

// eofReader gives the bare io.EOF, which io.Copy compares with ==, for ends that
// a decoder has wrapped.
type eofReader struct{ io.Reader }

func (r eofReader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	if err != nil && isEnd(err) {
		err = io.EOF
	}
	return n, err
}

// cutOff words a body that ended early; an error of this side's own stays.
func cutOff(err error) error {
	if _, ok := errors.AsType[*exception](err); ok {
		return err
	}
	return &exception{code: codeNetwork, text: "the request's body was cut off, and nothing of it was run: " + err.Error()}
}
