package economics_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"toolbench/sim/economics"
	"toolbench/sim/world"
	"toolbench/toolsys"
	"toolbench/toolsys/builtin"
	"toolbench/toolsys/pool"
	"toolbench/toolsys/settings"
)

func served(t testing.TB, text string) []economics.Tool {
	t.Helper()
	c, err := world.ParseCatalogue("pets.json", []byte(text))
	require.NoError(t, err)
	return economics.Served(c)
}

func count(t testing.TB, tools []economics.Tool, o economics.CountOptions) economics.ToolCosts {
	t.Helper()
	if o.Counter.Name == "" {
		o.Counter = counter(t, "bytes4")
	}
	r := economics.CountTools(tools, o)
	return r
}

func TestOneToolCostsTheSameInEveryShapeOfACatalogue(t *testing.T) {
	const schema = `{"type":"object","properties":{"name":{"type":"string"}}}`
	const tool = `{"name":"feed","description":"Feeds a pet.","inputSchema":` + schema + `}`
	one := served(t, tool)
	for name, text := range map[string]string{
		"array":   `[` + tool + `]`,
		"listing": `{"tools":[` + tool + `]}`,
		"answer":  `{"jsonrpc":"2.0","id":1,"result":{"tools":[` + tool + `]}}`,
		"blanks":  strings.ReplaceAll(tool, ":", " : "),
	} {
		assert.Equal(t, one, served(t, text), name)
	}
	bare := served(t, `{"model":"m","tools":[{"name":"feed","description":"Feeds a pet.","input_schema":`+schema+`}]}`)
	assert.Equal(t, "feed", bare[0].Name, "a request's tools have their whole names")
	assert.Equal(t, one[0].Schema, bare[0].Schema)
	for name, text := range map[string]string{
		"chat":      `[{"type":"function","function":{"name":"feed","description":"Feeds a pet.","parameters":` + schema + `}}]`,
		"responses": `[{"type":"function","name":"feed","description":"Feeds a pet.","parameters":` + schema + `}]`,
	} {
		assert.Equal(t, bare, served(t, text), name)
	}
}

func TestEscapesCostNothingThatCharactersDoNot(t *testing.T) {
	plain := served(t, `{"name":"a","description":"<é>","inputSchema":{"title":"<é> \" x"}}`)
	escaped := served(t, `{"name":"a","description":"\u003c\u00e9\u003e","inputSchema":{"title":"\u003c\u00e9\u003e \" x"}}`)
	assert.Equal(t, plain, escaped)
	assert.Equal(t, `{"title":"<é> \" x"}`, plain[0].Schema)
	written := served(t, `{"name":"a","description":"writes \\u2028 as \u2028","inputSchema":{"pattern":"[\\u2028]"}}`)[0]
	assert.Equal(t, `{"pattern":"[\\u2028]"}`, written.Schema, "a backslash in a text is no escape")
	assert.True(t, json.Valid(economics.Definition(written, false)))
	assert.Contains(t, string(economics.Definition(written, false)), `writes \\u2028 as `+"\u2028")
}

func TestAToolThatIsAlwaysLoadedSavesNothing(t *testing.T) {
	r := count(t, served(t, `{"name":"a","description":"It is long enough to save.","_meta":{"anthropic/alwaysLoad":true}}`), economics.CountOptions{})
	assert.Zero(t, r.Total.Modes.Names.Saved)
	assert.Equal(t, r.Total.Full, r.Total.Modes.API.Tokens)
	assert.Zero(t, r.Automatic.Deferred)
}

func TestToolsWithoutASchemaAreNamed(t *testing.T) {
	r := count(t, served(t, `{"name":"a"} {"name":"b","inputSchema":null} {"name":"c","inputSchema":{"type":"object","properties":{}}} {"name":"d","inputSchema":{"$ref":"#/x"}}`), economics.CountOptions{})
	assert.Equal(t, []string{"mcp__pets__a", "mcp__pets__b"}, r.NoSchema)
	assert.Equal(t, []string{"mcp__pets__c"}, r.Empty)
	assert.Contains(t, r.Worst[3].Advice+r.Worst[2].Advice, "no schema")
}

