package dashboards

import (
	"strconv"

	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
)

// named is a number's word and colour.
type named struct {
	number      int
	text, color string
}

// mapping shows numbers by their words.
func mapping(values ...named) []dashboard.ValueMapping {
	m := dashboard.NewValueMap()
	for i, v := range values {
		index := int32(i)
		m.Options[strconv.Itoa(v.number)] = dashboard.ValueMappingResult{Text: &v.text, Color: &v.color, Index: &index}
	}
	return []dashboard.ValueMapping{{ValueMap: m}}
}
