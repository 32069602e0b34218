package tool_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/toolsys/message"
	"toolbench/toolsys/permission"
	"toolbench/toolsys/settings"
	"toolbench/toolsys/tool"
)

type in struct {
	Path string `json:"path" jsonschema:"the file"`
}

type def = tool.Def[in, string]

// least is a definition with the four members every tool has to state (A4).
func least() def {
	return def{
		Name: "Look", Description: "Looks at a file.",
		Call: func(_ context.Context, in in, _ *tool.Context) (tool.Result[string], error) {
			return tool.Done("saw " + in.Path), nil
		},
	}
}

func with(change func(*def)) def {
	d := least()
	change(&d)
	return d
}

func parse(t *testing.T, tl *tool.Tool, raw string) tool.Input {
	t.Helper()
	input, problems := tl.Parse(json.RawMessage(raw))
	require.Empty(t, problems)
	return input
}

func TestWhatADefinitionLeavesOutGetsItsSafeValue(t *testing.T) {
	tl, err := tool.Build(least())
	require.NoError(t, err)
	input := parse(t, tl, `{"path":"a"}`)

	on, err := tl.Enabled(settings.External())
	assert.True(t, on)
	assert.NoError(t, err)
	for name, predicate := range map[string]func(tool.Input) bool{
		"safe": tl.Behaviour.Safe, "read-only": tl.Behaviour.ReadOnly, "destructive": tl.Behaviour.Destructive,
		"open world": tl.Behaviour.OpenWorld, "needs the user": tl.Behaviour.NeedsUser,
	} {
		assert.False(t, predicate(input), name)
	}
	assert.Equal(t, permission.Opinion{}, tl.Permit(input, &tool.Context{}), "the general rules decide")
	assert.Nil(t, tl.Validate(input, &tool.Context{}))
	assert.Equal(t, tool.Subject{}, tl.Subject(input, &tool.Context{}))
	assert.Equal(t, tool.Effects{Everything: true}, tl.Behaviour.Effects(input, &tool.Context{}))
	_, completed := tl.Complete(input, &tool.Context{})
	assert.False(t, completed, "the call runs as it was approved")
	assert.Equal(t, tool.Class{}, tl.Behaviour.Class(input))
	assert.Equal(t, "block", tl.Behaviour.Interrupt.String())
	assert.Empty(t, tl.Shape.Classifier(input))
	assert.Nil(t, tl.Shape.Backfill)
	assert.Equal(t, "Look", tl.Present.Title(input))
	assert.Equal(t, "Look", tl.Present.Activity(input))
	assert.Equal(t, "Looks at a file.", tl.Prompt(tool.PromptOptions{}))
	assert.Equal(t, "Looks at a file.", tl.Describe(input))
	assert.Equal(t, 50_000, tl.Limit.ResultChars)
	assert.Zero(t, tl.Limit.Timeout(input))
	assert.False(t, tl.IsMCP())
	assert.Nil(t, tl.Output, "a text has no schema")
}

