package soak

import "time"

// FiguresVersion is the version of the figures' form in evidence files.
const FiguresVersion = 1

// JoinGap is the longest silence, in minutes, over which a reader joins active
// minutes of one deployment into one run. All rules about silence in a policy
// are longer, so joining loses nothing that they ask about.
const JoinGap Minute = 15

// Read is a group of figures and whether it could be read. Its zero value was
// not read: unknown, which is neither evidence nor its absence (D18).
type Read[T any] struct {
	OK    bool   `json:"ok"`
	Err   string `json:"error,omitempty"` // why it could not be read
	Value T      `json:"value"`
}

// Got is a group that was read.
func Got[T any](v T) Read[T] { return Read[T]{OK: true, Value: v} }

// Failed is a group that could not be read.
func Failed[T any](err error) Read[T] { return Read[T]{Err: err.Error()} }

func (r Read[T]) problem(name string) string {
	switch {
	case r.OK:
		return ""
	case r.Err != "":
		return name + " could not be read: " + r.Err
	}
	return name + " were not read"
}

// Figures is everything a verdict rests on besides policy and as-of instant,
// in whole numbers. The package comment tells how it is read and defines the
// words "window", "production", "trusted", "on", "since the anchor" and "once".
type Figures struct {
	Version int    `json:"version"`
	Bounds  Bounds `json:"bounds"`

	Kept       Read[Kept]          `json:"kept"`
	Servers    Read[[]ServerRow]   `json:"servers"`
	Versions   Read[[]VersionRow]  `json:"versions"`
	Activity   Read[[]Activity]    `json:"activity"`
	Refills    Read[[]Refill]      `json:"refills"`
	Heartbeats Read[Heartbeats]    `json:"heartbeats"`
	Lateness   Read[[]LatenessRow] `json:"lateness"`
	Arrivals   Read[[]ArrivalRow]  `json:"arrivals"`

	Blocks      Read[[]BlockRow]    `json:"blocks"`
	Readable    Read[[]ReadableRow] `json:"readable"`
	Findings    Read[[]FindingRow]  `json:"findings"`
	Legacy      Read[[]LegacyRow]   `json:"legacy"`
	Kinds       Read[[]KindRow]     `json:"kinds"`
	Tools       Read[[]ToolRow]     `json:"tools"`
	StrictHours Read[[]StrictHours] `json:"strict_hours"`

	Defaults    Read[[]DefaultRow]     `json:"defaults"`
	Conformance Read[[]ConformanceRow] `json:"conformance"`
	Registers   Read[Registers]        `json:"registers"`
	Replays     Read[[]Replay]         `json:"replays"`
	Replayed    Read[[]ReplayedRow]    `json:"replayed"`
	Rejected    Read[[]RejectedRow]    `json:"rejected"`
	Books       Read[Books]            `json:"books"`
}

// Unread is figures of which nothing could be read, for one reason.
func Unread(at AsOf, err error) Figures {
	return Figures{Version: FiguresVersion, Bounds: Bounds{AsOf: at}, Kept: Failed[Kept](err)}
}

// Bounds is what the reader bounded its queries by. Judge compares it with what
// the policy demands.
type Bounds struct {
	AsOf      AsOf       `json:"as_of"`
	Untrusted []Instance `json:"untrusted"`  // as Untrusted found them
	RunStarts []RunStart `json:"run_starts"` // as RunStarts found them
}

// Instance is one process of a server.
type Instance struct {
	Server     string `json:"server"`
	Deployment string `json:"deployment"`
	Instance   string `json:"instance"`
}

// RunStart is the minute at which a server's current run begins (D4).
type RunStart struct {
	Server string `json:"server"`
	From   Minute `json:"from"`
}

// Kept tells how far back the store reaches (D1).
type Kept struct {
	// Oldest is the oldest event minute of calls_by_minute, 0 without rows.
	Oldest Minute `json:"oldest"`
	// Expired is true when older rows than those have been expired, or may have
	// been: the store was made longer ago than it keeps rollups.
	Expired bool `json:"expired"`
}

// ServerRow counts calls by server and environment: in the window, once, of any
// option and clock. From calls_by_minute.
type ServerRow struct {
	Server      string `json:"server"`
	Environment string `json:"environment"` // as stored
	Calls       int64  `json:"calls"`
	First       Minute `json:"first"`
	Last        Minute `json:"last"`
}

// VersionRow is one version of a server in production, in the window. From
// calls_by_minute.
type VersionRow struct {
	Server  string `json:"server"`
	Version string `json:"version"`
	// First is the first call of any option and clock; it orders versions.
	First Minute `json:"first"`
	// FirstOn and LastOn are the first and last trusted call with the option
	// on, 0 when there is none.
	FirstOn Minute `json:"first_on"`
	LastOn  Minute `json:"last_on"`
	// Live counts calls with the option on in [T - candidate_window, T), of any
	// clock: what makes the version a candidate (D3).
	Live int64 `json:"live"`
}

