package e2e

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What a record may take on disk, in bytes, with its payload and once that has
// expired. With it, the stock clickhouse exporter takes 160 for the same logs; a
// quarter of that is 40, and half a byte is for slow machines, where the times of
// records lie farther apart.
const (
	bytesWithPayload    = 86.0
	bytesWithoutPayload = 40.5
)

// TestBytesOnDisk ships a fleet's traffic and weighs the merged parts.
func TestBytesOnDisk(t *testing.T) {
	const records = 120_000
	c := newCollector(t)
	c.start()
	s := c.ship("--scenario", "fleet", "--records", fmt.Sprint(records), "--seed", "5", "--protocol", "grpc", "--endpoint", c.grpc, "--connections", "2")
	stored := s.Tally.Records - s.Tally.Ignored
	c.waitSealed(stored)
	weigh := func() float64 {
		c.mustQuery("OPTIMIZE TABLE soakgate.records FINAL")
		return float64(c.number("SELECT sum(bytes_on_disk) FROM system.parts WHERE active AND database = 'soakgate' AND table = 'records'")) / float64(stored)
	}
	with := weigh()
	for _, r := range c.mustQuery(fmt.Sprintf("SELECT name, round(data_compressed_bytes / %d, 2) AS bytes FROM system.columns WHERE database = 'soakgate' AND table = 'records' ORDER BY bytes DESC LIMIT 20", stored)) {
		t.Log(r["name"], r["bytes"])
	}
	var columns []string
	made := c.mustQuery("SELECT create_table_query AS made FROM system.tables WHERE database = 'soakgate' AND name = 'records'")[0]["made"].(string)
	made, _, _ = strings.Cut(made, ", INDEX")
	for _, found := range regexp.MustCompile("`?([a-z_]+)`? [^`]*? TTL toDateTime").FindAllStringSubmatch(made, -1) {
		columns = append(columns, "MODIFY COLUMN "+found[1]+" TTL toDateTime(received_at) + INTERVAL 1 SECOND")
	}
	require.Contains(t, columns, "MODIFY COLUMN payload TTL toDateTime(received_at) + INTERVAL 1 SECOND")
	c.mustQuery("ALTER TABLE soakgate.records " + strings.Join(columns, ", "))
	c.eventually("expire the payloads", func() error {
		c.mustQuery("OPTIMIZE TABLE soakgate.records FINAL")
		if n := c.number("SELECT countIf(notEmpty(payload)) FROM soakgate.records"); n > 0 {
			return fmt.Errorf("%d payloads are left", n)
		}
		return nil
	})
	without := weigh()
	t.Logf("%d records: %.1f bytes each, %.1f once payloads have expired", stored, with, without)
	assert.LessOrEqual(t, with, bytesWithPayload)
	assert.LessOrEqual(t, without, bytesWithoutPayload)
}
