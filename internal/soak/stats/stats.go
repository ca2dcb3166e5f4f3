// Package stats holds the exact and always-valid statistics of the soak (D6,
// D7, D8). It owns formulas only: counts in, bounds out. It knows neither
// policy nor gates, and approximates nothing by a normal distribution.
package stats

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

// Upper is the one-sided Clopper-Pearson bound U(x, n, a): with confidence 1-a
// the true rate is at most this. It is 1 when nothing was seen (n = 0) or
// everything was bad (x = n); no data is never a pass.
//
//	U(x, n, a) = BetaInv(1-a; x+1, n-x)      U(0, n, a) = 1 - a^(1/n)
func Upper(x, n int64, a float64) float64 {
	switch {
	case n <= 0 || x >= n:
		return 1
	case x <= 0:
		return -math.Expm1(math.Log(a) / float64(n))
	}
	return mathext.InvRegIncBeta(float64(x+1), float64(n-x), 1-a)
}

// Lower is the one-sided Clopper-Pearson bound L(x, n, a): with confidence 1-a
// the true rate is at least this. It is 0 when nothing bad was seen.
//
//	L(x, n, a) = BetaInv(a; x, n-x+1)        L(n, n, a) = a^(1/n)
func Lower(x, n int64, a float64) float64 {
	switch {
	case n <= 0 || x <= 0:
		return 0
	case x >= n:
		return math.Exp(math.Log(a) / float64(n))
	}
	return mathext.InvRegIncBeta(float64(x), float64(n-x+1), a)
}

// CleanNeeded is n0, the least n for which no bad one among n bounds the rate by
// r with confidence 1-a: ceil(ln a / ln(1-r)). Gates compare counts with it, so
// that rounding in a logarithm cannot decide.
func CleanNeeded(r, a float64) int64 {
	enough := func(n int64) bool { return float64(n)*math.Log1p(-r) <= math.Log(a) }
	n := max(int64(math.Ceil(math.Log(a)/math.Log1p(-r))), 1)
	for n > 1 && enough(n-1) {
		n--
	}
	for !enough(n) {
		n++
	}
	return n
}

// The alternatives of the mixture test as multiples of p0, and the weights they
// have. Half of the weight below p0 lies on a rate of zero.
var (
	fractionsBelow = []float64{1.0 / 8, 1.0 / 4, 1.0 / 2}
	fractionsAbove = []float64{1.5, 2, 4}
)

// EvidenceBelow is the logarithm of M(x, n; p0), a mixture of likelihood ratios
// of rates below p0 against p0 itself. Under any rate p >= p0 the process M is
// a non-negative supermartingale that starts at 1, so by Ville's inequality it
// ever reaches 1/a with probability at most a, however often one looks.
//
//	M = 1/2 (1-p0)^-n [x=0] + sum over f in 1/8, 1/4, 1/2 of 1/6 f^x ((1-f p0)/(1-p0))^(n-x)
func EvidenceBelow(x, n int64, p0 float64) float64 {
	terms := make([]float64, 0, len(fractionsBelow)+1)
	if x == 0 {
		terms = append(terms, math.Log(0.5)-float64(n)*math.Log1p(-p0))
	}
	for _, f := range fractionsBelow {
		terms = append(terms, math.Log(1.0/6)+logRatio(x, n, p0, f))
	}
	return logSumExp(terms)
}

// EvidenceAbove is the logarithm of M'(x, n; p0), the same against rates above
// p0. It needs p0 < 1/4, so that four times p0 is still a rate.
//
//	M' = sum over f in 1.5, 2, 4 of 1/3 f^x ((1-f p0)/(1-p0))^(n-x)
func EvidenceAbove(x, n int64, p0 float64) float64 {
	terms := make([]float64, 0, len(fractionsAbove))
	for _, f := range fractionsAbove {
		terms = append(terms, math.Log(1.0/3)+logRatio(x, n, p0, f))
	}
	return logSumExp(terms)
}

// ShownBelow tells whether the rate is shown to be below p0 at level a. Nothing
// is shown by nothing.
func ShownBelow(x, n int64, p0, a float64) bool {
	return n > 0 && EvidenceBelow(x, n, p0) >= -math.Log(a)
}

// ShownAbove tells whether the rate is shown to be above p0 at level a.
func ShownAbove(x, n int64, p0, a float64) bool {
	return n > 0 && EvidenceAbove(x, n, p0) >= -math.Log(a)
}

// FurtherClean is how many further clean ones would show the rate to be below
// p0, given x bad of n so far. It is 0 when that is shown already.
func FurtherClean(x, n int64, p0, a float64) int64 {
	if ShownBelow(x, n, p0, a) {
		return 0
	}
	// M grows with every clean one, so a doubling search ends.
	hi := max(n, 1)
	for !ShownBelow(x, hi, p0, a) {
		hi *= 2
	}
	lo := max(n, hi/2)
	for lo < hi {
		if mid := lo + (hi-lo)/2; ShownBelow(x, mid, p0, a) {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	return lo - n
}

// logRatio is ln of f^x ((1-f p0)/(1-p0))^(n-x).
func logRatio(x, n int64, p0, f float64) float64 {
	return float64(x)*math.Log(f) + float64(n-x)*(math.Log1p(-f*p0)-math.Log1p(-p0))
}

func logSumExp(terms []float64) float64 {
	top := math.Inf(-1)
	for _, t := range terms {
		top = max(top, t)
	}
	sum := 0.0
	for _, t := range terms {
		sum += math.Exp(t - top)
	}
	return top + math.Log(sum)
}