// Activity is one deployment of a server in production, in the window. From
// calls_by_minute.
type Activity struct {
	Server     string `json:"server"`
	Deployment string `json:"deployment"`
	Source     string `json:"source"` // deployment_source
	// On are the runs of minutes with a trusted call with the option on, joined
	// over at most JoinGap minutes of silence, each with its calls.
	On []CallRun `json:"on"`
	// Off are the runs of minutes with a call with the option off or undeclared,
	// of any clock, joined likewise.
	Off []Run `json:"off"`
	// StrictOn and StrictOff count calls in [T - candidate_window, T) with the
	// option on that declare MCP_STRICT_UNKNOWN_FIELDS on or off, of any clock.
	StrictOn  int64 `json:"strict_on"`
	StrictOff int64 `json:"strict_off"`
	// Recent counts the trusted calls with the option on in the last 7 days.
	Recent int64 `json:"recent"`
}

// Refill lists a server's minutes in the window that had no heartbeat of any
// collector and yet have a trusted production call of any option: senders kept
// what they could not deliver. Neighbouring minutes are joined, no gap is.
type Refill struct {
	Server  string `json:"server"`
	Minutes []Run  `json:"minutes"`
}

// Heartbeats is what collectors said of themselves. From collector_heartbeats,
// minute and at before T, stored by T. The bound on arrival is their own time.
type Heartbeats struct {
	// Up are the runs of minutes in the window with a heartbeat of any collector.
	Up []Run `json:"up"`
	// Collectors has the newest heartbeat of each journal in the window.
	Collectors []Collector `json:"collectors"`
}

// Collector is the newest heartbeat of one journal.
type Collector struct {
	Journal         string    `json:"journal"`
	Name            string    `json:"name"`
	At              time.Time `json:"at"`
	InsertedThrough time.Time `json:"inserted_through"`
	Retired         bool      `json:"retired"`
	Backlog         int64     `json:"backlog"`        // records received and not yet stored
	BacklogAgeMS    int64     `json:"backlog_age_ms"` // age of the oldest of them
	ParkedBatches   int64     `json:"parked_batches"`
	// The books, in records: Accepted = Inserted + Rejected + Parked + Backlog.
	Accepted int64 `json:"accepted"`
	Inserted int64 `json:"inserted"`
	Rejected int64 `json:"rejected"`
	Parked   int64 `json:"parked"`
}

// LatenessRow is how late the production records of one instance came on one
// UTC day of receipt, from day(T - look_back) on: with a minute of arrival before T,
// and without records that carry a replay id. From lateness_by_day.
type LatenessRow struct {
	Server     string `json:"server"`
	Deployment string `json:"deployment"`
	Instance   string `json:"instance"`
	Day        int64  `json:"day"` // days since 1970-01-01
	Records    int64  `json:"records"`
	LeastMS    int64  `json:"least_ms"` // least received - observed
	GreatestMS int64  `json:"greatest_ms"`
}

// ArrivalRow counts a server's production records received in
// [T - lateness.window, T): those without a replay id, how many of them were
// over lateness.late old on receipt, and apart those of replays.
type ArrivalRow struct {
	Server   string `json:"server"`
	Received int64  `json:"received"`
	Late     int64  `json:"late"`
	Replayed int64  `json:"replayed"`
}

// BlockRow counts blocks: production records, once, with the option on that carry
// the key normalized under _meta; in the window and since the anchor (D6). From
// blocks_by_minute.
type BlockRow struct {
	Server     string `json:"server"`
	Version    string `json:"version"`
	Deployment string `json:"deployment"`
	Source     string `json:"source"`
	// Trusted tells whether the row counts trusted blocks or all the others.
	Trusted bool `json:"trusted"`

	Blocks int64 `json:"blocks"`
	// Malformed have a violation at /_meta/normalized or below, except rule enum
	// at /_meta/normalized/<i>/kind. First and Last are theirs, 0 without any.
	Malformed int64  `json:"malformed"`
	First     Minute `json:"first"`
	Last      Minute `json:"last"`
	Recent    int64  `json:"recent"` // blocks in the last 7 days
	// WeightMicro is the sum of sampling weights in millionths. It is shown and
	// never enters evidence.
	WeightMicro int64 `json:"weight_micro"`
	// Sizes is the exact histogram of normalized bytes (D10). Size 0 counts blocks
	// whose size was not recorded.
	Sizes []Bin `json:"sizes"`
	// Known counts blocks whose answer's size is known; KnownBytes and AnswerBytes
	// are the sums over them of normalized bytes and of that size.
	Known       int64 `json:"known"`
	KnownBytes  int64 `json:"known_bytes"`
	AnswerBytes int64 `json:"answer_bytes"`
}

// Bin is how many blocks had one size.
type Bin struct {
	Size  int64 `json:"size"`
	Count int64 `json:"count"`
}

