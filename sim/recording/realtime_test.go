package recording_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/sim/dialect"
	"toolbench/sim/recording"
)

// spokenSession is what went over a WebSocket: two answers, the first with two calls of which one is
// answered before the answer ends, and one that is cut.
func spokenSession() []string {
	answer := func(id, rest string) string {
		return fmt.Sprintf(`{"type":"response.%%s","event_id":"e","response":{"id":"%s","object":"realtime.response"%s}}`, id, rest)
	}
	item := func(id, rest string) string { return fmt.Sprintf(`"item":{"id":"%s",%s}`, id, rest) }
	output := func(event, response, item string) string {
		return `{"type":"response.output_item.` + event + `","event_id":"e","response_id":"` + response + `","output_index":0,` + item + `}`
	}
	call := func(id, arguments string) string {
		return item("i"+id, `"type":"function_call","role":"tool","call_id":"`+id+`","name":"view","arguments":"`+arguments+`"`)
	}
	result := func(id, text string) string {
		return `{"type":"conversation.item.added",` + item("o"+id, `"type":"function_call_output","call_id":"`+id+`","output":"`+text+`"`) + `}`
	}
	return []string{
		`{"type":"session.created","session":{"model":"m","tools":[]}}`,
		`{"type":"session.updated","session":{"instructions":"Be brief.","tools":[{"type":"function","name":"view","parameters":{"type":"object"}}]}}`,
		`{"type":"conversation.item.added",` + item("u", `"type":"message","role":"user","content":[{"type":"input_audio","transcript":null}]`) + `}`,
		`{"type":"input_audio_buffer.committed"}`,
		`{"type":"response.create","event_id":"c"}`,
		fmt.Sprintf(answer("r1", ""), "created"),
		output("added", "r1", item("m", `"type":"message","role":"assistant","content":[]`)),
		`{"type":"conversation.item.added",` + item("m", `"type":"message","role":"assistant","content":[]`) + `}`,
		`{"type":"response.output_audio_transcript.delta","event_id":"e","response_id":"r1","item_id":"m","output_index":0,"content_index":0,"delta":"I look."}`,
		`{"type":"response.output_audio.delta","event_id":"e","response_id":"r1","item_id":"m","output_index":0,"content_index":0,"delta":"AAAA"}`,
		output("done", "r1", item("m", `"type":"message","role":"assistant"`)),
		output("added", "r1", call("A", "")), output("done", "r1", call("A", `{\"p\":1}`)), output("added", "r1", call("B", "")), output("done", "r1", call("B", "{}")),
		result("A", "1"),
		fmt.Sprintf(answer("r1", `,"status":"completed","usage":{"input_tokens":9,"input_token_details":{"cached_tokens":6},"output_tokens":4},"output":[{"type":"function_call"}]`), "done"),
		result("B", "2"),
		`{"type":"response.cancel","event_id":"c","response_id":"r1"}`,
		`{"type":"response.create","event_id":"c","response":{"instructions":"x"}}`,
		`{"type":"conversation.item.input_audio_transcription.completed","item_id":"u","content_index":0,"transcript":"Go."}`,
		`{"type":"error","error":{"message":"Conversation already has an active response"}}`,
		fmt.Sprintf(answer("r2", ""), "created"),
		`{"type":"response.text.delta","event_id":"e","response_id":"r2","item_id":"x","output_index":0,"content_index":0,"delta":"So."}`,
		fmt.Sprintf(answer("r2", `,"status":"completed","output":[]`), "done"),
		fmt.Sprintf(answer("r3", ""), "created"),
	}
}

