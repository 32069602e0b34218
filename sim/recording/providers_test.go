package recording_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"toolbench/sim/dialect"
	"toolbench/sim/recording"
)

// called writes exchanges with other providers' APIs as a file of httpmock's.
func called(t testing.TB, path string, bodies ...string) string {
	var docs []string
	for i := 0; i < len(bodies); i += 2 {
		docs = append(docs, inYAML(t, object{"when": object{"path": path, "body": bodies[i]}, "then": object{"status": 200, "body": bodies[i+1]}}))
	}
	return strings.Join(docs, "---\n")
}

const (
	askedChat  = `{"model":"m","messages":[{"role":"system","content":"s"},{"role":"user","content":"Go."}`
	calledChat = `{"id":"1","choices":[{"message":{"role":"assistant","tool_calls":[{"id":"A","function":{"name":"view","arguments":"{\"p\":1}"}},{"id":"B","function":{"name":"view","arguments":"{}"}}]},"finish_reason":"stop"}]}`
	endedChat  = `{"id":"2","choices":[{"message":{"content":"Done."},"finish_reason":"stop"}]}`
	// of Cohere's first version
	askedBefore  = `{"model":"m","preamble":"s","tools":[{"name":"view","description":"d","parameter_definitions":{"p":{"type":"int","required":true},"q":{"type":"List[str]","description":"e"}}}],`
	calledBefore = `{"generation_id":"g1","text":"I look.","tool_calls":[{"name":"view","parameters":{"p":1}},{"name":"view","parameters":{}}],"finish_reason":"COMPLETE","meta":{"tokens":{"input_tokens":3}}}`
	gaveBefore   = `{"call":{"name":"view","parameters":{"p":1}},"outputs":[{"x":1}]},{"call":{"name":"view","parameters":{}},"outputs":[{"x":2}]}`
	endedBefore  = `{"generation_id":"g2","text":"Done.","finish_reason":"COMPLETE"}`
	askedGemini  = `{"contents":[{"role":"user","parts":[{"text":"Go."}]}`
)

