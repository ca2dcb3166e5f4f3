package classify

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestRecentWordsAreTheTextsAsked has far more texts than there are places, so
// that they share them, and texts too long to be remembered.
func TestRecentWordsAreTheTextsAsked(t *testing.T) {
	var words recentWords
	texts := [][]byte{{}, make([]byte, maxWord), make([]byte, maxWord+1)}
	for i := range 5000 {
		texts = append(texts, fmt.Appendf(nil, "word_%d_of_all", i))
	}
	for range 2 {
		for _, text := range texts {
			assert.Equal(t, string(text), words.of(text))
		}
	}
	last := texts[len(texts)-1]
	assert.Zero(t, testing.AllocsPerRun(10, func() { words.of(last) }))
}
