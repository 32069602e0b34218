package work_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/toolsys/builtin/work"
	"toolbench/toolsys/permission"
	"toolbench/toolsys/tool"
)

func TestOverflowMakesExactlyTheSizeAskedFor(t *testing.T) {
	overflow := work.OverflowTest()
	for chars, want := range map[string]string{"0": "", "3": "000", "90": "0000000 " + strings.Repeat(".", 71) + "\n0000080 .."} {
		out := call(t, overflow, `{"chars":`+chars+`}`, &tool.Context{})
		assert.Equal(t, want, out.Data, chars)
	}
	out := call(t, overflow, `{"chars":1000000}`, &tool.Context{})
	assert.Len(t, out.Data, work.MaxOverflow)
}

func TestOverflowAndPermissionTestRefuseBadInput(t *testing.T) {
	for name, c := range map[string]struct {
		tool *tool.Tool
		raw  string
	}{
		"no size":        {work.OverflowTest(), `{}`},
		"less than none": {work.OverflowTest(), `{"chars":-1}`},
		"too much":       {work.OverflowTest(), `{"chars":1000001}`},
		"half a one":     {work.OverflowTest(), `{"chars":1.5}`},
		"unknown member": {work.TestingPermission(), `{"allow":true}`},
		"a long note":    {work.TestingPermission(), `{"note":"` + strings.Repeat("x", 201) + `"}`},
	} {
		_, problems := c.tool.Parse(json.RawMessage(c.raw))
		assert.NotEmpty(t, problems, name)
	}
}

func TestTheAnswerTakesTheFormOfTheSessionsCaller(t *testing.T) {
	taking, err := work.SyntheticOutput().Taking(json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}`))
	require.NoError(t, err)
	for raw, problem := range map[string]string{`{}`: "n", `{"n":"one"}`: "integer", `[1]`: "object"} {
		_, problems := taking.Parse(json.RawMessage(raw))
		require.NotEmpty(t, problems, raw)
		assert.Contains(t, problems.String(), problem)
	}
	out := call(t, taking, `{ "n": 1 }`, &tool.Context{})
	assert.JSONEq(t, `{"n":1}`, string(out.Modify(tool.State{}).Output))
	again := call(t, taking, `{"n":2}`, &tool.Context{State: tool.State{Output: json.RawMessage(`{"n":1}`)}})
	assert.Contains(t, again.Data, "in place of the one before")

	for _, bad := range []string{`{"type":"array"}`, `{"type":7}`, `{`} {
		_, err := work.SyntheticOutput().Taking(json.RawMessage(bad))
		assert.ErrorIs(t, err, tool.ErrDefinition, bad)
	}
}

// Whatever the mode and the rules, only a person answers, and without one it is denied.
func TestOnlyAPersonAnswersThePermissionTest(t *testing.T) {
	tl := work.TestingPermission()
	in := parse(t, tl, `{"note":"one"}`)
	rules, err := permission.Rules{}.Parse(permission.Session, permission.Allow, "TestingPermission")
	assert.NoError(t, err)
	for _, mode := range []permission.Mode{permission.Default, permission.Plan, permission.Auto, permission.Bypass} {
		inputs := permission.Inputs{
			Mode: mode, Rules: rules, CanAsk: true, Check: tl.Permit(in, &tool.Context{}),
			Query: permission.Query{Subject: tl.RuleSubject(), ReadOnly: tl.Behaviour.ReadOnly(in), Interactive: tl.Behaviour.NeedsUser(in)},
		}
		assert.Equal(t, permission.Ask, permission.Resolve(inputs).Behaviour, mode)
		inputs.CanAsk = false
		assert.Equal(t, permission.Deny, permission.Resolve(inputs).Behaviour, mode)
	}
	assert.Equal(t, "The user allowed it.", call(t, tl, `{}`, &tool.Context{}).Data)
}