// The messages of a realtime session are one conversation, whoever kept them, and however a message
// is written.
func TestRealtimeSessionsAreConversations(t *testing.T) {
	var texts, objects, messages strings.Builder
	for i, m := range spokenSession() {
		texts.WriteString("- {kind: message, direction: received, data: '" + m + "'}\n")
		objects.WriteString("- {kind: message, direction: received, data: " + m + "}\n")
		messages.WriteString(strings.Repeat(",", min(i, 1)) + `{"type":"receive","opcode":1,"data":` + string(dialect.JSON(m)) + `}`)
	}
	for name, text := range map[string]string{
		"cassette, texts":   "version: 1\ninteractions:\n" + texts.String() + "- {kind: close, code: 1011}\n",
		"cassette, objects": "version: 1\ninteractions:\n" + objects.String() + "- {kind: close, code: 1011}\n",
		"archive":           `{"log":{"entries":[{"request":{"method":"GET","url":"wss://x/v1/realtime","headers":[]},"response":{"status":101,"headers":[],"content":{}},"_webSocketMessages":[` + messages.String() + `]}]}}`,
	} {
		t.Run(name, func(t *testing.T) {
			rec := open(t, text)
			require.Len(t, rec.Conversations, 1)
			turns := rec.Conversations[0].Turns
			require.Len(t, turns, 3)
			assert.Equal(t, []any{dialect.Responses, "m", "tool_use", true}, []any{turns[0].API, turns[0].Model, turns[0].Stop, turns[0].Streamed})
			assert.Equal(t, &recording.Usage{Input: 3, Read: 6, Output: 4}, turns[0].Usage)
			assert.Equal(t, []string{"A 1", "B 2"}, answers(turns[0]))
			assert.Equal(t, []string{"Go."}, turns[0].UserTexts)
			assert.Equal(t, "view", turns[0].Tools[0].Name)
			assert.Equal(t, []any{recording.Whole, "end_turn", recording.Cut}, []any{turns[1].Ending, turns[1].Stop, turns[2].Ending})
			assert.Equal(t, 1, rec.Ignored["errors of a realtime session"])
		})
	}
}

// A session of another provider over a WebSocket is named.
func TestOtherSessionsOverAWebSocketAreNamed(t *testing.T) {
	_, err := recording.Open("file", strings.NewReader("interactions:\n- {direction: sent, data: {setup: {}}}\n- {direction: received, data: {setupComplete: {}}}\n"), recording.Limits{}, nil)
	assert.EqualError(t, err, "file: not a recording: it holds no turn of a model, only messages of a WebSocket, as realtime models have (2)")
}

// A session that begins while another is open is a conversation of its own, and what was cut of the
// one before is there.
func TestARealtimeSessionEndsWhereTheNextBegins(t *testing.T) {
	var all strings.Builder
	for range 2 {
		for _, m := range spokenSession() {
			all.WriteString("- {kind: message, direction: received, data: '" + m + "'}\n")
		}
	}
	rec := open(t, "interactions:\n"+all.String())
	require.Len(t, rec.Conversations, 2)
	assert.Equal(t, []int{3, 3}, []int{len(rec.Conversations[0].Turns), len(rec.Conversations[1].Turns)})
	assert.Len(t, rec.Problems, 2, "an answer is cut in each")
}

// Responses may be asked for over a WebSocket, too: a message has the request, and the events are
// those of a stream.
func TestResponsesOverAWebSocketAreRead(t *testing.T) {
	rec := open(t, "interactions:\n- "+strings.Join([]string{
		`{direction: sent, data: {type: response.create, model: m, tools: [], input: [{role: user, content: Go.}]}}`,
		`{direction: received, data: {type: response.created, response: {id: r1, model: m}}}`,
		`{direction: received, data: {type: response.output_item.added, output_index: 0, item: {id: i, type: function_call, call_id: A, name: view, arguments: ""}}}`,
		`{direction: received, data: {type: response.function_call_arguments.delta, output_index: 0, item_id: i, delta: "{}"}}`,
		`{direction: received, data: {type: response.output_item.done, output_index: 0, item: {id: i, type: function_call, call_id: A, name: view, arguments: "{}"}}}`,
		`{direction: received, data: {type: response.completed, response: {id: r1, status: completed, output: []}}}`,
		`{direction: sent, data: {type: response.create, model: m, previous_response_id: r1, input: [{type: function_call_output, call_id: A, output: seen}]}}`,
		`{direction: received, data: {type: response.created, response: {id: r2, model: m}}}`,
		`{direction: received, data: {type: response.output_text.delta, output_index: 0, item_id: j, content_index: 0, delta: So.}}`,
		`{direction: received, data: {type: response.completed, response: {id: r2, status: completed, output: []}}}`,
	}, "\n- ")+"\n")
	require.Len(t, rec.Conversations, 1)
	turns := rec.Conversations[0].Turns
	require.Len(t, turns, 2)
	assert.Empty(t, rec.Problems)
	assert.Equal(t, []string{"A seen"}, answers(turns[0]))
	assert.Equal(t, []string{"Go."}, turns[0].UserTexts)
	assert.Equal(t, "end_turn", turns[1].Stop)
}