func TestDefinitionsThatCannotWorkAreErrorsAtBuild(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*def)
		says   string
	}{
		"no name":                     {func(d *def) { d.Name = "" }, "no name"},
		"a bad name":                  {func(d *def) { d.Name = "look at" }, `bad name "look at"`},
		"a name too long":             {func(d *def) { d.Name = strings.Repeat("x", 129) }, "bad name"},
		"no call":                     {func(d *def) { d.Call = nil }, "no Call"},
		"no description":              {func(d *def) { d.Description = "" }, "no description"},
		"a bad alias":                 {func(d *def) { d.Aliases = []string{"a b"} }, `bad alias "a b"`},
		"an alias that is the name":   {func(d *def) { d.Aliases = []string{"Look"} }, `"Look" is given twice`},
		"an alias twice":              {func(d *def) { d.Aliases = []string{"A", "A"} }, `"A" is given twice`},
		"a result size below nothing": {func(d *def) { d.Limits.ResultChars = -2 }, "result size -2"},
		"a schema that is no JSON":    {func(d *def) { d.InputSchema = json.RawMessage(`{`) }, "input schema"},
		"a schema that is invalid":    {func(d *def) { d.InputSchema = json.RawMessage(`{"type":"object","required":7}`) }, "input schema"},
		"an output that is invalid":   {func(d *def) { d.OutputSchema = json.RawMessage(`{"type":"objec"}`) }, "output schema"},
		"a root that is no object":    {func(d *def) { d.InputSchema = json.RawMessage(`{"type":"array"}`) }, "input schema"},
		"a broken output schema":      {func(d *def) { d.OutputSchema = json.RawMessage(`{`) }, "output schema"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := tool.Build(with(c.change))
			require.ErrorIs(t, err, tool.ErrDefinition)
			assert.ErrorContains(t, err, c.says)
			assert.Panics(t, func() { tool.Must(with(c.change)) })
		})
	}
	t.Run("no schema and none to derive", func(t *testing.T) {
		_, err := tool.Build(tool.Def[map[string]any, string]{
			Name: "X", Description: "x",
			Call: func(context.Context, map[string]any, *tool.Context) (tool.Result[string], error) {
				return tool.Done(""), nil
			},
		})
		require.ErrorIs(t, err, tool.ErrDefinition)
	})
}

func TestServedToolsMayLackADescriptionAndAGoodSchema(t *testing.T) {
	tl, err := tool.Build(tool.Def[map[string]any, string]{
		Name: "mcp__a__b", Origin: &tool.Origin{Server: "a", Tool: "b"}, InputSchema: json.RawMessage(`{"type":"object","$ref":"#/nowhere"}`),
		Call: func(_ context.Context, in map[string]any, _ *tool.Context) (tool.Result[string], error) {
			return tool.Done("ran"), nil
		},
	})
	require.NoError(t, err)
	assert.True(t, tl.IsMCP())
	_, problems := tl.Parse(json.RawMessage(`{"anything":1}`))
	assert.Empty(t, problems, "it is loaded unvalidated")
	_, problems = tl.Parse(json.RawMessage(`[1]`))
	assert.NotEmpty(t, problems, "but its type still has to hold the input")
}

func TestInputsAreHeldAgainstTheSchema(t *testing.T) {
	tl := tool.Must(least())
	_, problems := tl.Parse(json.RawMessage(`{"path":7,"extra":true}`))
	text := problems.String()
	assert.Contains(t, text, "path")
	assert.Contains(t, text, "extra")

	given := tool.Must(with(func(d *def) {
		d.InputSchema = json.RawMessage(`{"type":"object","properties":{"path":{"type":"string","minLength":3}}}`)
	}))
	_, problems = given.Parse(json.RawMessage(`{"path":"a"}`))
	assert.NotEmpty(t, problems)
	assert.Equal(t, in{Path: "abc"}, parse(t, given, `{"path":"abc"}`).Value)

	input, problems := tl.Decode(json.RawMessage(`{"path":"x","_internal":1}`))
	assert.Empty(t, problems, "Decode is for what the permission layer completed")
	assert.Equal(t, in{Path: "x"}, input.Value)
}

