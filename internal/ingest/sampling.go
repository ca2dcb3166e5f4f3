package ingest

import (
	"math"
	"math/bits"
	"strconv"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/soakgate/soakgate/internal/classify"
)

// maxWeight bounds the calls that one stands for, in millionths: a million calls.
// No sampler in use keeps less than one in a million, and sums of a bounded
// weight cannot run over.
const maxWeight = classify.UnsampledWeight * 1_000_000

// fractionBits is the precision of thresholds (OpenTelemetry specification,
// TraceState: Probability Sampling): at most 14 hexadecimal digits.
const fractionBits = 56

// tracestateWeight reads the sampling threshold that the tracestate holds, as in
// "ot=th:c;rv:...": with threshold T, one of 2^56 / (2^56 - T) calls was kept.
// What is not of that form says nothing (the specification's own rule).
func tracestateWeight(state string) (weight uint64, ok bool) {
	for state != "" {
		var member string
		member, state, _ = strings.Cut(state, ",")
		fields, found := strings.CutPrefix(strings.TrimSpace(member), "ot=")
		for found && fields != "" {
			var field string
			field, fields, _ = strings.Cut(fields, ";")
			if digits, is := strings.CutPrefix(field, "th:"); is {
				return thresholdWeight(digits)
			}
		}
	}
	return 0, false
}

// thresholdWeight is the weight of a threshold in hexadecimal digits, trailing
// zeros left out, as the tracestate and the attribute sampling.threshold have it.
func thresholdWeight(digits string) (weight uint64, ok bool) {
	if digits == "" || len(digits) > fractionBits/4 || strings.ContainsAny(digits, "ABCDEF") {
		return 0, false
	}
	threshold, err := strconv.ParseUint(digits, 16, fractionBits)
	if err != nil {
		return 0, false
	}
	threshold <<= fractionBits - 4*len(digits)
	// round(10^6 * 2^56 / kept), in 128 bits; kept is at least 1.
	kept := uint64(1)<<fractionBits - threshold
	hi, lo := bits.Mul64(classify.UnsampledWeight, 1<<fractionBits)
	lo, carry := bits.Add64(lo, kept/2, 0)
	hi += carry
	if hi >= kept {
		return maxWeight, true
	}
	weight, _ = bits.Div64(hi, lo, kept)
	return min(weight, maxWeight), true
}

// Attributes that say how a record or span was sampled, the most exact first:
// sampling.threshold is what the Collector's probabilistic sampler sets on log
// records, sampling.probability a number of (0, 1], and SampleRate, of which one
// in so many was kept, is what Honeycomb's SDKs and Refinery set.
const (
	samplingThreshold   = "sampling.threshold"
	samplingProbability = "sampling.probability"
	sampleRate          = "SampleRate"
)

// sampledWeight is the weight that a record's or span's attributes give it, or
// UnsampledWeight. A value out of its range says nothing.
func sampledWeight(a pcommon.Map) uint64 {
	if v, ok := a.Get(samplingThreshold); ok && v.Type() == pcommon.ValueTypeStr {
		if w, ok := thresholdWeight(v.Str()); ok {
			return w
		}
	}
	if v, ok := a.Get(samplingProbability); ok {
		if p, ok := number(v); ok && p > 0 && p <= 1 {
			return weightOf(1 / p)
		}
	}
	if v, ok := a.Get(sampleRate); ok {
		if n, ok := number(v); ok && n >= 1 && !math.IsInf(n, 1) {
			return weightOf(n)
		}
	}
	return classify.UnsampledWeight
}

// weightOf is a number of calls in millionths.
func weightOf(calls float64) uint64 {
	w := math.Round(calls * classify.UnsampledWeight)
	if !(w < maxWeight) { // NaN too
		return maxWeight
	}
	return uint64(w)
}
