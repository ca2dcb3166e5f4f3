package soak

import (
	"fmt"
	"math"
	"slices"

	"github.com/soakgate/soakgate/internal/soak/policy"
	"github.com/soakgate/soakgate/internal/soak/stats"
)

// malformed asks that blocks be well-formed (D6). With zero tolerance one bad
// block blocks whatever its clock says, and n0 clean ones pass.
func (j *judge) malformed(server string, g *Gate) {
	rules := j.p.Gates.Malformed
	g.require("", fmt.Sprintf("at most %d malformed, and shown to be at most %s", rules.MaxSeen, percent(rules.MaxRate.Float())))
	if !j.behaviour(server, g, j.f.Blocks.problem("blocks")) {
		return
	}
	b, k := j.blocks(server), j.epoch(server)
	x, n, r, a := b.malformed, b.observed(), rules.MaxRate.Float(), j.alpha(k)
	n0 := stats.CleanNeeded(r, a)
	g.rate(x, n, a, percent(r), j.sinceAnchor(server))
	g.require(fmt.Sprintf("%s malformed of %s blocks, at most %s malformed with confidence %s", number(x), number(n), percent(*g.Measure.High), percent(1-a)),
		fmt.Sprintf("at most %d malformed, and shown to be at most %s (%s blocks if none is)", rules.MaxSeen, percent(r), number(n0)))
	j.noteBlocks(server, g, b, k)
	tolerant := rules.MaxSeen > 0
	switch {
	case x > rules.MaxSeen:
		g.block("%s of %s blocks are malformed, first %s, last %s; at most %d may be", number(x), number(n), b.first, b.last, rules.MaxSeen)
		return
	case tolerant && stats.ShownAbove(x, n, r, a):
		g.block("%s of %s blocks are malformed, which shows a rate above %s", number(x), number(n), percent(r))
		return
	}
	if why := firstOf(j.trustProblem(), j.f.Registers.problem("the registers")); why != "" {
		g.unknown(why)
		return
	}
	missing := n0 - n
	if tolerant {
		missing = stats.FurtherClean(x, n, r, a)
	}
	if missing <= 0 {
		g.pass("%s malformed of %s blocks, %s were required", number(x), number(n), number(n0))
		g.note("of blocks like those seen (this mix of tools, kinds, deployments), at most %s are malformed, with %s confidence over all looks and tries",
			percent(r), percent(1-j.p.Alpha.Float()))
		return
	}
	g.hold(fmt.Sprintf("%s blocks were seen, %s malformed; %s more are needed to show a rate of at most %s", number(n), number(x), number(missing), percent(r)))
	g.grow(j, missing, b.recent, "well-formed blocks")
}

// noteBlocks says what the figure does not claim, and what lies outside it.
func (j *judge) noteBlocks(server string, g *Gate, b *tally, k int) {
	if b.weight != b.all*int64(policy.One) {
		g.note("sampling weights stand for %s blocks; they never enter the figure", number(b.weight/int64(policy.One)))
	}
	if m := b.installations(); m > 0 {
		g.note("of deployments, 0 bad of %d bounds the bad share by %s", m, percent(1-math.Pow(j.p.Alpha.Float(), 1/float64(m))))
	}
	if k > 1 {
		g.note("try %d: each superseded version with a malformed block halves what may go wrong", k)
	}
	superseded := map[string]*tally{}
	for _, r := range j.f.Blocks.Value {
		if r.Server == server && r.Malformed > 0 && !j.candidate(server, r.Version) {
			t := superseded[r.Version]
			if t == nil {
				t = &tally{}
				superseded[r.Version] = t
			}
			t.add(r, true)
		}
	}
	for _, v := range sortedKeys(superseded) {
		t := superseded[v]
		g.note("superseded: %s malformed blocks on version %s, last %s, ended by %s", number(t.malformed), v, t.last, j.endedBy(server, v))
	}
	j.noteEarlier(server, g, FindingMalformed)
}

