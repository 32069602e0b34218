package recording_test

import (
	"encoding/base64"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/sim/recording"
	"toolbench/sim/stream"
	"toolbench/toolsys/message"
)

// The same conversation over the Converse API is the same to everything behind the
// reader: blocks, stop reasons, what it cost.
func TestConverseIsReadAsTheMessagesAPIIs(t *testing.T) {
	for name, text := range map[string]string{"whole": converseWhole(t), "frames": converseFrames(t), "chunks": converseChunks(t), "lines": converseLines(t), "nock": converseNock(t)} {
		turn := open(t, text).Conversations[0].Turns[0]
		assert.Equal(t, "tool_use", turn.Stop, name)
		assert.Equal(t, &recording.Usage{Input: 7, Output: 5}, turn.Usage, name)
		assert.Equal(t, name != "whole", turn.Streamed, name)
		var kinds []string
		asm := &message.Assembler{}
		for _, e := range turn.Events {
			blocks, err := asm.Add(e.Data)
			require.NoError(t, err, name)
			for _, b := range blocks {
				kinds = append(kinds, b.Type+" "+b.Text)
			}
		}
		assert.Equal(t, []string{"thinking ", "text I read both.", "tool_use ", "tool_use "}, kinds, name)
	}
}

func TestConverseSaysWhatAWholeAnswerTook(t *testing.T) {
	turn := open(t, converseWhole(t)).Conversations[0].Turns[0]
	assert.Equal(t, recording.Bounded, turn.Pace)
	assert.Equal(t, 900*time.Millisecond, turn.Events[len(turn.Events)-1].At)
	assert.Equal(t, recording.Unknown, open(t, converseFrames(t)).Conversations[0].Turns[0].Pace, "a stream's first byte is not told")
}

func TestARequestOfConverseIsHandedOnInTheMessagesAPIsWords(t *testing.T) {
	var bodies []string
	_, err := recording.Scan("file", strings.NewReader(converseWhole(t)), recording.Limits{}, recording.Handler{
		Request: func(_ *recording.Conversation, _ int, body string) error { bodies = append(bodies, body); return nil },
	})
	require.NoError(t, err)
	require.Len(t, bodies, 3)
	assert.JSONEq(t, `{"max_tokens":100,"system":[{"type":"text","text":"Be brief."}],"tools":[{"name":"view","description":"Reads.","input_schema":`+viewSchema+`},
		{"name":"ls","description":"Lists.","input_schema":{"type":"object"}}],"messages":[{"role":"user","content":[{"type":"text","text":"Look at a."}]}]}`, bodies[0])
	assert.Contains(t, bodies[2], `{"type":"tool_result","tool_use_id":"call_3","content":[{"type":"text","text":"no such file"}],"is_error":true,"cache_control":{"type":"ephemeral"}}`)
}

