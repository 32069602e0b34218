package work_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/toolsys/builtin/work"
	"toolbench/toolsys/message"
	"toolbench/toolsys/tool"
)

// searching gives a context whose search answers with found and notes the query.
func searching(found tool.Found, err error, asked *[]any) *tool.Context {
	c := &tool.Context{}
	c.Search = func(_ context.Context, query string, limit int) (tool.Found, error) {
		*asked = []any{query, limit}
		return found, err
	}
	return c
}

var twoTools = tool.Found{
	Names: []string{"WebFetch", "mcp__x__y"},
	Definitions: []tool.Definition{
		{Description: "Fetches.", Name: "WebFetch", Parameters: json.RawMessage(`{"type":"object","properties":{"url":{"type":"string"}}}`)},
		{Description: "A < b </function> & \"more\"", Name: "mcp__x__y"},
	},
	Deferred: 7,
}

func TestToolSearchGivesDefinitionsAsALineEach(t *testing.T) {
	var asked []any
	s := work.ToolSearch()
	out, err := s.Call(t.Context(), parse(t, s, `{"query":"web"}`), searching(twoTools, nil, &asked))
	require.NoError(t, err)
	assert.Equal(t, []any{"web", 5}, asked, "five by default")
	assert.Equal(t, `<functions>
<function>{"description":"Fetches.","name":"WebFetch","parameters":{"type":"object","properties":{"url":{"type":"string"}}}}</function>
<function>{"description":"A < b <\/function> & \"more\"","name":"mcp__x__y","parameters":{"type":"object"}}</function>
</functions>`, message.PlainText(out.Blocks))
	assert.Equal(t, []tool.Observation{{Discovered: []string{"WebFetch", "mcp__x__y"}}}, out.Observed)
	assert.Nil(t, out.Modify, "it runs beside others, so it may only observe")
}

func TestADescriptionCannotCloseTheBlockAndStillReadsTheSame(t *testing.T) {
	var asked []any
	s := work.ToolSearch()
	out, err := s.Call(t.Context(), parse(t, s, `{"query":"web"}`), searching(tool.Found{
		Names: twoTools.Names[1:], Definitions: twoTools.Definitions[1:],
	}, nil, &asked))
	require.NoError(t, err)
	var line string
	text := message.PlainText(out.Blocks)
	line = text[len("<functions>\n<function>") : len(text)-len("</function>\n</functions>")]
	var got tool.Definition
	require.NoError(t, json.Unmarshal([]byte(line), &got))
	assert.Equal(t, twoTools.Definitions[1].Description, got.Description)
}

func TestToolSearchAnswersWithReferencesWhereTheModelTakesThem(t *testing.T) {
	var asked []any
	found := twoTools
	found.References, found.Missing = true, []string{"Nope"}
	s := work.ToolSearch()
	out, err := s.Call(t.Context(), parse(t, s, `{"query":"select:WebFetch,mcp__x__y,Nope","max_results":2}`), searching(found, nil, &asked))
	require.NoError(t, err)
	assert.Equal(t, 2, asked[1])
	assert.Equal(t, []message.Block{
		message.ToolReference("WebFetch"), message.ToolReference("mcp__x__y"), message.Text("There is no tool named Nope."),
	}, out.Blocks)
}

func TestNoHitSaysWhatThereIsToFind(t *testing.T) {
	var asked []any
	s := work.ToolSearch()
	out, err := s.Call(t.Context(), parse(t, s, `{"query":"select:Nope"}`), searching(tool.Found{
		Deferred: 31, Missing: []string{"Nope"}, Pending: []string{"github", "slack"},
	}, nil, &asked))
	require.NoError(t, err)
	assert.Equal(t, `No tool matches "select:Nope"; 31 deferred tools were searched.
There is no tool named Nope.
Still connecting, so that their tools are not known yet: github, slack. Search again in a moment.`, message.PlainText(out.Blocks))
	assert.Empty(t, out.Observed)
	assert.False(t, out.Failed)
}

func TestASearchThatFailsIsAnError(t *testing.T) {
	var asked []any
	bad := errors.New("empty query")
	s := work.ToolSearch()
	_, err := s.Call(t.Context(), parse(t, s, `{"query":" "}`), searching(tool.Found{}, bad, &asked))
	assert.ErrorIs(t, err, bad)
	_, err = s.Call(t.Context(), parse(t, s, `{"query":"x"}`), &tool.Context{})
	assert.ErrorContains(t, err, "no tools are deferred")
}

func TestToolSearchIsAlwaysThereAndHarmless(t *testing.T) {
	s := work.ToolSearch()
	in := parse(t, s, `{"query":"x"}`)
	safe := s.Behaviour.Safe(in)
	readOnly := s.Behaviour.ReadOnly(in)
	assert.True(t, safe && readOnly && s.Loading.Always)
	assert.NotEmpty(t, s.Prompt(tool.PromptOptions{}))
	_, problems := s.Parse(json.RawMessage(`{"query":"x","max_results":0}`))
	assert.NotEmpty(t, problems)
}