// Each of these is one conversation of two calls, answered the second first.
func TestOtherProvidersRecordingsAreConversations(t *testing.T) {
	returned := func(a, b, first string) string {
		return askedChat + `,{"role":"assistant","content":"` + first + `"},{"role":"assistant","tool_calls":[{"id":"` + a + `","function":{"name":"view","arguments":"{\"p\":1}"}},{"id":"` + b + `","function":{"name":"view","arguments":"{}"}}]},
			{"role":"tool","tool_call_id":"` + b + `","content":"2"},{"role":"tool","tool_call_id":"` + a + `","content":"1"}]}`
	}
	geminiCall := func(id string) string {
		return `{"functionCall":{"name":"view","args":{"p":1}` + id + `}},{"functionCall":{"name":"view","args":{}}}`
	}
	gemini := func(name, id string) string {
		return askedGemini + `,{"role":"model","parts":[` + geminiCall(id) + `]},{"role":"user","parts":[{"functionResponse":{"name":"` + name + `","response":{"result":"1"}` + id + `}},{"functionResponse":{"name":"` + name + `","response":{"result":"2"}}}]}]}`
	}
	answer := `{"candidates":[{"content":{"parts":[` + geminiCall("") + `]},"finishReason":"STOP"}]}`
	done := `{"candidates":[{"content":{"parts":[{"text":"Done."}]},"finishReason":"STOP"}]}`
	item := func(id string) string {
		return `{"type":"function_call","id":"f` + id + `","call_id":"` + id + `","name":"view","arguments":"{}"}`
	}
	output := func(id, text string) string {
		return `{"type":"function_call_output","call_id":"` + id + `","output":"` + text + `"}`
	}
	response := `{"id":"r1","object":"response","status":"completed","output":[` + item("A") + `,` + item("B") + `]}`
	last := `{"id":"r2","object":"response","status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":"Done."}]}]}`
	asked := `{"model":"m","input":[{"role":"user","content":"Go."}`
	step := func(id string) string {
		return `{"type":"function_call","id":"` + id + `","name":"view","arguments":{"of":"` + id + `"},"signature":"s"}`
	}
	gave := func(id, result string) string {
		return `{"type":"function_result","call_id":"` + id + `","name":"view","result":` + result + `}`
	}
	interaction := `{"id":"v1","object":"interaction","model":"m","status":"requires_action","steps":[{"type":"thought","signature":"s"},` + step("A") + `,` + step("B") + `]}`
	ended := `{"id":"v2","object":"interaction","model":"m","status":"completed","steps":[{"type":"model_output","content":[{"type":"text","text":"Done."}]}]}`
	generation := func(chat string) string {
		return `{"model":"m","parameters":{"result_format":"message","tools":[{"type":"function","function":{"name":"view"}}]},"input":` + chat + `}`
	}
	for name, c := range map[string]struct {
		api  dialect.API
		text string
		want []string
	}{
		"chat":                      {dialect.Chat, called(t, "/v1/chat/completions", askedChat+"]}", calledChat, returned("A", "B", ""), endedChat), []string{"2", "1"}},
		"chat, the client's own id": {dialect.Chat, called(t, "/v1/chat/completions", askedChat+"]}", calledChat, returned("x", "y", ""), endedChat), []string{"2", "1"}},
		"responses":                 {dialect.Responses, called(t, "/v1/responses", asked+"]}", response, asked+`,`+item("A")+`,`+item("B")+`,`+output("B", "2")+`,`+output("A", "1")+`]}`, last), []string{"2", "1"}},
		"responses, by what went before": {dialect.Responses, called(t, "/v1/responses", asked+"]}", response,
			`{"model":"m","previous_response_id":"r1","input":[`+output("B", "2")+`,`+output("A", "1")+`]}`, last), []string{"2", "1"}},
		"interactions, by what went before": {dialect.Interactions, called(t, "/v1beta/interactions", `{"model":"m","input":"Go."}`, interaction,
			`{"model":"m","previous_interaction_id":"v1","input":[`+gave("B", `{"content":[{"type":"text","text":"2"}]}`)+`,`+gave("A", `[{"type":"text","text":"1"}]`)+`]}`, ended), []string{"2", "1"}},
		"interactions, by what the user says": {dialect.Interactions, called(t, "/v1beta/interactions", `{"model":"m","input":"Go."}`, interaction,
			`{"model":"m","previous_interaction_id":"v1","input":[{"type":"user_input","content":[`+gave("B", `"2"`)+`,`+gave("A", `"1"`)+`]}]}`, ended), []string{"2", "1"}},
		"interactions": {dialect.Interactions, called(t, "/v1beta/interactions", `{"model":"m","input":[{"type":"user_input","content":[{"type":"text","text":"Go."}]}]}`, interaction,
			`{"model":"m","input":[{"type":"user_input","content":[{"type":"text","text":"Go."}]},{"type":"thought","signature":"s"},`+step("A")+`,`+step("B")+`,`+gave("B", `"2"`)+`,`+gave("A", `"1"`)+`]}`, ended), []string{"2", "1"}},
		"cohere": {dialect.Cohere, called(t, "/v2/chat", askedChat+"]}", strings.NewReplacer(`"choices":[{"message"`, `"message"`, `"stop"}]`, `"TOOL_CALL"`).Replace(calledChat), returned("A", "B", "I look."), strings.NewReplacer(`"choices":[{"message":{`, `"message":{"role":"assistant",`, `"stop"}]`, `"COMPLETE"`).Replace(endedChat)), []string{"2", "1"}},
		"cohere, its first version": {dialect.Cohere, called(t, "/v1/chat", askedBefore+`"message":"Go.","chat_history":[]}`, calledBefore,
			askedBefore+`"message":"","chat_history":[{"role":"USER","message":"Go."},{"role":"CHATBOT","message":"I look.","tool_calls":[{"name":"view","parameters":{"p":1}},{"name":"view","parameters":{}}]}],"tool_results":[`+gaveBefore+`]}`, endedBefore), []string{`[{"x":1}]`, `[{"x":2}]`}},
		"cohere, its results alone": {dialect.Cohere, called(t, "/v1/chat", askedBefore+`"message":"Go."}`, calledBefore, askedBefore+`"message":"Go.","tool_results":[`+gaveBefore+`]}`, endedBefore), []string{`[{"x":1}]`, `[{"x":2}]`}},
		"cohere, its results said": {dialect.Cohere, called(t, "/v1/chat", askedBefore+`"message":"Go."}`, calledBefore,
			askedBefore+`"message":"And?","chat_history":[{"role":"User","message":"Go."},{"role":"Chatbot","message":"I look.","tool_calls":[{"name":"view","parameters":{"p":1}},{"name":"view","parameters":{}}]},{"role":"TOOL","tool_results":[`+gaveBefore+`]}]}`, endedBefore), []string{`[{"x":1}]`, `[{"x":2}]`}},
		"cohere, lines of its first version": {dialect.Cohere, called(t, "/v1/chat", askedBefore+`"message":"Go.","stream":true}`, `{"event_type":"stream-start","generation_id":"g1"}
{"event_type":"tool-calls-chunk","text":"I "}
{"event_type":"tool-calls-chunk","tool_call_delta":{"index":0,"name":"view"}}
{"event_type":"tool-calls-generation","text":"I look.","tool_calls":[{"name":"view","parameters":{"p":1}},{"name":"view","parameters":{}}]}
{"event_type":"stream-end","finish_reason":"COMPLETE","response":{"meta":{"billed_units":{"input_tokens":3}}}}`, askedBefore+`"message":"Go.","tool_results":[`+gaveBefore+`]}`, endedBefore), []string{`[{"x":1}]`, `[{"x":2}]`}},
		"workers ai": {dialect.Chat, called(t, "/client/v4/accounts/a/ai/run/@cf/meta/m", askedChat+"]}", `{"result":{"response":null,"tool_calls":[{"id":"A","name":"view","arguments":{"p":1}},{"id":"B","name":"view","arguments":{}}],"usage":{"prompt_tokens":3}},"success":true,"errors":[],"messages":[]}`,
			returned("A", "B", ""), `{"result":{"response":"Done.","tool_calls":[],"usage":{"prompt_tokens":3}},"success":true}`), []string{"2", "1"}},
		"dashscope": {dialect.Chat, called(t, "/api/v1/services/aigc/text-generation/generation", generation(askedChat+"]}"), `{"request_id":"1","output":`+calledChat+`,"usage":{"input_tokens":3,"output_tokens":2}}`,
			generation(returned("A", "B", "")), `{"request_id":"2","output":`+endedChat+`,"usage":{"input_tokens":3}}`), []string{"2", "1"}},
		"gemini":                   {dialect.Gemini, called(t, "/v1beta/models/m:generateContent", askedGemini+"]}", answer, gemini("view", ""), done), []string{"1", "2"}},
		"gemini, the client's ids": {dialect.Gemini, called(t, "/v1/projects/p/locations/l/publishers/google/models/m:generateContent", askedGemini+"]}", answer, gemini("view", `,"id":"own"`), done), []string{"1", "2"}},
		"gemini, a stream as a list": {dialect.Gemini, called(t, "/v1beta/models/m:streamGenerateContent", askedGemini+"]}",
			"["+strings.Replace(answer, `,"finishReason":"STOP"`, "", 1)+",\r\n"+done+"\n]", gemini("view", ""), "["+done+"]"), []string{"1", "2"}},
		"gemini, no tool's name": {dialect.Gemini, called(t, "/v1beta/models/m:generateContent", askedGemini+"]}", answer, gemini("call_1", ""), done), []string{"1", "2"}},
	} {
		rec := open(t, c.text)
		assert.Empty(t, rec.Problems, name)
		require.Len(t, rec.Conversations, 1, name)
		turns := rec.Conversations[0].Turns
		require.Len(t, turns, 2, name)
		assert.Equal(t, []any{c.api, "m", "tool_use"}, []any{turns[0].API, turns[0].Model, turns[0].Stop}, name)
		var got []string
		for _, r := range turns[0].Results {
			got = append(got, r.Text)
		}
		assert.Equal(t, c.want, got, name)
		assert.Empty(t, turns[0].Unanswered, name)
	}
}