func TestEveryKindOfConversesBlocksHasAPlace(t *testing.T) {
	request := `{"messages":[
		{"role":"user","content":[{"text":"a"},{"image":{"format":"png","source":{"bytes":"eA=="}}},{"guardContent":{"text":{"text":"g"}}},{"later":{}}]},
		{"role":"assistant","content":[{"toolUse":{"toolUseId":"c1","name":"n","input":{"q":"<&>"}}},{"reasoningContent":{"redactedContent":"eA=="}},{"citationsContent":{"content":[{"text":"x"},{"text":"y"}]}},
			{"toolUse":{"toolUseId":"c2","name":"code","type":"server_tool_use","input":{}}}]},
		{"role":"user","content":[{"toolResult":{"toolUseId":"c1","content":[{"json":{"n": 1}},{"document":{"name":"d","source":{}}}]}}]}],
		"toolConfig":{"tools":[{"toolSpec":{"name":"n","inputSchema":{"json":"{\"type\":\"object\"}"}}},{"cachePoint":{"type":"default"}},{"systemTool":{"name":"code"}}]}}`
	text := inYAML(t, object{
		"when": object{"path": "/model/arn%3Aaws%3Am%2F1/converse", "body": request},
		"then": object{"status": 200, "body": `{"output":{"message":{"role":"assistant","content":[{"text":"z"}]}},"stopReason":"end_turn"}`},
	})
	var body string
	_, err := recording.Scan("file", strings.NewReader(text), recording.Limits{}, recording.Handler{
		Request: func(_ *recording.Conversation, _ int, b string) error { body = b; return nil },
		Turn: func(_ *recording.Conversation, turn *recording.Turn) error {
			assert.Equal(t, "arn:aws:m/1", turn.Model, "the URL names it")
			return nil
		},
	})
	require.NoError(t, err)
	assert.JSONEq(t, `{"tools":[{"name":"n","input_schema":{"type":"object"},"cache_control":{"type":"ephemeral"}},{"name":"code","type":"code"}],"messages":[
		{"role":"user","content":[{"type":"text","text":"a"},{"type":"image","source":{"bytes":"eA=="}},{"type":"text","text":"g"},{"type":"unknown"}]},
		{"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"n","input":{"q":"<&>"}},{"type":"redacted_thinking","data":"eA=="},{"type":"text","text":"xy"},{"type":"server_tool_use","id":"c2","name":"code","input":{}}]},
		{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":[{"type":"text","text":"{\"n\": 1}"},{"type":"document","name":"d","source":{}}]}]}]}`, body)
}

func converseFrame(kind, body string) string {
	return string(frame(map[string]string{":event-type": kind, ":message-type": "event"}, []byte(body)))
}

func TestAStreamOfConverseMayFailOrBeCut(t *testing.T) {
	head := converseFrame("messageStart", `{"role":"assistant"}`) + converseFrame("contentBlockDelta", `{"contentBlockIndex":0,"delta":{"text":"x"}}`)
	call := converseFrame("contentBlockStart", `{"contentBlockIndex":1,"start":{"toolUse":{"toolUseId":"c1","name":"n"}}}`) +
		converseFrame("contentBlockDelta", `{"contentBlockIndex":1,"delta":{"toolUse":{"input":"{\"a\":"}}}`)
	for name, c := range map[string]struct {
		text, why string
		ending    recording.Ending
	}{
		"an exception": {head + string(frame(map[string]string{":exception-type": "modelStreamErrorException", ":message-type": "exception"}, []byte(`{"message":"Gone"}`))),
			"the stream ends in an error event: modelStreamErrorException: Gone", recording.Failed},
		"cut in a call":            {head + call, "the file ends before message_stop", recording.Cut},
		"cut in a frame":           {head + call[:len(call)-3], "the event stream ends inside a frame", recording.Cut},
		"a piece of no call":       {head + converseFrame("contentBlockDelta", `{"contentBlockIndex":3,"delta":{"toolUse":{"input":"{}"}}}`) + converseFrame("messageStop", `{}`), "an event cannot be taken: delta for content block 3, which is not open", recording.Broken},
		"without its start":        {call + converseFrame("contentBlockDelta", `{"contentBlockIndex":1,"delta":{"toolUse":{"input":"1}"}}}`) + converseFrame("contentBlockStop", `{"contentBlockIndex":1}`) + converseFrame("messageStop", `{"stopReason":"tool_use"}`), "", recording.Whole},
		"without what it cost":     {head + converseFrame("contentBlockStop", `{"contentBlockIndex":0}`) + converseFrame("messageStop", `{"stopReason":"end_turn"}`), "", recording.Whole},
		"a block of nothing":       {head + converseFrame("contentBlockStop", `{"contentBlockIndex":0}`) + converseFrame("contentBlockStop", `{"contentBlockIndex":1}`) + converseFrame("messageStop", `{"stopReason":"end_turn"}`) + converseFrame("metadata", `{}`), "", recording.Whole},
		"thoughts in the dark":     {head + converseFrame("contentBlockStop", `{"contentBlockIndex":0}`) + converseFrame("contentBlockDelta", `{"contentBlockIndex":1,"delta":{"reasoningContent":{"redactedContent":"eA=="}}}`) + converseFrame("contentBlockStop", `{"contentBlockIndex":1}`) + converseFrame("messageStop", `{"stopReason":"end_turn"}`), "", recording.Whole},
		"what it cost comes first": {head + converseFrame("contentBlockStop", `{"contentBlockIndex":0}`) + converseFrame("metadata", `{"usage":{"inputTokens":1}}`) + converseFrame("messageStop", `{"stopReason":"end_turn"}`), "", recording.Whole},
	} {
		rec := open(t, c.text)
		require.Len(t, rec.Conversations, 1, name)
		require.Len(t, rec.Conversations[0].Turns, 1, name)
		turn := rec.Conversations[0].Turns[0]
		assert.Equal(t, c.ending, turn.Ending, name)
		assert.Equal(t, c.why, turn.Why, name)
	}
}

