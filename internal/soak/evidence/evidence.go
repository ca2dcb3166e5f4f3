// Package evidence writes everything that a verdict rests on into one file, and
// recomputes the verdict from that file alone. It owns the file's form and its
// digest, and refuses a file in which any byte differs from what it would write
// itself.
package evidence

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/soakgate/soakgate/internal/soak"
	"github.com/soakgate/soakgate/internal/soak/policy"
)

// Format is the version of the file's form.
const Format = 1

// ErrAltered is the error of a file that is not what was written.
var ErrAltered = errors.New("the evidence was altered")

// Sources tells where figures came from. It is kept, and decides nothing.
type Sources struct {
	// Versions names what took part: the program (as soakgate), the engine, the schema.
	Versions map[string]string `json:"versions"`
	// Queries holds the text of each query that was run, by name.
	Queries map[string]string `json:"queries"`
}

// Evidence is what a file holds.
type Evidence struct {
	Sources
	// PolicyHash is the SHA-256 of Policy, which is in canonical form.
	PolicyHash string          `json:"policy_hash"`
	Policy     json.RawMessage `json:"policy"`
	AsOf       soak.AsOf       `json:"as_of"`
	Figures    soak.Figures    `json:"figures"`
	Verdict    soak.Verdict    `json:"verdict"`
}

// envelope is the file: the digest is the SHA-256 of the body's bytes.
type envelope struct {
	Format int             `json:"format"`
	Digest string          `json:"digest"`
	Body   json.RawMessage `json:"body"`
}

// Encode judges the figures and gives the file's bytes, and the verdict in them.
// The same arguments give the same bytes, in whatever order a store gave its rows.
func Encode(p policy.Policy, f soak.Figures, at soak.AsOf, s Sources) ([]byte, soak.Verdict, error) {
	f, err := f.Canonical()
	if err != nil {
		return nil, soak.Verdict{}, fmt.Errorf("write evidence: %w", err)
	}
	canonical, err := p.Canonical()
	if err != nil {
		return nil, soak.Verdict{}, fmt.Errorf("write evidence: %w", err)
	}
	at.At = at.At.UTC()
	e := Evidence{Sources: s, Policy: canonical, PolicyHash: digest(canonical), AsOf: at, Figures: f, Verdict: soak.Judge(p, f, at)}
	text, err := encode(e)
	return text, e.Verdict, err
}

func encode(e Evidence) ([]byte, error) {
	body, err := json.Marshal(e)
	if err != nil {
		return nil, fmt.Errorf("write evidence: %w", err)
	}
	text, err := json.Marshal(envelope{Format, digest(body), body})
	if err != nil {
		return nil, fmt.Errorf("write evidence: %w", err)
	}
	return append(text, '\n'), nil
}

func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// Verify recomputes the verdict from a file's bytes and compares it with the one
// in the file. It returns the evidence only when every byte is as it was written.
func Verify(text []byte) (Evidence, error) {
	var file envelope
	if err := strict(text, &file); err != nil {
		return Evidence{}, fmt.Errorf("verify evidence: %w: %w", ErrAltered, err)
	}
	if file.Format != Format {
		return Evidence{}, fmt.Errorf("verify evidence: the file has format %d, this program reads format %d", file.Format, Format)
	}
	if digest(file.Body) != file.Digest {
		return Evidence{}, fmt.Errorf("verify evidence: %w: its digest is not that of its body", ErrAltered)
	}
	var e Evidence
	if err := strict(file.Body, &e); err != nil {
		return Evidence{}, fmt.Errorf("verify evidence: %w: %w", ErrAltered, err)
	}
	if again, err := encode(e); err != nil || !bytes.Equal(again, text) {
		return Evidence{}, fmt.Errorf("verify evidence: %w: it is not in the form in which it was written", ErrAltered)
	}
	if digest(e.Policy) != e.PolicyHash {
		return Evidence{}, fmt.Errorf("verify evidence: %w: the policy is not that of its hash", ErrAltered)
	}
	p, err := policy.FromCanonical(e.Policy)
	if err != nil {
		return Evidence{}, fmt.Errorf("verify evidence: %w", err)
	}
	want, err := json.Marshal(soak.Judge(p, e.Figures, e.AsOf))
	if err != nil {
		return Evidence{}, fmt.Errorf("verify evidence: %w", err)
	}
	got, err := json.Marshal(e.Verdict)
	if err != nil {
		return Evidence{}, fmt.Errorf("verify evidence: %w", err)
	}
	if !bytes.Equal(want, got) {
		return Evidence{}, fmt.Errorf("verify evidence: %w: the figures give another verdict than the file says (it was written by %s)", ErrAltered, e.Versions["soakgate"])
	}
	return e, nil
}

func strict(text []byte, out any) error {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(out); err != nil {
		return fmt.Errorf("read JSON: %w", err)
	}
	return nil
}
