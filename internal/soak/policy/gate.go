package policy

// Gate names one condition of the soak. The set is closed: it labels metrics.
type Gate string

// The gates, in the order in which they are shown.
const (
	GateScope           Gate = "scope"            // D2
	GateVersion         Gate = "version"          // D3
	GateDuration        Gate = "duration"         // D4
	GateDeployments     Gate = "deployments"      // D5
	GateMalformed       Gate = "malformed"        // D6
	GateSpread          Gate = "spread"           // D8
	GateCoverageKinds   Gate = "coverage_kinds"   // D9
	GateCoverageTools   Gate = "coverage_tools"   // D9
	GateBytes           Gate = "bytes"            // D10
	GateShare           Gate = "share"            // D10
	GateOffTaxonomy     Gate = "off_taxonomy"     // D11
	GateUnreadable      Gate = "unreadable"       // D11
	GateConformance     Gate = "conformance"      // D12
	GateComplaints      Gate = "complaints"       // D13
	GateLegacy          Gate = "legacy_window"    // D14
	GateDeclaredDefault Gate = "declared_default" // D14
	GateStrictModes     Gate = "strict_modes"     // D14
	GateCollection      Gate = "collection"       // D15, minutes without a collector
	GateFreshness       Gate = "freshness"        // D15, the server's last active minute
	GateLateness        Gate = "lateness"         // D15
	GateClocks          Gate = "clocks"           // D15
	GateReplays         Gate = "replays"          // D16
	GateLockstep        Gate = "lockstep"         // D12, D19
	GateRejected        Gate = "rejected"         // D15
	GateBooks           Gate = "books"            // D15
	GateCollectors      Gate = "collectors"       // D15
)

// ServerGates are the gates that every listed server has, in order.
var ServerGates = []Gate{
	GateScope, GateVersion, GateDuration, GateDeployments, GateMalformed, GateSpread, GateCoverageKinds,
	GateCoverageTools, GateBytes, GateShare, GateOffTaxonomy, GateUnreadable, GateConformance, GateComplaints,
	GateLegacy, GateDeclaredDefault, GateStrictModes, GateCollection, GateFreshness, GateLateness, GateClocks, GateReplays,
}

// OverallGates are the gates that are judged once, over all servers, in order.
var OverallGates = []Gate{GateScope, GateComplaints, GateLockstep, GateRejected, GateBooks, GateCollectors}

// AllServers stands where a server's name would, for gates over all of them.
const AllServers = "*"

// waivable are the gates whose findings can be waived (D17): never a duration,
// a sample size, a malformed block, a failed conformance run or data that could
// not be read. GateDuration is here for its holes alone.
var waivable = map[Gate]bool{
	GateScope: true, GateDuration: true, GateOffTaxonomy: true, GateLegacy: true, GateDeclaredDefault: true,
}
