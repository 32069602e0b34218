package message_test

import (
	"encoding/json"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/toolsys/message"
)

// The plain text of several blocks is all of it, and of none nothing.
func TestPlainTextIsOfAllBlocks(t *testing.T) {
	assert.Equal(t, "a\nb", message.PlainText([]message.Block{message.Text("a"), message.Text("b")}))
	assert.Empty(t, message.PlainText(nil))
	assert.Empty(t, message.PlainText([]message.Block{message.Image("image/png", "AAAA")}))
}

// Members that nobody here reads stay with their block, and a source that is no base64 stays
// as it came.
func TestABlockKeepsWhatIsNotRead(t *testing.T) {
	for _, raw := range []string{
		`{"type":"text","text":"a","later":{"type":"x"}}`,
		`{"type":"image","source":{"type":"url","url":"https://example.com/a.png"}}`,
		`{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"AAAA"}}`,
		`{"type":"image","later":true}`,
	} {
		var b message.Block
		require.NoError(t, json.Unmarshal([]byte(raw), &b))
		again, err := json.Marshal(message.Message{Role: message.User, Content: []message.Block{b}})
		require.NoError(t, err)
		assert.Contains(t, string(again), raw)
	}
}

// Old results are cleared with and without tools that are left out of it.
func TestEditingIsJSONWithAndWithoutExceptions(t *testing.T) {
	for _, exclude := range [][]string{nil, {"Read"}, {"Read", "Grep"}} {
		raw, err := json.Marshal(message.Request{Editing: message.Editing{Trigger: 1000, Exclude: exclude}})
		require.NoError(t, err)
		assert.True(t, json.Valid(raw), string(raw))
	}
}

// What is being worked on stays, even where it is named, and so does a message of which
// nothing is cut, whatever it holds.
func TestACutLeavesTheRestAlone(t *testing.T) {
	call := func(id string) message.Message {
		return message.Message{Role: message.Assistant, Content: []message.Block{{Type: message.TypeToolUse, ID: id, Name: "Read", Input: json.RawMessage("{}")}}}
	}
	result := func(id string) message.Message {
		return message.Message{Role: message.User, Content: []message.Block{message.ToolResult(id, false, message.Text("x"))}}
	}
	user := message.Message{Role: message.User, Content: []message.Block{message.Text("go")}}
	last := []message.Message{user, call("a"), result("a")}
	for _, named := range []int{-1, 1, 2, 3} {
		assert.Equal(t, last, message.Cut{Messages: []int{named}}.Of(last), "message %d", named)
	}
	var thought message.Block
	require.NoError(t, json.Unmarshal([]byte(`{"type":"thinking","thinking":"hm","signature":"s"}`), &thought))
	quiet := message.Message{Role: message.Assistant, Content: []message.Block{thought}}
	history := []message.Message{user, call("a"), result("a"), quiet, user, call("b"), result("b")}
	assert.Contains(t, message.Cut{Calls: []message.CallAt{{Message: 1, ID: "a"}}}.Of(history), quiet)
}

// What is written of a text is read as that text, of whichever signs it is.
func TestATextOfAnySignsIsJSON(t *testing.T) {
	signs := []string{"\u2028", "é", "\u007f", "", "a b"}
	for c := range 0x80 {
		signs = append(signs, string(rune(c)))
	}
	for _, text := range signs {
		raw, err := message.Text(text).MarshalJSON()
		require.NoError(t, err)
		var read struct{ Text string }
		require.NoError(t, json.Unmarshal(raw, &read), "%q: %s", text, raw)
		assert.Equal(t, text, read.Text)
	}
	raw, err := message.Text("\xff").MarshalJSON()
	require.NoError(t, err)
	assert.True(t, utf8.Valid(raw), "what is sent is UTF-8")
}