// weighing so many bytes as a session sends it.
func weighing(t *testing.T, bytes int) []economics.Tool {
	t.Helper()
	empty := served(t, `{"name":"a","description":"","inputSchema":{"type":"object"}}`)
	filler := strings.Repeat("x", bytes-len(economics.Definition(empty[0], false)))
	return served(t, fmt.Sprintf(`{"name":"a","description":%q,"inputSchema":{"type":"object"}}`, filler))
}

// The automatic mode triggers above floor(window x percent / 100), not at it, for each
// window there is and under any counter: a session counts by itself.
func TestTheAutomaticThresholdIsStrictAtItsEdges(t *testing.T) {
	for _, c := range []struct {
		model              string
		percent, threshold int
	}{
		{"claude-sonnet-4-5", 0, 20_000}, {"claude-sonnet-4-5", 1, 2_000}, {"claude-sonnet-4-5[1m]", 1, 10_000},
		{"claude-opus-5", 3, 30_000}, {"claude-2-0", 99, 99_000}, {"us.anthropic.claude-opus-4-5-20251101-v1:0", 7, 14_000}, {"unheard-of", 1, 2_000},
	} {
		for extra, triggers := range map[int]bool{0: false, 3: false, 4: true} {
			counters := []string{"bytes4"}
			if c.threshold <= 2_000 { // a vocabulary takes its time
				counters = append(counters, "o200k")
			}
			for _, counter := range counters {
				use, err := economics.NewCounter(counter)
				require.NoError(t, err)
				r := economics.CountTools(weighing(t, 4*c.threshold+extra), economics.CountOptions{Counter: use, Model: c.model, Percent: c.percent})
				assert.Equal(t, c.threshold, r.Automatic.Threshold, c.model)
				assert.Equal(t, triggers, r.Automatic.Triggers, "%s %+d bytes: %s", c.model, extra, r.Automatic.Reason)
			}
		}
	}
	assert.False(t, count(t, weighing(t, 400_000), economics.CountOptions{Model: "claude-haiku-4-5", Percent: 1}).Automatic.Triggers, "it takes no references")
	assert.False(t, count(t, weighing(t, 400), economics.CountOptions{Model: "unheard-of"}).Automatic.Known)
}

// The built-in tools weigh here what they weigh in a session's own decision.
func TestASessionsOwnFigureIsTheOneThatIsReported(t *testing.T) {
	tools, _ := economics.Builtins(settings.Settings{})
	system, err := toolsys.New(toolsys.Config{Builtins: builtin.All(builtin.Deps{})})
	require.NoError(t, err)
	p := system.Catalogue.Assemble(pool.Inputs{Conditions: pool.Conditions{Search: true}})
	look := p.Look(pool.View{})
	bytes := 0
	for i, raw := range look.Definitions(pool.NewDefinitions()) {
		if pool.Deferred(look.Loaded()[i], settings.Settings{}) {
			bytes += len(raw)
		}
	}
	assert.Equal(t, bytes/4, count(t, tools, economics.CountOptions{}).Automatic.Session)
}

func TestAdviceNamesTheDearestParameter(t *testing.T) {
	r := count(t, served(t, fmt.Sprintf(`{"name":"a","inputSchema":{"properties":{"small":{},"large":{"description":%q}}}}`, strings.Repeat("word ", 200))), economics.CountOptions{})
	assert.Contains(t, r.Worst[0].Advice, `for parameter "large"`)
}

