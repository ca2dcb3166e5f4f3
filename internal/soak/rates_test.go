package soak

import (
	"fmt"
	"math"
	"math/rand/v2"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/soakgate/soakgate/internal/soak/policy"
)

// D20 (b): truth as hidden rates. Histories are drawn at a rate that the gate must
// not accept, with a look every day for 90 days and, for malformed blocks, a new
// version after each finding. The share of histories in which the gate ever passes
// is at most alpha + 3 sigma.
//
// The default run draws fewer histories than a thorough one, which
// SOAKGATE_SIM_RATES asks for, such as 20000.
func rateHistories(t *testing.T) int { return scale(t, "SOAKGATE_SIM_RATES", 600) }

const looks = 90

// everPasses is the share of histories in which a gate passes at any look.
func everPasses(n int, history func(r *rand.Rand) bool) float64 {
	var passed atomic.Int64
	parallel(n, func(seed uint64) {
		if history(rand.New(rand.NewPCG(seed, 11))) {
			passed.Add(1)
		}
	})
	return float64(passed.Load()) / float64(n)
}

// binomial draws how many of n are bad, by the gaps between them.
func binomial(r *rand.Rand, n int64, p float64) int64 {
	if p == 0 {
		return 0
	}
	x, at := int64(0), int64(0)
	for {
		if at += 1 + int64(math.Log(1-r.Float64())/math.Log1p(-p)); at > n {
			return x
		}
		x++
	}
}

// pooled is a judge whose figures hold one candidate's blocks, and superseded
// versions of earlier tries.
func pooled(p policy.Policy, rows []BlockRow, candidate string) *judge {
	f := Figures{Version: FiguresVersion, Bounds: Bounds{AsOf: tableAsOf}}
	f.Lateness.OK, f.Registers.OK, f.Readable.OK, f.Versions.OK, f.Blocks.OK = true, true, true, true, true
	f.Versions.Value = []VersionRow{{Server: testServer, Version: candidate, First: tableT - 9, FirstOn: tableT - 9, Live: 1}}
	f.Blocks.Value = rows
	return newJudge(p, f, tableAsOf)
}

func passes(j *judge, gate policy.Gate) bool {
	g := Gate{Server: testServer, Gate: gate}
	serverRules[gate](j, testServer, &g)
	return g.State == StatePass
}

// malformedHistory draws 90 days; a version is superseded only after a finding.
func malformedHistory(p policy.Policy, rate float64, perDay int64) func(r *rand.Rand) bool {
	return func(r *rand.Rand) bool {
		var rows []BlockRow
		version := 0
		row := func() BlockRow {
			return BlockRow{Server: testServer, Version: fmt.Sprintf("1.0.%d", version), Deployment: "d", Source: "service.namespace", Trusted: true}
		}
		current := row()
		for range looks {
			bad := binomial(r, perDay, rate)
			current.Blocks, current.Malformed = current.Blocks+perDay, current.Malformed+bad
			if passes(pooled(p, append(rows, current), current.Version), policy.GateMalformed) {
				return true
			}
			if bad > 0 {
				rows = append(rows, current)
				version++
				current = row()
			}
		}
		return false
	}
}

// tailHistory draws blocks of which a share is over the limit of D10.
func tailHistory(p policy.Policy, rate float64, perDay int64) func(r *rand.Rand) bool {
	return func(r *rand.Rand) bool {
		row := BlockRow{Server: testServer, Version: "1.0.0", Deployment: "d", Source: "service.namespace", Trusted: true, Sizes: []Bin{{100, 0}, {3000, 0}}}
		for range looks {
			bad := binomial(r, perDay, rate)
			row.Blocks += perDay
			row.Sizes[0].Count += perDay - bad
			row.Sizes[1].Count += bad
			if passes(pooled(p, []BlockRow{row}, "1.0.0"), policy.GateBytes) {
				return true
			}
		}
		return false
	}
}

// unreadableHistory draws texts of which a share cannot be read (D11).
func unreadableHistory(p policy.Policy, rate float64, perDay int64) func(r *rand.Rand) bool {
	return func(r *rand.Rand) bool {
		row := ReadableRow{Server: testServer, Version: "1.0.0"}
		for range looks {
			bad := binomial(r, perDay, rate)
			row.Readable, row.Unreadable = row.Readable+perDay-bad, row.Unreadable+bad
			j := pooled(p, nil, "1.0.0")
			j.f.Readable.Value = []ReadableRow{row}
			if passes(j, policy.GateUnreadable) {
				return true
			}
		}
		return false
	}
}

func TestHiddenRatesPassRarely(t *testing.T) {
	p := builtIn(t)
	n := rateHistories(t)
	alpha := p.Alpha.Float()
	limit := alpha + 3*math.Sqrt(alpha*(1-alpha)/float64(n))
	for _, gate := range []struct {
		name    string
		bound   float64
		history func(p policy.Policy, rate float64, perDay int64) func(*rand.Rand) bool
		perDay  int64
	}{
		{"malformed", p.Gates.Malformed.MaxRate.Float(), malformedHistory, 500},
		{"bytes", p.Gates.Bytes.TailRate.Float(), tailHistory, 60},
		{"unreadable", p.Gates.Unreadable.MaxRate.Float(), unreadableHistory, 150},
	} {
		for _, times := range []float64{1, 1.5, 2} {
			t.Run(fmt.Sprintf("%s at %g times the bound", gate.name, times), func(t *testing.T) {
				share := everPasses(n, gate.history(p, times*gate.bound, gate.perDay))
				t.Logf("%.4f of %d histories pass at some look; at most %.4f may", share, n, limit)
				assert.LessOrEqual(t, share, limit)
			})
		}
	}
}

func TestGoodRatesPass(t *testing.T) {
	p := builtIn(t)
	n := rateHistories(t)
	for name, history := range map[string]func(*rand.Rand) bool{
		"malformed at zero":             malformedHistory(p, 0, 500),
		"bytes at a tenth of the bound": tailHistory(p, p.Gates.Bytes.TailRate.Float()/10, 500),
		"unreadable at a tenth":         unreadableHistory(p, p.Gates.Unreadable.MaxRate.Float()/10, 2000),
	} {
		share := everPasses(n, history)
		assert.GreaterOrEqual(t, share, 0.99, name)
	}
}

// D6 at a tenth of the bound blocks at the first finding, as specified.
func TestZeroToleranceBlocksWhereARateWouldPass(t *testing.T) {
	rows := []BlockRow{{Server: testServer, Version: "1", Deployment: "d", Source: "service.namespace", Trusted: true, Blocks: 100_000, Malformed: 10}}
	g := Gate{Server: testServer, Gate: policy.GateMalformed}
	pooled(builtIn(t), rows, "1").malformed(testServer, &g)
	assert.Equal(t, StateBlock, g.State)
}
