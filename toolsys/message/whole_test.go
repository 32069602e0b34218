package message_test

import (
	"encoding/json"
	"testing"

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
	assert.Contains(t, message.Cut{Calls: []string{"a"}}.Of(history), quiet)
}
