// Package fleet is a synthetic fleet of MCP servers: who they are, what each
// scenario has them send, and the Tally of what that holds.
//
// It owns the order, the times and the ids of all records; the same Options
// give the same ones. It refuses to judge: nothing of the classifier is used
// here, so that a count in a store that differs from the Tally is a finding.
package fleet

import "time"

// Fleet is what the traffic of a scenario comes from. Scenarios differ in its
// values only.
type Fleet struct {
	Servers []Server
	// AnswerBytes is the size of a usual answer. The share of normalized bytes
	// in the answer (D10) follows from it.
	AnswerBytes int
	// SizeUnknown is how many of 1,000 payloads do not tell their answer's size.
	SizeUnknown int
	// Twins is how many of 1,000 failed calls are told of a second time, by a
	// tool call event with the same ids. Such a call counts once.
	Twins int
	// Late is how many of 1,000 records arrive over a day late without being
	// part of the replay, as from a sender whose queue has drained at last.
	Late int
}

// Server is one server of the fleet.
type Server struct {
	Name   string // service.name
	Prefix string // of its upstream: sp, ads, or "" for a server with none
	// Deployments share the traffic by weight.
	Deployments []Deployment
	// Capabilities is what the server declares; nil when it declares nothing.
	Capabilities *Capabilities
	Conformance  []Conformance
	Inject       []Injection
	// Without are normalization kinds that never come by themselves.
	Without []string
	// Quiet is a time in which the server is not called.
	Quiet Span
}

// Deployment is one installation of a server.
type Deployment struct {
	ID          string // mcp.deployment.id
	Environment string
	Instances   int
	Weight      int
	Strict      bool // mcp.strict_unknown_fields
	// Mixed deployments emit both unknown_field kinds (D14).
	Mixed bool
	Tools []string // all of the server's when empty
	Mix   Mix
	// Phases are the versions and options it has run with, the oldest first.
	Phases []Phase
}

// Phase is a time in which neither version nor option of a deployment changed.
type Phase struct {
	// Age is how long before the end the phase begins. The first phase reaches
	// back to the start whatever its age.
	Age     time.Duration
	Version string
	Option  bool // mcp.normalization.meta
}

// Span is the time between two ages; the zero value is empty.
type Span struct{ From, To time.Duration }

func (s Span) holds(age time.Duration) bool { return age < s.From && age >= s.To }

// Capabilities is what mcp.capabilities says of a server.
type Capabilities struct {
	MetaDefault bool // the declared default of MCP_SCHEMA_KEY_NORMALIZATION_META
}

// Conformance is one run of the conformance suite.
type Conformance struct {
	Age     time.Duration
	Version string
	Failed  string // the item that failed, "" when none did
}

// Injection is an exact number of payloads, spread evenly over the traffic.
type Injection struct {
	What  string // the name of a breakage, or of one of the specials
	Count int
}

// The specials that are no breakages.
const (
	specialDropped = "kind-dropped-alias"
	specialLarge   = "block-large" // normalized bytes over the soft limit of D10
	specialHuge    = "block-huge"  // normalized bytes over the hard limit of D10
)

// Mix is how many of 1,000 records are of each class.
type Mix struct {
	Call, CallFailed, Block, Meta, Error, ErrorBlock, Opaque, Noise int
}

// usualMix has blocks enough that 40,000 records give each of two servers the
// 3,688 clean blocks of D6 with room to spare.
var usualMix = Mix{Call: 330, CallFailed: 10, Block: 300, Meta: 90, Error: 180, ErrorBlock: 50, Opaque: 5, Noise: 35}

// fewBlocksMix is that of a deployment whose callers get their keys right.
var fewBlocksMix = Mix{Call: 657, CallFailed: 10, Block: 18, Meta: 90, Error: 183, ErrorBlock: 2, Opaque: 5, Noise: 35}

const (
	spName  = "amazon_sp_mcp"
	adsName = "amazon_ads_mcp"

	spVersion  = "1.12.3"
	adsVersion = "2.4.1"

	day = 24 * time.Hour
)

// soundFleet is the fleet of which every gate passes: two servers with three
// production deployments each, one of them lenient about unknown fields.
func soundFleet() Fleet {
	server := func(name, prefix, version string) Server {
		d := func(id string, weight, instances int, strict bool) Deployment {
			return Deployment{
				ID: prefix + "-" + id, Environment: "production", Weight: weight, Instances: instances,
				Strict: strict, Mix: usualMix, Phases: []Phase{{Version: version, Option: true}},
			}
		}
		return Server{
			Name: name, Prefix: prefix,
			Deployments:  []Deployment{d("us-east", 5, 3, true), d("eu-west", 3, 2, true), d("ap-south", 2, 1, false)},
			Capabilities: &Capabilities{},
			Conformance:  []Conformance{{Age: 19 * day, Version: version}, {Age: 2 * day, Version: version}},
		}
	}
	return Fleet{
		Servers:     []Server{server(spName, "sp", spVersion), server(adsName, "ads", adsVersion)},
		AnswerBytes: 9000, SizeUnknown: 100,
	}
}

// server finds a server of the fleet by name.
func (f *Fleet) server(name string) *Server {
	for i := range f.Servers {
		if f.Servers[i].Name == name {
			return &f.Servers[i]
		}
	}
	return nil
}
