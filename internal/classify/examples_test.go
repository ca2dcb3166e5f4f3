package classify

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/soakgate/soakgate/schemas"
)

const examples = "../../schemas/examples"

func example(t *testing.T, file string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(examples, file))
	require.NoError(t, err)
	return bytes.TrimSuffix(text, []byte("\n"))
}

// exampleFiles lists the examples below folder, which may hold a pattern.
func exampleFiles(t *testing.T, folder string) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(examples, folder, "*.*"))
	require.NoError(t, err)
	require.NotEmpty(t, found, folder)
	out := make([]string, len(found))
	for i, file := range found {
		out[i], err = filepath.Rel(examples, file)
		require.NoError(t, err)
	}
	return out
}

// judgeExample judges one example as its folder asks.
func judgeExample(t *testing.T, c *Classifier, file string, declared Family) Judgement {
	t.Helper()
	text := example(t, file)
	switch strings.SplitN(file, "/", 2)[0] {
	case "capabilities":
		_, findings, err := c.ParseCapabilities(text)
		require.NoError(t, err)
		return Judgement{Recognized: true, Valid: len(findings) == 0, Violations: findings}
	case "response-meta":
		return c.Judge(Payload{Text: text, Event: EventResponseMeta})
	}
	return c.Judge(Payload{Text: text, Family: declared})
}

func TestValidExamplesAreValid(t *testing.T) {
	c := newClassifier(t)
	for _, file := range exampleFiles(t, "*/valid") {
		j := judgeExample(t, c, file, FamilyUnknown)
		assert.True(t, j.Recognized && j.Valid, "%s: %v", file, j.Violations)
		assert.Empty(t, j.Advisories, file)
	}
}

// ruleOf is the rule that an example's file name says it breaks.
func ruleOf(file string) Rule {
	name, _, _ := strings.Cut(filepath.Base(file), "-")
	return Rule(name)
}

// TestInvalidExamplesBreakOneRule holds that each breaks the rule in its name
// and, but for a scope that touches kind and code, no other.
func TestInvalidExamplesBreakOneRule(t *testing.T) {
	c := newClassifier(t)
	for _, file := range exampleFiles(t, "*/invalid") {
		declared := FamilyUnknown
		if ruleOf(file) == RuleServerScope {
			declared = FamilySP
		}
		j := judgeExample(t, c, file, declared)
		assert.False(t, j.Valid, file)
		require.NotEmpty(t, j.Violations, file)
		for _, v := range j.Violations {
			assert.Equal(t, ruleOf(file), v.Rule, "%s: %v", file, j.Violations)
		}
	}
	for _, file := range exampleFiles(t, "contract/advised") {
		j := judgeExample(t, c, file, FamilyUnknown)
		assert.True(t, j.Valid, "%s: an advisory leaves a payload valid: %v", file, j.Violations)
		require.Len(t, j.Advisories, 1, file)
		assert.Equal(t, ruleOf(file), j.Advisories[0].Rule, file)
	}
}

// TestEveryRuleHasAKeepingAndABreakingPayload lists rules without.
func TestEveryRuleHasAKeepingAndABreakingPayload(t *testing.T) {
	c := newClassifier(t)
	rows, err := schemas.LoadRules()
	require.NoError(t, err)
	described := map[Rule]bool{}
	for _, row := range rows {
		rule := Rule(row.ID)
		require.False(t, described[rule], "%s stands twice", rule)
		described[rule] = true
		declared := Family(row.Declared)
		if declared == "" {
			declared = FamilyUnknown
		}
		right := judgeExample(t, c, row.Right, declared)
		wrong := judgeExample(t, c, row.Wrong, declared)
		broken, kept := wrong.Violations, wrong.Advisories
		if row.Severity == "advisory" {
			broken, kept = kept, broken
		}
		assert.NotContains(t, pathRules(append(right.Violations, right.Advisories...)), pathRule{row.At, rule}, "right payload of %s", rule)
		assert.Contains(t, pathRules(broken), pathRule{row.At, rule}, "wrong payload of %s", rule)
		assert.NotContains(t, pathRules(kept), pathRule{row.At, rule}, "severity of %s", rule)
		assert.Equal(t, strings.Contains(row.Severity, "not recognised"), !wrong.Recognized, "severity of %s", rule)
	}
	for _, rule := range declaredRules(t, "findings.go") {
		assert.True(t, described[rule], "rule %s has no row in rules.json", rule)
		delete(described, rule)
	}
	assert.Empty(t, described, "rows of rules.json that no code reports")
}

// declaredRules reads the constants of type Rule from a file of this package.
func declaredRules(t *testing.T, file string) []Rule {
	t.Helper()
	tree, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	require.NoError(t, err)
	var out []Rule
	ast.Inspect(tree, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if typ, ok := spec.Type.(*ast.Ident); ok && typ.Name == "Rule" {
			id, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
			require.NoError(t, err)
			out = append(out, Rule(id))
		}
		return true
	})
	require.Len(t, out, 26, "17 errors and 9 advisories")
	return out
}
