package store

import (
	"slices"
	"sync"

	"github.com/soakgate/soakgate/internal/soak"
)

func (r *reading) registers() soak.Read[soak.Registers] {
	complaints, err := readRows(r, "complaints", scanComplaint)
	if err != nil {
		return soak.Failed[soak.Registers](err)
	}
	reviews, err := readRows(r, "reviews", scanReview)
	if err != nil {
		return soak.Failed[soak.Registers](err)
	}
	return soak.Got(soak.Registers{Complaints: complaints, Reviews: reviews, Overrides: []soak.Override{}})
}

func (r *reading) heartbeats() soak.Read[soak.Heartbeats] {
	up, err := readRows(r, "heartbeat_runs", func(v *soak.Run, scan scanner) error {
		return scan((*int64)(&v.From), (*int64)(&v.To))
	})
	if err != nil {
		return soak.Failed[soak.Heartbeats](err)
	}
	collectors, err := readRows(r, "collectors", func(v *soak.Collector, scan scanner) error {
		return scan(&v.Journal, &v.Name, &v.At, &v.InsertedThrough, &v.Retired, &v.Backlog, &v.BacklogAgeMS,
			&v.ParkedBatches, &v.Accepted, &v.Inserted, &v.Rejected, &v.Parked)
	})
	if err != nil {
		return soak.Failed[soak.Heartbeats](err)
	}
	return soak.Got(soak.Heartbeats{Up: up, Collectors: collectors})
}

func (r *reading) lateness() soak.Read[[]soak.LatenessRow] {
	return rows(r, "lateness", func(v *soak.LatenessRow, scan scanner) error {
		return scan(&v.Server, &v.Deployment, &v.Instance, &v.Day, &v.Records, &v.LeastMS, &v.GreatestMS)
	})
}

// together reads independent groups at the same time: most queries are too short
// to keep every core busy.
func together(reads ...func()) {
	var wg sync.WaitGroup
	for _, read := range reads {
		wg.Go(read)
	}
	wg.Wait()
}

// telemetry reads the groups that come from rollups and need no run start.
func (r *reading) telemetry(f *soak.Figures) {
	together(
		func() { f.Servers = rows(r, "servers", scanServer) },
		func() { f.Versions = rows(r, "versions", scanVersion) },
		func() { f.Activity = r.activity() },
		func() { f.Refills = r.refills() },
		func() { f.Arrivals = rows(r, "arrivals", scanArrivals) },
		func() { f.Blocks = rows(r, "blocks", scanBlocks) },
		func() { f.Readable = rows(r, "readable", scanReadable) },
		func() { f.Findings = rows(r, "findings", scanFinding) },
		func() { f.Legacy = rows(r, "legacy", scanLegacy) },
		func() { f.Replayed = rows(r, "replayed", scanReplayed) },
		func() {
			f.Books = one(r, "books", func(v *soak.Books, scan scanner) error {
				return scan((*int64)(&v.SealedThrough), &v.Distinct, &v.Sealed)
			})
		},
	)
}

func scanServer(v *soak.ServerRow, scan scanner) error {
	return scan(&v.Server, &v.Environment, &v.Calls, (*int64)(&v.First), (*int64)(&v.Last))
}

func scanVersion(v *soak.VersionRow, scan scanner) error {
	return scan(&v.Server, &v.Version, (*int64)(&v.First), (*int64)(&v.FirstOn), (*int64)(&v.LastOn), &v.Live)
}

func scanArrivals(v *soak.ArrivalRow, scan scanner) error {
	return scan(&v.Server, &v.Received, &v.Late, &v.Replayed)
}

func scanReadable(v *soak.ReadableRow, scan scanner) error {
	return scan(&v.Server, &v.Version, &v.Readable, &v.Unreadable, &v.Cut, &v.Recent)
}

func scanFinding(v *soak.FindingRow, scan scanner) error {
	return scan(&v.Server, &v.Version, &v.What, &v.Value, &v.BeforeAnchor, &v.Count, (*int64)(&v.First), (*int64)(&v.Last))
}

func scanLegacy(v *soak.LegacyRow, scan scanner) error {
	return scan(&v.Server, &v.Version, &v.Value, &v.Count, (*int64)(&v.First))
}

func scanReplayed(v *soak.ReplayedRow, scan scanner) error {
	return scan(&v.Server, &v.Replay, &v.Calls, (*int64)(&v.First), (*int64)(&v.Last))
}