// overOneSocket are two requests with their answers over one WebSocket: those of the client, and how the server answered each.
func overOneSocket() (asked []string, answered [][]string) {
	for i, input := range []string{`{"role":"user","content":"Go."}`, `{"type":"function_call_output","call_id":"A0","output":"seen"}`} {
		id, item := fmt.Sprint("r", i), fmt.Sprintf(`"item":{"id":"i%d","type":"function_call","call_id":"A%d","name":"view","arguments":"{}"}`, i, i)
		previous := []string{"", `"previous_response_id":"r0",`}[i]
		asked = append(asked, `{"type":"response.create","model":"m",`+previous+`"input":[`+input+`],"tools":[]}`)
		answered = append(answered, []string{
			`{"type":"response.created","response":{"id":"` + id + `","model":"m"}}`,
			`{"type":"response.output_item.added","output_index":0,` + item + `}`, `{"type":"response.output_item.done","output_index":0,` + item + `}`,
			`{"type":"response.completed","response":{"id":"` + id + `","status":"completed","output":[]}}`,
		})
	}
	return asked, answered
}

// A WebSocket that is kept as one exchange, or a message a line, has each of its answers.
func TestEachAnswerOverOneWebSocketIsATurn(t *testing.T) {
	asked, answered := overOneSocket()
	events, lines := "", ""
	for i, of := range answered {
		events += strings.Repeat(",", i) + strings.Join(of, ",")
		lines += `{"dir":">","msg":` + string(dialect.JSON(asked[i])) + "}\n"
		for _, e := range of {
			lines += `{"dir":"<","msg":` + string(dialect.JSON(e)) + "}\n"
		}
	}
	last := `{"id":"r1","object":"response","status":"completed","model":"m","output":[{"type":"function_call","call_id":"A1","name":"view","arguments":"{}"}]}`
	for name, text := range map[string]string{
		"an exchange": `{"request":{"path":"/v1/responses","body":` + asked[1] + `,"ws_events":[` + strings.Join(asked, ",") + `]},"response":{"status":101,"body":` + last + `,"ws_events":[` + events + "]}}\n",
		"lines":       lines,
	} {
		t.Run(name, func(t *testing.T) {
			rec := open(t, text+text)
			assert.Empty(t, rec.Problems)
			require.NotEmpty(t, rec.Conversations)
			assert.Len(t, rec.Conversations[0].Turns, 2)
			assert.Equal(t, []string{"A0 seen"}, answers(rec.Conversations[0].Turns[0]))
			assert.Equal(t, []string{"1 A0", "1 A1", "2 A0", "2 A1"}, askedOf(rec))
		})
	}
	rec := open(t, `{"request":{"path":"/v1/responses","body":`+asked[0]+`},"response":{"status":101,"body":null,"ws_events":[`+strings.Join(answered[0], ",")+"]}}\n")
	assert.Equal(t, []string{"1 A0"}, askedOf(rec), "of the client there is the request alone")
	assert.Equal(t, []string{"Go."}, rec.Conversations[0].Turns[0].UserTexts)
}