func TestARefusalSaysWhatTheServiceSaid(t *testing.T) {
	packed := gzipped(t, []byte(`{"type":"error","error":{"type":"not_found_error","message":"model: x"}}`))
	for want, then := range map[string]object{
		"status 400: ValidationException: No such model": {"status": 400, "header": []any{object{"name": "x-amzn-errortype", "value": "ValidationException:http://x"}}, "body": `{"message":"No such model"}`},
		"status 404: not_found_error: model: x":          {"status": 404, "header": []any{object{"name": "content-encoding", "value": "gzip"}}, "body_base64": base64.StdEncoding.EncodeToString(packed)},
		"status 500":                                     {"status": 500, "body": "<html>"},
	} {
		text := inYAML(t, object{"when": object{"path": "/model/m/converse", "body": converseExchanges(t)[0].request}, "then": then})
		_, err := recording.Open("file", strings.NewReader(text), recording.Limits{}, nil)
		require.ErrorIs(t, err, recording.ErrNotRecording)
		assert.True(t, strings.HasSuffix(err.Error(), "the request was answered with "+want), err.Error())
	}
}

func TestConversesErrorsMayStandOnALine(t *testing.T) {
	rec := open(t, strings.Join(strings.SplitAfter(converseLines(t), "\n")[:3], "")+`{"throttlingException":{"message":"Too many"}}`+"\n")
	assert.Equal(t, []string{"error line 1, conversation 1, turn 1: the stream ends in an error event: throttlingException: Too many"}, problems(rec))
	assert.Equal(t, stream.Event{Type: "error", Data: []byte(`{"type":"error","error":{"type":"throttlingException","message":"Too many"}}`)}, rec.Conversations[0].Turns[0].Events[4])
}

// What a service measured, and what a guardrail did, stands beside an event and is no other event.
func TestWhatBedrockAddsToAnEventLeavesItOne(t *testing.T) {
	text := `{"messageStart":{"role":"assistant"}}
{"contentBlockDelta":{"contentBlockIndex":0,"delta":{"text":"x"}}}
{"contentBlockStop":{"contentBlockIndex":0},"amazon-bedrock-trace":{"guardrail":{}}}
{"messageStop":{"stopReason":"end_turn"}}
{"metadata":{"usage":{"inputTokens":30,"outputTokens":5}},"amazon-bedrock-invocationMetrics":{"inputTokenCount":30},"amazon-bedrock-guardrailAction":"NONE"}
`
	rec := open(t, text)
	assert.Empty(t, rec.Problems)
	assert.Empty(t, rec.Ignored)
	require.Len(t, rec.Conversations, 1)
	assert.Equal(t, recording.Usage{Input: 30, Output: 5}, *rec.Conversations[0].Turns[0].Usage)
}