// An image is read into its type and data, wherever it stands.
func TestAnImageIsRead(t *testing.T) {
	raw := `{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBO"}}`
	var b message.Block
	require.NoError(t, json.Unmarshal([]byte(raw), &b))
	assert.Equal(t, message.Image("image/png", "iVBO"), b)

	var a message.Assembler
	done, err := feed(&a, begin, `{"type":"content_block_start","index":0,"content_block":`+raw+`}`, stop(0))
	require.NoError(t, err)
	assert.Equal(t, []message.Block{b}, done)
}

// Citations that are streamed join what the block began with, if it began with anything.
func TestCitationsJoinTheirText(t *testing.T) {
	for start, want := range map[string]string{
		`{"type":"text","text":""}`:                                `{"type":"text","text":"so","citations":[{"cited_text":"a"},{"cited_text":"b"}]}`,
		`{"type":"text","text":"","citations":[],"later":{"x":1}}`: `{"type":"text","text":"so","citations":[{"cited_text":"a"},{"cited_text":"b"}],"later":{"x":1}}`,
	} {
		cited := func(text string) string {
			return `{"type":"content_block_delta","index":0,"delta":{"type":"citations_delta","citation":{"cited_text":"` + text + `"}}}`
		}
		var a message.Assembler
		done, err := feed(&a, begin, `{"type":"content_block_start","index":0,"content_block":`+start+`}`, cited("a"),
			`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"so"}}`, cited("b"), stop(0))
		require.NoError(t, err)
		require.Len(t, done, 1)
		raw, err := done[0].MarshalJSON()
		require.NoError(t, err)
		assert.Equal(t, want, string(raw))
	}
}

// A member of another type of block stays with its block, from a stream as well.
func TestAForeignMemberStaysWithItsBlock(t *testing.T) {
	for _, raw := range []string{
		`{"type":"text","text":"a","id":"x","name":"y"}`,
		`{"type":"tool_use","id":"c","name":"Read","input":{"a":1},"text":"why"}`,
	} {
		var a message.Assembler
		done, err := feed(&a, begin, `{"type":"content_block_start","index":0,"content_block":`+raw+`}`, stop(0))
		require.NoError(t, err)
		require.Len(t, done, 1)
		again, err := done[0].MarshalJSON()
		require.NoError(t, err)
		assert.Equal(t, raw, string(again))
	}
}

// Messages that two bodies begin with alike are counted, whether they are the same list or not.
func TestWhatBodiesBeginWithAlike(t *testing.T) {
	body := func(by *message.Renderer, texts ...string) message.Body {
		r := message.Request{Model: "m", Renderer: by}
		for i, text := range texts {
			m := message.UserText(text)
			if i%2 == 1 {
				m.Role = message.Assistant
			}
			r.Messages = append(r.Messages, m)
		}
		b, err := r.Body()
		require.NoError(t, err)
		return b
	}
	own := func(texts ...string) message.Body { return body(&message.Renderer{}, texts...) }
	assert.Equal(t, 1, own("a", "b", "c").Shared(own("a", "x", "c")))
	assert.Equal(t, 2, own("a", "b").Shared(own("a", "b", "c")))
	assert.Equal(t, 0, own("a").Shared(own("b")))
	assert.Equal(t, 0, own().Shared(own("b")))
	by := &message.Renderer{}
	assert.Equal(t, 2, body(by, "a", "b").Shared(body(by, "a", "b", "c")))
}

// A history that became shorter is looked at anew.
func TestReferencesOfAHistoryThatBecameShorter(t *testing.T) {
	history := []message.Message{message.UserText("a"), user(message.ToolResult("t", false, message.ToolReference("mcp__a__b"))), message.UserText("b")}
	r := message.Places{Of: message.Refers}
	assert.Equal(t, []int{1}, r.In(history))
	assert.Equal(t, []int{1}, r.In(history[:2]))
	assert.Empty(t, r.In(history[:1]))
	assert.Equal(t, []int{1}, r.In(history))
}