// A tool's own function that panics counts as its safe value, and says so (A5).
func TestPredicatesThatPanicAreTheirSafeValue(t *testing.T) {
	boom := func(in) bool { panic("boom") }
	tl := tool.Must(with(func(d *def) {
		d.Traits = tool.Traits[in]{
			Enabled: func(settings.Settings) bool { panic("boom") },
			Safe:    boom, ReadOnly: boom, Destructive: boom, OpenWorld: boom, NeedsUser: boom,
			Class:   func(in) tool.Class { panic("boom") },
			Effects: func(in, *tool.Context) tool.Effects { panic("boom") },
		}
		d.Permit = func(in, *tool.Context) permission.Opinion { panic("boom") }
		d.Describe = func(in) string { panic("boom") }
		d.Shaping.Classifier = func(in) string { panic("boom") }
		d.Shaping.Equivalent = func(a, b in) bool { panic("boom") }
		d.Limits.Timeout = func(in) time.Duration { panic("boom") }
		d.Complete = func(in, *tool.Context) (json.RawMessage, bool) { panic("boom") }
		d.View = tool.View[in]{Title: func(in) string { panic("boom") }, Summary: func(in) string { panic("boom") }}
	}))
	input := parse(t, tl, `{"path":"a"}`)
	for name, predicate := range map[string]func(tool.Input) bool{
		"safe": tl.Behaviour.Safe, "read-only": tl.Behaviour.ReadOnly, "destructive": tl.Behaviour.Destructive,
		"open-world": tl.Behaviour.OpenWorld, "needs-user": tl.Behaviour.NeedsUser,
	} {
		broken := map[string]error{}
		got := predicate(input.Reporting(func(member string, err error) { broken[member] = err }))
		assert.False(t, got, name)
		assert.ErrorContains(t, broken[name], "boom")
	}
	on, err := tl.Enabled(settings.External())
	assert.False(t, on)
	assert.ErrorContains(t, err, "boom")
	assert.Equal(t, permission.Deny, tl.Permit(input, &tool.Context{}).Behaviour, "a check that fails refuses")
	assert.Equal(t, tool.Class{}, tl.Behaviour.Class(input))
	assert.True(t, tl.Behaviour.Effects(input, &tool.Context{}).Everything)
	assert.Equal(t, "Looks at a file.", tl.Describe(input))
	assert.Empty(t, tl.Shape.Classifier(input))
	assert.False(t, tl.Shape.Equivalent(input, input))
	assert.Zero(t, tl.Limit.Timeout(input))
	assert.Equal(t, "Look", tl.Present.Title(input))
	assert.Empty(t, tl.Present.Summary(input))
}

func TestPredicatesAreAskedAboutTheInput(t *testing.T) {
	tl := tool.Must(with(func(d *def) {
		d.Traits.Safe = func(in in) bool { return in.Path == "a" }
		d.Traits.ReadOnly = tool.Always[in]
	}))
	for path, want := range map[string]bool{"a": true, "b": false} {
		got := tl.Behaviour.Safe(parse(t, tl, `{"path":"`+path+`"}`))
		assert.Equal(t, want, got, path)
	}
	assert.True(t, tl.Behaviour.ReadOnly(parse(t, tl, `{"path":"b"}`)))
}

func TestDataBecomesABlock(t *testing.T) {
	type out struct {
		Text string   `json:"text"`
		List []string `json:"list"`
	}
	structured := tool.Must(tool.Def[in, out]{
		Name: "X", Description: "x",
		Call: func(_ context.Context, in in, _ *tool.Context) (tool.Result[out], error) {
			return tool.Result[out]{Data: out{Text: "1 < 2"}, Failed: true}, nil
		},
	})
	got, err := structured.Call(t.Context(), parse(t, structured, `{"path":"a"}`), &tool.Context{})
	require.NoError(t, err)
	assert.Equal(t, `{"text":"1 < 2","list":null}`, message.PlainText(got.Blocks), "as JSON, without escapes meant for HTML")
	assert.True(t, got.Failed)
	require.NotNil(t, structured.Output)

	plain := tool.Must(least())
	got, err = plain.Call(t.Context(), parse(t, plain, `{"path":"a"}`), &tool.Context{})
	require.NoError(t, err)
	assert.Equal(t, "saw a", message.PlainText(got.Blocks), "a text as it is")
	assert.Equal(t, "saw a", got.Data)

	own := tool.Must(with(func(d *def) {
		d.Block = func(s string) []message.Block { return []message.Block{message.Text("<" + s + ">")} }
	}))
	got, err = own.Call(t.Context(), parse(t, own, `{"path":"a"}`), &tool.Context{})
	require.NoError(t, err)
	assert.Equal(t, "<saw a>", message.PlainText(got.Blocks))
}

