package tokens_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"toolbench/sim/tokens"
	"toolbench/sim/world/mcpserve"
	"toolbench/toolsys/settings"
)

func served(t testing.TB, text string) []tokens.Tool {
	t.Helper()
	c, err := mcpserve.Parse("pets.json", []byte(text))
	require.NoError(t, err)
	return tokens.Served(c)
}

func count(t testing.TB, tools []tokens.Tool, o tokens.Options) tokens.Report {
	t.Helper()
	if o.Counter.Name == "" {
		o.Counter = counter(t, "bytes4")
	}
	r, err := tokens.Count(tools, o)
	require.NoError(t, err)
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
}

func TestAToolThatIsAlwaysLoadedSavesNothing(t *testing.T) {
	r := count(t, served(t, `{"name":"a","description":"It is long enough to save.","_meta":{"anthropic/alwaysLoad":true}}`), tokens.Options{})
	assert.Zero(t, r.Total.Modes.Names.Saved)
	assert.Equal(t, r.Total.Full, r.Total.Modes.API.Tokens)
	assert.Zero(t, r.Automatic.Deferred)
}

func TestToolsWithoutASchemaAreNamed(t *testing.T) {
	r := count(t, served(t, `{"name":"a"} {"name":"b","inputSchema":null} {"name":"c","inputSchema":{"type":"object","properties":{}}} {"name":"d","inputSchema":{"$ref":"#/x"}}`), tokens.Options{})
	assert.Equal(t, []string{"mcp__pets__a", "mcp__pets__b"}, r.NoSchema)
	assert.Equal(t, []string{"mcp__pets__c"}, r.Empty)
	assert.Contains(t, r.Worst[3].Advice+r.Worst[2].Advice, "no schema")
}

func TestTheAutomaticThresholdIsStrict(t *testing.T) {
	tools := served(t, fmt.Sprintf(`{"name":"a","description":%q}`, strings.Repeat("x", 80_000-len("<function>{\"description\":\"\",\"name\":\"mcp__pets__a\",\"parameters\":{}}</function>\n"))))
	at := count(t, tools, tokens.Options{Model: "claude-sonnet-4-5"})
	assert.Equal(t, 20_000, at.Automatic.Deferred)
	assert.False(t, at.Automatic.Triggers, at.Automatic.Reason)
	below := count(t, tools, tokens.Options{Model: "claude-sonnet-4-5", Percent: 9})
	assert.True(t, below.Automatic.Triggers, below.Automatic.Reason)
	assert.False(t, count(t, tools, tokens.Options{Model: "claude-haiku-4-5", Percent: 1}).Automatic.Triggers)
	assert.False(t, count(t, tools, tokens.Options{Model: "unheard-of"}).Automatic.Known)
}

func TestAdviceNamesTheDearestParameter(t *testing.T) {
	r := count(t, served(t, fmt.Sprintf(`{"name":"a","inputSchema":{"properties":{"small":{},"large":{"description":%q}}}}`, strings.Repeat("word ", 200))), tokens.Options{})
	assert.Contains(t, r.Worst[0].Advice, `for parameter "large"`)
}

func TestBuiltinsAreCountedWithoutToolSearch(t *testing.T) {
	tools, searcher, err := tokens.Builtins(settings.Settings{})
	require.NoError(t, err)
	assert.Equal(t, "ToolSearch", searcher.Name)
	r := count(t, tools, tokens.Options{})
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
		var tools []tokens.Tool
		for i := range rapid.IntRange(1, 20).Draw(t, "n") {
			tools = append(tools, tokens.Tool{
				Name: fmt.Sprint("t", i), Server: rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, "server"),
				Description: rapid.String().Draw(t, "description"), Schema: "{}", Whole: rapid.Bool().Draw(t, "whole"),
			})
		}
		c, err := tokens.NewCounter("bytes4")
		require.NoError(t, err)
		r, err := tokens.Count(tools, tokens.Options{Counter: c})
		require.NoError(t, err)
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
	_, err := tokens.NewCounter("abacus")
	assert.ErrorContains(t, err, "bytes4, o200k, cl100k")
}

func TestVocabulariesCountAsPublished(t *testing.T) {
	for name, want := range map[string]int{"o200k": 4, "cl100k": 4, "bytes4": 4} {
		n, err := counter(t, name).Count("hello world, hi")
		require.NoError(t, err)
		assert.InDelta(t, want, n, 1, name)
	}
}
