package recording_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"

	"toolbench/sim/recording"
)

const promptCassette = `version: 1

interactions:
- request:
    method: POST
    url: https://api.example/v1/messages
    body: '{"model":"m","tools":[{"name":"a","description":"One.","input_schema": {"type":"object"},"cache_control":{"type":"ephemeral"}},
      {"type":"web_search_20250305","name":"web_search"},{"name":"late","defer_loading":true,"input_schema":{"type":"object"}}],
      "system":[{"type":"text","text":"Be brief."}],"messages":[{"role":"user","content":"Go."}]}'
  response:
    code: 200
    status: 200 OK
    headers: {Content-Type: [application/json]}
    body: '{"type":"message","id":"m1","content":[{"type":"tool_use","id":"s1","name":"find","input":{}}],"usage":{"input_tokens":7,"output_tokens":2}}'
- request:
    method: POST
    url: https://api.example/v1/messages
    body: '{"model":"m","tools":[{"name":"a","description":"One.","input_schema":{"type":"object"}},
      {"type":"web_search_20250305","name":"web_search"},{"name":"late","defer_loading":true,"input_schema":{"type":"object"}}],
      "messages":[{"role":"user","content":"Go."},{"role":"assistant","content":[{"type":"tool_use","id":"s1","name":"find","input":{}}]},
      {"role":"user","content":[{"type":"tool_result","tool_use_id":"s1","content":[{"type":"tool_reference","tool_name":"late"}]}]}],"cache_control":{"type":"ephemeral"}}'
  response:
    code: 200
    status: 200 OK
    headers: {Content-Type: [application/json]}
    body: '{"type":"message","id":"m2","content":[{"type":"text","text":"Well."}],"usage":{"input_tokens":1,"cache_read_input_tokens":5}}'
`

func read(t *testing.T, text string) *recording.PromptSession {
	t.Helper()
	file, err := recording.ReadPrompts("c.yaml", strings.NewReader(text), recording.Limits{})
	require.NoError(t, err)
	require.Len(t, file.Sessions, 1)
	return file.Sessions[0]
}

func TestARequestIsReadAsThePromptItBecomes(t *testing.T) {
	s := read(t, promptCassette)
	require.Len(t, s.Sent(), 2)
	first, second := s.Turns[0].Prompt, s.Turns[1].Prompt
	assert.Equal(t, recording.PromptTool{Name: "a", Description: "One.", Schema: `{"type":"object"}`, Breakpoint: true,
		Text: `{"name":"a","description":"One.","input_schema":{"type":"object"}}`}, first.Tools[0])
	assert.Equal(t, first.Tools[0].Text, second.Tools[0].Text, "a breakpoint is no part of the text")
	assert.Equal(t, "web_search_20250305", first.Tools[1].Kind)
	assert.True(t, first.Tools[2].Deferred)
	assert.NotContains(t, first.Tools[2].Text, "defer_loading")
	assert.Equal(t, `{"type":"text","text":"Go."}`, first.Messages[0].Text)
	last := second.Messages[len(second.Messages)-1]
	assert.Contains(t, last.Text, second.Tools[2].Text, "a reference becomes its definition")
	assert.True(t, last.Breakpoint, "the request leaves the place to the API")
	assert.Equal(t, []string{"find"}, s.Turns[0].Calls)
	assert.Equal(t, &recording.Usage{Input: 7, Output: 2}, s.Turns[0].Usage)
	assert.Equal(t, 5, s.Turns[1].Usage.Read)
}

func TestATranscriptHasUsageAndNoRequests(t *testing.T) {
	s := read(t, `{"type":"user","sessionId":"s","message":{"role":"user","content":"Go."}}
{"type":"assistant","sessionId":"s","message":{"id":"m1","role":"assistant","content":[{"type":"text","text":"Well."}],"usage":{"input_tokens":3,"cache_read_input_tokens":40,"output_tokens":1}}}
`)
	require.Len(t, s.Turns, 1)
	assert.Nil(t, s.Turns[0].Prompt)
	assert.Equal(t, &recording.Usage{Input: 3, Read: 40, Output: 1}, s.Turns[0].Usage)
}

func TestWhatIsNoRecordingIsSaidToBeNone(t *testing.T) {
	_, err := recording.ReadPrompts("x", strings.NewReader("hello"), recording.Limits{})
	assert.ErrorIs(t, err, recording.ErrNotRecording)
}

// Whatever is real can be read: each request has its messages, and its tools.
func TestEveryRecordingBesideTheProjectIsRead(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("..", "..", "..", "shared", "corpus", "*", "*"))
	require.NoError(t, err)
	if len(files) == 0 {
		t.Skip("no recordings beside the project")
	}
	sent := 0
	for _, path := range files {
		in, err := os.Open(path)
		require.NoError(t, err)
		file, err := recording.ReadPrompts(filepath.Base(path), in, recording.Limits{})
		require.NoError(t, err)
		require.NoError(t, in.Close())
		for _, s := range file.Sessions {
			for _, turn := range s.Sent() {
				sent++
				assert.NotEmpty(t, turn.Prompt.Messages, path)
				assert.NotEmpty(t, turn.Prompt.Tools, path)
			}
		}
	}
	assert.Greater(t, sent, 50)
}

// Whatever a client has sent, reading it neither panics nor gives a request without
// what it was read from.
func FuzzRequest(f *testing.F) {
	for _, body := range []string{
		`{"messages":[]}`, `{"messages":[{"role":"user","content":"Go."}],"tools":{}}`, `{"messages":[{"content":[{"type":"tool_result","content":{"tool_references":[{}]}}]}]}`,
		`{"messages":[{"content":5}],"tools":[1,{"name":["a"],"input_schema":[]},{"cache_control":{}}],"system":{"text":1},"cache_control":{}}`,
	} {
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body string) {
		data, err := yaml.Marshal(map[string]any{"version": 1, "interactions": []any{map[string]any{
			"request":  map[string]any{"method": "POST", "url": "https://api.example/v1/messages", "body": body},
			"response": map[string]any{"code": 200, "body": `{"type":"message","id":"m","content":[]}`},
		}}})
		if err != nil {
			t.Skip("no text of YAML")
		}
		file, err := recording.ReadPrompts("f.yaml", strings.NewReader(string(data)), recording.Limits{})
		if err != nil {
			return
		}
		for _, s := range file.Sessions {
			for _, turn := range s.Sent() {
				if turn.Prompt.Marked() && len(turn.Prompt.Tools)+len(turn.Prompt.System)+len(turn.Prompt.Messages) == 0 {
					t.Error("a breakpoint behind nothing")
				}
			}
		}
	})
}
