// Package config holds the configuration files that the binary carries. It owns
// their bytes; what reads them checks them.
package config

import _ "embed" // for the file below

// SoakPolicy is the soak's built-in policy, used when no other is named.
//
//go:embed soak-policy.yaml
var SoakPolicy []byte

// DemoPolicy is the policy of a freshly started demo, whose data is replayed.
//
//go:embed demo-policy.yaml
var DemoPolicy []byte
