package dsquery

import (
	"database/sql"
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/grafana/grafana-plugin-sdk-go/data/sqlutil"
)

// plain are the column types that a panel can show, and the type of their field.
var plain = map[string]reflect.Type{
	"UInt8": reflect.TypeFor[uint8](), "UInt16": reflect.TypeFor[uint16](), "UInt32": reflect.TypeFor[uint32](), "UInt64": reflect.TypeFor[uint64](),
	"Int8": reflect.TypeFor[int8](), "Int16": reflect.TypeFor[int16](), "Int32": reflect.TypeFor[int32](), "Int64": reflect.TypeFor[int64](),
	"Float32": reflect.TypeFor[float32](), "Float64": reflect.TypeFor[float64](), "Bool": reflect.TypeFor[bool](),
	"String": reflect.TypeFor[string](), "FixedString": reflect.TypeFor[string](), "Enum8": reflect.TypeFor[string](), "Enum16": reflect.TypeFor[string](),
	"Date": reflect.TypeFor[time.Time](), "Date32": reflect.TypeFor[time.Time](), "DateTime": reflect.TypeFor[time.Time](), "DateTime64": reflect.TypeFor[time.Time](),
}

// convertersOf picks a field for every column. The data source turns arrays,
// maps and the like into JSON text that no panel reads well; here they fail.
func convertersOf(rows *sql.Rows) ([]sqlutil.Converter, error) {
	columns, err := rows.ColumnTypes()
	if err != nil {
		return nil, fmt.Errorf("read column types: %w", err)
	}
	converters := make([]sqlutil.Converter, 0, len(columns))
	for _, column := range columns {
		kind, nullable := baseType(column.DatabaseTypeName())
		field, known := plain[kind]
		if !known {
			return nil, fmt.Errorf("column %s has type %s: cast it to a number, a text or a time", column.Name(), column.DatabaseTypeName())
		}
		converters = append(converters, plainConverter(column.Name(), field, nullable))
	}
	return converters, nil
}

// baseType takes the wrappers and parameters off a type's name.
func baseType(name string) (kind string, nullable bool) {
	for _, wrapper := range []string{"LowCardinality(", "Nullable("} {
		if inner, found := strings.CutPrefix(name, wrapper); found {
			name, nullable = strings.TrimSuffix(inner, ")"), nullable || wrapper == "Nullable("
		}
	}
	kind, _, _ = strings.Cut(name, "(")
	return kind, nullable
}

func plainConverter(name string, field reflect.Type, nullable bool) sqlutil.Converter {
	if nullable {
		field = reflect.PointerTo(field)
	}
	c := sqlutil.NewDefaultConverter(name, false, field)
	if nullable { // the SDK scans into what InputScanType points at
		c.InputScanType = reflect.PointerTo(field)
	}
	c.InputColumnName = name
	return c
}
