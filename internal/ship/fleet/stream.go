package fleet

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"go.opentelemetry.io/otel/attribute"

	"github.com/soakgate/soakgate/internal/ship/payload"
)

// Source is one process of a deployment as its resource shows it: instance,
// version, option, and whether what it sends is part of the replay.
type Source struct {
	server     *Server
	deployment *Deployment
	phase      Phase
	instance   string
	replay     string // mcp.replay.id, "" for live and for late records
	late       bool
	index      int // in Stream.sources
	pool       *pool
}

// site is a deployment with all that it can send, and from where.
type site struct {
	server     *Server
	deployment *Deployment
	pool       *pool
	sources    [][]*Source // by phase, then instance
	late       *Source     // nil when the fleet has no late records
}

// Item is one record to come: a payload, its sender, its time and its call.
type Item struct {
	src     *Source
	variant int
	at      time.Time
	call    uint64 // number of the call, which its ids are made from
}

// Options settle every record of a stream.
type Options struct {
	Scenario Scenario
	Seed     uint64
	Days     int   // event times reach back over so many days from Until; 0 is now
	Records  int64 // in all
	ReplayID string
	Until    time.Time
	Now      func() time.Time // read for each record when Days is 0
}

// Stream gives the records of a run, in order of event time but for late ones.
// The same options give the same items. It is for one goroutine.
type Stream struct {
	o        Options
	rng      *rand.Rand
	sites    []*site
	sources  []*Source
	weights  class // of sites
	reports  []report
	injected map[int64]injected
	slots    int64 // records of traffic
	slot     int64
	pending  *Item // the twin of the last item
	key      uint64
}

// report is a declaration or a conformance run, due at an age.
type report struct {
	age     time.Duration
	src     *Source
	variant int
}

type injected struct{ server, nth, variant int }

