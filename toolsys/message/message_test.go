package message_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"toolbench/toolsys/message"
)

func TestShapesOfTheAPIComeBackAsTheyCame(t *testing.T) {
	for name, raw := range map[string]string{
		"call":                 `{"role":"assistant","content":[{"type":"text","text":"I look."},{"type":"tool_use","id":"toolu_1","name":"Read","input":{"path":"a<b>.go"}}]}`,
		"results":              `{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":[{"type":"text","text":"1\tx"}]},{"type":"tool_result","tool_use_id":"toolu_2","content":[{"type":"text","text":"no"}],"is_error":true}]}`,
		"image in a result":    `{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBO"}}]}]}`,
		"image by address":     `{"role":"user","content":[{"type":"image","source":{"type":"url","url":"https://example.com/a.png"}}]}`,
		"named document":       `{"role":"user","content":[{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"JVBE"},"title":"Terms"}]}`,
		"references":           `{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":[{"type":"tool_reference","tool_name":"mcp__a__b"}]}]}`,
		"thinking":             `{"role":"assistant","content":[{"type":"thinking","thinking":"so","signature":"Eq=="},{"type":"redacted_thinking","data":"Zm9v"}]}`,
		"breakpoint":           `{"role":"user","content":[{"type":"text","text":"x","cache_control":{"type":"ephemeral"}}]}`,
		"programmatic caller":  `{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"X","input":{},"caller":{"tool_id":"s","type":"code_execution_20250825"}}]}`,
		"server's own results": `{"role":"assistant","content":[{"type":"web_search_tool_result","tool_use_id":"s","content":[{"url":"u"}]}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			var m message.Message
			require.NoError(t, json.Unmarshal([]byte(raw), &m))
			again, err := m.MarshalJSON()
			require.NoError(t, err)
			assert.Equal(t, raw, string(again))
		})
	}
}

func TestContentMayBeAText(t *testing.T) {
	var m message.Message
	require.NoError(t, json.Unmarshal([]byte(`{"role":"user","content":"hello"}`), &m))
	assert.Equal(t, message.UserText("hello"), m)

	require.NoError(t, json.Unmarshal([]byte(`{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"plain"},{"type":"tool_result","tool_use_id":"u"}]}`), &m))
	require.Len(t, m.Results(), 2)
	assert.Equal(t, "plain", message.PlainText(m.Results()[0].Content))
	assert.Empty(t, m.Results()[1].Content)
}

func TestABlockNobodyKnowsCannotBeMadeUp(t *testing.T) {
	_, err := message.Block{Type: "hologram"}.MarshalJSON()
	assert.ErrorContains(t, err, "hologram")
}

func TestRequestBodyHasOneOrder(t *testing.T) {
	req := message.Request{
		Model: "m", MaxTokens: 5, System: []message.Block{message.Text("be kind")},
		Tools:    []json.RawMessage{json.RawMessage(`{"name":"A"}`), json.RawMessage(`{"name":"B"}`)},
		Messages: []message.Message{message.UserText("a & b")},
		Betas:    []string{"goes in a header"},
	}
	raw, err := req.MarshalJSON()
	require.NoError(t, err)
	assert.Equal(t, `{"model":"m","max_tokens":5,"system":[{"type":"text","text":"be kind"}],"tools":[{"name":"A"},{"name":"B"}],`+
		`"messages":[{"role":"user","content":[{"type":"text","text":"a & b"}]}],"stream":true}`, string(raw))
}

// Any text survives, whichever way it is written.
func TestPropertyTextSurvives(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "text")
		raw, err := message.Text(text).MarshalJSON()
		require.NoError(t, err)
		require.True(t, json.Valid(raw), "%s", raw)
		var b message.Block
		require.NoError(t, json.Unmarshal(raw, &b))
		assert.Equal(t, message.Text(text), b)
	})
}

// Recorded streams of others assemble without loss, and each block can be sent
// back: written, read and written again it is the same.
func TestRecordedStreamsAssemble(t *testing.T) {
	files, err := filepath.Glob("../../../shared/corpus/*/*.[st][sx][et]")
	require.NoError(t, err)
	if len(files) == 0 {
		t.Skip("the recordings are not here")
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			data, err := os.ReadFile(file)
			require.NoError(t, err)
			blocks := 0
			for _, events := range messagesOf(data) {
				blocks += assemble(t, events)
			}
			assert.NotZero(t, blocks)
		})
	}
}

// messagesOf splits a file with one JSON event a line, with or without `data:`,
// into its messages.
func messagesOf(file []byte) [][][]byte {
	var all [][][]byte
	lines := bufio.NewScanner(bytes.NewReader(file))
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		line := bytes.TrimSpace(bytes.TrimPrefix(lines.Bytes(), []byte("data:")))
		if len(line) == 0 || line[0] != '{' {
			continue
		}
		if bytes.Contains(line, []byte(`"message_start"`)) || len(all) == 0 {
			all = append(all, nil)
		}
		all[len(all)-1] = append(all[len(all)-1], bytes.Clone(line))
	}
	return all
}

func assemble(t *testing.T, events [][]byte) int {
	var a message.Assembler
	for _, e := range events {
		_, err := a.Add(e)
		require.NoError(t, err, "%s", e)
	}
	reply, err := a.End()
	require.NoError(t, err)
	for _, b := range reply.Message.Content {
		first, err := b.MarshalJSON()
		require.NoError(t, err)
		var again message.Block
		require.NoError(t, json.Unmarshal(first, &again))
		second, err := again.MarshalJSON()
		require.NoError(t, err)
		assert.Equal(t, string(first), string(second))
	}
	return len(reply.Message.Content)
}

// An answer that is cut may end behind a call of the API's own tools: the API makes its result, and takes
// no such call back without it, but for one whose code waits for the calls it made.
func TestOnlyFinishedCallsOfTheAPIsToolsAreKept(t *testing.T) {
	block := func(text string) (b message.Block) {
		require.NoError(t, json.Unmarshal([]byte(text), &b))
		return b
	}
	searched := block(`{"type":"server_tool_use","id":"a","name":"web_search","input":{}}`)
	found := block(`{"type":"web_search_tool_result","tool_use_id":"a","content":[]}`)
	coded := block(`{"type":"server_tool_use","id":"b","name":"code_execution","input":{}}`)
	called := block(`{"type":"tool_use","id":"c","name":"Look","input":{},"caller":{"type":"code_execution_20250825","tool_id":"b"}}`)
	remote := block(`{"type":"mcp_tool_use","id":"d","name":"ask","server_name":"s","input":{}}`)
	own := block(`{"type":"tool_use","id":"e","name":"Look","input":{}}`)
	all := []message.Block{searched, found, coded, called, remote, own}
	assert.Equal(t, []message.Block{searched, found, coded, called, own}, message.Finished(all))
	assert.Equal(t, []message.Block{found, own}, message.Finished([]message.Block{found, coded, own}))
	assert.Equal(t, "code_execution_20250825", called.Caller())
	assert.Equal(t, message.Direct, own.Caller())
}