// What a stream of Chat Completions lacks at its end is known by its mark.
func TestBareStreamsOfOtherProviders(t *testing.T) {
	chunk := `data: {"id":"1","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"A","function":{"name":"view","arguments":"{}"}}]}}]}` + "\n\n"
	rec := open(t, chunk+"data: [DONE]\n\n"+chunk+"data: [DONE]\n\n"+chunk)
	require.Len(t, rec.Conversations[0].Turns, 3)
	assert.Equal(t, []string{"cut line 9, conversation 1, turn 3: the file ends before message_stop"}, problems(rec))
	lines := strings.ReplaceAll(strings.ReplaceAll(chunk+"data: [DONE]\n\n", "data: ", ""), "\n\n", "\n")
	rec = open(t, lines+lines)
	require.Len(t, rec.Conversations[0].Turns, 2)
	assert.Empty(t, rec.Problems)
	assert.Equal(t, recording.EventLines, rec.Format)
}

// A stream that is a list may end early, and lines of data may lack the blank ones between
// them.
func TestStreamsInOtherShapes(t *testing.T) {
	rec := open(t, called(t, "/v1beta/models/m:streamGenerateContent", askedGemini+"]}", `[{"candidates":[{"content":{"parts":[{"text":"Loo"}]}}]},{"candi`))
	assert.Equal(t, []string{"the body ends inside its list"}, []string{rec.Conversations[0].Turns[0].Why})
	for _, blank := range []string{"\n", "\n\n"} {
		for name, events := range map[string][]string{
			"cohere": {`data: {"type":"message-start","id":"1","delta":{"message":{"role":"assistant"}}}`, `data: {"type":"tool-call-start","index":0,"delta":{"message":{"tool_calls":{"id":"A","function":{"name":"view","arguments":""}}}}}`,
				`data: {"type":"tool-call-end","index":0}`, `data: {"type":"message-end","delta":{"finish_reason":"TOOL_CALL"}}`},
			"chat": {`data: {"id":"1","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"A","function":{"name":"view","arguments":"{}"}}]}}]}`,
				`data: {"id":"1","object":"chat.completion.chunk","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}`, "data: [DONE]"},
			"workers": {`data: {"response":"","tool_calls":[],"p":"abc"}`, `data: {"tool_calls":[{"id":"A","index":0,"function":{"name":"view"}}],"p":"ab"}`, `data: {"tool_calls":[{"index":0,"function":{"arguments":"{}"}}],"p":"a"}`,
				`data: {"response":"","usage":{"prompt_tokens":3,"completion_tokens":2}}`, "data: [DONE]"},
			"dashscope": {"id:1\nevent:result\n:HTTP_STATUS/200\n" + `data:{"output":{"choices":[{"message":{"content":"","tool_calls":[{"index":0,"id":"A","type":"function","function":{"name":"view","arguments":"{"}}],"role":"assistant"},"index":0,"finish_reason":"null"}]},"usage":{"output_tokens":1,"input_tokens":3},"request_id":"1"}`,
				"id:2\nevent:result\n" + `data:{"output":{"choices":[{"message":{"content":"","tool_calls":[{"index":0,"id":"","function":{"arguments":"}"}}]},"index":0,"finish_reason":"tool_calls"}]},"usage":{"output_tokens":2,"input_tokens":3},"request_id":"1"}`},
			"orchestration": {`data: {"request_id":"1","intermediate_results":{"templating":[]},"final_result":{"id":"","object":"","model":"","choices":[]}}`,
				`data: {"request_id":"1","final_result":{"id":"c","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"A","function":{"name":"view","arguments":"{}"}}]}}]}}`,
				`data: {"request_id":"1","final_result":{"id":"c","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}}`, "data: [DONE]"},
			"messages": {"event: message_start\n" + `data: {"type":"message_start","message":{"type":"message","id":"1","model":"m","content":[]}}`,
				`data: {"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"A","name":"view","input":{}}}`, `data: {"type":"content_block_stop","index":0}`,
				`data: {"type":"message_delta","delta":{"stop_reason":"tool_use"}}`, `data: {"type":"message_stop"}`},
		} {
			text := strings.Join(events, blank) + blank
			model := map[bool]string{false: "m"}[slices.Contains([]string{"cohere", "workers", "dashscope"}, name)] // whose streams do not name it
			for _, rec := range []*recording.Recording{open(t, text), open(t, called(t, "/v1/messages", `{"messages":[{"role":"user","content":"Go."}]}`, text))} {
				assert.Empty(t, rec.Problems, name)
				require.Len(t, rec.Conversations[0].Turns, 1, name)
				turn := rec.Conversations[0].Turns[0]
				assert.Equal(t, []any{recording.Whole, model, "tool_use"}, []any{turn.Ending, turn.Model, turn.Stop}, name)
				require.Len(t, turn.Calls, 1, name)
				assert.Equal(t, "view", turn.Calls[0].Name)
			}
		}
	}
}

