package dashboards

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/cog/variants"
	"github.com/grafana/grafana-foundation-sdk/go/common"
)

// ClickHouse is the plugin id of the data source that the SQL goes to.
const ClickHouse = "grafana-clickhouse-datasource"

// pluginVersion is the release of the ClickHouse data source whose form of a
// target is written. An older plugin reads it too.
const pluginVersion = "4.14.0"

// Format is how the plugin makes a frame of the rows.
type Format int

// The formats in use. A time series must come sorted by time.
const (
	FormatTimeSeries Format = 0
	FormatTable      Format = 1
)

// queryTypes is the editor's word for each format.
var queryTypes = map[Format]string{FormatTimeSeries: "timeseries", FormatTable: "table"}

// Query is one target of the ClickHouse data source, in the form of its SQL editor.
// The SDK has no type for it.
type Query struct {
	RefID         string                `json:"refId"`
	Datasource    *common.DataSourceRef `json:"datasource,omitempty"`
	EditorType    string                `json:"editorType"`
	QueryType     string                `json:"queryType"`
	Format        Format                `json:"format"`
	RawSQL        string                `json:"rawSql"`
	PluginVersion string                `json:"pluginVersion"`
	Meta          QueryMeta             `json:"meta"`
}

// QueryMeta is what the plugin is told besides the SQL.
type QueryMeta struct {
	Timezone string `json:"timezone"`
}

var _ variants.Dataquery = Query{}

// ImplementsDataqueryVariant marks the type for the SDK.
func (Query) ImplementsDataqueryVariant() {}

// DataqueryType is the plugin that understands the query.
func (Query) DataqueryType() string { return ClickHouse }

// Equals tells whether two targets are the same.
func (q Query) Equals(other variants.Dataquery) bool {
	switch o := other.(type) {
	case Query:
		return reflect.DeepEqual(q, o)
	case *Query:
		return o != nil && reflect.DeepEqual(q, *o)
	}
	return false
}

// Validate tells what the plugin would refuse or misread.
func (q Query) Validate() error {
	var errs []error
	if q.RawSQL == "" {
		errs = append(errs, errors.New("rawSql is empty"))
	}
	if q.EditorType != "sql" {
		errs = append(errs, fmt.Errorf("editorType %q is not sql", q.EditorType))
	}
	if q.QueryType == "" || queryTypes[q.Format] != q.QueryType {
		errs = append(errs, fmt.Errorf("queryType %q does not go with format %d", q.QueryType, q.Format))
	}
	return errors.Join(errs...)
}

// Build makes the query its own builder.
func (q Query) Build() (variants.Dataquery, error) {
	if err := q.Validate(); err != nil {
		return nil, cog.MakeBuildErrors("target", err) // the SDK asserts this type
	}
	return q, nil
}

// variant tells the SDK how to read our targets. Without it they land in an untyped
// bag that accepts anything.
func variant() variants.DataqueryConfig {
	read := func(raw []byte, strict bool) (variants.Dataquery, error) {
		d := json.NewDecoder(bytes.NewReader(raw))
		if strict {
			d.DisallowUnknownFields()
		}
		var q Query
		if err := d.Decode(&q); err != nil {
			return nil, fmt.Errorf("read a ClickHouse target: %w", err)
		}
		return q, nil
	}
	return variants.DataqueryConfig{
		Identifier:                 ClickHouse,
		DataqueryUnmarshaler:       func(raw []byte) (variants.Dataquery, error) { return read(raw, false) },
		StrictDataqueryUnmarshaler: func(raw []byte) (variants.Dataquery, error) { return read(raw, true) },
	}
}
