package message_test

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"toolbench/toolsys/message"
)

// However a conversation grows, is cut and changes, a request rendered with what those
// before it had in common has the bytes of one that is rendered by itself, and no request
// that was sent before changes.
func TestARendererChangesNoRequest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var by message.Renderer
		var history []message.Message
		var sent []message.Body
		var want [][]byte
		for range rapid.IntRange(1, 12).Draw(t, "requests") {
			history = nextHistory(t, history)
			req := message.Request{Model: rapid.SampledFrom([]string{"m", "n"}).Draw(t, "model"), Messages: history}
			alone, err := json.Marshal(req)
			require.NoError(t, err)
			req.Renderer = &by
			b, err := req.Body()
			require.NoError(t, err)
			sent, want = append(sent, b), append(want, alone)
		}
		for i, b := range sent {
			require.Equal(t, string(want[i]), string(b.Bytes()))
			require.Equal(t, len(want[i]), b.Len())
			require.NoError(t, iotest.TestReader(b.Reader(), want[i]))
			apart, err := message.ReadBody(want[i])
			require.NoError(t, err)
			require.Equal(t, b.Messages(), apart.Shared(b))
			require.True(t, apart.SameFrame(b))
			if i > 0 {
				first, err := message.ReadBody(want[i-1])
				require.NoError(t, err)
				require.Equal(t, apart.Shared(first), b.Shared(sent[i-1]))
			}
		}
	})
}

// A text in front of a history, however that grows, is cut and changes, is what putting it
// there by hand gives, and what was given before stays.
func TestALeadChangesNoHistory(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var lead message.Preface
		var history []message.Message
		var given, want [][]message.Message
		for range rapid.IntRange(1, 12).Draw(t, "requests") {
			history = nextHistory(t, history)
			before := fmt.Sprint(history)
			text := rapid.SampledFrom([]string{"", "x", "y"}).Draw(t, "lead")
			by := slices.Clone(history)
			if text != "" && len(by) > 0 {
				by[0].Content = append([]message.Block{message.Text(text)}, by[0].Content...)
			}
			given, want = append(given, lead.Of(history, text)), append(want, by)
			require.Equal(t, before, fmt.Sprint(history))
		}
		for i := range want {
			require.Equal(t, fmt.Sprint(want[i]), fmt.Sprint(given[i]))
		}
	})
}

// nextHistory is the history of the next request: longer in its place, shorter, or with another message.
func nextHistory(t *rapid.T, history []message.Message) []message.Message {
	switch rapid.IntRange(0, 5).Draw(t, "what") {
	case 0:
		history = slices.Clone(history[:rapid.IntRange(0, len(history)).Draw(t, "keep")])
	case 1:
		history = slices.Clone(history)
		if len(history) > 0 {
			history[rapid.IntRange(0, len(history)-1).Draw(t, "at")] = message.UserText(rapid.SampledFrom([]string{"a", "b", `"`}).Draw(t, "text"))
		}
	default:
		for range rapid.IntRange(1, 3).Draw(t, "more") {
			history = append(history, message.UserText(rapid.SampledFrom([]string{"a", "b", `"`}).Draw(t, "text")))
		}
	}
	return history
}

func TestABodyIsReadFromItsBytes(t *testing.T) {
	for text, want := range map[string][]string{
		`{"messages":[]}`: nil,
		` { "a" : {"messages":[1]}, "messages" : [ {"b":[1, 2]} , "x" ] , "stream" : true } `: {`{"b":[1, 2]}`, `"x"`},
	} {
		b, err := message.ReadBody([]byte(text))
		require.NoError(t, err, text)
		assert.True(t, b.Whole())
		assert.Equal(t, text, string(b.Bytes()))
		var found []string
		for i := range b.Messages() {
			found = append(found, string(b.Message(i)))
		}
		assert.Equal(t, want, found)
		assert.True(t, json.Valid(b.Frame()), "without its messages: %s", b.Frame())
	}
	for text, want := range map[string]string{
		`{`: "no JSON", `[]`: "no object", `{"a":1}`: "no messages", `{"messages":{}}`: "no list", ``: "no JSON", `{"messages":[]}x`: "no JSON",
	} {
		b, err := message.ReadBody([]byte(text))
		assert.ErrorContains(t, err, want, text)
		assert.False(t, b.Whole())
		all, err := io.ReadAll(b.Reader())
		assert.NoError(t, err)
		assert.Equal(t, text, string(all), "it stays as it is")
	}
}

