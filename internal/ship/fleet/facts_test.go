package fleet

import (
	"math"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/soakgate/soakgate/internal/ship/payload"
)

// testEnd is the end of the event times in tests.
var testEnd = time.Date(2026, 3, 20, 15, 4, 5, 0, time.UTC)

// facts is what a soak would look at, gathered from the items of a scenario.
type facts struct {
	tally Tally
	// calls are the event times of production calls with the option on, sorted,
	// by server.
	calls map[string][]time.Time
	// offCalls are those with the option off.
	offCalls map[string][]time.Time
	// days are the distinct days with calls, option on, by server and deployment.
	days map[[2]string]map[int64]int
	// tools are calls by server and tool: all, and with the option on.
	tools map[[2]string][2]int
	// versions are the first and the last call of each.
	versions map[[2]string][2]time.Time
	// both are the hours in which a deployment emitted both unknown_field kinds.
	both map[string]int
	// large are the blocks over the soft limit of bytes, by server.
	large map[string]int64
	late  int
	all   int
}

// gathered keeps facts, which several tests look at and none changes. Tests here
// do not run in parallel.
var gathered = map[string]*facts{}

func gather(t *testing.T, name string) *facts {
	t.Helper()
	if f, ok := gathered[name]; ok {
		return f
	}
	sc, err := LookupScenario(name)
	require.NoError(t, err)
	s, err := NewStream(Options{
		Scenario: sc, Seed: 1, Days: sc.Days, Records: int64(sc.Records), ReplayID: "r", Until: testEnd,
		Now: func() time.Time { return testEnd },
	})
	require.NoError(t, err)
	f := &facts{
		calls: map[string][]time.Time{}, offCalls: map[string][]time.Time{}, days: map[[2]string]map[int64]int{},
		tools: map[[2]string][2]int{}, versions: map[[2]string][2]time.Time{}, both: map[string]int{}, large: map[string]int64{},
	}
	unknown := map[string]map[string]bool{}
	count := s.NewCounter()
	for it, ok := s.Next(); ok; it, ok = s.Next() {
		count.Add([]Item{it})
		f.all++
		f.see(it, unknown)
	}
	for _, kinds := range unknown {
		if len(kinds) == 2 {
			f.both["hours"]++
		}
	}
	f.tally = count.Tally()
	for _, m := range []map[string][]time.Time{f.calls, f.offCalls} {
		for _, at := range m {
			slices.SortFunc(at, time.Time.Compare)
		}
	}
	gathered[name] = f
	return f
}

func (f *facts) see(it Item, unknown map[string]map[string]bool) {
	v := &it.src.pool.variants[it.variant]
	if it.src.late {
		f.late++
	}
	if v.Outcome == "" || it.src.deployment.Environment != "production" {
		return
	}
	server := it.src.server.Name
	tool := f.tools[[2]string{server, v.Tool}]
	tool[0]++
	if !it.src.phase.Option {
		f.tools[[2]string{server, v.Tool}] = tool
		f.offCalls[server] = append(f.offCalls[server], it.at)
		return
	}
	tool[1]++
	f.tools[[2]string{server, v.Tool}] = tool
	f.calls[server] = append(f.calls[server], it.at)
	d := [2]string{server, it.src.deployment.ID}
	if f.days[d] == nil {
		f.days[d] = map[int64]int{}
	}
	f.days[d][it.at.Unix()/86400]++
	ver := [2]string{server, it.src.phase.Version}
	span, ok := f.versions[ver]
	if !ok || it.at.Before(span[0]) {
		span[0] = it.at
	}
	if it.at.After(span[1]) {
		span[1] = it.at
	}
	f.versions[ver] = span
	if v.NormalizedBytes > 2048 {
		f.large[server]++
	}
	for _, k := range v.Normalized {
		if k == payload.KindPassed || k == payload.KindRejected {
			hour := it.src.deployment.ID + strconv.FormatInt(it.at.Unix()/3600, 10)
			if unknown[hour] == nil {
				unknown[hour] = map[string]bool{}
			}
			unknown[hour][k] = true
		}
	}
}

// greatestGap is the longest silence of a server between two calls.
func (f *facts) greatestGap(server string) (gap time.Duration) {
	at := f.calls[server]
	for i := 1; i < len(at); i++ {
		gap = max(gap, at[i].Sub(at[i-1]))
	}
	return gap
}

// blocks sums a server's blocks over all deployments but the one left out.
func (f *facts) blocks(server, without string) (b BlockCount) {
	for _, r := range f.tally.Blocks {
		if r.Server == server && r.Deployment != without {
			b.Blocks += r.Blocks
			b.Malformed += r.Malformed
			b.Sized += r.Sized
			b.SizedBytes += r.SizedBytes
			b.AnswerBytes += r.AnswerBytes
			b.Largest = max(b.Largest, r.Largest)
		}
	}
	return b
}