// DashScope's pieces each repeat what was before them, unless the request asks for what is new in them: then a piece that is
// as the one before says the same again.
func TestPiecesThatRepeatWhatWasBeforeThem(t *testing.T) {
	piece := func(said, given, stop string) string {
		return `data:{"output":{"choices":[{"message":{"role":"assistant","content":[{"text":"` + said + `"}],"tool_calls":[{"index":0,"id":"A","function":{"name":"view","arguments":"` + given + `"}}]},"finish_reason":"` + stop + `"}]},"usage":{"input_tokens":9,"output_tokens":4,"prompt_tokens_details":{"cached_tokens":5}},"request_id":"1"}` + "\n\n"
	}
	for asked, stream := range map[string]string{
		`"result_format":"message"`:                           piece("ha", `{\"a\":`, "null") + piece("haha", `{\"a\":{\"a\":1}}`, "null") + piece("haha", `{\"a\":{\"a\":1}}`, "tool_calls"),
		`"result_format":"message","incremental_output":true`: piece("ha", `{\"a\":`, "null") + piece("ha", `{\"a\":1}}`, "null") + piece("", "", "tool_calls"),
	} {
		rec := open(t, called(t, "/api/v1/services/aigc/text-generation/generation", `{"model":"m","parameters":{`+asked+`},"input":{"messages":[{"role":"user","content":"Go."}]}}`, stream))
		require.Len(t, rec.Conversations, 1, asked)
		turn := rec.Conversations[0].Turns[0]
		assert.Equal(t, &recording.Usage{Input: 4, Read: 5, Output: 4}, turn.Usage, asked)
		require.Len(t, turn.Calls, 1, asked)
		assert.JSONEq(t, `{"a":{"a":1}}`, string(turn.Calls[0].Input), asked)
		said := ""
		for _, e := range turn.Events {
			said += gjson.GetBytes(e.Data, "delta.text").String()
		}
		assert.Equal(t, "haha", said, asked)
	}
}

