//go:build race

package soak

// raceEnabled cuts the simulations short: they share nothing between goroutines,
// and cost ten times as much under the race detector.
const raceEnabled = true