func TestFailedCallKeepsWhatItLearned(t *testing.T) {
	no := errors.New("no")
	tl := tool.Must(with(func(d *def) {
		d.Call = func(context.Context, in, *tool.Context) (tool.Result[string], error) {
			return tool.Result[string]{Observed: []tool.Observation{{Task: "t"}}, Modify: func(s tool.State) tool.State { return s }}, no
		}
	}))
	got, err := tl.Call(t.Context(), parse(t, tl, `{"path":"a"}`), &tool.Context{})
	require.ErrorIs(t, err, no)
	assert.Len(t, got.Observed, 1)
	assert.Nil(t, got.Modify, "a call that failed changes nothing")
}

// A decorator copies the value and replaces a function (design decision 1).
func TestDecoratorsLeaveTheToolAlone(t *testing.T) {
	aliases := []string{"Peek"}
	tl := tool.Must(with(func(d *def) { d.Aliases = aliases }))
	aliases[0] = "changed"
	assert.True(t, tl.Matches("Peek"))
	assert.True(t, tl.Matches("Look"))
	assert.False(t, tl.Matches("changed"))

	loud := *tl
	inner := tl.Call
	loud.Call = func(ctx context.Context, in tool.Input, c *tool.Context) (tool.Output, error) {
		out, err := inner(ctx, in, c)
		out.Blocks = []message.Block{message.Text(strings.ToUpper(message.PlainText(out.Blocks)))}
		return out, err
	}
	input := parse(t, tl, `{"path":"a"}`)
	got, err := loud.Call(t.Context(), input, &tool.Context{})
	require.NoError(t, err)
	assert.Equal(t, "SAW A", message.PlainText(got.Blocks))
	got, err = tl.Call(t.Context(), input, &tool.Context{})
	require.NoError(t, err)
	assert.Equal(t, "saw a", message.PlainText(got.Blocks))
}

func TestSummaryIsOneShortLine(t *testing.T) {
	tl := tool.Must(with(func(d *def) { d.View.Summary = func(in in) string { return in.Path } }))
	assert.Equal(t, "short", tl.Present.Summary(parse(t, tl, `{"path":"short"}`)))
	long := tl.Present.Summary(parse(t, tl, `{"path":"`+strings.Repeat("ü", 80)+`"}`))
	assert.Equal(t, strings.Repeat("ü", 49)+"…", long, "50 characters, not bytes")
	assert.NotContains(t, tl.Present.Summary(parse(t, tl, `{"path":"two\nlines"}`)), "\n")
}

func TestInputsAreEquivalentWhenTheirValuesAre(t *testing.T) {
	tl := tool.Must(least())
	a, b := parse(t, tl, `{"path":"a"}`), parse(t, tl, `{ "path" : "a" }`)
	assert.True(t, tl.Shape.Equivalent(a, b))
	assert.False(t, tl.Shape.Equivalent(a, parse(t, tl, `{"path":"b"}`)))
}

func TestAnExampleHasToFitTheSchema(t *testing.T) {
	d := tool.Def[struct {
		Path string `json:"path"`
	}, string]{Name: "t", Description: "d", Call: func(context.Context, struct {
		Path string `json:"path"`
	}, *tool.Context) (tool.Result[string], error) {
		return tool.Done(""), nil
	}}
	d.Wire.Examples = []json.RawMessage{json.RawMessage(`{"path":"a"}`)}
	_, err := tool.Build(d)
	require.NoError(t, err)
	d.Wire.Examples = append(d.Wire.Examples, json.RawMessage(`{"path":7}`))
	_, err = tool.Build(d)
	assert.ErrorIs(t, err, tool.ErrDefinition)
	assert.ErrorContains(t, err, "example 2 does not fit the schema")
}
