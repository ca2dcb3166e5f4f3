package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
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

// waitSchema waits until the collector has made its tables. The one that a
// replay is declared in is not the last, but declaring needs no other.
func (c clickhouse) waitSchema(ctx context.Context) error {
	deadline := time.Now().Add(startTimeout)
	for {
		answer, err := c.query(ctx, "EXISTS TABLE soakgate.replays")
		if err == nil && answer == "1" {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("the collector made no tables within %s: %w", startTimeout, err)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(waitPause):
		}
	}
}

// sealedTimeout bounds the wait for the records and their seals.
const sealedTimeout = 2 * time.Minute

// waitSealed waits until the records of the replay are there, and the seals of
// their slices have counted at least as many. More than were shipped is as
// wrong as fewer.
func (c clickhouse) waitSealed(ctx context.Context, replay string, want int64) (int64, error) {
	deadline := time.Now().Add(sealedTimeout)
	text := fmt.Sprintf(`SELECT
    (SELECT uniqExact(record_id) FROM soakgate.records WHERE replay_id = '%[1]s'),
    (SELECT countIf(w.wrote >= s.sealed)
     FROM (SELECT slice, max(wrote_at) AS wrote FROM soakgate.slice_writes GROUP BY slice) AS w
     LEFT JOIN (SELECT slice, max(version) AS sealed FROM soakgate.slice_seals GROUP BY slice) AS s ON w.slice = s.slice)
FORMAT TSV`, replay)
	for {
		answer, err := c.query(ctx, text)
		if err != nil {
			return 0, err
		}
		first, second, _ := strings.Cut(answer, "\t")
		arrived, err1 := strconv.ParseInt(first, 10, 64)
		open, err2 := strconv.ParseInt(second, 10, 64)
		if err1 != nil || err2 != nil {
			return 0, fmt.Errorf("count what arrived: ClickHouse answered %q", answer)
		}
		switch {
		case arrived > want:
			return arrived, fmt.Errorf("%d records arrived, %d were shipped", arrived, want)
		case arrived == want && open == 0:
			return arrived, nil
		case time.Now().After(deadline):
			return arrived, fmt.Errorf("%d of %d records arrived within %s, with %d slices to seal", arrived, want, sealedTimeout, open)
		}
		select {
		case <-ctx.Done():
			return arrived, ctx.Err()
		case <-time.After(waitPause):
		}
	}
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
