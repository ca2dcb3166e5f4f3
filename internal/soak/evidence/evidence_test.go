package evidence_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/soakgate/soakgate/internal/soak"
	"github.com/soakgate/soakgate/internal/soak/evidence"
	"github.com/soakgate/soakgate/internal/soak/policy"
)

var at = soak.AsOf{At: time.Date(2026, 3, 21, 15, 7, 23, 5, time.UTC)}

func testPolicy() policy.Policy {
	p := policy.Default()
	p.Name, p.InForceSince = "test", at.At.AddDate(0, -1, 0)
	p.Servers = []policy.Server{{Name: "sp"}, {Name: "ads"}}
	return p
}

// figures have several rows in each list that the test shuffles.
func figures() soak.Figures {
	t := at.Minute()
	f := soak.Figures{Version: soak.FiguresVersion, Bounds: soak.Bounds{AsOf: at}, Kept: soak.Got(soak.Kept{Oldest: t - 30000})}
	f.Servers, f.Versions, f.Blocks = soak.Got([]soak.ServerRow{}), soak.Got([]soak.VersionRow{}), soak.Got([]soak.BlockRow{})
	for i, server := range []string{"sp", "ads"} {
		f.Servers.Value = append(f.Servers.Value, soak.ServerRow{Server: server, Environment: "production", Calls: 7, First: t - 9, Last: t - 1})
		for _, v := range []string{"1.0.0", "1.1.0"} {
			f.Versions.Value = append(f.Versions.Value, soak.VersionRow{Server: server, Version: v, First: t - 20000, FirstOn: t - 20000, LastOn: t - 1, Live: 3})
			f.Blocks.Value = append(f.Blocks.Value, soak.BlockRow{
				Server: server, Version: v, Deployment: "d", Source: "service.namespace", Trusted: true,
				Blocks: 12, Malformed: int64(i), Recent: 2, First: t - 7, Last: t - 7, Sizes: []soak.Bin{{Size: 90, Count: 5}, {Size: 10, Count: 7}},
			})
		}
	}
	f.Heartbeats = soak.Got(soak.Heartbeats{Up: []soak.Run{{From: t - 9000, To: t - 500}, {From: t - 400, To: t}}, Collectors: []soak.Collector{
		{Journal: "a", At: at.At.Add(-time.Second).In(time.FixedZone("x", 3600))}, {Journal: "b", At: at.At.Add(-time.Minute)},
	}})
	f.Legacy = soak.Failed[[]soak.LegacyRow](errors.New("no such table"))
	return f
}

func encode(t *testing.T, f soak.Figures) []byte {
	t.Helper()
	text, v, err := evidence.Encode(testPolicy(), f, at, evidence.Sources{
		Versions: map[string]string{"soakgate": "1.2.3"}, Queries: map[string]string{"blocks": "SELECT 1 < 2"},
	})
	require.NoError(t, err)
	assert.Equal(t, soak.DecisionBlock, v.Decision)
	return text
}

func TestEvidenceRecomputesToTheSameBytes(t *testing.T) {
	text := encode(t, figures())
	e, err := evidence.Verify(text)
	require.NoError(t, err)
	assert.Equal(t, soak.DecisionBlock, e.Verdict.Decision)
	assert.Equal(t, "SELECT 1 < 2", e.Queries["blocks"])
	assert.Equal(t, "1.2.3", e.Versions["soakgate"])

	// Rows in any order, lists nil or empty, times in any zone: the same bytes.
	r := rand.New(rand.NewPCG(1, 1))
	for range 20 {
		f := figures()
		r.Shuffle(len(f.Blocks.Value), func(i, j int) { f.Blocks.Value[i], f.Blocks.Value[j] = f.Blocks.Value[j], f.Blocks.Value[i] })
		r.Shuffle(len(f.Versions.Value), func(i, j int) { f.Versions.Value[i], f.Versions.Value[j] = f.Versions.Value[j], f.Versions.Value[i] })
		slices.Reverse(f.Servers.Value)
		slices.Reverse(f.Heartbeats.Value.Collectors)
		slices.Reverse(f.Blocks.Value[0].Sizes)
		f.Heartbeats.Value.Collectors[0].At = f.Heartbeats.Value.Collectors[0].At.UTC()
		f.Bounds.Untrusted = []soak.Instance{}
		require.Equal(t, string(text), string(encode(t, f)))
	}
}

func TestEncodeLeavesItsArgumentsAlone(t *testing.T) {
	f := figures()
	encode(t, f)
	assert.Equal(t, figures(), f)
}

func TestAChangedByteIsRefused(t *testing.T) {
	text := encode(t, figures())
	step := max(len(text)/1500, 1)
	for i := 0; i < len(text); i += step {
		for _, to := range []byte{text[i] ^ 1, ' ', '0'} {
			if to == text[i] {
				continue
			}
			altered := slices.Clone(text)
			altered[i] = to
			_, err := evidence.Verify(altered)
			require.Errorf(t, err, "byte %d of %d: %q for %q", i, len(text), to, text[i])
		}
	}
	for name, altered := range map[string]string{
		"cut":           string(text[:len(text)-5]),
		"no last line":  strings.TrimSuffix(string(text), "\n"),
		"spaces":        strings.Replace(string(text), `,"digest"`, `, "digest"`, 1),
		"more after it": string(text) + "{}\n",
		"empty":         "",
		"other format":  strings.Replace(string(text), `"format":1`, `"format":2`, 1),
	} {
		_, err := evidence.Verify([]byte(altered))
		assert.Error(t, err, name)
	}
}

// Who changes figures and mends the digest is caught by the verdict; who changes
// the verdict, by the figures.
func TestAMendedDigestIsNotEnough(t *testing.T) {
	for name, pair := range map[string][2]string{
		"a malformed block fewer": {`"malformed":1`, `"malformed":0`},
		"the decision":            {`"decision":"BLOCK"`, `"decision":"FLIP"`},
		"a threshold":             {`"max_seen":0`, `"max_seen":5`},
		"an unknown member":       {`"versions":{`, `"surprise":1,"versions":{`},
		"the instant":             {`"all_events":false`, `"all_events":true`},
	} {
		t.Run(name, func(t *testing.T) {
			text := string(encode(t, figures()))
			require.Contains(t, text, pair[0])
			_, err := evidence.Verify(remake(t, strings.Replace(text, pair[0], pair[1], 1)))
			require.ErrorIs(t, err, evidence.ErrAltered)
		})
	}
	_, err := evidence.Verify(remake(t, string(encode(t, figures()))))
	require.NoError(t, err, "a file made again from the same body is the same file")
}

func TestUnreadFiguresMakeEvidenceToo(t *testing.T) {
	text, v, err := evidence.Encode(testPolicy(), soak.Unread(at, errors.New("connection refused")), at, evidence.Sources{})
	require.NoError(t, err)
	assert.Equal(t, soak.DecisionCouldNotTell, v.Decision)
	assert.Contains(t, v.Gates[0].Why, "connection refused")
	_, err = evidence.Verify(text)
	require.NoError(t, err)
}

func FuzzVerify(f *testing.F) {
	text, _, err := evidence.Encode(testPolicy(), figures(), at, evidence.Sources{})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Add([]byte(fmt.Sprintf(`{"format":1,"digest":"%064d","body":{}}`, 0)))
	f.Fuzz(func(t *testing.T, altered []byte) {
		if e, err := evidence.Verify(altered); err == nil && e.Verdict.Decision == soak.DecisionFlip {
			t.Fatal("no bytes near this evidence say FLIP")
		}
	})
}
