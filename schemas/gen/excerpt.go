package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/soakgate/soakgate/internal/classify/jsontape"
	"github.com/soakgate/soakgate/schemas"
)

// maxExcerpt is how much of one value the document shows, in bytes.
const maxExcerpt = 160

// excerpt shows what of an example tells of its rule: the members at Show, or
// at At, as they stand in the file; of a raw text its start or its end.
func excerpt(row schemas.Rule, file string, text []byte) (string, error) {
	if filepath.Ext(file) == ".txt" {
		return ofText(row, string(bytes.TrimSuffix(text, []byte("\n")))), nil
	}
	show := row.Show
	if len(show) == 0 {
		show = []string{row.At}
	}
	var tape jsontape.Tape
	if _, err := tape.Parse(text, 0); err != nil {
		return "", fmt.Errorf("parse the example: %w", err)
	}
	var parts []string
	for _, pointer := range show {
		if pointer == "" {
			return short(compact(text)), nil
		}
		found, err := at(&tape, pointer)
		if err != nil {
			return "", err
		}
		parts = append(parts, found...)
	}
	if len(parts) == 0 {
		return "no " + strings.Join(show, ", "), nil
	}
	return strings.Join(parts, ", "), nil
}

// ofText shows the end of a text for a rule that speaks of its end.
func ofText(row schemas.Rule, text string) string {
	text = strings.ReplaceAll(text, "\ufeff", `\ufeff`)
	if _, deep, ok := strings.Cut(text, "[["); ok {
		return "… [[" + short(deep)
	}
	if row.ID != "trailing_data" && row.ID != "invalid_json" || len(text) <= maxExcerpt/2 {
		return short(text)
	}
	from := len(text) - maxExcerpt/2
	for !utf8.RuneStart(text[from]) {
		from++
	}
	return "… " + text[from:]
}

// at lists the member at a pointer with its name: each time it comes, where it
// is repeated, and none when it is absent.
func at(t *jsontape.Tape, pointer string) ([]string, error) {
	tokens := strings.Split(pointer[1:], "/")
	i := uint32(0)
	for k, token := range tokens[:len(tokens)-1] {
		next, ok := step(t, i, token)
		if !ok {
			if k == 0 { // the whole branch is absent
				return nil, nil
			}
			return nil, errors.New("nothing at " + pointer)
		}
		i = next
	}
	name := tokens[len(tokens)-1]
	var out []string
	index := 0
	for j := i + 1; j < t.Nodes[i].Next; j = t.Nodes[j].Next {
		if t.Nodes[i].Kind == jsontape.Array && strconv.Itoa(index) == name || t.Nodes[i].Kind == jsontape.Object && t.KeyIs(j, name) {
			label := pointer
			if len(tokens) == 1 {
				label = strconv.Quote(name)
			}
			out = append(out, label+": "+short(compact(t.Value(j))))
		}
		index++
	}
	return out, nil
}

func step(t *jsontape.Tape, i uint32, token string) (uint32, bool) {
	if t.Nodes[i].Kind == jsontape.Object {
		return t.Member(i, token)
	}
	index := 0
	for j := range t.Children(i) {
		if strconv.Itoa(index) == token {
			return j, true
		}
		index++
	}
	return 0, false
}

// compact drops the blanks between tokens and keeps the rest as found.
func compact(text []byte) string {
	var out bytes.Buffer
	if err := json.Compact(&out, text); err != nil {
		return string(text)
	}
	return out.String()
}

func short(s string) string {
	if len(s) <= maxExcerpt {
		return s
	}
	end := maxExcerpt
	for !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + " …"
}
