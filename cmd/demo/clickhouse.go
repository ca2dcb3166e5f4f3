package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"
)

// clickhouse asks the embedded store over HTTP, as anybody could with curl.
type clickhouse struct{ url string }

func (c clickhouse) query(ctx context.Context, text string) (string, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, strings.NewReader(text))
	if err != nil {
		return "", err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", fmt.Errorf("ask ClickHouse: %w", err)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		return "", fmt.Errorf("ask ClickHouse: %w", err)
	}
	if response.StatusCode != http.StatusOK {
		return "", fmt.Errorf("ask ClickHouse: %s", strings.TrimSpace(string(answer)))
	}
	return strings.TrimSpace(string(answer)), nil
}

// waitUntil asks until the answer is the one that is wanted, and returns the last.
func (c clickhouse) waitUntil(ctx context.Context, timeout time.Duration, text, want string) (answer string, err error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	for {
		now, queryErr := c.query(ctx, text)
		if queryErr == nil && now == want {
			return now, nil
		}
		if ctx.Err() != nil {
			return answer, errors.Join(ctx.Err(), err)
		}
		answer, err = now, queryErr
		select {
		case <-ctx.Done():
		case <-time.After(waitPause):
		}
	}
}

// waitSchema waits until the collector has made its tables. The one that a
// replay is declared in is not the last, but declaring needs no other.
func (c clickhouse) waitSchema(ctx context.Context) error {
	if _, err := c.waitUntil(ctx, startTimeout, "EXISTS TABLE soakgate.replays", "1"); err != nil {
		return fmt.Errorf("wait for the collector to make its tables: %w", err)
	}
	return nil
}

// sealedTimeout bounds each wait for the records and their seals.
const sealedTimeout = 2 * time.Minute

// waitSealed waits until the records of the replay are there and sealed. Rows come
// before their slice is marked as written, so that no slice is open says too
// little; a stored heartbeat vouches for the marks of all that came before it.
// More records than were shipped is as wrong as fewer.
func (c clickhouse) waitSealed(ctx context.Context, replay string, want int64) error {
	vouched := fmt.Sprintf("SELECT max(inserted_through) >= fromUnixTimestamp64Milli(%d) FROM soakgate.collector_heartbeats", time.Now().UnixMilli())
	if _, err := c.waitUntil(ctx, sealedTimeout, vouched, "1"); err != nil {
		return fmt.Errorf("wait for what was shipped to be stored: %w", err)
	}
	state := fmt.Sprintf(`SELECT
    (SELECT uniqExact(record_id) FROM soakgate.records WHERE replay_id = '%s') AS arrived,
    (SELECT countIf(w.wrote >= s.sealed)
     FROM (SELECT slice, max(wrote_at) AS wrote FROM soakgate.slice_writes GROUP BY slice) AS w
     LEFT JOIN (SELECT slice, max(version) AS sealed FROM soakgate.slice_seals GROUP BY slice) AS s ON w.slice = s.slice) AS open
FORMAT TSV`, replay)
	answer, err := c.waitUntil(ctx, sealedTimeout, state, fmt.Sprintf("%d\t0", want))
	if err != nil {
		return fmt.Errorf("wait for %d records and no open slice, last seen %q: %w", want, answer, err)
	}
	return nil
}

// print shows the failed calls of the replay by server and kind, from the rollup.
func (c clickhouse) print(ctx context.Context, replay string) error {
	answer, err := c.query(ctx, fmt.Sprintf(`SELECT server, ifNull(error_kind, '(no envelope)') AS error_kind,
    sum(e.errors) AS errors, sumIf(e.errors, e.valid) AS valid, sumIf(e.errors, e.off_taxonomy) AS off_taxonomy
FROM soakgate.errors_by_minute_unique AS e
WHERE replay_id = '%s'
GROUP BY server, error_kind
HAVING errors > 0
ORDER BY server, errors DESC, error_kind
FORMAT PrettyCompactMonoBlock SETTINGS output_format_pretty_color = 0, output_format_pretty_row_numbers = 0`, replay))
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(os.Stdout, answer+"\n")
	return err
}
