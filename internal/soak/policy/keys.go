package policy

import (
	"reflect"
	"slices"
	"strings"
	"time"
)

// Keys are the dotted names of all thresholds and settings, sorted: what a
// change can name, and what the sample file must show.
func Keys() []string {
	keys := keysOf(reflect.TypeFor[Policy](), "")
	slices.Sort(keys)
	return keys
}

func keysOf(t reflect.Type, prefix string) []string {
	var keys []string
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		ft := t.Field(i).Type
		if ft.Kind() == reflect.Struct && ft != reflect.TypeFor[time.Time]() {
			keys = append(keys, keysOf(ft, prefix+name+".")...)
			continue
		}
		keys = append(keys, prefix+name)
	}
	return keys
}