// The recordings of other providers that lie beside the project: what another way of
// counting them has found is found here.
func TestEveryRecordingOfAnotherProviderIsRead(t *testing.T) {
	files, err := filepath.Glob("../../../shared/providers/*/*")
	require.NoError(t, err)
	if len(files) == 0 {
		t.Skip("the recordings of other providers are not here")
	}
	conversations, calls, results := 0, 0, 0
	for _, file := range files {
		raw, err := os.ReadFile(file)
		require.NoError(t, err)
		rec, err := recording.Open(file, strings.NewReader(string(raw)), recording.Limits{}, nil)
		require.NoError(t, err)
		assert.Empty(t, rec.Problems, file)
		conversations += len(rec.Conversations)
		for _, c := range rec.Conversations {
			for _, turn := range c.Turns {
				calls, results = calls+len(turn.Calls), results+len(turn.Results)
				assert.NotEmpty(t, turn.Model, file)
				assert.Len(t, turn.Unanswered, len(turn.Calls)-len(turn.Results), file)
			}
		}
	}
	assert.Equal(t, []int{34, 35, 50, 41}, []int{len(files), conversations, calls, results})
}

func FuzzProviders(f *testing.F) {
	f.Add(askedChat+"]}", calledChat)
	f.Add(askedGemini+"]}", `[{"candidates":[]}]`)
	f.Add(`{"input":"x"}`, `data: {"type":"response.output_item.added","item":{"type":"function_call"}}`)
	f.Add(askedBefore+`"message":"Go."}`, calledBefore)
	f.Add(`{"role":"user","content":"Go."}`, `{"object":"thread.run","id":"r","required_action":{"submit_tool_outputs":{"tool_calls":[{"id":"A","function":{"name":"view"}}]}}}`)
	f.Add(`{"model":"m","parameters":{"result_format":"message"},"input":`+askedChat+"]}}", `data:{"request_id":"1","output":`+calledChat+"}\n\n")
	f.Add(askedChat+"]}", `{"result":{"response":"x","usage":{"prompt_tokens":1}},"success":true}`)
	f.Fuzz(func(t *testing.T, request, response string) {
		for _, path := range []string{"/chat/completions", "/responses", "/models/m:generateContent", "/v1/chat", "/v1/threads/t/runs"} {
			holds(t, []byte(called(t, path, request, response, request, response)))
		}
	})
}

