package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/soakgate/soakgate/schemas"
)

const examples, committed = "../examples", "../../docs/contract.md"

// TestCommittedDocumentIsTheGenerators fails when a schema, a table, a rule or
// an example changed and the document was not written again.
func TestCommittedDocumentIsTheGenerators(t *testing.T) {
	out := filepath.Join(t.TempDir(), "contract.md")
	require.NoError(t, write(examples, out))
	got, err := os.ReadFile(out)
	require.NoError(t, err)
	want, err := os.ReadFile(committed)
	require.NoError(t, err)
	assert.Equal(t, string(want), string(got), "run go run ./schemas/gen at the module's root")
}

func TestDocumentHasEveryRuleWithBothExamples(t *testing.T) {
	text, err := render(os.DirFS(examples))
	require.NoError(t, err)
	rules, err := schemas.LoadRules()
	require.NoError(t, err)
	sections := strings.Split(string(text), "\n### ")
	for _, r := range rules {
		var section string
		for _, s := range sections {
			if strings.HasPrefix(s, r.ID+"\n") {
				section = s
			}
		}
		require.NotEmpty(t, section, r.ID)
		for _, part := range []string{"\n* right: `", "\n* wrong: `", r.Fix, r.Meaning, "../schemas/examples/" + r.Right, "../schemas/examples/" + r.Wrong} {
			assert.Contains(t, section, part, r.ID)
		}
		right, wrong, _ := strings.Cut(section, "\n* wrong: ")
		_, right, _ = strings.Cut(right, "\n* right: ")
		assert.NotEqual(t, strings.Split(right, " (")[0], strings.Split(wrong, " (")[0], "%s: the two examples look different", r.ID)
	}
	assert.Contains(t, string(text), "| `limit_per_second` | number or string |")
}

func TestRenderSaysWhichExampleIsBad(t *testing.T) {
	_, err := render(fstest.MapFS{})
	require.ErrorContains(t, err, "read the example of required")
	files := fstest.MapFS{}
	rules, err := schemas.LoadRules()
	require.NoError(t, err)
	for _, r := range rules {
		for _, name := range []string{r.Right, r.Wrong} {
			text, err := os.ReadFile(filepath.Join(examples, name))
			require.NoError(t, err)
			files[name] = &fstest.MapFile{Data: text}
		}
	}
	_, err = render(files)
	require.NoError(t, err)
	files["error-envelope/invalid/const-version-2.json"] = &fstest.MapFile{Data: []byte("{")}
	_, err = render(files)
	require.ErrorContains(t, err, "const-version-2.json of const")
	require.Error(t, write("nowhere", filepath.Join(t.TempDir(), "x")))
	require.Error(t, write(examples, filepath.Join(t.TempDir(), "no", "folder")))
}
