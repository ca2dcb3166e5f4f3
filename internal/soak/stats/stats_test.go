package stats

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestCleanNeededTabulated(t *testing.T) {
	for _, tt := range []struct {
		name string
		r, a float64
		want int64
	}{
		{"0.1 %, first try", 0.001, 0.05 / 2, 3688},
		{"0.1 %, second try", 0.001, 0.05 / 4, 4380},
		{"0.1 %, third try", 0.001, 0.05 / 8, 5073},
		{"0.5 %, first try", 0.005, 0.05 / 2, 736},
		{"1 %, first try", 0.01, 0.05 / 2, 368},
		{"1 % at 5 %: the rule of three", 0.01, 0.05, 299},
	} {
		t.Run(tt.name, func(t *testing.T) {
			n := CleanNeeded(tt.r, tt.a)
			assert.Equal(t, tt.want, n)
			assert.LessOrEqual(t, Upper(0, n, tt.a), tt.r, "n0 is enough")
			assert.Greater(t, Upper(0, n-1, tt.a), tt.r, "n0 - 1 is not")
		})
	}
}

func TestMixtureTestPassesFromTabulatedCounts(t *testing.T) {
	for x, n := range map[int64]int64{0: 332, 1: 696, 2: 900, 5: 1465, 10: 2285} {
		assert.True(t, ShownBelow(x, n, 0.01, 0.05), "x=%d n=%d", x, n)
		assert.False(t, ShownBelow(x, n-1, 0.01, 0.05), "x=%d n=%d", x, n-1)
	}
}

// The fixed-sample counts of D7, by Clopper-Pearson at one look.
func TestClopperPearsonPassesFromTabulatedCounts(t *testing.T) {
	for x, n := range map[int64]int64{0: 299, 1: 473, 2: 628, 5: 1049, 10: 1693} {
		assert.LessOrEqual(t, Upper(x, n, 0.05), 0.01, "x=%d n=%d", x, n)
		assert.Greater(t, Upper(x, n-1, 0.05), 0.01, "x=%d n=%d", x, n-1)
	}
}

func TestClopperPearsonTabulated(t *testing.T) {
	for _, tt := range []struct {
		name         string
		x, n         int64
		a            float64
		lower, upper float64
		tolerance    float64
	}{
		{"one of a million", 1, 1_000_000, 0.05, 5.129e-8, 4.74e-6, 5e-9},
		// The two-sided 95 % interval of 10 of 100 in every table: 4.90 % to 17.62 %.
		{"ten of a hundred", 10, 100, 0.025, 0.0490047, 0.1762226, 1e-6},
		// 0 of 10 and 10 of 10 at two-sided 95 %: 30.85 % and its mirror.
		{"none of ten", 0, 10, 0.025, 0, 0.3084971, 1e-6},
		{"ten of ten", 10, 10, 0.025, 0.6915029, 1, 1e-6},
		{"nothing seen", 0, 0, 0.05, 0, 1, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			assert.InDelta(t, tt.lower, Lower(tt.x, tt.n, tt.a), tt.tolerance)
			assert.InDelta(t, tt.upper, Upper(tt.x, tt.n, tt.a), tt.tolerance)
		})
	}
}

// The bound is defined by its tail: at U, x or fewer have probability a.
func TestUpperSolvesTheBinomialTail(t *testing.T) {
	for _, tt := range []struct{ x, n int64 }{{0, 40}, {1, 40}, {7, 300}, {30, 5000}} {
		u := Upper(tt.x, tt.n, 0.05)
		tail := 0.0
		for k := range tt.x + 1 {
			ln, _ := math.Lgamma(float64(tt.n + 1))
			lk, _ := math.Lgamma(float64(k + 1))
			lnk, _ := math.Lgamma(float64(tt.n - k + 1))
			tail += math.Exp(ln - lk - lnk + float64(k)*math.Log(u) + float64(tt.n-k)*math.Log1p(-u))
		}
		assert.InDelta(t, 0.05, tail, 1e-8, "x=%d n=%d", tt.x, tt.n)
	}
}

func TestFurtherClean(t *testing.T) {
	for _, tt := range []struct {
		name string
		x, n int64
		want int64
	}{
		{"1 of 3", 1, 3, 693},
		{"1 of 300", 1, 300, 396},
		{"3 of 3,000 is shown", 3, 3000, 0},
		{"nothing yet", 0, 0, 332},
		{"one short", 0, 331, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			assert.Equal(t, tt.want, FurtherClean(tt.x, tt.n, 0.01, 0.05))
		})
	}
}

func TestNothingShowsNothing(t *testing.T) {
	assert.False(t, ShownBelow(0, 0, 0.01, 0.9), "a level that one observation would reach")
	assert.False(t, ShownAbove(0, 0, 0.01, 0.9))
}

func TestShownAbove(t *testing.T) {
	assert.True(t, ShownAbove(30, 1000, 0.01, 0.05), "three times the rate")
	assert.False(t, ShownAbove(12, 1000, 0.01, 0.05), "a little over the rate")
	assert.False(t, ShownAbove(0, 1000, 0.01, 0.05))
	assert.False(t, ShownBelow(12, 1000, 0.01, 0.05), "and not below either: HOLD")
}

// M is a martingale at p0: its expectation after one more observation is itself.
func TestMixturesAreMartingales(t *testing.T) {
	const p0 = 0.03
	for _, s := range []struct{ x, n int64 }{{0, 0}, {0, 10}, {1, 10}, {4, 77}} {
		for name, log := range map[string]func(x, n int64, p0 float64) float64{"below": EvidenceBelow, "above": EvidenceAbove} {
			now := math.Exp(log(s.x, s.n, p0))
			next := p0*math.Exp(log(s.x+1, s.n+1, p0)) + (1-p0)*math.Exp(log(s.x, s.n+1, p0))
			assert.InEpsilon(t, now, next, 1e-12, "%s x=%d n=%d", name, s.x, s.n)
		}
	}
	assert.InDelta(t, 0, EvidenceBelow(0, 0, p0), 1e-12, "it starts at 1")
	assert.InDelta(t, 0, EvidenceAbove(0, 0, p0), 1e-12, "it starts at 1")
}