func (f *facts) busiest(server string) (id string) {
	most := int64(-1)
	for _, r := range f.tally.Blocks {
		if r.Server == server && r.Blocks > most {
			most, id = r.Blocks, r.Deployment
		}
	}
	return id
}

// share is the part of the answers that the blocks make up.
func (f *facts) share(server string) float64 {
	b := f.blocks(server, "")
	return float64(b.SizedBytes) / float64(b.AnswerBytes)
}

func (f *facts) violations(server, rule string) (n int64) {
	for _, v := range f.tally.Violations {
		if v.Server == server && v.Rule == rule {
			n += v.Records
		}
	}
	return n
}

// anytime is the pair of D7: for and against a share of at most p0.
func anytime(x, n int64, p0 float64) (pass, block bool) {
	ratio := func(f float64) float64 {
		return math.Exp(float64(x)*math.Log(f) + float64(n-x)*math.Log((1-f*p0)/(1-p0)))
	}
	var m, against float64
	if x == 0 {
		m = math.Pow(1-p0, -float64(n)) / 2
	}
	for _, f := range []float64{1. / 8, 1. / 4, 1. / 2} {
		m += ratio(f) / 6
	}
	for _, f := range []float64{1.5, 2, 4} {
		against += ratio(f) / 3
	}
	return m >= 20, against >= 20
}

// failing lists the gates of a server that do not pass by these facts, read
// plainly from the definitions; conformance, declarations and legacy, which
// the traffic does not decide, are looked at in tests of their own.
func (f *facts) failing(server string, end time.Time) (gates []string) {
	add := func(bad bool, gate string) {
		if bad {
			gates = append(gates, gate)
		}
	}
	at := f.calls[server]
	if len(at) == 0 {
		return []string{GateScope}
	}
	for v, span := range f.versions {
		add(v[0] == server && end.Sub(span[1]) <= day && end.Sub(span[0]) < 3*day, GateVersion)
	}
	start, paused := at[0], time.Duration(0)
	for i := 1; i < len(at); i++ {
		gap := at[i].Sub(at[i-1])
		off := slices.ContainsFunc(f.offCalls[server], func(o time.Time) bool { return o.After(at[i-1]) && o.Before(at[i]) })
		switch {
		case gap > 72*time.Hour, gap > time.Hour && off:
			start, paused = at[i], 0
		case gap > 6*time.Hour:
			paused += gap
		}
	}
	add(end.Sub(start)-paused < 14*day, GateDuration)
	enough := 0
	for d, days := range f.days {
		calls, since := 0, 0
		for name, n := range days {
			if name >= start.Unix()/86400 || len(f.offCalls[server]) == 0 {
				calls, since = calls+n, since+1
			}
		}
		if d[0] == server && calls >= 300 && since >= 7 {
			enough++
		}
	}
	add(enough < 3, GateDeployments)
	b := f.blocks(server, "")
	add(b.Malformed > 0 || b.Blocks < 3688, GateMalformed)
	add(f.blocks(server, f.busiest(server)).Blocks < 368, GateSpread)
	f.coverage(server, add)
	fine, _ := anytime(f.large[server], b.Blocks, 0.01)
	add(b.Largest > 16384 || !fine, GateBytes)
	add(f.share(server) > 0.05 || 2*b.Sized < b.Blocks, GateShare)
	off := f.violations(server, "enum")
	add(off > 0, GateOffTaxonomy)
	cut := f.violations(server, "invalid_json")
	var envelopes int64
	for _, e := range f.tally.Errors {
		if e.Server == server {
			envelopes += e.Records
		}
	}
	fine, _ = anytime(cut, b.Blocks+envelopes+cut, 0.002)
	add(!fine, GateUnreadable)
	add(f.both["hours"] > 1 && server == spName, GateStrict)
	return gates
}

func (f *facts) coverage(server string, add func(bool, string)) {
	calls, deployments := map[string]int64{}, map[string]int{}
	for _, n := range f.tally.Normalizations {
		if n.Server == server {
			calls[n.Kind] += n.Calls
			deployments[n.Kind]++
		}
	}
	for _, k := range []string{payload.KindRenamed, payload.KindDropped, payload.KindCoerced} {
		add(calls[k] < 30 || deployments[k] < 2, GateCoverageKinds)
	}
	for _, k := range []string{payload.KindPassed, payload.KindRejected} {
		add(calls[k] > 0 && calls[k] < 30, GateCoverageKinds)
	}
	for tool, n := range f.tools {
		add(tool[0] == server && n[0] >= 20 && n[1] < 20, GateCoverageTools)
	}
}

func TestAnytimeKnowsTheTabulatedValues(t *testing.T) {
	for x, n := range map[int64]int64{0: 332, 1: 696, 2: 900, 5: 1465, 10: 2285} {
		pass, _ := anytime(x, n, 0.01)
		before, _ := anytime(x, n-1, 0.01)
		assert.True(t, pass && !before, "x = %d", x)
	}
}
