package httpface_test

import (
	"fmt"
	"math/big"
	"net"
	"reflect"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/shopspring/decimal"
)

// scanTargets makes a variable of each column's own Go type.
func scanTargets(rows driver.Rows) []any {
	var out []any
	for _, c := range rows.ColumnTypes() {
		out = append(out, reflect.New(c.ScanType()).Interface())
	}
	return out
}

// plain spells a value so that a sent one and a scanned one compare: pointers
// are followed, a nil is NULL, times are in UTC to the nanosecond.
func plain(v any) string {
	switch x := v.(type) {
	case *time.Time:
		if x != nil {
			return plain(*x)
		}
	case time.Time:
		return x.UTC().Format(time.RFC3339Nano)
	case fmt.Stringer:
		if r := reflect.ValueOf(v); r.Kind() != reflect.Pointer || !r.IsNil() {
			return x.String()
		}
	}
	r := reflect.ValueOf(v)
	switch r.Kind() {
	case reflect.Pointer, reflect.Interface:
		if r.IsNil() {
			return "NULL"
		}
		return plain(r.Elem().Interface())
	case reflect.Slice:
		var parts []string
		for i := range r.Len() {
			parts = append(parts, plain(r.Index(i).Interface()))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	default:
		return fmt.Sprintf("%#v", v)
	}
}

func money() decimal.Decimal { return decimal.New(-123456789, -4) }

func bigInt(s string) *big.Int {
	n, ok := new(big.Int).SetString(s, 10)
	if !ok {
		panic("not a number: " + s)
	}
	return n
}

func ip(s string) net.IP { return net.ParseIP(s) }