// NewStream readies the fleet. It fails when the scenario does not fit into the
// number of records.
func NewStream(o Options) (*Stream, error) {
	h := fnv.New64a()
	fmt.Fprintf(h, "%d\x00%s\x00%d\x00%s", o.Seed, o.Scenario.Name, o.Until.UnixNano(), o.ReplayID)
	s := &Stream{o: o, key: h.Sum64(), rng: rand.New(rand.NewPCG(o.Seed, 0x736f616b)), injected: map[int64]injected{}}
	fleet := &o.Scenario.fleet
	for i := range fleet.Servers {
		if err := s.addServer(fleet, &fleet.Servers[i]); err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(s.reports, func(a, b report) int { return cmp.Compare(b.age, a.age) })
	s.slots = o.Records - int64(len(s.reports))
	if s.slots < 1 {
		return nil, fmt.Errorf("scenario %s needs more than %d records: raise the number", o.Scenario.Name, o.Records)
	}
	return s, s.inject(fleet)
}

func (s *Stream) addServer(fleet *Fleet, server *Server) error {
	for i := range server.Deployments {
		d := &server.Deployments[i]
		st := &site{server: server, deployment: d, pool: newPool(fleet, server, d)}
		for _, ph := range d.Phases {
			var row []*Source
			for n := range d.Instances {
				row = append(row, s.addSource(&Source{
					server: server, deployment: d, phase: ph, pool: st.pool,
					instance: fmt.Sprintf("%s-%d", d.ID, n), replay: s.o.ReplayID,
				}))
			}
			st.sources = append(st.sources, row)
		}
		if fleet.Late > 0 && s.o.Days > 0 {
			src := *st.sources[len(st.sources)-1][0]
			src.replay, src.late = "", true
			st.late = s.addSource(&src)
		}
		s.weights.add(len(s.sites), d.Weight)
		s.sites = append(s.sites, st)
	}
	first := s.sites[len(s.sites)-len(server.Deployments)]
	b := builder{pool: first.pool, fleet: fleet}
	if server.Capabilities != nil {
		v := b.report(payload.EventCapabilities, payload.Capabilities(server.Prefix, server.Capabilities.MetaDefault))
		for _, age := range []time.Duration{math.MaxInt64, day} { // at the start, and again lately
			s.reports = append(s.reports, report{age, first.at(age, 0), v})
		}
	}
	for _, c := range server.Conformance {
		v := b.report(payload.EventConformance, payload.Conformance(c.Failed),
			attribute.String("mcp.server.name", server.Name), attribute.String("mcp.server.version", c.Version))
		s.reports = append(s.reports, report{c.Age, first.at(c.Age, 0), v})
	}
	return nil
}

func (s *Stream) addSource(src *Source) *Source {
	src.index = len(s.sources)
	s.sources = append(s.sources, src)
	return src
}

// at is the instance as it was at an age.
func (st *site) at(age time.Duration, instance int) *Source {
	phase := 0
	for i, ph := range st.deployment.Phases {
		if i > 0 && age < ph.Age {
			phase = i
		}
	}
	return st.sources[phase][instance]
}

// inject spreads the exact payloads evenly; where two meet, the later one moves on.
func (s *Stream) inject(fleet *Fleet) error {
	over := min(s.slots, int64(s.o.Scenario.Records))
	for i := range fleet.Servers {
		for _, in := range fleet.Servers[i].Inject {
			for n := range in.Count {
				at := (2*int64(n) + 1) * over / (2 * int64(in.Count))
				for tries := int64(0); ; tries++ {
					if tries >= over {
						return fmt.Errorf("scenario %s needs more than %d records: raise the number", s.o.Scenario.Name, s.o.Records)
					}
					if _, taken := s.injected[at]; !taken {
						break
					}
					at = (at + 1) % over
				}
				st := s.siteOf(i, n)
				v, err := st.pool.special(in.What)
				if err != nil {
					return fmt.Errorf("scenario %s: %w", s.o.Scenario.Name, err)
				}
				s.injected[at] = injected{i, n, v}
			}
		}
	}
	return nil
}

// siteOf is the nth deployment of a server, around and around.
func (s *Stream) siteOf(server, n int) *site {
	of := &s.o.Scenario.fleet.Servers[server]
	own := slices.DeleteFunc(slices.Clone(s.sites), func(st *site) bool { return st.server != of })
	return own[n%len(own)]
}

// Next gives the next record, or false at the end.
func (s *Stream) Next() (Item, bool) {
	if s.pending != nil {
		it := *s.pending
		s.pending = nil
		s.slot++
		return it, true
	}
	at, age := s.when(s.slot)
	if len(s.reports) > 0 && (s.o.Days == 0 || s.reports[0].age >= age) {
		r := s.reports[0]
		s.reports = s.reports[1:]
		if s.o.Days > 0 && r.age < s.o.span() {
			at = s.o.Until.Add(-r.age)
		}
		return Item{r.src, r.variant, at, math.MaxUint64 - uint64(len(s.reports))}, true
	}
	if s.slot >= s.slots {
		return Item{}, false
	}
	it := Item{at: at, call: uint64(s.slot)}
	if in, ok := s.injected[s.slot]; ok {
		st := s.siteOf(in.server, in.nth)
		it.src, it.variant = st.at(age, s.rng.IntN(st.deployment.Instances)), in.variant
		s.slot++
		return it, true
	}
	s.slot++
	st := s.sites[s.weights.pick(s.rng.IntN)]
	for tries := 0; st.server.Quiet.holds(age) && tries < 100; tries++ {
		st = s.sites[s.weights.pick(s.rng.IntN)]
	}
	it.src = st.at(age, s.rng.IntN(st.deployment.Instances))
	mix := &st.pool.on
	if !it.src.phase.Option {
		mix = &st.pool.off
	}
	it.variant = st.pool.classes[mix.pick(s.rng.IntN)].pick(s.rng.IntN)
	s.lateOrTwice(st, &it)
	return it, true
}

// lateOrTwice makes some records late ones, and has some calls told twice.
func (s *Stream) lateOrTwice(st *site, it *Item) {
	fleet := &s.o.Scenario.fleet
	if st.late != nil && s.rng.IntN(1000) < fleet.Late {
		it.src = st.late
		it.at = s.o.Until.Add(-26*time.Hour - time.Duration(s.rng.Int64N(int64(20*time.Hour))))
	}
	v := &st.pool.variants[it.variant]
	if fleet.Twins > 0 && v.Event == payload.EventEnvelope && s.rng.IntN(1000) < fleet.Twins {
		_, taken := s.injected[s.slot]
		if tv, ok := st.pool.twin[v.Tool]; ok && !taken && s.slot < s.slots {
			twin := *it
			twin.variant = tv
			s.pending = &twin
		}
	}
}

// mix64 is the finaliser of splitmix64: a bijection, so that no two calls of a
// run share a trace id.
func mix64(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// hourWeights is the daily pattern, the last hour of a run being the last one
// here. No hour is silent, so that nights are no holes (D4).
var hourWeights = [24]int64{4, 3, 2, 2, 2, 2, 3, 4, 6, 8, 10, 12, 13, 13, 12, 12, 13, 12, 11, 10, 9, 8, 7, 6}

// when is the event time of a slot, and its age at the end of the run.
func (s *Stream) when(slot int64) (time.Time, time.Duration) {
	if s.o.Days == 0 {
		return s.o.Now(), 0
	}
	var daily int64
	for _, w := range hourWeights {
		daily += w
	}
	// x is how far into the run the slot lies, in units of an hour's weight.
	x := (float64(slot) + 0.5) / float64(s.slots) * float64(daily) * float64(s.o.Days)
	days := math.Floor(x / float64(daily))
	x -= days * float64(daily)
	hour := 0
	for hour < 23 && x >= float64(hourWeights[hour]) {
		x -= float64(hourWeights[hour])
		hour++
	}
	into := time.Duration(days)*day + time.Duration(hour)*time.Hour + time.Duration(x/float64(hourWeights[hour])*float64(time.Hour))
	age := max(s.o.span()-into, time.Millisecond)
	return s.o.Until.Add(-age), age
}

// span is how far the event times reach back.
func (o *Options) span() time.Duration { return time.Duration(o.Days) * day }

// Sources lists all processes of the fleet; a source's Index is its place.
func (s *Stream) Sources() []*Source { return s.sources }
