package conformance

import (
	"bufio"
	"bytes"
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
func walk(paths []string, in io.Reader, yield func(Source) error) error {
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
		if !info.IsDir() {
			if err := readPath(path, yield); err != nil {
				return err
			}
			continue
		}
		err = filepath.WalkDir(path, func(file string, d fs.DirEntry, err error) error {
			if err != nil {
				return fmt.Errorf("read payloads below %s: %w", path, err)
			}
			if d.IsDir() || formats[filepath.Ext(file)] == nil {
				return nil // a folder may hold other files
			}
			return readPath(file, yield)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func readPath(path string, yield func(Source) error) error {
	read := formats[filepath.Ext(path)]
	if read == nil {
		return fmt.Errorf("read payloads: %s: expected a name that ends in .json (one payload), .jsonl (one a line) or .txt (one raw text)", path)
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
// from one that is an object, a map, and both from what is no JSON.
func fromJSON(s Source, text []byte) Source {
	s.Carrier, s.Text = classify.CarrierRaw, text
	trimmed := bytes.TrimSpace(text)
	if len(trimmed) == 0 {
		return s
	}
	var inner string
	switch {
	case trimmed[0] == '"' && json.Unmarshal(trimmed, &inner) == nil:
		s.Carrier, s.Text = classify.CarrierLogBodyText, []byte(inner)
	case trimmed[0] == '{' && json.Valid(trimmed):
		s.Carrier = classify.CarrierLogBodyMap
	}
	return s
}
