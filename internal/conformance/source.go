package conformance

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/soakgate/soakgate/internal/classify"
)

// Source is one payload and where it comes from.
type Source struct {
	Path  string // as given, or below a folder as given; "-" is standard input
	Index int    // place among the file's payloads, from 0
	Line  int    // line in a file of lines, from 1; 0 in others
	// Carrier is what the payload stands for: a map, text in a JSON string, or
	// raw text.
	Carrier classify.Carrier
	Text    []byte
	// broken is true when a file of JSON holds something else here.
	broken bool
}

// stdin is the path that reads standard input, as lines.
const stdin = "-"

// formats maps the endings of files to how they are read.
var formats = map[string]func(path string, in io.Reader, yield func(Source) error) error{
	".json":  readJSON,
	".jsonl": readLines,
	".txt":   readText,
}

// walk calls yield for each payload below the paths, folders in lexical order.
func walk(ctx context.Context, paths []string, in io.Reader, yield func(Source) error) error {
	for _, path := range paths {
		if path == stdin {
			if err := readLines(path, in, yield); err != nil {
				return err
			}
			continue
		}
		info, err := os.Stat(path)
		if err != nil {
			return fmt.Errorf("read payloads: %w", err)
		}
		if info.IsDir() {
			err = walkFolder(ctx, path, yield)
		} else {
			err = readPath(path, yield)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// walkFolder reads the files of payloads below a folder, which may be a link to
// one. Links to folders below it are not followed: they may lead in a circle.
func walkFolder(ctx context.Context, path string, yield func(Source) error) error {
	root, err := filepath.EvalSymlinks(path)
	if err != nil {
		return fmt.Errorf("read payloads below %s: %w", path, err)
	}
	return filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return fmt.Errorf("read payloads below %s: %w", path, err)
		}
		if ctx.Err() != nil {
			return fmt.Errorf("read payloads below %s: %w", path, context.Cause(ctx))
		}
		if d.IsDir() || formats[filepath.Ext(file)] == nil {
			return nil // a folder may hold other files
		}
		below, err := filepath.Rel(root, file)
		if err != nil {
			return fmt.Errorf("read payloads below %s: %w", path, err)
		}
		return readPath(filepath.Join(path, below), yield)
	})
}

// readPath reads a regular file. A pipe, a socket or a device is refused, since
// opening one may wait for ever.
func readPath(path string, yield func(Source) error) error {
	read := formats[filepath.Ext(path)]
	if read == nil {
		return fmt.Errorf("read payloads: %s: expected a name that ends in .json (one payload), .jsonl (one a line) or .txt (one raw text)", path)
	}
	info, err := os.Stat(path)
	if err != nil {
		return fmt.Errorf("read payloads: %w", err)
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("read payloads: %s: expected a regular file, found one of mode %s; take it away, or hand what it holds to standard input and name -", path, info.Mode())
	}
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("read payloads: %w", err)
	}
	defer f.Close()
	return read(path, f, yield)
}

func readJSON(path string, in io.Reader, yield func(Source) error) error {
	text, err := io.ReadAll(io.LimitReader(in, classify.MaxPayload+1))
	if err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	return yield(fromJSON(Source{Path: path}, text))
}

func readText(path string, in io.Reader, yield func(Source) error) error {
	text, err := io.ReadAll(io.LimitReader(in, classify.MaxPayload+1))
	if err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	return yield(Source{Path: path, Carrier: classify.CarrierRaw, Text: text})
}

// readLines reads one payload a line. Blank lines are none.
func readLines(path string, in io.Reader, yield func(Source) error) error {
	r := bufio.NewReaderSize(in, 64<<10)
	var line []byte
	for number, index := 1, 0; ; number++ {
		var err error
		line, err = readLine(r, line[:0])
		if err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("read %s, line %d: %w", path, number, err)
		}
		if len(bytes.TrimSpace(line)) > 0 {
			if err := yield(fromJSON(Source{Path: path, Index: index, Line: number}, line)); err != nil {
				return err
			}
			index++
		}
		if err != nil {
			return nil
		}
	}
}

// readLine reads to the end of a line and keeps of it what the classifier
// takes and one byte more, so that a long line is refused and not held.
func readLine(r *bufio.Reader, line []byte) ([]byte, error) {
	for {
		part, err := r.ReadSlice('\n')
		line = append(line, part[:min(len(part), classify.MaxPayload+1-len(line))]...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return bytes.TrimSuffix(line, []byte("\n")), err
		}
	}
}

// fromJSON tells a payload in a JSON string, text as a carrier would hold it,
// from one that is an object, a map, and both from what is no JSON: broken in a
// file, while standard input holds what was captured, raw texts among it.
func fromJSON(s Source, text []byte) Source {
	s.Carrier, s.Text = classify.CarrierRaw, text
	trimmed := bytes.TrimSpace(text)
	var inner string
	switch {
	case !json.Valid(trimmed):
		s.broken = s.Path != stdin && !json.Valid(bytes.TrimPrefix(trimmed, []byte("\ufeff")))
	case trimmed[0] == '"' && json.Unmarshal(trimmed, &inner) == nil:
		s.Carrier, s.Text = classify.CarrierLogBodyText, []byte(inner)
	case trimmed[0] == '{':
		s.Carrier = classify.CarrierLogBodyMap
	}
	return s
}