// noteEarlier lists what was found before the anchor (U55).
func (j *judge) noteEarlier(server string, g *Gate, what ...string) {
	var notes []string
	for _, r := range j.f.Findings.Value {
		if r.Server == server && r.BeforeAnchor && r.Count > 0 && slices.Contains(what, r.What) {
			notes = append(notes, fmt.Sprintf("before the anchor: %s %s %q on version %s, last %s", number(r.Count), r.What, r.Value, r.Version, r.Last))
		}
	}
	slices.Sort(notes)
	g.Notes = append(g.Notes, notes...)
}

// spread asks that the evidence stands without the deployment that gave most of
// it (D8). Of several that gave as many, the least favourable is left out.
func (j *judge) spread(server string, g *Gate) {
	r, a := j.p.Gates.Spread.MaxRate.Float(), j.p.Alpha.Float()/2
	n0 := stats.CleanNeeded(r, a)
	g.require("", fmt.Sprintf("without the largest deployment, shown to be at most %s (%s blocks if none is malformed)", percent(r), number(n0)))
	if !j.behaviour(server, g, firstOf(j.f.Blocks.problem("blocks"), j.trustProblem(), j.f.Registers.problem("the registers"))) {
		return
	}
	b := j.blocks(server)
	var total, most int64
	for _, d := range b.by {
		if d.counted {
			total += d.observed()
			most = max(most, d.observed())
		}
	}
	left, x, n, others := "", b.malformed, int64(0), int64(0)
	for _, id := range sortedKeys(b.by) {
		d := b.by[id]
		if !d.counted || d.observed() != most {
			continue
		}
		if rest := b.malformed - d.malformed; left == "" || rest > x {
			left, x, n = id, rest, total-most
			others = b.recent - d.recent
		}
	}
	if group := b.by[""]; group != nil && !group.counted {
		others -= group.recent
		g.note("not counted: %s blocks of no named installation", number(group.observed()))
	}
	g.rate(x, n, a, percent(r), j.sinceAnchor(server)+", without "+sourceName(left))
	g.Observed = fmt.Sprintf("without %s: %s malformed of %s blocks, at most %s", sourceName(left), number(x), number(n), percent(*g.Measure.High))
	switch {
	case x == 0 && n >= n0 || x > 0 && stats.Upper(x, n, a) <= r:
		g.pass("without %s, %s blocks still show a rate of at most %s", left, number(n), percent(r))
	case x > 0:
		g.hold(fmt.Sprintf("without %s, %s malformed of %s blocks do not show a rate of at most %s", sourceName(left), number(x), number(n), percent(r)))
		g.needs("a version without malformed blocks")
	default:
		g.hold(fmt.Sprintf("without %s only %s blocks remain of the %s needed", sourceName(left), number(n), number(n0)))
		g.grow(j, n0-n, others, "well-formed blocks from the other deployments")
	}
}