// An error is worded as its provider words it, wherever in the body that stands, and also where
// the recorder, or a gateway, gave it the status of an answer.
func TestErrorsAreNamedAsTheirProvidersNameThem(t *testing.T) {
	ended := inYAML(t, object{"when": object{"path": "/v1/chat/completions", "body": askedChat + "]}"}, "then": object{"status": 200, "body": endedChat}})
	for body, want := range map[string]string{
		`{"error":{"type":"overloaded_error","message":"Busy"}}`:                                    "overloaded_error: Busy",
		`{"error":{"type":null,"code":"content_filter","status":400,"message":"It was filtered."}}`: "content_filter: It was filtered.",
		`[{"error":{"code":400,"status":"INVALID_ARGUMENT","message":"No key"}}]`:                   "INVALID_ARGUMENT: No key",
		`{"error":"model \"m\" not found"}`:                                                         `model "m" not found`,
		`{"error_type":"TOO_MANY_TOKENS","id":"1","message":"Too long"}`:                            "TOO_MANY_TOKENS: Too long",
		`{"detail":"Not authenticated"}`:                                                            "Not authenticated",
	} {
		for _, status := range []int{400, 200} {
			rec := open(t, inYAML(t, object{"when": object{"path": "/v1/chat/completions", "body": askedChat + "]}"}, "then": object{"status": status, "body": body}})+"---\n"+ended)
			if status == 200 && !strings.Contains(body, `"error":`) {
				assert.Equal(t, []string{"malformed line 1, interaction 1: the response is no message of a model"}, problems(rec), body)
				continue
			}
			assert.Equal(t, []string{fmt.Sprintf("error line 1, interaction 1: the request was answered with status %d: %s", status, want)}, problems(rec), body)
		}
	}
}

// A provider that keeps a conversation gets no more of it than what is new, and its id.
func TestAConversationThatTheProviderKeepsIsOne(t *testing.T) {
	said := func(id string, item object) object {
		return object{"id": id, "object": "response", "model": "m", "status": "completed", "output": []object{item}}
	}
	call := object{"type": "function_call", "id": "f", "call_id": "A", "name": "ls", "arguments": "{}"}
	text := object{"type": "message", "role": "assistant", "content": []object{{"type": "output_text", "text": "So."}}}
	var list []object
	for n, x := range []struct {
		conversation any
		input        any
		answer       object
	}{
		{"conv_1", "Go.", text}, {"conv_2", "Go.", text}, {object{"id": "conv_1"}, "And then?", call},
		{"conv_1", []object{{"type": "function_call_output", "call_id": "A", "output": "x"}}, text}, {"conv_2", "And then?", text},
	} {
		list = append(list, object{"request": object{"path": "/v1/responses", "body": object{"model": "m", "conversation": x.conversation, "input": x.input}},
			"response": object{"status": 200, "body": said(fmt.Sprint("r", n), x.answer)}})
	}
	rec := open(t, asJSON(t, list))
	require.Len(t, rec.Conversations, 2)
	turns := rec.Conversations[0].Turns
	require.Len(t, turns, 3)
	require.NotNil(t, turns[1].Result("A"))
	assert.Equal(t, "x", turns[1].Result("A").Text)
	assert.Len(t, rec.Conversations[1].Turns, 2)
}

