package soak

import (
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// scale is how many histories a simulation draws: what the environment says, or
// else n, and a twentieth of that under the race detector.
func scale(t *testing.T, variable string, n int) int {
	t.Helper()
	if s := os.Getenv(variable); s != "" {
		n, err := strconv.Atoi(s)
		require.NoError(t, err, variable)
		return n
	}
	if raceEnabled {
		return n / 20
	}
	return n
}

// simulations make much garbage and little to keep.
func TestMain(m *testing.M) {
	debug.SetGCPercent(800)
	os.Exit(m.Run())
}

// parallel runs f for each seed below n on all cores.
func parallel(n int, f func(seed uint64)) {
	seeds := make(chan uint64)
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for seed := range seeds {
				f(seed)
			}
		})
	}
	for seed := range n {
		seeds <- uint64(seed)
	}
	close(seeds)
	wg.Wait()
}

// D20 (a): truth as a function of the facts. Random histories are judged from
// aggregated figures, and compared, gate by gate, with an oracle that re-reads the
// raw facts.
func TestVerdictsAgreeWithTheFacts(t *testing.T) {
	var mu sync.Mutex
	decisions, states := map[Decision]int{}, map[GateRef]map[State]int{}
	n, wrong := scale(t, "SOAKGATE_SIM_HISTORIES", 2000), 0
	parallel(n, func(seed uint64) {
		mu.Lock()
		enough := wrong > 20 // one defect need not be told two thousand times
		mu.Unlock()
		if enough {
			return
		}
		h, names := random(seed)
		p := simPolicy()
		p.AllowReplay = seed%2 == 0
		v := h.judge(p, h.asOf())
		o := newOracle(h.world, p, h.end)
		truth := o.states()
		want := o.decision(truth)
		mu.Lock()
		defer mu.Unlock()
		decisions[want]++
		if v.Decision != want {
			t.Errorf("seed %d %v: verdict %s, the facts say %s", seed, names, v.Decision, want)
			wrong++
		}
		for _, g := range v.Gates {
			ref := GateRef{g.Server, g.Gate}
			if truth[ref] != g.State {
				t.Errorf("seed %d %v: gate %v is %q (%s), the facts say %q", seed, names, ref, g.State, g.Why, truth[ref])
				wrong++
			}
			ref.Server = "a server"
			if states[ref] == nil {
				states[ref] = map[State]int{}
			}
			states[ref][truth[GateRef{g.Server, g.Gate}]]++
		}
	})
	t.Logf("%d histories: %v", n, decisions)
	// The histories are worth something only if every decision and, for each
	// gate, more than one state occurs.
	if n >= 2000 {
		for _, d := range []Decision{DecisionFlip, DecisionHold, DecisionBlock} {
			require.Greater(t, decisions[d], n/20, "%s occurs too rarely", d)
		}
		for ref, seen := range states {
			if ref.Gate != "scope" {
				require.Greater(t, len(seen), 1, "%s was always the same: %v", ref.Gate, seen)
			}
		}
	}
}