func scanBlocks(v *soak.BlockRow, scan scanner) error {
	var sizes map[uint32]uint64
	err := scan(&v.Server, &v.Version, &v.Deployment, &v.Source, &v.Trusted, &v.Blocks, &v.Malformed,
		(*int64)(&v.First), (*int64)(&v.Last), &v.Recent, &v.WeightMicro, &sizes, &v.Known, &v.KnownBytes, &v.AnswerBytes)
	v.Sizes = make([]soak.Bin, 0, len(sizes))
	for size, count := range sizes {
		if count > 0 {
			v.Sizes = append(v.Sizes, soak.Bin{Size: int64(size), Count: int64(count)})
		}
	}
	slices.SortFunc(v.Sizes, func(a, b soak.Bin) int { return int(a.Size - b.Size) })
	return err
}

// deploymentRun is one run of minutes of one deployment, option on or off.
type deploymentRun struct {
	server, deployment, source string
	on                         bool
	run                        soak.CallRun
}

func (r *reading) activity() soak.Read[[]soak.Activity] {
	activity, err := readRows(r, "activity", func(v *soak.Activity, scan scanner) error {
		v.On, v.Off = []soak.CallRun{}, []soak.Run{}
		return scan(&v.Server, &v.Deployment, &v.Source, &v.StrictOn, &v.StrictOff, &v.Recent)
	})
	if err != nil {
		return soak.Failed[[]soak.Activity](err)
	}
	runs, err := readRows(r, "activity_runs", func(v *deploymentRun, scan scanner) error {
		return scan(&v.server, &v.deployment, &v.source, &v.on, (*int64)(&v.run.From), (*int64)(&v.run.To), &v.run.Calls)
	})
	if err != nil {
		return soak.Failed[[]soak.Activity](err)
	}
	for _, run := range runs {
		i := slices.IndexFunc(activity, func(a soak.Activity) bool {
			return a.Server == run.server && a.Deployment == run.deployment && a.Source == run.source
		})
		switch {
		case i < 0: // written between the two queries: the next reading has it
		case run.on:
			activity[i].On = append(activity[i].On, run.run)
		default:
			activity[i].Off = append(activity[i].Off, run.run.Run)
		}
	}
	return soak.Got(activity)
}

func (r *reading) refills() soak.Read[[]soak.Refill] {
	type serverRun struct {
		server string
		run    soak.Run
	}
	runs, err := readRows(r, "refills", func(v *serverRun, scan scanner) error {
		return scan(&v.server, (*int64)(&v.run.From), (*int64)(&v.run.To))
	})
	if err != nil {
		return soak.Failed[[]soak.Refill](err)
	}
	refills := []soak.Refill{}
	for _, run := range runs {
		if n := len(refills); n == 0 || refills[n-1].Server != run.server {
			refills = append(refills, soak.Refill{Server: run.server})
		}
		last := &refills[len(refills)-1]
		last.Minutes = append(last.Minutes, run.run)
	}
	return soak.Got(refills)
}

// declarations reads what was declared rather than measured.
func (r *reading) declarations(f *soak.Figures) {
	f.Defaults = rows(r, "defaults", func(v *soak.DefaultRow, scan scanner) error {
		return scan(&v.Server, &v.Version, &v.Value, &v.At, &v.RecordedAt)
	})
	f.Conformance = rows(r, "conformance", func(v *soak.ConformanceRow, scan scanner) error {
		return scan(&v.Server, &v.Version, &v.Suite, &v.Items, &v.At, &v.RecordedAt)
	})
	f.Replays = rows(r, "replays", func(v *soak.Replay, scan scanner) error {
		return scan(&v.ID, &v.From, &v.To, &v.By, &v.At, &v.RecordedAt)
	})
	f.Rejected = rows(r, "rejected", func(v *soak.RejectedRow, scan scanner) error {
		return scan(&v.Reason, &v.Count)
	})
}

// coverage reads the groups that are bounded by the servers' current runs.
func (r *reading) coverage(f *soak.Figures) {
	together(
		func() { f.Kinds = rows(r, "kinds", scanKind) },
		func() { f.Tools = rows(r, "tools", scanTool) },
		func() { f.StrictHours = rows(r, "strict_hours", scanStrictHours) },
	)
}

func scanKind(v *soak.KindRow, scan scanner) error {
	return scan(&v.Server, &v.Kind, &v.Tool, &v.Deployment, &v.Source, &v.Calls, &v.Recent)
}

func scanTool(v *soak.ToolRow, scan scanner) error {
	return scan(&v.Server, &v.Tool, &v.Seen, &v.On, &v.Recent)
}

func scanStrictHours(v *soak.StrictHours, scan scanner) error {
	return scan(&v.Server, &v.Deployment, &v.Hours, (*int64)(&v.First), (*int64)(&v.Last))
}
