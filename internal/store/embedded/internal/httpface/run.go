package httpface

import (
	"context"
	"io"
	"strings"

	"github.com/soakgate/soakgate/internal/store/embedded/internal/engine"
	"github.com/soakgate/soakgate/internal/store/embedded/internal/statement"
)

// piecewise are the formats whose answers can be taken from the engine piece by
// piece: it ends each piece as if it were the whole, so only formats without a
// head and a foot add up. The others are held in memory, within its limit.
var piecewise = map[string]bool{
	"native": true, "tabseparated": true, "tsv": true, "tabseparatedraw": true, "tsvraw": true, "raw": true, "csv": true,
	"rowbinary": true, "jsoneachrow": true, "jsonlines": true, "ndjson": true, "jsoncompacteachrow": true,
	"jsonstringseachrow": true, "jsoncompactstringseachrow": true, "lineasstring": true,
}

// query runs a statement that is complete, and writes its answer.
func (h *Handler) query(ctx context.Context, req *request, st statement.Statement, out *answer) error {
	format := req.format
	if st.Format != "" {
		format = st.Format
	}
	if statement.RefusedFormat(format) {
		return &exception{code: codeAccessDenied, text: "the format " + format + " reads a schema from a file or a registry"}
	}
	session, err := h.session(ctx, req)
	if err != nil {
		return err
	}
	defer session.Close()
	defer session.CancelWith(ctx)()
	out.begin(format)
	write := out.write
	if strings.EqualFold(format, "Native") && req.revision > 0 {
		write = func(p []byte) error {
			blocks, err := transcode(p, req.revision)
			if err != nil {
				return err
			}
			return out.write(blocks)
		}
	}
	if st.Kind != statement.KindSelect || !piecewise[strings.ToLower(format)] {
		stats, err := session.Run(st.Text, format, write, req.params...)
		if err != nil {
			return err
		}
		return out.end(stats)
	}
	rows, err := session.Query(st.Text, format, req.params...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for {
		more, err := rows.Next(write)
		if err != nil {
			return err
		}
		if !more {
			return out.end(rows.Stats())
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
}

const (
	// insertBuffer is how much of a body is handed on at a time. The engine holds
	// up to 16 such pieces before it makes the client wait.
	insertBuffer = 256 << 10
	// maxValues is how much of a Values insert may hold expressions: they are
	// code, and are looked at before any of them runs.
	maxValues = 4 << 20
	// maxDrain is how much of a body is still read when its insert has failed, so
	// that a client in the middle of sending gets the answer rather than a reset.
	maxDrain = 256 << 20
)

// insert streams rows into the engine. Once the whole body is here the insert is
// no longer cancelled with the request: the client has sent everything, and a
// stored batch whose answer is lost is better than an abandoned one.
func (h *Handler) insert(ctx context.Context, req *request, st statement.Statement, data io.Reader, out *answer) error {
	var extra []engine.Setting
	if strings.EqualFold(st.Format, "Values") {
		text, more, err := readUpTo(data, maxValues)
		if err != nil {
			return cutOff(err)
		}
		if more {
			extra = []engine.Setting{{Name: "input_format_values_interpret_expressions", Value: "0"}}
		} else if err := statement.CheckValues(text); err != nil {
			return err
		}
		data = io.MultiReader(strings.NewReader(text), data)
	}
	session, err := h.session(ctx, req, extra...)
	if err != nil {
		return err
	}
	defer session.Close()
	out.begin(req.format)
	stream, err := session.Insert(st.Text, st.Format, req.params...)
	if err != nil {
		drain(data)
		return err
	}
	defer stream.Cancel()
	buf := make([]byte, insertBuffer)
	for {
		n, readErr := data.Read(buf)
		if n > 0 {
			if _, err := stream.Write(buf[:n]); err != nil {
				drain(data)
				break // the end says why
			}
		}
		if readErr == nil {
			continue
		}
		if !isEnd(readErr) {
			return cutOff(readErr)
		}
		break
	}
	stats, err := stream.Done()
	if err != nil {
		return err
	}
	return out.end(stats)
}

// drain reads what the client still sends.
func drain(data io.Reader) {
	_, _ = io.Copy(io.Discard, io.LimitReader(eofReader{data}, maxDrain)) // the insert's own error is what counts
}
