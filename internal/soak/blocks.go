package soak

import (
	"cmp"
	"math"
	"slices"

	"github.com/soakgate/soakgate/internal/soak/policy"
)

// tally is the blocks of a server's candidate versions, pooled (D3, D6). Clean
// blocks count from trusted clocks only, bad ones from all.
type tally struct {
	clean, malformed int64
	first, last      Minute // of the malformed
	recent           int64  // trusted, in the last 7 days
	all, weight      int64  // blocks of any clock, and their sampling weights in millionths
	by               map[string]*tally
	counted          bool // for a tally of by: the deployment is one (D5)

	sizes        []Bin // all clocks, by size
	trustedSizes []Bin
	unrecorded   int64 // blocks without a recorded size

	known, knownBytes, answerBytes int64 // trusted
	allBytes, allAnswers           int64 // all clocks
}

// observed is n of D6.
func (t *tally) observed() int64 { return t.clean + t.malformed }

func (t *tally) add(r BlockRow, counts bool) {
	t.malformed += r.Malformed
	if r.Malformed > 0 {
		t.first, t.last = earlier(t.first, r.First), max(t.last, r.Last)
	}
	t.all, t.weight = t.all+r.Blocks, t.weight+r.WeightMicro
	recorded := int64(0)
	for _, b := range r.Sizes {
		if b.Size > 0 {
			recorded += b.Count
			t.sizes = append(t.sizes, b)
		}
	}
	t.unrecorded += r.Blocks - recorded
	t.allBytes, t.allAnswers = t.allBytes+r.KnownBytes, t.allAnswers+r.AnswerBytes
	if !counts {
		return
	}
	t.clean += r.Blocks - r.Malformed
	t.recent += r.Recent
	t.known, t.knownBytes, t.answerBytes = t.known+r.Known, t.knownBytes+r.KnownBytes, t.answerBytes+r.AnswerBytes
	for _, b := range r.Sizes {
		if b.Size > 0 {
			t.trustedSizes = append(t.trustedSizes, b)
		}
	}
}

// blocks tallies the blocks of the candidates, and of each deployment. Those
// without the identity of an installation are one group: they may be one.
func (j *judge) blocks(server string) *tally {
	all := &tally{by: map[string]*tally{}}
	for _, r := range j.f.Blocks.Value {
		if r.Server != server || !j.candidate(server, r.Version) {
			continue
		}
		key, counted := "", CountedSource(r.Source) && r.Deployment != ""
		if counted {
			key = r.Deployment
		}
		d := all.by[key]
		if d == nil {
			d = &tally{counted: counted}
			all.by[key] = d
		}
		counts := r.Trusted && j.countsFor(server, r.Deployment)
		all.add(r, counts)
		d.add(r, counts)
	}
	slices.SortFunc(all.sizes, func(a, b Bin) int { return cmp.Compare(a.Size, b.Size) })
	return all
}

// installations is how many counted deployments gave a clean block.
func (t *tally) installations() int64 {
	var n int64
	for _, d := range t.by {
		if d.counted && d.clean > 0 {
			n++
		}
	}
	return n
}

// over counts the blocks larger than limit and the trusted ones that are not.
func (t *tally) over(limit int64) (over, within int64) {
	for _, b := range t.sizes {
		if b.Size > limit {
			over += b.Count
		}
	}
	for _, b := range t.trustedSizes {
		if b.Size <= limit {
			within += b.Count
		}
	}
	return over, within
}

// largest is the greatest size seen, 0 without blocks.
func (t *tally) largest() int64 {
	if len(t.sizes) == 0 {
		return 0
	}
	return t.sizes[len(t.sizes)-1].Size
}

// quantile is the size of rank ceil(q n), exactly; q in millionths.
func (t *tally) quantile(q policy.Rate) int64 {
	var n int64
	for _, b := range t.sizes {
		n += b.Count
	}
	rank := int64(math.Ceil(float64(n) * float64(q) / float64(policy.One)))
	for _, b := range t.sizes {
		if rank -= b.Count; rank <= 0 {
			return b.Size
		}
	}
	return 0
}

// epoch is k of D6: one, and one more for each superseded version that had a
// malformed block. Each try of a new version is charged, so that versions cannot
// be changed until one happens to look clean.
func (j *judge) epoch(server string) int {
	bad := map[string]bool{}
	for _, r := range j.f.Blocks.Value {
		if r.Server == server && r.Malformed > 0 && !j.candidate(server, r.Version) {
			bad[r.Version] = true
		}
	}
	return 1 + len(bad)
}

// alpha is the level left to epoch k: the sum over all epochs is at most alpha.
func (j *judge) alpha(k int) float64 { return j.p.Alpha.Float() / math.Pow(2, float64(k)) }
