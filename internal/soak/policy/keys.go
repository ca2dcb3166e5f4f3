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
	for field := range t.Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		ft := field.Type
		if ft.Kind() == reflect.Struct && ft != reflect.TypeFor[time.Time]() {
			keys = append(keys, keysOf(ft, prefix+name+".")...)
			continue
		}
		keys = append(keys, prefix+name)
	}
	return keys
}
