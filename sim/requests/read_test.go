package requests_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/sim/recording"
	"toolbench/sim/requests"
)

const cassette = `version: 1
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

func read(t *testing.T, text string) *requests.Session {
	t.Helper()
	file, err := requests.Read("c.yaml", strings.NewReader(text), recording.Limits{})
	require.NoError(t, err)
	require.Len(t, file.Sessions, 1)
	return file.Sessions[0]
}

func TestARequestIsReadAsThePromptItBecomes(t *testing.T) {
	s := read(t, cassette)
	require.Len(t, s.Sent(), 2)
	first, second := s.Turns[0].Request, s.Turns[1].Request
	assert.Equal(t, requests.Tool{Name: "a", Description: "One.", Schema: `{"type":"object"}`, Breakpoint: true,
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
	assert.Nil(t, s.Turns[0].Request)
	assert.Equal(t, &recording.Usage{Input: 3, Read: 40, Output: 1}, s.Turns[0].Usage)
}

func TestWhatIsNoRecordingIsSaidToBeNone(t *testing.T) {
	_, err := requests.Read("x", strings.NewReader("hello"), recording.Limits{})
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
		file, err := requests.Read(filepath.Base(path), in, recording.Limits{})
		require.NoError(t, err)
		require.NoError(t, in.Close())
		for _, s := range file.Sessions {
			for _, turn := range s.Sent() {
				sent++
				assert.NotEmpty(t, turn.Request.Messages, path)
				assert.NotEmpty(t, turn.Request.Tools, path)
			}
		}
	}
	assert.Greater(t, sent, 50)
}
