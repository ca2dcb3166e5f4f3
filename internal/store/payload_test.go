package store

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestCredentialsAreTakenOut(t *testing.T) {
	for _, secret := range []string{
		"Bearer abcDEF123._~+/|-==", "bearer abcdefgh", "Atza|IwEBIabc123", "Atzr|IwEBIabc123", "amzn1.oa2-cs.v1.abc123",
		"AKIAIOSFODNN7EXAMPLE", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abc",
	} {
		for _, around := range []string{"%s", "sent %s upstream", `{"summary":"%s"}`, "AAtKzJBbeyB %s"} {
			text := fmt.Sprintf(around, secret)
			kept := string(keptPayload([]byte(text)))
			assert.NotContains(t, kept, secret)
			assert.Equal(t, strings.ReplaceAll(text, secret, redacted), kept)
		}
	}
	for _, harmless := range []string{"", "B", "J", "eJ", "AK", "the bearer of news", "Atz", "eyJ", strings.Repeat("eyeKzJB", 100)} {
		assert.Equal(t, harmless, string(keptPayload([]byte(harmless))))
	}
}

// TestMarker holds the search against bytes.Contains.
func TestMarker(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		text := make([]byte, r.IntN(24))
		for i := range text {
			text[i] = "AKIeyJtz"[r.IntN(8)]
		}
		for _, s := range secrets {
			assert.Equal(t, bytes.Contains(text, []byte(s.marker.text)), s.marker.in(text), "%q in %q", s.marker.text, text)
		}
	}
}