// Of runs on a thread, which clients look at again and again, each that wants results is an answer once, and so is what the assistant
// wrote. Whoever asks for a stream has the same objects as its events.
func TestThreadsOfAssistantsAreConversations(t *testing.T) {
	run := func(status, action string) string {
		return `{"id":"run_1","object":"thread.run","created_at":1,"thread_id":"t1","status":"` + status + `","required_action":` + action + `,"model":"m","instructions":"s",
			"tools":[{"type":"code_interpreter"},{"type":"function","function":{"name":"view","parameters":{"type":"object"}}}]}`
	}
	wants := run("requires_action", `{"type":"submit_tool_outputs","submit_tool_outputs":{"tool_calls":[{"id":"A","type":"function","function":{"name":"view","arguments":"{\"p\":1}"}},{"id":"B","type":"function","function":{"name":"view","arguments":"{}"}}]}}`)
	gave := `{"tool_outputs":[{"tool_call_id":"B","output":"2"},{"tool_call_id":"A","output":"1"}]}`
	said := `{"id":"msg_2","object":"thread.message","thread_id":"t1","role":"assistant","content":[{"type":"text","text":{"value":"Done.","annotations":[]}}]}`
	asked := `{"id":"msg_1","object":"thread.message","thread_id":"t1","role":"user","content":[{"type":"text","text":{"value":"Go."}}]}`
	begun := called(t, "/v1/threads", "{}", `{"id":"t1","object":"thread"}`) + "---\n" + called(t, "/v1/threads/t1/messages", `{"role":"user","content":"Go."}`, asked) + "---\n"
	for name, text := range map[string]string{
		"looked at": begun + called(t, "/v1/threads/t1/runs", `{"assistant_id":"a"}`, run("queued", "null")) + "---\n" +
			called(t, "/v1/threads/t1/runs/run_1", "", wants, "", wants) + "---\n" + called(t, "/v1/threads/t1/runs/run_1/submit_tool_outputs", gave, run("queued", "null")) + "---\n" +
			called(t, "/v1/threads/t1/messages", "", `{"object":"list","data":[`+said+`,`+asked+`]}`),
		"streamed": begun + called(t, "/v1/threads/t1/runs", `{"assistant_id":"a","stream":true}`, "event: thread.run.requires_action\ndata: "+strings.ReplaceAll(wants, "\n", "")+"\n\nevent: done\ndata: [DONE]\n\n") + "---\n" +
			called(t, "/v1/threads/t1/runs/run_1/submit_tool_outputs", gave, "event: thread.message.completed\ndata: "+said+"\n\nevent: done\ndata: [DONE]\n\n"),
		"begun with its run": called(t, "/v1/threads/runs", `{"assistant_id":"a","thread":{"messages":[{"role":"user","content":"Go."}]}}`, wants) + "---\n" +
			called(t, "/v1/threads/t1/runs/run_1/submit_tool_outputs", gave, run("queued", "null")) + "---\n" + called(t, "/v1/threads/t1/messages?order=asc", "", `{"object":"list","data":[`+asked+`,`+said+`]}`),
	} {
		rec := open(t, text)
		assert.Empty(t, rec.Problems, name)
		require.Len(t, rec.Conversations, 1, name)
		turns := rec.Conversations[0].Turns
		require.Len(t, turns, 2, name)
		assert.Equal(t, []string{`A view {"p":1}`, "B view {}"}, calls(turns[0]), name)
		assert.Equal(t, []string{"B 2", "A 1"}, answers(turns[0]), name)
		assert.Equal(t, []any{"m", "tool_use", "Go.", "view"}, []any{turns[0].Model, turns[0].Stop, turns[0].UserTexts[0], turns[0].Tools[0].Name}, name)
		assert.Len(t, turns[0].Tools, 1, name)
	}
}

