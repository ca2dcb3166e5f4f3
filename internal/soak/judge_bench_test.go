package soak

import (
	"fmt"
	"testing"
)

// BenchmarkJudge judges 90 days of two servers with three deployments each, whose
// activity falls into as many runs as a quiet fleet's: n of each deployment.
func BenchmarkJudge(b *testing.B) {
	for _, n := range []Minute{1, 100, 5000} {
		b.Run(fmt.Sprintf("%d runs a deployment", n), func(b *testing.B) {
			p, f := builtIn(b), cleanFigures()
			step := 89 * minutesADay / n
			for i := range f.Activity.Value {
				a := &f.Activity.Value[i]
				a.On = nil
				for k := range n {
					from := tableT - 89*minutesADay + k*step
					a.On = append(a.On, CallRun{Run{from, from + max(step-20, 1)}, 7})
				}
			}
			f.Heartbeats.Value.Up = []Run{{tableT - 89*minutesADay, tableT}}
			reread(p, &f)
			b.ReportAllocs()
			for b.Loop() {
				Judge(p, f, tableAsOf)
			}
		})
	}
}
