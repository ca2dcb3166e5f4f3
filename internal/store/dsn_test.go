package store

import (
	"testing"

	"github.com/soakgate/soakgate/internal/store/embedded/embeddedtest"
)

// testDSN is a database of the test's own on the real engine.
func testDSN(t testing.TB) string { return embeddedtest.Start(t) }