// A conversation is stuck for ever once a request has what an API refuses, though a model said it.
func TestRequestsHaveWhatAnAPITakesBack(t *testing.T) {
	thought := func(n string) message.Block {
		return message.Block{Type: "thinking", Raw: []byte(`{"type":"thinking","thinking":"` + n + `"}`)}
	}
	call := message.Block{Type: message.TypeToolUse, ID: "a", Name: "Look", Input: []byte(`{}`)}
	blank, said := message.Text(" \n"), message.Text("Yes.")
	result := func(content ...message.Block) message.Block { return message.ToolResult("a", false, content...) }
	const nothing, yes, one, two = `{"type":"text","text":"(no content)"}`, `{"type":"text","text":"Yes."}`, `{"type":"thinking","thinking":"1"}`, `{"type":"thinking","thinking":"2"}`
	const looks = `{"type":"tool_use","id":"a","name":"Look","input":{}}`
	for want, blocks := range map[string][]message.Block{
		yes:                               {said},
		looks:                             {message.Text(""), call},
		nothing:                           {blank, message.Text("")},
		one + "," + nothing:               {thought("1")},
		one + "," + nothing + "," + looks: {thought("1"), blank, call},
		one + "," + nothing + "," + two + "," + yes:                                                                         {thought("1"), blank, thought("2"), said},
		`{"type":"tool_result","tool_use_id":"a","content":[]}`:                                                             {result()},
		`{"type":"tool_result","tool_use_id":"a","content":[` + yes + `]}`:                                                  {result(blank, said)},
		`{"type":"tool_result","tool_use_id":"a","content":[` + nothing + `]}`:                                              {result(blank)},
		`{"type":"tool_use","id":"a","name":"` + strings.Repeat("n", 200) + `","input":{}}`:                                 {{Type: message.TypeToolUse, ID: "a", Name: strings.Repeat("n", 201), Input: []byte(`{}`)}},
		`{"type":"tool_use","id":"a","name":"Look","input":{"a\ufffd":"\ufffd \ud83d\ude00 \\ud83d \\\ufffd\ufffd\u0041"}}`: {{Type: message.TypeToolUse, ID: "a", Name: "Look", Input: []byte(`{"a\uDE00":"\ud83d \ud83d\ude00 \\ud83d \\\uDBFF\ud83D\u0041"}`)}},
	} {
		before := slices.Clone(blocks)
		body, err := message.Request{Messages: []message.Message{{Role: message.Assistant, Content: blocks}}}.Body()
		require.NoError(t, err, want)
		assert.Equal(t, `{"role":"assistant","content":[`+want+`]}`, string(body.Message(0)))
		assert.Equal(t, before, blocks, "what was said stays as it was")
	}
}

// What one model thought is signed for it, and no other takes it back, nor an id of other characters.
func TestAnotherModelReadsNoThoughtsAndPlainIds(t *testing.T) {
	thought, said := message.Block{Type: "redacted_thinking", Raw: []byte(`{"type":"redacted_thinking","data":"x"}`)}, message.Text("Yes.")
	history := []message.Message{
		message.UserText("go"), {Role: message.Assistant, Content: []message.Block{thought, said}},
		message.UserText("on"), {Role: message.Assistant, Content: []message.Block{thought}},
		message.UserText("on"), by(message.Assistant, use("functions.Look:0"), use("functions_Look_0")), by(message.User, answer("functions_Look_0"), answer("functions.Look:0")),
	}
	assert.Equal(t, []message.Message{
		message.UserText("go"), {Role: message.Assistant, Content: []message.Block{said}},
		message.UserText("on"), {Role: message.Assistant, Content: []message.Block{message.Text("(no content)")}},
		message.UserText("on"), by(message.Assistant, use("functions_Look_0"), use("functions_Look_0-2")), by(message.User, answer("functions_Look_0-2"), answer("functions_Look_0")),
	}, message.ForAnother(history))
	assert.Equal(t, []message.Block{thought, said}, history[1].Content, "what was said stays as it was")
}