// bytes asks that blocks be small (D10): none above the limit that agents bear,
// and the 99th percentile shown to be below the one they should see.
func (j *judge) bytes(server string, g *Gate) {
	rules, a := j.p.Gates.Bytes, j.p.Alpha.Float()
	p0 := rules.TailRate.Float()
	g.require("", fmt.Sprintf("none over %s bytes, and at most %s over %s bytes", number(rules.Max), percent(p0), number(rules.P99)))
	if !j.behaviour(server, g, j.f.Blocks.problem("blocks")) {
		return
	}
	b := j.blocks(server)
	x, within := b.over(rules.P99)
	n := x + within
	g.rate(x, n, a, percent(p0), j.sinceAnchor(server))
	g.Observed = fmt.Sprintf("p50 %s, p95 %s, p99 %s, max %s bytes; %s of %s blocks over %s",
		number(b.quantile(500_000)), number(b.quantile(950_000)), number(b.quantile(990_000)), number(b.largest()), number(x), number(n), number(rules.P99))
	if huge, _ := b.over(rules.Max); huge > 0 {
		g.block("%s blocks are over %s bytes, the largest %s", number(huge), number(rules.Max), number(b.largest()))
		return
	}
	if b.unrecorded != 0 {
		g.unknown(fmt.Sprintf("the size of %s blocks was not recorded", number(b.unrecorded)))
		return
	}
	if stats.ShownAbove(x, n, p0, a) {
		g.block("%s of %s blocks are over %s bytes, which shows more than %s", number(x), number(n), number(rules.P99), percent(p0))
		return
	}
	if why := firstOf(j.trustProblem(), j.f.Registers.problem("the registers")); why != "" {
		g.unknown(why)
		return
	}
	if missing := stats.FurtherClean(x, n, p0, a); missing > 0 {
		g.hold(fmt.Sprintf("%s of %s blocks over %s bytes do not yet show at most %s", number(x), number(n), number(rules.P99), percent(p0)))
		g.grow(j, missing, b.recent, "blocks of at most "+number(rules.P99)+" bytes")
		return
	}
	g.pass("%s of %s blocks over %s bytes show at most %s", number(x), number(n), number(rules.P99), percent(p0))
}

// share asks that blocks be a small part of the answers that carry them (D10):
// in all, and without any one deployment.
func (j *judge) share(server string, g *Gate) {
	rules := j.p.Gates.Share
	g.require("", fmt.Sprintf("at most %s of the answers' bytes, in all and without any one deployment", percent(rules.Max.Float())))
	if !j.behaviour(server, g, firstOf(j.f.Blocks.problem("blocks"), j.trustProblem(), j.f.Registers.problem("the registers"))) {
		return
	}
	b := j.blocks(server)
	n := b.observed()
	g.count(b.knownBytes, b.answerBytes, percent(rules.Max.Float()), j.sinceAnchor(server))
	g.Observed = fmt.Sprintf("%s of %s bytes, known for %s of %s blocks", number(b.knownBytes), number(b.answerBytes), number(b.known), number(n))
	if b.unrecorded != 0 {
		g.unknown(fmt.Sprintf("the size of %s blocks was not recorded", number(b.unrecorded)))
		return
	}
	if n == 0 || b.known*int64(policy.One) < n*int64(rules.MinKnown) {
		g.hold(fmt.Sprintf("the size of the answer is known for %s of %s blocks, fewer than %s", number(b.known), number(n), percent(rules.MinKnown.Float())))
		g.needs("mcp.response.size on the records that carry blocks")
		return
	}
	below, above := 0, 0
	judge := func(name string, part, whole int64) {
		ok := atMost(part, whole, rules.Max)
		g.part(name, ok, fmt.Sprintf("%s of %s bytes", number(part), number(whole)), "at most "+percent(rules.Max.Float()))
		switch {
		case ok:
			below++
		case whole > 0:
			above++
		}
	}
	judge("all", b.knownBytes, b.answerBytes)
	judge("all, of any clock", b.allBytes, b.allAnswers)
	for _, id := range sortedKeys(b.by) {
		d := b.by[id]
		judge("without "+sourceName(id), b.knownBytes-d.knownBytes, b.answerBytes-d.answerBytes)
	}
	switch {
	case below == len(g.Parts):
		g.pass("%s of %s bytes, and no deployment hides more", number(b.knownBytes), number(b.answerBytes))
	case above == len(g.Parts):
		g.block("%s of %s bytes is above %s, whichever deployment is left out", number(b.knownBytes), number(b.answerBytes), percent(rules.Max.Float()))
	default:
		g.hold(fmt.Sprintf("%d of %d ways to leave out a deployment are within %s", below, len(g.Parts), percent(rules.Max.Float())))
		g.needs("more answers from the deployments, or smaller blocks")
	}
}
