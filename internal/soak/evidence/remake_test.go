package evidence_test

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// remake gives an altered file the digest of its altered body.
func remake(t *testing.T, text string) []byte {
	t.Helper()
	head, body, ok := strings.Cut(text, `"body":`)
	require.True(t, ok)
	body = strings.TrimSuffix(body, "}\n")
	sum := sha256.Sum256([]byte(body))
	start := strings.Index(head, `"digest":"`) + len(`"digest":"`)
	return []byte(head[:start] + hex.EncodeToString(sum[:]) + head[start+64:] + `"body":` + body + "}\n")
}
