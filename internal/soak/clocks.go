package soak

import (
	"slices"

	"github.com/soakgate/soakgate/internal/soak/policy"
)

// Untrusted names the instances whose clocks are not trusted (D15), in order.
// What a receipt day's least lateness says of a clock: a queue that drains
// brings some record at once, sooner or later, and its minima move; a clock
// that is behind shifts every minimum by the same amount; one that is ahead
// makes records arrive before they happened.
func Untrusted(p policy.Policy, rows []LatenessRow) []Instance {
	type days struct{ least map[int64]int64 }
	byInstance := map[Instance]*days{}
	for _, r := range rows {
		if r.Records <= 0 {
			continue
		}
		key := Instance{r.Server, r.Deployment, r.Instance}
		d := byInstance[key]
		if d == nil {
			d = &days{map[int64]int64{}}
			byInstance[key] = d
		}
		if least, ok := d.least[r.Day]; !ok || r.LeastMS < least {
			d.least[r.Day] = r.LeastMS
		}
	}
	var out []Instance
	for key, d := range byInstance {
		if untrusted(p.Gates.Clocks, d.least) {
			out = append(out, key)
		}
	}
	slices.SortFunc(out, compareInstance)
	return out
}

func compareInstance(a, b Instance) int {
	return compareAll(compare(a.Server, b.Server), compare(a.Deployment, b.Deployment), compare(a.Instance, b.Instance))
}

// untrusted judges one clock by the least lateness of each receipt day.
func untrusted(c policy.Clocks, least map[int64]int64) bool {
	var behind, ahead int64
	var lowest, highest int64
	for _, ms := range least {
		switch {
		case ms > milliseconds(c.Behind):
			if behind == 0 || ms < lowest {
				lowest = ms
			}
			if behind == 0 || ms > highest {
				highest = ms
			}
			behind++
		case ms < -milliseconds(c.Ahead):
			ahead++
		}
	}
	most := func(n int64) bool { return 2*n > int64(len(least)) }
	steadyBehind := behind >= c.MinDays && most(behind) && highest-lowest <= milliseconds(c.Steady)
	return steadyBehind || ahead > 0 && most(ahead)
}

func milliseconds(d policy.Duration) int64 { return int64(d) * 1000 }
