package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/soakgate/soakgate/internal/ship/fleet"
	"github.com/soakgate/soakgate/internal/soak"
	"github.com/soakgate/soakgate/internal/soak/policy"
)

// statuses are the exit statuses of `collector soak` by verdict.
var statuses = map[string]int{fleet.VerdictFlip: 0, fleet.VerdictHold: 3, fleet.VerdictBlock: 4}

// usual are the scenarios of every run: one of each verdict. All of them take
// minutes, and run with SOAKGATE_SCENARIOS=all.
var usual = []string{"flip", "hold-scope", "block-malformed"}

// TestScenariosGiveTheirVerdicts ships each scenario over OTLP, has it stored
// and sealed, and asks for the verdict, as a release manager would.
func TestScenariosGiveTheirVerdicts(t *testing.T) {
	for _, scenario := range fleet.Scenarios() {
		if scenario.Days == 0 {
			continue // live traffic proves nothing about a fortnight
		}
		if os.Getenv("SOAKGATE_SCENARIOS") != "all" && !slices.Contains(usual, scenario.Name) {
			continue
		}
		t.Run(scenario.Name, func(t *testing.T) {
			c := newCollector(t)
			c.start()
			c.waitSchema()
			s := c.ship("--scenario", scenario.Name, "--endpoint", c.grpc)
			for _, server := range []string{"amazon_sp_mcp", "amazon_ads_mcp"} {
				_, stderr, status := c.run("complaint", "review", "--server", server, "--by", "test")
				require.Zero(t, status, stderr)
			}
			c.waitSealed(s.Tally.Records - s.Tally.Ignored)
			stdout, stderr, status := c.run("soak", "--policy", "../../config/demo-policy.yaml", "--all-events", "--format", "json")
			var v soak.Verdict
			require.NoError(t, json.Unmarshal([]byte(stdout), &v), stderr)
			why := fmt.Sprintf("%s: %v", v.Decision, v.Deciding)
			assert.Equal(t, scenario.Expect.Verdict, string(v.Decision), why)
			assert.Equal(t, statuses[scenario.Expect.Verdict], status, why)
			for _, gate := range scenario.Expect.Gates {
				assert.Contains(t, v.Deciding, soak.GateRef{Server: gate.Server, Gate: policy.Gate(gate.Gate)}, why)
			}
		})
	}
}