// ReadableRow counts texts of production with the option on, in the window and
// since the anchor (D11).
type ReadableRow struct {
	Server  string `json:"server"`
	Version string `json:"version"`
	// Readable counts trusted records that are an envelope or carry a block;
	// one that does both counts once.
	Readable int64 `json:"readable"`
	// Unreadable counts texts that purport to be an envelope and hold no JSON
	// object (R6: rule invalid_json or nesting_depth), of any clock; Cut counts those
	// among them that an exporter's attribute limit cut short.
	Unreadable int64 `json:"unreadable"`
	Cut        int64 `json:"cut"`
	Recent     int64 `json:"recent"` // Readable in the last 7 days
}

// What a FindingRow counts.
const (
	FindingErrorKind      = "error_kind"      // an error_kind outside the taxonomy (R50)
	FindingNormalizedKind = "normalized_kind" // a normalization kind outside the five (R83)
	FindingMalformed      = "malformed"       // a malformed block; only in rows before the anchor
)

// FindingRow counts one off-taxonomy value: production, option on, any clock, in
// the window. Before the anchor it is listed only (D11, D6).
type FindingRow struct {
	Server       string `json:"server"`
	Version      string `json:"version"`
	What         string `json:"what"`
	Value        string `json:"value"`
	BeforeAnchor bool   `json:"before_anchor"`
	Count        int64  `json:"count"`
	First        Minute `json:"first"`
	Last         Minute `json:"last"`
}

// LegacyRow counts one legacy_error_kind of one version: production, any option and
// clock, in the window (D14).
type LegacyRow struct {
	Server  string `json:"server"`
	Version string `json:"version"`
	Value   string `json:"value"`
	Count   int64  `json:"count"`
	First   Minute `json:"first"`
}

// KindRow counts well-formed calls with a normalization of one kind: valid,
// production, trusted, option on, event minute in [run start of the server, T).
// A call with several events of the kind is one. From normalizations_by_minute.
type KindRow struct {
	Server     string `json:"server"`
	Kind       string `json:"kind"`
	Tool       string `json:"tool"`
	Deployment string `json:"deployment"`
	Source     string `json:"source"`
	Calls      int64  `json:"calls"`
	Recent     int64  `json:"recent"` // in the last 7 days
}

// ToolRow counts the production calls of one tool.
type ToolRow struct {
	Server string `json:"server"`
	Tool   string `json:"tool"`
	Seen   int64  `json:"seen"`   // in the window, any option and clock: the inventory
	On     int64  `json:"on"`     // trusted, option on, in [run start of the server, T)
	Recent int64  `json:"recent"` // of those, in the last 7 days
}

// StrictHours counts the UTC clock hours in which one deployment sent both
// unknown_field_passed_through and unknown_field_rejected: production, option on,
// any clock, event minute in [run start of the server, T) (D14).
type StrictHours struct {
	Server     string `json:"server"`
	Deployment string `json:"deployment"`
	Hours      int64  `json:"hours"`
	First      Minute `json:"first"`
	Last       Minute `json:"last"`
}

// DefaultRow is a production server's declaration of the option's default, with
// at before AsOf.At and recorded by it; the newest of each server and version suffices.
type DefaultRow struct {
	Server     string    `json:"server"`
	Version    string    `json:"version"`
	Value      bool      `json:"value"`
	At         time.Time `json:"at"`
	RecordedAt time.Time `json:"recorded_at"`
}

// ConformanceRow is one run of the conformance suite. From conformance_runs, at
// before AsOf.At and recorded by it.
type ConformanceRow struct {
	Server     string            `json:"server"`
	Version    string            `json:"version"`
	Suite      string            `json:"suite"`
	Items      map[string]string `json:"items"` // "1" to "6": pass, fail or not_tested
	At         time.Time         `json:"at"`
	RecordedAt time.Time         `json:"recorded_at"`
}

// Replay is a declaration of backdated shipping (D16). From replays.
type Replay struct {
	ID         string    `json:"id"`
	From       time.Time `json:"from"` // the events it covers, [From, To)
	To         time.Time `json:"to"`
	By         string    `json:"by"`
	At         time.Time `json:"at"`
	RecordedAt time.Time `json:"recorded_at"`
}

// ReplayedRow counts a server's production calls with a replay id, in the window.
type ReplayedRow struct {
	Server string `json:"server"`
	Replay string `json:"replay"`
	Calls  int64  `json:"calls"`
	First  Minute `json:"first"`
	Last   Minute `json:"last"`
}

// RejectedRow counts rejected records that were received by AsOf.At and were not
// marked explained by then, by reason.
type RejectedRow struct {
	Reason string `json:"reason"`
	Count  int64  `json:"count"`
}

// Books compares the store with its rollups (design decision 10).
type Books struct {
	// SealedThrough is the end of the last slice of arrival such that it and all
	// before it are final and sealed since they were last written.
	SealedThrough Minute `json:"sealed_through"`
	// Distinct counts the record ids of the sealed slices, Sealed what their seals counted.
	Distinct int64 `json:"distinct"`
	Sealed   int64 `json:"sealed"`
}
