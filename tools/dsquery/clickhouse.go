package dsquery

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	_ "github.com/ClickHouse/clickhouse-go/v2" // the driver "clickhouse"
	"github.com/grafana/grafana-plugin-sdk-go/backend"
	"github.com/grafana/grafana-plugin-sdk-go/data"
	"github.com/grafana/grafana-plugin-sdk-go/data/sqlutil"
)

// ClickHouse answers queries as the ClickHouse data source's backend does.
type ClickHouse struct{ db *sql.DB }

// OpenClickHouse opens a store by its DSN, as clickhouse-go reads one.
func OpenClickHouse(dsn string) (*ClickHouse, error) {
	db, err := sql.Open("clickhouse", dsn)
	if err != nil {
		return nil, fmt.Errorf("open ClickHouse: %w", err)
	}
	return &ClickHouse{db: db}, nil
}

// Close closes its connections.
func (c *ClickHouse) Close() error { return c.db.Close() }

// SQL is the statement that is sent for a query: macros expanded.
func SQL(query backend.DataQuery) (string, sqlutil.FormatQueryOption, error) {
	q, err := sqlutil.GetQuery(query)
	if err != nil {
		return "", 0, fmt.Errorf("read query %s: %w", query.RefID, err)
	}
	text, err := sqlutil.Interpolate(q, macros)
	if err != nil {
		return "", 0, fmt.Errorf("expand macros of query %s: %w", query.RefID, err)
	}
	if i := unexpanded(text); i >= 0 {
		return "", 0, fmt.Errorf("query %s: nothing stands for %q", query.RefID, text[i:min(len(text), i+40)])
	}
	return text, q.Format, nil
}

// unexpanded finds a variable or macro that was left in the text. A dollar
// within a literal is text: values of senders hold anything.
func unexpanded(text string) int {
	quoted := false
	for i := 0; i < len(text); i++ {
		switch {
		case quoted && text[i] == '\\':
			i++
		case text[i] == '\'':
			quoted = !quoted
		case text[i] == '$' && !quoted:
			return i
		}
	}
	return -1
}

// Query runs one query and makes its frame.
func (c *ClickHouse) Query(ctx context.Context, query backend.DataQuery) (data.Frames, error) {
	text, format, err := SQL(query)
	if err != nil {
		return nil, err
	}
	rows, err := c.db.QueryContext(ctx, text)
	if err != nil {
		return nil, fmt.Errorf("%w\n%s", err, text)
	}
	defer rows.Close()
	converters, err := convertersOf(rows)
	if err != nil {
		return nil, err
	}
	frame, err := sqlutil.FrameFromRows(rows, -1, converters...)
	if err != nil {
		return nil, fmt.Errorf("make a frame of query %s: %w", query.RefID, err)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("%w\n%s", err, text)
	}
	visualization := data.VisType(data.VisTypeTable)
	if format == sqlutil.FormatOptionTimeSeries {
		visualization = data.VisTypeGraph
		if frame, err = series(frame); err != nil {
			return nil, fmt.Errorf("query %s: %w", query.RefID, err)
		}
	}
	frame.Name, frame.RefID = query.RefID, query.RefID
	frame.Meta = &data.FrameMeta{ExecutedQueryString: text, PreferredVisualization: visualization}
	return data.Frames{frame}, nil
}

// series makes a long frame wide: a column for each series. The data source lets
// a frame without a time pass, and the panel then shows nothing; here it fails.
func series(frame *data.Frame) (*data.Frame, error) {
	if frame.Rows() == 0 {
		return frame, nil // the panel says that there is nothing
	}
	switch frame.TimeSeriesSchema().Type {
	case data.TimeSeriesTypeNot:
		return nil, errors.New("a time series needs a time column and a number column")
	case data.TimeSeriesTypeLong:
		// Fails when the rows are not in ascending order of time.
		return data.LongToWide(frame, &data.FillMissing{Mode: data.FillModeNull})
	}
	return frame, nil
}