func TestThreadsAreForgottenWhereTheyAreTooLarge(t *testing.T) {
	text := called(t, "/v1/threads/t1/messages", `{"role":"user","content":"`+strings.Repeat("Go. ", 1000)+`"}`, `{"id":"t1","object":"thread"}`)
	said := called(t, "/v1/threads/t1/messages", "", `{"id":"m","object":"thread.message","thread_id":"t1","role":"assistant","content":[{"type":"text","text":{"value":"Done."}}]}`)
	rec, err := recording.Open("file", strings.NewReader(text+"---\n"+text+"---\n"+said), recording.Limits{Part: 6000}, nil)
	require.NoError(t, err)
	require.Len(t, rec.Conversations[0].Turns, 1)
	assert.Len(t, rec.Conversations[0].Turns[0].UserTexts[0], 4000, "the first was let go")
}

func TestToolsOfCoheresFirstVersionHaveSchemas(t *testing.T) {
	rec := open(t, called(t, "/v1/chat", askedBefore+`"message":"Go."}`, calledBefore))
	assert.JSONEq(t, `{"type":"object","properties":{"p":{"type":"integer"},"q":{"description":"e"}},"required":["p"]}`, string(rec.Conversations[0].Turns[0].Tools[0].Schema))
}

// Streams of Responses have a failure as an error and once more as the response's end, and may be
// kept alive behind their end.
func TestAResponseEndsOnce(t *testing.T) {
	created := `data: {"type":"response.created","response":{"id":"r1","model":"m"}}` + "\n\n"
	failure := `data: {"type":"error","error":{"type":"insufficient_quota","message":"No money."}}` + "\n\n"
	failed := `data: {"type":"response.failed","response":{"id":"r1","error":{"code":"insufficient_quota","message":"No money."}}}` + "\n\n"
	alive := `data: {"type":"keepalive","sequence_number":12}` + "\n\n"
	completed := `data: {"type":"response.completed","response":{"id":"r1","status":"completed","output":[]}}` + "\n\n"
	lost := "error line 1, conversation 1, turn 1: the stream ends in an error event: insufficient_quota: No money."
	for text, problem := range map[string][]string{
		created + failure + failed:          {lost},
		created + failed + alive:            {lost},
		created + alive + completed + alive: nil,
		alive + created + completed:         nil,
	} {
		rec := open(t, text)
		require.Len(t, rec.Conversations, 1, text)
		assert.Len(t, rec.Conversations[0].Turns, 1, text)
		assert.Equal(t, problem, problems(rec), text)
	}
	assert.Len(t, open(t, created+failed+created+failed).Conversations[0].Turns, 2)
}

// llama.cpp's server has a line of its own for an error, in the place of data.
func TestAnErrorMayHaveALineOfItsOwn(t *testing.T) {
	begun := `data: {"id":"1","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":{"content":"On"}}]}` + "\n\n"
	failed := `error: {"code":500,"message":"No room.","type":"server_error"}` + "\n\n"
	why := "the stream ends in an error event: server_error: No room."
	assert.Equal(t, []string{"error line 1, conversation 1, turn 1: " + why}, problems(open(t, begun+failed)))
	assert.Equal(t, []string{"error line 1, interaction 1, conversation 1, turn 1: " + why}, problems(open(t, called(t, "/v1/chat/completions", askedChat+"]}", begun+failed))))
	for _, text := range []string{failed, called(t, "/v1/chat/completions", askedChat+"]}", failed)} {
		_, err := recording.Open("file", strings.NewReader(text), recording.Limits{}, nil)
		assert.ErrorContains(t, err, "server_error: No room.", text)
	}
	_, err := recording.Open("file", strings.NewReader("error: none\nsteps: []\n"), recording.Limits{}, nil)
	assert.ErrorContains(t, err, "it holds no turn of a model")
}
