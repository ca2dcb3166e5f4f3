package soak

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"time"
)

// Canonical is the same figures in one order: rows sorted, times in UTC, no list
// nil. Figures that say the same have the same JSON, so that evidence recomputes
// to the same bytes however a store ordered its answers.
func (f Figures) Canonical() (Figures, error) {
	text, err := json.Marshal(f)
	if err != nil {
		return Figures{}, fmt.Errorf("copy figures: %w", err)
	}
	var out Figures
	if err := json.Unmarshal(text, &out); err != nil {
		return Figures{}, fmt.Errorf("copy figures: %w", err)
	}
	if err := canonical(reflect.ValueOf(&out).Elem()); err != nil {
		return Figures{}, fmt.Errorf("order figures: %w", err)
	}
	return out, nil
}

// canonical orders the lists within v by the JSON of their items, innermost first.
func canonical(v reflect.Value) error {
	if at, ok := reflect.TypeAssert[*time.Time](v.Addr()); ok {
		*at = at.UTC()
		return nil
	}
	switch v.Kind() {
	case reflect.Struct:
		for _, field := range v.Fields() {
			if err := canonical(field); err != nil {
				return err
			}
		}
	case reflect.Slice:
		return canonicalList(v)
	}
	return nil
}

func canonicalList(v reflect.Value) error {
	if v.IsNil() {
		v.Set(reflect.MakeSlice(v.Type(), 0, 0))
	}
	type item struct {
		key   []byte
		value reflect.Value
	}
	items := make([]item, v.Len())
	for i := range items {
		if err := canonical(v.Index(i)); err != nil {
			return err
		}
		key, err := json.Marshal(v.Index(i).Interface())
		if err != nil {
			return err
		}
		items[i] = item{key, reflect.ValueOf(v.Index(i).Interface())}
	}
	slices.SortStableFunc(items, func(a, b item) int { return bytes.Compare(a.key, b.key) })
	for i, it := range items {
		v.Index(i).Set(it.value)
	}
	return nil
}

// contradiction says what in the figures cannot be, or "". A count below zero,
// more malformed blocks than blocks, or activity after T would turn arithmetic
// into evidence.
func (f Figures) contradiction(t Minute) string {
	negative := func(counts ...int64) bool { return slices.Min(counts) < 0 }
	for _, r := range f.Blocks.Value {
		if negative(r.Blocks, r.Malformed, r.Blocks-r.Malformed, r.Known, r.Blocks-r.Known, r.KnownBytes, r.AnswerBytes, r.Recent) {
			return "the figures of blocks contradict themselves for " + r.Server + " " + r.Version
		}
		for _, b := range r.Sizes {
			if negative(b.Size, b.Count) {
				return "the sizes of blocks contradict themselves for " + r.Server + " " + r.Version
			}
		}
	}
	for _, a := range f.Activity.Value {
		for _, r := range a.On {
			if r.From >= r.To || r.To > t || r.Calls < 1 {
				return "the activity of " + a.Server + " contradicts itself in " + r.String()
			}
		}
	}
	for _, r := range f.Readable.Value {
		if negative(r.Readable, r.Unreadable, r.Cut, r.Unreadable-r.Cut) {
			return "the readable and unreadable texts contradict themselves for " + r.Server + " " + r.Version
		}
	}
	for _, r := range f.Arrivals.Value {
		if negative(r.Received, r.Late, r.Received-r.Late, r.Replayed) {
			return "the arrivals contradict themselves for " + r.Server
		}
	}
	return ""
}