// A part of a definition is worth a word from 150 tokens on, and of parameters that cost the
// same the first by name is named.
func TestAdviceBeginsWhereAPartIsDear(t *testing.T) {
	bytes, err := economics.NewCounter("bytes4")
	require.NoError(t, err)
	worded := func(n int) string {
		tools := served(t, fmt.Sprintf(`{"name":"a","description":%q,"inputSchema":{"type":"object"}}`, strings.Repeat("x", n)))
		r := count(t, tools, economics.CountOptions{Counter: bytes})
		return fmt.Sprint(r.Worst[0].Description) + ": " + r.Worst[0].Advice
	}
	assert.Equal(t, "149: ", worded(596))
	assert.Equal(t, "150: its description is 150 tokens: say first what it is for, and move the rest out", worded(600))

	schema := func(n int) (int, string) {
		tools := served(t, fmt.Sprintf(`{"name":"a","inputSchema":{"properties":{"b":{"title":%[1]q},"a":{"title":%[1]q},"c":{"title":%[1]q}}}}`, strings.Repeat("x", n)))
		r := count(t, tools, economics.CountOptions{Counter: bytes})
		return r.Worst[0].Schema, r.Worst[0].Advice
	}
	for n := range 400 {
		tokens, advice := schema(n)
		assert.Equal(t, tokens >= 150, advice != "", "%d tokens: %s", tokens, advice)
		if advice != "" {
			assert.Contains(t, advice, `for parameter "a"`)
		}
	}
}

func TestBuiltinsAreCountedWithoutToolSearch(t *testing.T) {
	tools, searcher := economics.Builtins(settings.Settings{})
	assert.Equal(t, "ToolSearch", searcher.Name)
	r := count(t, tools, economics.CountOptions{})
	assert.Greater(t, r.Total.Full, r.Total.Modes.Names.Tokens, "some built-ins are deferrable")
	for _, row := range r.Worst {
		assert.NotEqual(t, "ToolSearch", row.Name)
		if row.Name == "Bash" {
			assert.True(t, row.Whole)
		}
	}
}

func TestTotalsAreTheSumOfServersAndTools(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var tools []economics.Tool
		for i := range rapid.IntRange(1, 20).Draw(t, "n") {
			tools = append(tools, economics.Tool{
				Name: fmt.Sprint("t", i), Server: rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, "server"),
				Description: rapid.String().Draw(t, "description"), Schema: "{}", Whole: rapid.Bool().Draw(t, "whole"),
			})
		}
		c, err := economics.NewCounter("bytes4")
		require.NoError(t, err)
		r := economics.CountTools(tools, economics.CountOptions{Counter: c})
		servers, all := 0, 0
		for _, s := range r.Servers {
			servers += s.Full
		}
		for i, row := range r.Worst {
			all += row.Full
			assert.True(t, i == 0 || row.Full <= r.Worst[i-1].Full, "the dearest first")
		}
		assert.InDelta(t, r.Total.Full, servers, float64(len(r.Servers)), "but for rounding")
		assert.InDelta(t, r.Total.Full, all, float64(len(tools)), "but for rounding")
	})
}

func TestAnUnknownCounterNamesThoseThereAre(t *testing.T) {
	_, err := economics.NewCounter("abacus")
	assert.ErrorContains(t, err, "bytes4, o200k, cl100k")
}

func TestVocabulariesCountAsPublished(t *testing.T) {
	for name, want := range map[string]int{"o200k": 4, "cl100k": 4, "bytes4": 4} {
		n := counter(t, name).Count("hello world, hi")
		assert.InDelta(t, want, n, 1, name)
	}
}

// A model that was tuned reads as its base does, and one company has no dot in a name.
func TestAModelsVocabularyIsThatOfItsFamily(t *testing.T) {
	for model, want := range map[string]string{
		"gpt-4o-mini-2024-07-18": "o200k", "openai/gpt-4.1": "o200k", "ft:gpt-4o-2024-08-06:shop::9x": "o200k", "gpt-5-mini": "o200k",
		"gpt-4-turbo": "cl100k", "gpt-35-turbo-16k": "cl100k", "ft:gpt-3.5-turbo-0125:shop::9x": "cl100k", "claude-sonnet-4-5": "", "ft:davinci-002": "",
	} {
		assert.Equal(t, want, economics.Vocabulary(model), model)
	}
}