// A session of Gemini's live models has its calls, with what they gave, however its messages were written down.
func TestALiveSessionOfGeminisIsRead(t *testing.T) {
	messages := []string{
		`{"setup":{"model":"models/live","tools":[{"functionDeclarations":[{"name":"look","parameters":{"type":"OBJECT","properties":{"at":{"type":"STRING"}}}}]}]}}`,
		`{"setupComplete":{}}`,
		`{"clientContent":{"turns":[{"role":"user","parts":[{"text":"What is there?"}]}],"turnComplete":true}}`,
		`{"serverContent":{"modelTurn":{"parts":[{"text":"I look."},{"inlineData":{"mimeType":"audio/pcm","data":"AAAA"}},{"executableCode":{"code":"look()"}}]}}}`,
		`{"toolCall":{"functionCalls":[{"id":"f1","name":"look","args":{"at":"a"}},{"id":"f2","name":"look","args":{"at":"ü\\n"}}]}}`,
		`{"serverContent":{"outputTranscription":{}}}`,
		`{"serverContent":{"turnComplete":true}}`,
		`{"toolResponse":{"functionResponses":[{"id":"f1","name":"look","response":{"output":"A"}},{"id":"f2","name":"look","response":{"output":"B"}}]}}`,
		`{"serverContent":{"outputTranscription":{}}}`,
		`{"serverContent":{"turnComplete":true}}`,
		`{"serverContent":{"outputTranscription":{"text":"A and B."}}}`,
		`{"serverContent":{"generationComplete":true}}`,
		`{"serverContent":{"turnComplete":true},"usageMetadata":{"totalTokenCount":7}}`,
		`{"realtimeInput":{"audio":{"mimeType":"audio/pcm","data":"AAAA"}}}`,
		`{"serverContent":{"modelTurn":{"parts":[{"text":"You are welcome."}]}}}`,
		`{"serverContent":{"turnComplete":true}}`,
	}
	var framed, sided, indented, archived string
	texts, objects := "version: 1\ninteractions:\n", "version: 1\ninteractions:\n"
	snake := strings.NewReplacer("clientContent", "client_content", "toolResponse", "tool_response", "realtimeInput", "realtime_input") // as the library for Python has what it sends
	for i, m := range messages {
		var nice bytes.Buffer
		require.NoError(t, json.Indent(&nice, []byte(m), "", "  "))
		way := string("><"[i%2])
		framed += fmt.Sprintf("%s%d %s\n\n", way, nice.Len(), nice.String())
		sided += `{"dir":"` + way + `","msg":` + m + "}\n"
		indented += nice.String() + "\n"
		texts += "- {kind: message, direction: sent, data: " + string(dialect.JSON(m)) + "}\n"
		objects += "- kind: message\n  direction: sent\n  data: " + snake.Replace(m) + "\n"
		archived += strings.Repeat(",", min(i, 1)) + `{"type":"receive","opcode":1,"data":` + string(dialect.JSON(m)) + `}`
	}
	for name, text := range map[string]string{
		"a message a line": strings.Join(messages, "\n"), "a list": "[" + strings.Join(messages, ",") + "]", "as a reader formats them": indented,
		"by Google's test server": framed, "with their direction": sided, "in a cassette, texts": texts, "in a cassette, objects": objects,
		"in an HTTP archive": `{"log":{"version":"1.2","entries":[{"request":{"method":"GET","url":"wss://x/ws"},"response":{"status":101},"_webSocketMessages":[` + archived + `]}]}}`,
	} {
		t.Run(name, func(t *testing.T) {
			rec := open(t, text)
			require.Len(t, rec.Conversations, 1)
			turns := rec.Conversations[0].Turns
			require.Len(t, turns, 3)
			require.Len(t, turns[0].Calls, 2)
			assert.JSONEq(t, `{"at":"ü\\n"}`, string(turns[0].Calls[1].Input))
			assert.Len(t, answers(turns[0]), 2)
			assert.Equal(t, []string{"What is there?"}, turns[0].UserTexts)
			assert.Equal(t, "models/live", turns[0].Model)
			require.Len(t, turns[0].Tools, 1)
			assert.Equal(t, "look", turns[0].Tools[0].Name)
			assert.Empty(t, turns[0].Unanswered)
			assert.Equal(t, 1, rec.Ignored["messages of a live session without words or calls"], "%v", rec.Ignored)
		})
	}
	two := open(t, strings.Join(append(messages, messages...), "\n"))
	assert.Len(t, two.Conversations, 2)
	other := open(t, messages[0]+"\n"+`{"role":"user","content":"Go."}`+"\n"+string(reply(t, script[0]))+"\n")
	assert.Len(t, other.Conversations, 1, "what is no message of such a session is read as what it is")
}

// A long line within a message that Google's test server kept is read whole, and a number at a line's begin is a mark only there.
func TestAFrameMayHaveLongLines(t *testing.T) {
	long := strings.Repeat("x >1 ", 40_000)
	m := `{"toolCall":{"functionCalls":[{"name":"look","args":{"at":"` + long + `"}}]}}`
	rec := open(t, `>9 {"setup":{"model":"m"}}`+"\n<"+fmt.Sprint(len(m))+" "+m+"\n")
	require.Len(t, rec.Conversations, 1)
	require.Len(t, rec.Conversations[0].Turns[0].Calls, 1)
	assert.JSONEq(t, `{"at":"`+long+`"}`, string(rec.Conversations[0].Turns[0].Calls[0].Input))
}
