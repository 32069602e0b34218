package dialect_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"toolbench/sim/dialect"
	"toolbench/sim/stream"
	"toolbench/toolsys/message"
)

// The same conversation in each form is the same in the Messages API's: two calls in
// parallel, their results, a text.
func TestARequestIsTheSameWhicheverAPIItIsFor(t *testing.T) {
	want := `{"model":"m","max_tokens":9,"stream":true,"tools":[{"name":"view","description":"Reads.","input_schema":{"type":"object","properties":{"p":{"type":"string"}}}}],
		"system":[{"type":"text","text":"Be brief."}],"messages":[
		{"role":"user","content":[{"type":"text","text":"Go."}]},
		{"role":"assistant","content":[{"type":"text","text":"I look."},{"type":"tool_use","id":"A","name":"view","input":{"p":"a"}},{"type":"tool_use","id":"B","name":"view","input":{"p":"b"}}]},
		{"role":"user","content":[{"type":"tool_result","tool_use_id":"B","content":[{"type":"text","text":"2"}]},{"type":"tool_result","tool_use_id":"A","content":[{"type":"text","text":"1"}]}]},
		{"role":"user","content":[{"type":"text","text":"Well?"}]}]}`
	schema := `{"type":"object","properties":{"p":{"type":"string"}}}`
	for _, c := range []struct {
		api           dialect.API
		address, body string
	}{
		{dialect.Chat, "https://x/v1/chat/completions?v=1", `{"model":"m","max_completion_tokens":9,"stream":true,"tools":[{"type":"function","function":{"name":"view","description":"Reads.","parameters":` + schema + `}}],
			"messages":[{"role":"developer","content":"Be brief."},{"role":"user","content":"Go."},
			{"role":"assistant","content":"I look.","tool_calls":[{"id":"A","type":"function","function":{"name":"view","arguments":"{\"p\":\"a\"}"}},{"id":"B","function":{"name":"view","arguments":"{\"p\": \"b\"}"}}]},
			{"role":"tool","tool_call_id":"B","content":"2"},{"role":"tool","tool_call_id":"A","content":[{"type":"text","text":"1"}]},{"role":"user","content":[{"type":"text","text":"Well?"}]}]}`},
		{dialect.Responses, "", `{"model":"m","max_output_tokens":9,"stream":true,"instructions":"Be brief.","tools":[{"type":"function","name":"view","description":"Reads.","parameters":` + schema + `,"strict":true}],
			"input":[{"role":"user","content":"Go."},{"type":"reasoning","summary":[]},{"type":"message","role":"assistant","content":[{"type":"output_text","text":"I look."}]},
			{"type":"function_call","id":"fc_1","call_id":"A","name":"view","arguments":"{\"p\":\"a\"}"},{"type":"function_call","call_id":"B","name":"view","arguments":"{\"p\":\"b\"}"},
			{"type":"function_call_output","call_id":"B","output":"2"},{"type":"function_call_output","call_id":"A","output":[{"type":"input_text","text":"1"}]},{"role":"user","content":[{"type":"input_text","text":"Well?"}]}]}`},
		{dialect.Gemini, "https://x/v1beta/models/m:streamGenerateContent?alt=sse", `{"generationConfig":{"maxOutputTokens":9},"systemInstruction":{"parts":[{"text":"Be brief."}]},
			"tools":[{"functionDeclarations":[{"name":"view","description":"Reads.","parameters":{"type":"OBJECT","properties":{"p":{"type":"STRING"}}}}]}],
			"contents":[{"role":"user","parts":[{"text":"Go."}]},
			{"role":"model","parts":[{"text":"I look."},{"functionCall":{"name":"view","args":{"p":"a"},"id":"A"},"thoughtSignature":"s"},{"functionCall":{"id":"B","name":"view","args":{"p":"b"}}}]},
			{"role":"function","parts":[{"functionResponse":{"id":"B","name":"view","response":{"output":"2"}}},{"functionResponse":{"name":"view","response":{"result":"1"}}}]},
			{"role":"user","parts":[{"text":"Well?"}]}]}`},
		{dialect.Gemini, "vertexai:///generate_content_stream", `{"model":"publishers/google/models/m","config":{"max_output_tokens":9,"system_instruction":"Be brief.",
			"tools":[{"google_search":null,"function_declarations":[{"name":"view","description":"Reads.","parameters_json_schema":null,"parameters":{"type":"OBJECT","properties":{"p":{"type":"STRING"}}}}]}]},
			"contents":[{"role":"user","parts":[{"text":"Go.","function_call":null,"inline_data":null}]},
			{"role":"model","parts":[{"text":"I look."},{"text":null,"function_call":{"name":"view","args":{"p":"a"},"id":"A"},"thought_signature":"s"},{"function_call":{"id":"B","name":"view","args":{"p":"b"}}}]},
			{"role":"user","parts":[{"function_response":{"id":"B","name":"view","response":{"output":"2"}}},{"function_response":{"id":null,"name":"view","response":{"result":"1"}}}]},
			{"role":"user","parts":[{"text":"Well?"}]}]}`},
		{dialect.Ollama, "http://localhost:11434/api/chat", `{"model":"m","options":{"num_predict":9},"tools":[{"type":"function","function":{"name":"view","description":"Reads.","parameters":` + schema + `}}],
			"messages":[{"role":"system","content":"Be brief."},{"role":"user","content":"Go."},
			{"role":"assistant","content":"I look.","tool_calls":[{"id":"A","function":{"index":0,"name":"view","arguments":{"p":"a"}}},{"id":"B","function":{"name":"view","arguments":{"p":"b"}}}]},
			{"role":"tool","tool_call_id":"B","content":"2"},{"role":"tool","tool_name":"view","content":"1"},{"role":"user","content":"Well?"}]}`},
		{dialect.Cohere, "https://x/v2/chat", `{"model":"m","max_tokens":9,"stream":true,"tools":[{"type":"function","function":{"name":"view","description":"Reads.","parameters":` + schema + `}}],
			"messages":[{"role":"system","content":"Be brief."},{"role":"user","content":{"type":"text","text":"Go."}},
			{"role":"assistant","tool_plan":"I look.","tool_calls":[{"id":"A","type":"function","function":{"name":"view","arguments":"{\"p\":\"a\"}"}},{"id":"B","function":{"name":"view","arguments":"{\"p\": \"b\"}"}}]},
			{"role":"tool","tool_call_id":"B","content":[{"type":"document","document":{"id":"d","data":"2"}}]},{"role":"tool","tool_call_id":"A","content":"1"},{"role":"user","content":"Well?"}]}`},
	} {
		api, got, ok := dialect.Request(c.address, []byte(c.body), &dialect.IDs{})
		require.True(t, ok, c.api)
		assert.Equal(t, c.api, api)
		same := want
		if c.api == dialect.Gemini { // which alone has signatures of calls, and leaves ids to its clients
			same = strings.NewReplacer(`"id":"A",`, `"id":"view_e4bc","thought_signature":"s",`, `"A"`, `"view_e4bc"`, `"B"`, `"view_f7e9"`).Replace(want)
		}
		if c.api == dialect.Ollama {
			same = strings.NewReplacer(`"A"`, `"view_e4bc"`, `"B"`, `"view_f7e9"`).Replace(want)
		}
		assert.JSONEq(t, same, got.Raw, c.api)
	}
}

func TestCallsWithoutAnIDAreNamedAlikeInAnswersAndRequests(t *testing.T) {
	call := func(p, id string) string {
		return fmt.Sprintf(`{"functionCall":{"name":"view","args":{"p":%q,"n":1.0}%s}}`, p, id)
	}
	result := func(text, id string) string {
		return fmt.Sprintf(`{"functionResponse":{"name":"view","response":{"a":%q}%s}}`, text, id)
	}
	ids := &dialect.IDs{}
	history := `{"role":"model","parts":[` + call("a", `,"id":"x1"`) + `,` + call("b", `,"id":"x2"`) + `]},{"role":"user","parts":[` + result("2", `,"id":"x2"`) + `,` + result("1", `,"id":"x1"`) + `]}`
	_, first, ok := dialect.Request("", []byte(`{"contents":[`+history+`]}`), ids)
	require.True(t, ok)
	one, two := first.Get("messages.0.content.0.id").Str, first.Get("messages.0.content.1.id").Str
	assert.NotEqual(t, one, two)
	assert.Equal(t, []string{two, one}, []string{first.Get("messages.1.content.0.tool_use_id").Str, first.Get("messages.1.content.1.tool_use_id").Str})
	_, m, ok := dialect.Reply(gjson.Parse(`{"candidates":[{"content":{"parts":[`+call("a", "")+`]},"finishReason":"STOP"}]}`), dialect.Origin{IDs: ids})
	require.True(t, ok)
	again := m.Get("content.0.id").Str
	assert.Equal(t, one+"_2", again, "the third call has the input of the first")
	assert.Equal(t, "tool_use", m.Get("stop_reason").Str)
	_, later, _ := dialect.Request("", []byte(`{"contents":[`+history+`,{"role":"model","parts":[`+strings.Replace(call("a", ""), `1.0`, `1`, 1)+`]},{"parts":[`+result("3", "")+`]}]}`), &dialect.IDs{})
	assert.Equal(t, again, later.Get("messages.2.content.0.id").Str)
	assert.Equal(t, again, later.Get("messages.3.content.0.tool_use_id").Str)
}

// read gives a stream's blocks in short, and how it stopped.
func read(t *testing.T, events ...string) (blocks []string, reply message.Reply, err error) {
	t.Helper()
	asm := &message.Assembler{}
	var failed error
	s := &dialect.Stream{Emit: func(e stream.Event) error {
		done, err := asm.Add(e.Data)
		failed = err
		for _, b := range done {
			blocks = append(blocks, strings.TrimSpace(strings.Join([]string{b.Type, b.ID, b.Name, string(b.Input), b.Text, b.Invalid}, " ")))
		}
		return nil
	}}
	for _, e := range events {
		if e == "[DONE]" {
			require.NoError(t, s.Done())
			continue
		}
		require.NoError(t, s.Add(stream.Event{Type: gjson.Get(e, "type").Str, Data: []byte(e)}))
	}
	require.NoError(t, s.End())
	if failed != nil {
		return blocks, reply, failed
	}
	reply, err = asm.End()
	return blocks, reply, err
}

func chunk(delta, finish string) string {
	return fmt.Sprintf(`{"id":"c","model":"m","object":"chat.completion.chunk","choices":[{"index":0,"delta":%s,"finish_reason":%s}]}`, delta, finish)
}

func calls(calls string) string { return chunk(`{"tool_calls":[`+calls+`]}`, "null") }

func TestStreamsOfChatCompletions(t *testing.T) {
	usage := `{"id":"c","choices":[],"usage":{"prompt_tokens":9,"completion_tokens":4,"prompt_tokens_details":{"cached_tokens":6}}}`
	two := []string{"tool_use A view {\"p\":1}", "tool_use B view {}"}
	for name, c := range map[string]struct {
		events []string
		blocks []string
		stop   string
	}{
		"fragments by index": {[]string{chunk(`{"role":"assistant","content":null}`, "null"), calls(`{"index":0,"id":"A","function":{"name":"view","arguments":""}}`), calls(`{"index":0,"function":{"arguments":"{\"p\""}}`),
			calls(`{"index":0,"function":{"arguments":":1}"}}`), calls(`{"index":1,"id":"B","function":{"name":"view","arguments":"{}"}}`), chunk(`{}`, `"tool_calls"`), usage, "[DONE]"}, two, "tool_use"},
		"in turn": {[]string{calls(`{"index":0,"id":"A","function":{"name":"view","arguments":"{\"p\""}},{"index":1,"id":"B","function":{"name":"view"}}`),
			calls(`{"index":0,"id":null,"function":{"name":null,"arguments":":1}"}}`), calls(`{"index":1,"function":{"arguments":"{}"}}`), chunk(`null`, `"stop"`)}, two, "tool_use"},
		"whole, under one index": {[]string{calls(`{"index":0,"id":"A","function":{"name":"view","arguments":"{\"p\":1}"}},{"index":0,"id":"B","function":{"name":"view","arguments":"{}"}}`), chunk(`{}`, `"stop"`)}, two, "tool_use"},
		"without an index":       {[]string{calls(`{"id":"A","function":{"name":"view","arguments":{"p":1}}},{"id":"B","function":{"name":"view","arguments":null}}`), chunk(`{}`, `"tool_calls"`)}, two, "tool_use"},
		"name and id repeated": {[]string{calls(`{"index":0,"id":"A","function":{"name":"view","arguments":"{\"p\":"}}`), calls(`{"index":0,"id":"A","function":{"name":"view","arguments":"1}"}}`),
			calls(`{"index":1,"id":"B","function":{"name":"view","arguments":""}}`), chunk(`{}`, `"tool_calls"`)}, two, "tool_use"},
		"an id for each piece": {[]string{calls(`{"index":0,"id":"A","function":{"name":"view","arguments":"{\"p\":"}}`), calls(`{"index":0,"id":"Z","function":{"arguments":"1}"}}`),
			calls(`{"index":1,"id":"B","function":{"name":"view"}}`), chunk(`{}`, `"tool_calls"`)}, two, "tool_use"},
		"a piece that is null": {[]string{calls(`{"index":0,"id":"A","function":{"name":"view","arguments":"null"}}`), calls(`{"index":0,"function":{"arguments":"{\"p\":"}}`), calls(`{"index":0,"function":{"arguments":"null"}}`),
			calls(`{"index":0,"function":{"arguments":"}"}}`), calls(`{"index":1,"id":"B","function":{"name":"view","arguments":"null"}}`), chunk(`{}`, `"tool_calls"`)}, []string{`tool_use A view {"p":null}`, "tool_use B view {}"}, "tool_use"},
		"no stop reason":     {[]string{calls(`{"index":0,"id":"A","function":{"name":"view","arguments":"{\"p\":1}"}}`), calls(`{"index":1,"id":"B","function":{"name":"view","arguments":"{}"}}`), "[DONE]"}, two, "tool_use"},
		"reasoning and text": {[]string{chunk(`{"reasoning_content":"I "}`, "null"), chunk(`{"reasoning":"see."}`, "null"), chunk(`{"content":"Yes","tool_calls":[]}`, "null"), chunk(`{"content":"."}`, `"length"`)}, []string{"thinking", "text    Yes."}, "max_tokens"},
		"the message so far": {[]string{`{"id":"c","model":"m","object":"chat.completion","choices":[{"index":0,"message":{"content":"Yes"},"delta":{"content":"Yes"},"finish_reason":null}]}`,
			`{"id":"c","model":"m","object":"chat.completion","choices":[{"index":0,"message":{"content":"Yes."},"delta":{"content":"."},"finish_reason":"stop"}]}`}, []string{"text    Yes."}, "end_turn"},
		"parts":               {[]string{chunk(`{"content":[{"type":"thinking","thinking":[{"type":"text","text":"I see."}]}]}`, "null"), chunk(`{"content":[{"type":"text","text":"Yes."}]}`, `"stop"`)}, []string{"thinking", "text    Yes."}, "end_turn"},
		"the older functions": {[]string{chunk(`{"function_call":{"name":"view","arguments":"{"}}`, "null"), chunk(`{"function_call":{"arguments":"}"}}`, `"function_call"`)}, []string{"tool_use view_9dc5 view {}"}, "tool_use"},
		"another choice":      {[]string{`{"id":"c","choices":[{"index":1,"delta":{"content":"No"}}]}`, chunk(`{"content":"Yes."}`, `"content_filter"`)}, []string{"text    Yes."}, "refusal"},
		"a text that is no JSON": {[]string{calls(`{"index":0,"id":"A","type":"custom","custom":{"name":"view","input":"1"}}`), calls(`{"index":0,"custom":{"input":" \"x\n"}},{"index":1,"id":"B","type":"custom","custom":{"name":"view"}}`),
			calls(`{"index":1,"custom":{"input":""}}`), chunk(`{}`, `"tool_calls"`)}, []string{`tool_use A view {"input":"1 \"x\n"}`, `tool_use B view {"input":""}`}, "tool_use"},
		"a text that is cut": {[]string{calls(`{"index":0,"id":"A","type":"custom","custom":{"name":"view","input":"rm a"}}`), chunk(`{}`, `"length"`)}, []string{`tool_use A view {}  {"input":"rm a`}, "max_tokens"},
		"broken arguments":   {[]string{calls(`{"index":0,"id":"A","function":{"name":"view","arguments":"{\"p\":"}}`), chunk(`{}`, `"length"`)}, []string{"tool_use A view {}  {\"p\":"}, "max_tokens"},
	} {
		blocks, reply, err := read(t, c.events...)
		require.NoError(t, err, name)
		assert.Equal(t, c.blocks, blocks, name)
		assert.Equal(t, c.stop, reply.StopReason, name)
		assert.Equal(t, "c", reply.ID, name)
	}
	_, reply, err := read(t, chunk(`{"content":"x"}`, `"stop"`), usage)
	require.NoError(t, err)
	assert.Equal(t, 4, reply.Usage.Output)
	_, _, err = read(t, chunk(`{"content":"x"}`, "null"))
	assert.ErrorIs(t, err, message.ErrIncomplete, "a stream that is cut stays cut")
	_, _, err = read(t, chunk(`{"content":"x"}`, "null"), `{"error":{"message":"Overloaded","code":529}}`)
	assert.EqualError(t, err, "the stream sent an error: 529: Overloaded")
}

// What no two providers do alike: where a thought stands, what follows the stop, and where usage is counted.
func TestOdditiesOfChatCompletions(t *testing.T) {
	stop, usage := chunk(`{}`, `"stop"`), `"usage":{"prompt_tokens":9,"completion_tokens":4,"total_tokens":13}`
	for name, c := range map[string]struct {
		events []string
		blocks []string
		output int
	}{
		"a thought of Copilot's":                     {[]string{chunk(`{"content":null,"reasoning_text":"I see."}`, "null"), chunk(`{"content":"Yes."}`, "null"), stop}, []string{"thinking", "text    Yes."}, 0},
		"thoughts in a list":                         {[]string{chunk(`{"reasoning":"","reasoning_details":[{"type":"reasoning.text","text":"I see."}]}`, "null"), chunk(`{"content":"Yes."}`, "null"), stop}, []string{"thinking", "text    Yes."}, 0},
		"what is spoken":                             {[]string{chunk(`{"audio":{"id":"a","transcript":"Ye"}}`, "null"), chunk(`{"audio":{"transcript":"s."}}`, "null"), chunk(`{"audio":{"data":"AA=="}}`, "null"), stop}, []string{"text    Yes."}, 0},
		"usage of another id":                        {[]string{chunk(`{"content":"Yes."}`, "null"), stop, `{"id":"d","object":"chat.completion.chunk","choices":[],` + usage + `}`}, []string{"text    Yes."}, 4},
		"usage in the choice":                        {[]string{chunk(`{"content":"Yes."}`, "null"), `{"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":{},"finish_reason":"stop",` + usage + `}]}`}, []string{"text    Yes."}, 4},
		"reasoning that is counted apart":            {[]string{chunk(`{"content":"Yes."}`, "null"), stop, `{"id":"c","choices":[],"usage":{"prompt_tokens":9,"completion_tokens":4,"total_tokens":113,"completion_tokens_details":{"reasoning_tokens":100}}}`}, []string{"text    Yes."}, 104},
		"reasoning that is counted with all":         {[]string{chunk(`{"content":"Yes."}`, "null"), stop, `{"id":"c","choices":[],"usage":{"prompt_tokens":9,"completion_tokens":104,"total_tokens":113,"completion_tokens_details":{"reasoning_tokens":100}}}`}, []string{"text    Yes."}, 104},
		"a filter's judgement behind the stop":       {[]string{`{"id":"","object":"","choices":[],"prompt_filter_results":[{}]}`, chunk(`{"content":"Yes."}`, "null"), stop, `{"id":"","object":"","choices":[{"index":0,"finish_reason":null,"content_filter_offsets":{}}]}`, `{"id":"c","object":"chat.completion.chunk","choices":[],` + usage + `}`}, []string{"text    Yes."}, 4},
		"an empty object before the arguments":       {[]string{calls(`{"index":0,"id":"A","function":{"name":"view","arguments":"{}"}}`), calls(`{"index":0,"function":{"arguments":"{\"p\":"}}`), calls(`{"index":0,"function":{"arguments":"{}"}}`), calls(`{"index":0,"function":{"arguments":"}"}}`), stop}, []string{`tool_use A view {"p":{}}`}, 0},
		"an empty object that is all, in two pieces": {[]string{calls(`{"index":0,"id":"A","function":{"name":"view","arguments":{}}}`), calls(`{"index":1,"id":"B","function":{"name":"view","arguments":"{"}}`), calls(`{"index":1,"function":{"arguments":"}"}}`), stop}, []string{"tool_use A view {}", "tool_use B view {}"}, 0},
	} {
		blocks, reply, err := read(t, append(c.events, "[DONE]")...)
		require.NoError(t, err, name)
		assert.Equal(t, c.blocks, blocks, name)
		assert.Equal(t, c.output, reply.Usage.Output, name)
	}
	for text, want := range map[string]string{
		`{"content":null,"audio":{"transcript":"Yes."}}`:                                     `[{"type":"text","text":"Yes."}]`,
		`{"content":"Yes.","reasoning_text":"I see."}`:                                       `[{"type":"thinking","thinking":"I see."},{"type":"text","text":"Yes."}]`,
		`{"content":"Yes.","reasoning":null,"reasoning_details":[{"text":"I see."}]}`:        `[{"type":"thinking","thinking":"I see."},{"type":"text","text":"Yes."}]`,
		`{"content":"Yes.","reasoning_details":[{"type":"reasoning.encrypted","data":"e"}]}`: `[{"type":"text","text":"Yes."}]`,
	} {
		_, m, ok := dialect.Reply(gjson.Parse(`{"object":"chat.completion","choices":[{"message":`+text+`,"finish_reason":"stop"}]}`), dialect.Origin{})
		require.True(t, ok)
		assert.JSONEq(t, want, m.Get("content").Raw, text)
	}
}

func TestStreamsOfResponses(t *testing.T) {
	item := func(event string, n int, item string) string {
		return fmt.Sprintf(`{"type":"response.output_item.%s","output_index":%d,"item":%s}`, event, n, item)
	}
	created, completed := `{"type":"response.created","response":{"id":"r","model":"m","output":[]}}`,
		`{"type":"response.completed","response":{"id":"r","status":"completed","usage":{"input_tokens":9,"input_tokens_details":{"cached_tokens":6},"output_tokens":4},"output":[]}}`
	blocks, reply, err := read(t, created,
		item("added", 0, `{"type":"reasoning","id":"rs","summary":[]}`), `{"type":"response.reasoning_summary_text.delta","output_index":0,"summary_index":0,"delta":"I see."}`,
		item("done", 0, `{"type":"reasoning","id":"rs","summary":[{"text":"I see."}],"encrypted_content":"e"}`),
		item("added", 1, `{"type":"web_search_call","id":"ws"}`), item("done", 1, `{"type":"web_search_call","id":"ws","action":{"query":"q"}}`),
		item("added", 2, `{"type":"message","id":"m1"}`), `{"type":"response.output_text.delta","output_index":2,"item_id":"m1","content_index":0,"delta":"I look."}`,
		item("added", 3, `{"type":"function_call","id":"f1","call_id":"A","name":"view","arguments":""}`), item("added", 4, `{"type":"function_call","id":"f2","call_id":"B","name":"view","arguments":""}`),
		`{"type":"response.function_call_arguments.delta","output_index":4,"item_id":"other","delta":"{}"}`, `{"type":"response.function_call_arguments.delta","output_index":3,"item_id":"f1","delta":"{\"p\""}`,
		`{"type":"response.function_call_arguments.delta","output_index":3,"item_id":"f1","delta":":1}"}`, item("done", 2, `{"type":"message","id":"m1","content":[{"type":"output_text","text":"I look."}]}`),
		item("done", 3, `{"type":"function_call","id":"f1","call_id":"A","name":"view","arguments":"{\"p\":1}"}`), item("done", 4, `{"type":"function_call","id":"f2","call_id":"B","name":"view","arguments":"{}"}`),
		item("added", 5, `{"type":"custom_tool_call","call_id":"C","name":"patch"}`), item("done", 5, `{"type":"custom_tool_call","call_id":"C","name":"patch","input":"x"}`),
		item("done", 6, `{"type":"reasoning","summary":[],"encrypted_content":"e"}`), completed)
	require.NoError(t, err)
	assert.Equal(t, []string{"thinking", "server_tool_use", "text    I look.", `tool_use A view {"p":1}`, `tool_use B view {}`, `tool_use C patch {"input":"x"}`, "redacted_thinking"}, blocks)
	assert.Equal(t, []any{"r", "m", "tool_use", 4}, []any{reply.ID, reply.Model, reply.StopReason, reply.Usage.Output})

	blocks, reply, err = read(t, `{"type":"response.incomplete","response":{"id":"r","model":"m","status":"incomplete","incomplete_details":{"reason":"max_output_tokens"},"output":[{"type":"message","content":[{"type":"output_text","text":"x"}]}]}}`)
	require.NoError(t, err)
	assert.Equal(t, []string{"text    x"}, blocks, "an answer that came whole")
	assert.Equal(t, "max_tokens", reply.StopReason)
	_, _, err = read(t, created)
	require.ErrorIs(t, err, message.ErrIncomplete)
	_, _, err = read(t, created, `{"type":"response.failed","response":{"error":{"code":"server_error","message":"Sorry"}}}`)
	assert.EqualError(t, err, "the stream sent an error: server_error: Sorry")
}

// Some send the arguments of a call at its end alone, or not before the end of the answer.
func TestArgumentsOfResponsesMayComeLate(t *testing.T) {
	created, added := `{"type":"response.created","response":{"id":"r","output":[]}}`, `{"type":"response.output_item.added","output_index":0,"item":{"type":"function_call","id":"f","call_id":"A","name":"view","arguments":""}}`
	call := `{"type":"function_call","id":"f","call_id":"A","name":"view","arguments":"{\"p\":1}"}`
	delta, done := `{"type":"response.function_call_arguments.delta","output_index":0,"delta":"{\"p\":1}"}`, `{"type":"response.function_call_arguments.done","output_index":0,"arguments":"{\"p\":1}"}`
	completed := func(output string) string {
		return `{"type":"response.completed","response":{"id":"r","status":"completed","output":[` + output + `]}}`
	}
	for name, events := range map[string][]string{
		"at the end of the arguments": {created, added, done, completed("")},
		"at both ends":                {created, added, delta, done, completed(call)},
		"at the end of the answer":    {created, added, completed(call)},
		"whole":                       {created, completed(call)},
	} {
		blocks, reply, err := read(t, events...)
		require.NoError(t, err, name)
		assert.Equal(t, []string{`tool_use A view {"p":1}`}, blocks, name)
		assert.Equal(t, "tool_use", reply.StopReason, name)
	}
}

// A tool of a kind that either side may run is the client's unless the item shows otherwise.
func TestWhoRunsAToolOfResponsesShowsInItsItem(t *testing.T) {
	shell := `{"type":"shell_call","id":"s","call_id":"A","action":{"commands":["ls"]}%s}`
	search := `{"type":"tool_search_call","id":"s","call_id":"A","execution":"%s","arguments":{"q":"x"}}`
	posts := `{"type":"custom_tool_call","id":"s","call_id":"%s","name":"x_find","input":"q"}`
	ran := `,{"type":"shell_call_output","call_id":"A","output":[{"stdout":"x","outcome":{"type":"exit","exit_code":0}}]}`
	for item, want := range map[string]string{
		fmt.Sprintf(shell, `,"environment":{"type":"container_reference","container_id":"c"}`): "server_tool_use",
		fmt.Sprintf(shell, `,"environment":{"type":"local"}`):                                  `tool_use A shell {"commands":["ls"]}`,
		fmt.Sprintf(shell, ""):          `tool_use A shell {"commands":["ls"]}`,
		fmt.Sprintf(search, "server"):   "server_tool_use",
		fmt.Sprintf(search, "client"):   `tool_use A tool_search {"q":"x"}`,
		fmt.Sprintf(posts, "xs_call_1"): "server_tool_use",
		fmt.Sprintf(posts, "call_xs_1"): `tool_use call_xs_1 x_find {"input":"q"}`,
	} {
		blocks, _, err := read(t, `{"type":"response.created","response":{"id":"r","output":[]}}`, `{"type":"response.output_item.done","output_index":0,"item":`+item+`}`,
			`{"type":"response.completed","response":{"id":"r","status":"completed","output":[`+item+`]}}`)
		require.NoError(t, err)
		assert.Equal(t, []string{want}, blocks, item)
		_, m, ok := dialect.Reply(gjson.Parse(`{"id":"r","object":"response","status":"completed","output":[`+item+strings.Repeat(ran, strings.Count(item, "container_reference"))+`]}`), dialect.Origin{})
		require.True(t, ok)
		assert.Equal(t, strings.Fields(want)[0], m.Get("content.0.type").Str, item)
	}
	for who, results := range map[string]int{"client": 1, "server": 0} {
		_, request, ok := dialect.Request("/v1/responses", []byte(`{"input":[{"role":"user","content":"Find it."},`+fmt.Sprintf(search, who)+
			`,{"type":"tool_search_output","call_id":"A","execution":"`+who+`","tools":[{"type":"function","name":"found"}]}]}`), &dialect.IDs{})
		require.True(t, ok)
		assert.Len(t, request.Get(`messages.#.content.#(type=="tool_result")|@flatten`).Array(), results, who)
		assert.Equal(t, int64(results), request.Get("tools.#").Int(), "what the client found is offered from then on")
	}
	for given, results := range map[string]int{ // what goes back beside what the client gave
		`{"type":"program","id":"s","call_id":"P","code":"view()"},{"type":"function_call","id":"f","call_id":"A","name":"view","arguments":"{}","caller":{"type":"program","caller_id":"P"}},` +
			`{"type":"function_call_output","call_id":"A","output":"x"},{"type":"program_output","id":"o","call_id":"P","result":"x","status":"completed"}`: 1,
		`{"type":"multi_agent_call","id":"s","call_id":"M","action":"spawn_agent","arguments":"{}"},{"type":"multi_agent_call_output","id":"o","call_id":"M","action":"spawn_agent","output":[]}`: 0,
		`{"type":"computer_call","id":"s","call_id":"C","action":{"type":"wait"}},{"type":"computer_call_output","call_id":"C","output":{"type":"computer_screenshot","image_url":"data:,"}}`:     1,
		`{"type":"apply_patch_call","id":"s","call_id":"C","operation":{}},{"type":"apply_patch_call_output","call_id":"C","status":"completed"}`:                                                 1,
	} {
		_, request, ok := dialect.Request("/v1/responses", []byte(`{"input":[{"role":"user","content":"Do it."},`+given+`]}`), &dialect.IDs{})
		require.True(t, ok)
		assert.Len(t, request.Get(`messages.#.content.#(type=="tool_result")#|@flatten`).Array(), results, given)
	}
}

// A call of Gemini's that has its result beside it ran at the provider's, as those of its clients of MCP do.
func TestACallOfGeminiWithItsResultIsTheProviders(t *testing.T) {
	content := `{"role":"model","parts":[{"functionCall":{"name":"Look","args":{"p":1}}},{"functionResponse":{"name":"Look","response":{"result":"x"}}},{"functionCall":{"name":"view","args":{}}},{"text":"Done."}]}`
	answer := `{"candidates":[{"content":` + content + `,"finishReason":"STOP"}],"responseId":"r"}`
	kinds := `["server_tool_use","look_tool_result","tool_use","text"]`
	_, m, ok := dialect.Reply(gjson.Parse(answer), dialect.Origin{})
	require.True(t, ok)
	assert.Equal(t, kinds, m.Get("content.#.type").Raw)
	_, request, ok := dialect.Request("/v1beta/models/m:generateContent", []byte(`{"contents":[{"role":"user","parts":[{"text":"Look."}]},`+content+`,{"role":"user","parts":[{"functionResponse":{"name":"view","response":{"result":"y"}}}]}]}`), &dialect.IDs{})
	require.True(t, ok)
	assert.Equal(t, kinds, request.Get("messages.1.content.#.type").Raw)
	assert.Equal(t, request.Get("messages.1.content.2.id").Str, request.Get("messages.2.content.0.tool_use_id").Str)
	blocks, reply, err := read(t, answer)
	require.NoError(t, err)
	require.Len(t, blocks, 4)
	assert.Equal(t, []string{"server_tool_use", "tool_use"}, []string{strings.Fields(blocks[0])[0], strings.Fields(blocks[2])[0]})
	assert.Equal(t, "tool_use", reply.StopReason)
}

func TestUsageOfGeminiMayStandByItself(t *testing.T) {
	_, reply, err := read(t, `{"candidates":[{"content":{"parts":[{"text":"Yes."}]},"finishReason":"STOP"}],"responseId":"r"}`, `{"usageMetadata":{"promptTokenCount":9,"candidatesTokenCount":4}}`)
	require.NoError(t, err)
	assert.Equal(t, []any{"r", 4}, []any{reply.ID, reply.Usage.Output})
}

func TestStreamsOfGemini(t *testing.T) {
	piece := func(parts, rest string) string {
		return `{"candidates":[{"content":{"role":"model","parts":[` + parts + `]}` + rest + `}],"responseId":"r","modelVersion":"m","usageMetadata":{"promptTokenCount":9,"cachedContentTokenCount":6,"candidatesTokenCount":3,"thoughtsTokenCount":1}}`
	}
	blocks, reply, err := read(t, piece(`{"text":"I ","thought":true}`, ""), piece(`{"text":"see.","thought":true},{"text":"Yes"}`, ""), piece(`{"text":"."}`, ""),
		piece(`{"functionCall":{"name":"view","args":{"p":1}},"thoughtSignature":"s"},{"functionCall":{"name":"view","args":{}}}`, ""),
		piece(`{"executableCode":{"code":"1"}},{"codeExecutionResult":{"output":"1"}}`, ""), piece(`{"text":"","thoughtSignature":"s"}`, `,"finishReason":"STOP"`))
	require.NoError(t, err)
	assert.Equal(t, []string{"thinking", "text    Yes.", `tool_use view_2d2e view {"p":1}`, `tool_use view_b825 view {}`, "server_tool_use", "code_execution_tool_result"}, blocks)
	assert.Equal(t, []any{"r", "m", "tool_use", 4}, []any{reply.ID, reply.Model, reply.StopReason, reply.Usage.Output})
	_, reply, err = read(t, `{"promptFeedback":{"blockReason":"SAFETY"},"usageMetadata":{"promptTokenCount":9},"modelVersion":"m"}`)
	require.NoError(t, err)
	assert.Equal(t, "refusal", reply.StopReason)
}

// Steps of Interactions come as items of Responses do, some of them whole at their start.
func TestStreamsOfInteractions(t *testing.T) {
	step := func(event string, index int, rest string) string {
		return fmt.Sprintf(`{"event_type":"step.%s","index":%d%s}`, event, index, rest)
	}
	created := `{"event_type":"interaction.created","interaction":{"id":"v1","model":"m","status":"in_progress","object":"interaction"}}`
	end := func(status string) string {
		return `{"event_type":"interaction.completed","interaction":{"id":"v1","status":"` + status + `","usage":{"total_input_tokens":7,"total_tool_use_tokens":2,"total_cached_tokens":6,"total_output_tokens":3,"total_thought_tokens":1}}}`
	}
	call := func(index int, id string) string {
		return step("start", index, `,"step":{"type":"function_call","id":"`+id+`","name":"view","arguments":{},"signature":"s"}`)
	}
	arguments := func(text string) string {
		return step("delta", 3, `,"delta":{"type":"arguments_delta","arguments":`+string(dialect.JSON(text))+`}`)
	}
	blocks, reply, err := read(t, created, `{"event_type":"interaction.status_update","interaction_id":"v1","status":"in_progress"}`,
		step("start", 0, `,"step":{"type":"thought","summary":[{"type":"text","text":"I "}]}`), step("delta", 0, `,"delta":{"type":"thought_summary","content":{"type":"text","text":"see."}}`),
		step("delta", 0, `,"delta":{"type":"thought_signature","signature":"s"}`), step("stop", 0, ""),
		step("start", 1, `,"step":{"type":"google_search_call","id":"g","arguments":{"queries":["q"]}}`), step("stop", 1, ""),
		step("start", 2, `,"step":{"type":"model_output","content":[{"type":"text","text":"Y"}]}`), step("delta", 2, `,"delta":{"type":"text","text":"es."}`), step("stop", 2, ""),
		call(3, "A"), arguments(`{"p":`), arguments(`1}`), step("stop", 3, ""), call(4, "B"), step("stop", 4, ""), end("requires_action"))
	require.NoError(t, err)
	assert.Equal(t, []string{"thinking", "server_tool_use", "text    Yes.", `tool_use A view {"p":1}`, `tool_use B view {}`}, blocks)
	assert.Equal(t, []any{"v1", "m", "tool_use", 4}, []any{reply.ID, reply.Model, reply.StopReason, reply.Usage.Output})
	_, _, err = read(t, created, step("start", 0, `,"step":{"type":"model_output"}`), `{"event_type":"error","error":{"message":"Late","code":"gateway_timeout"}}`)
	require.ErrorContains(t, err, "gateway_timeout: Late")
	_, _, err = read(t, created, call(3, "A"), arguments(`{"p":`))
	require.ErrorIs(t, err, message.ErrIncomplete)
}

// Several streams may stand behind one another without an id that tells them apart: another prompt
// is another answer. Earlier models end each piece, and what follows an end may be no more than a
// count.
func TestStreamsOfGeminiWithoutIDs(t *testing.T) {
	piece := func(text, stop, prompt string) string {
		return `{"candidates":[{"content":{"role":"model","parts":[` + text + `]}` + stop + `}],"modelVersion":"m"` + prompt + `}`
	}
	yes, stop := `{"text":"Y"}`, `,"finishReason":"STOP"`
	count := func(n int) string { return fmt.Sprintf(`,"usageMetadata":{"promptTokenCount":%d}`, n) }
	for name, c := range map[string]struct {
		events []string
		want   int
	}{
		"a count of its own":          {[]string{piece(yes, "", count(5)), piece(yes, stop, count(5)), piece(yes, "", count(9)), piece(yes, stop, count(9))}, 2},
		"counted at the end alone":    {[]string{piece(yes, "", ""), piece(yes, stop, count(5)), piece(yes, "", ""), piece(yes, stop, count(9))}, 2},
		"each piece ends":             {[]string{piece(yes, stop, count(5)), piece(yes, stop, count(5))}, 1},
		"nothing is counted":          {[]string{piece(yes, stop, ""), piece(yes, stop, "")}, 1},
		"counted behind the end":      {[]string{piece(yes, stop, ""), piece("", "", count(5))}, 1},
		"nothing but a count follows": {[]string{piece(yes, stop, count(5)), piece("", "", count(6))}, 1},
	} {
		n := 0
		s := &dialect.Stream{Emit: func(e stream.Event) error {
			if e.Type == "message_stop" {
				n++
			}
			return nil
		}}
		for _, e := range c.events {
			require.NoError(t, s.Add(stream.Event{Data: []byte(e)}))
		}
		require.NoError(t, s.End())
		assert.Equal(t, c.want, n, name)
	}
}

// The index of a block is whatever a stream gives.
func TestABlockOfConverseMayHaveAnyIndex(t *testing.T) {
	var kinds []string
	s := &dialect.Stream{Emit: func(e stream.Event) error { kinds = append(kinds, e.Type); return nil }}
	require.NoError(t, s.Add(stream.Event{Type: "contentBlockDelta", Data: []byte(`{"contentBlockIndex":9007199254740991,"delta":{"text":"Yes."}}`)}))
	require.NoError(t, s.Add(stream.Event{Type: "messageStop", Data: []byte(`{"stopReason":"end_turn"}`)}))
	require.NoError(t, s.End())
	assert.Equal(t, []string{"message_start", "content_block_start", "content_block_delta", "message_delta", "message_stop"}, kinds)
}

// Google's library for Python writes pieces down with its own names, and with what they have not as null.
func TestPiecesOfGeminiAsItsLibraryWritesThem(t *testing.T) {
	piece := func(part, stop string) string {
		return `{"candidates":[{"content":{"role":"model","parts":[` + part + `]},"finish_reason":` + stop + `}],"response_id":"r","model_version":"m","prompt_feedback":null,
			"usage_metadata":{"prompt_token_count":9,"cached_content_token_count":6,"candidates_token_count":3,"thoughts_token_count":null}}`
	}
	text := func(s string) string { return `{"text":"` + s + `","thought":null,"function_call":null}` }
	blocks, reply, err := read(t, piece(text("Y"), "null"), piece(text("es."), "null"),
		piece(`{"text":null,"function_call":{"id":null,"name":"view","args":{"p":1},"partial_args":null,"will_continue":null}}`, "null"),
		piece(`{"text":null,"inline_data":{"mime_type":"image/png","data":"aGk="}}`, `"STOP"`))
	require.NoError(t, err)
	assert.Equal(t, []string{"text    Yes.", `tool_use view_2d2e view {"p":1}`, "image"}, blocks)
	assert.Equal(t, []any{"r", "m", "tool_use", 3}, []any{reply.ID, reply.Model, reply.StopReason, reply.Usage.Output})
	_, whole, ok := dialect.Reply(gjson.Parse(piece(text("Yes."), `"STOP"`)), dialect.Origin{})
	require.True(t, ok)
	assert.JSONEq(t, `{"input_tokens":3,"cache_creation_input_tokens":0,"cache_read_input_tokens":6,"output_tokens":3}`, whole.Get("usage").Raw)
	_, reply, err = read(t, `{"prompt_feedback":{"block_reason":"SAFETY"},"usage_metadata":{"prompt_token_count":9},"model_version":"m"}`)
	require.NoError(t, err)
	assert.Equal(t, "refusal", reply.StopReason)
}

func TestStreamsOfOllama(t *testing.T) {
	line := func(message, rest string) string {
		return `{"model":"m","created_at":"2026-01-01T00:00:00Z","message":{"role":"assistant",` + message + `},` + rest + `}`
	}
	more := `"done":false`
	blocks, reply, err := read(t, line(`"content":"","thinking":"I "`, more), line(`"content":"","thinking":"see."`, more), line(`"content":"Ye"`, more), line(`"content":"s."`, more),
		line(`"content":"","tool_calls":[{"id":"call_1","function":{"index":0,"name":"view","arguments":{"p":1}}},{"function":{"name":"view","arguments":{}}}]`, more),
		line(`"content":""`, `"done":true,"done_reason":"stop","prompt_eval_count":9,"eval_count":4`))
	require.NoError(t, err)
	assert.Equal(t, []string{"thinking", "text    Yes.", `tool_use view_2d2e view {"p":1}`, `tool_use view_b825 view {}`}, blocks)
	assert.Equal(t, []any{"m", "tool_use", 4}, []any{reply.Model, reply.StopReason, reply.Usage.Output})
	_, reply, err = read(t, line(`"content":"Ye"`, `"done":true,"done_reason":"length"`))
	require.NoError(t, err)
	assert.Equal(t, "max_tokens", reply.StopReason)
	_, _, err = read(t, line(`"content":"Ye"`, more), `{"error":"the runner stopped"}`)
	assert.ErrorContains(t, err, "the runner stopped")
	_, _, err = read(t, line(`"content":"Ye"`, more))
	assert.Error(t, err, "an answer that is not done is cut")
}

func TestStreamsOfCohere(t *testing.T) {
	event := func(kind, index, message string) string {
		return `{"type":"` + kind + `","index":` + index + `,"delta":{"message":` + message + `}}`
	}
	start, plan := `{"type":"message-start","id":"r","delta":{"message":{"role":"assistant","content":[]}}}`, `{"type":"tool-plan-delta","delta":{"message":{"tool_plan":"I look."}}}`
	call := func(kind, index, call string) string {
		return event("tool-call-"+kind, index, `{"tool_calls":`+call+`}`)
	}
	end := `{"type":"message-end","delta":{"finish_reason":"%s","usage":{"billed_units":{"output_tokens":1},"tokens":{"input_tokens":9,"output_tokens":4},"cached_tokens":6}}}`
	blocks, reply, err := read(t, start, plan, call("start", "0", `{"id":"A","function":{"name":"view","arguments":""}}`), call("delta", "0", `{"function":{"arguments":"{\"p\""}}`), call("delta", "0", `{"function":{"arguments":":1}"}}`),
		`{"type":"tool-call-end","index":0}`, call("start", "1", `{"id":"B","function":{"name":"view","arguments":""}}`), `{"type":"tool-call-end","index":1}`, fmt.Sprintf(end, "TOOL_CALL"))
	require.NoError(t, err)
	assert.Equal(t, []string{"text    I look.", `tool_use A view {"p":1}`, "tool_use B view {}"}, blocks, "a call is whole when its own end comes")
	assert.Equal(t, []any{"r", "tool_use", 3, 6, 4}, []any{reply.ID, reply.StopReason, reply.Usage.Input, reply.Usage.CacheRead, reply.Usage.Output})
	blocks, reply, err = read(t, start, event("content-start", "0", `{"content":{"type":"thinking","thinking":"I "}}`), event("content-delta", "0", `{"content":{"thinking":"see."}}`), `{"type":"content-end","index":0}`,
		event("content-start", "1", `{"content":{"type":"text","text":""}}`), event("content-delta", "1", `{"content":{"text":"Yes."}}`), event("citation-start", "0", `{"citations":{"start":0}}`), `{"type":"citation-end","index":0}`, `{"type":"content-end","index":1}`, fmt.Sprintf(end, "MAX_TOKENS"))
	require.NoError(t, err)
	assert.Equal(t, []string{"thinking", "text    Yes."}, blocks)
	assert.Equal(t, "max_tokens", reply.StopReason)
	_, _, err = read(t, start, plan)
	require.ErrorIs(t, err, message.ErrIncomplete, "a stream that is cut stays cut")
	_, _, err = read(t, start, plan, `{"type":"message-end","delta":{"error":"invalid tool generation","finish_reason":"ERROR"}}`)
	require.EqualError(t, err, "the stream sent an error: api_error: invalid tool generation")
}

// A result of Ollama's chat may have nothing but the name of its tool, in whatever order.
func TestResultsOfOllamaAreJoinedByName(t *testing.T) {
	_, v, ok := dialect.Request("/api/chat", []byte(`{"model":"m","messages":[{"role":"user","content":"x"},
		{"role":"assistant","content":"","tool_calls":[{"function":{"name":"view","arguments":{}}},{"function":{"name":"list","arguments":{}}}]},
		{"role":"tool","tool_name":"list","content":"1"},{"role":"tool","tool_name":"view","content":"2"}]}`), &dialect.IDs{})
	require.True(t, ok)
	view, list := v.Get("messages.1.content.0.id").Str, v.Get("messages.1.content.1.id").Str
	assert.Equal(t, []string{list, view}, []string{v.Get("messages.2.content.0.tool_use_id").Str, v.Get("messages.2.content.1.tool_use_id").Str})
}

// A request of Responses whose input is a text looks like one for embeddings, but for what only the one has.
func TestATextIsAskedOfResponses(t *testing.T) {
	for body, want := range map[string]bool{
		`{"model":"m","input":"Go."}`: false, `{"model":"m","input":"Go.","dimensions":8}`: false, `{"model":"m","input":"Go.","stream":false}`: true,
		`{"model":"m","input":"Go.","tools":[]}`: true, `{"model":"m","input":"Go.","conversation":"c"}`: true, `{"model":"m","input":"Go.","instructions":"Be brief."}`: true,
	} {
		_, _, ok := dialect.Request("", []byte(body), &dialect.IDs{})
		assert.Equal(t, want, ok, body)
	}
}

// A request without an address shows by its members that it is Ollama's.
func TestRequestsOfOllamaAreKnownByTheirMembers(t *testing.T) {
	for member, want := range map[string]dialect.API{`"keep_alive":"5m"`: dialect.Ollama, `"options":{}`: dialect.Ollama, `"think":false`: dialect.Ollama, `"stream_options":{}`: dialect.Chat, `"top_k":1`: dialect.Messages} {
		api, v, ok := dialect.Request("", []byte(`{`+member+`,"messages":[{"role":"user","content":"x","images":["aGk="]}]}`), &dialect.IDs{})
		require.True(t, ok)
		assert.Equal(t, want, api, member)
		if want == dialect.Ollama {
			assert.Equal(t, []string{"x", "aGk="}, []string{v.Get("messages.0.content.0.text").Str, v.Get("messages.0.content.1.source.data").Str})
		}
	}
}

// The arguments of Gemini's calls may come in pieces, each with its place: a call is what they
// come to. One that was cut, or whose pieces contradict each other, is none that can run.
func TestCallsOfGeminiInPieces(t *testing.T) {
	piece := func(call, rest string) string {
		return `{"candidates":[{"content":{"role":"model","parts":[{"functionCall":` + call + `}]}` + rest + `}],"responseId":"r","modelVersion":"m"}`
	}
	args := func(path, value string) string {
		return piece(`{"partialArgs":[{"jsonPath":"`+path+`",`+value+`}],"willContinue":true}`, "")
	}
	begin, stop := piece(`{"name":"view","id":"A","willContinue":true}`, ""), piece(`{}`, `,"finishReason":"STOP"`)
	for name, c := range map[string]struct {
		events []string
		want   []string
	}{
		"texts grow, lists and objects nest": {[]string{begin, args("$.p[0].name", `"stringValue":"Bos","willContinue":true`), args("$.p[0].name", `"stringValue":"ton"`), args("$.p[0].n", `"numberValue":1.50`),
			args("$.p[1]['a.b']", `"boolValue":true`), args("$.x", `"nullValue":"NULL_VALUE"`), stop}, []string{`view {"p":[{"n":1.50,"name":"Boston"},{"a.b":true}],"x":null}`}},
		"several, one without arguments, one whole": {[]string{begin, args("$.p", `"stringValue":"a"`), piece(`{}`, ""), begin, piece(`{}`, ""), piece(`{"name":"list","args":{"q":1}}`, `,"finishReason":"STOP"`)},
			[]string{`view {"p":"a"}`, `view {}`, `list {"q":1}`}},
		"the last piece has an argument":       {[]string{begin, piece(`{"partialArgs":[{"jsonPath":"$.p","numberValue":1}]}`, `,"finishReason":"STOP"`)}, []string{`view {"p":1}`}},
		"no last piece, yet the model ended":   {[]string{begin, args("$.p", `"stringValue":"a"`), piece(`{"name":"list"}`, `,"finishReason":"STOP"`)}, []string{`view {} !{"p":"a"`, `list {}`}},
		"cut by the limit of tokens":           {[]string{begin, piece(`{"partialArgs":[{"jsonPath":"$.p","stringValue":"a"}],"willContinue":true}`, `,"finishReason":"MAX_TOKENS"`)}, []string{`view {} !{"p":"a"`}},
		"a place that contradicts another":     {[]string{begin, args("$.p", `"stringValue":"a"`), args("$.p.q", `"stringValue":"a"`), stop}, []string{`view {} !{"p":"a"`}},
		"a list with holes, as a huge one has": {[]string{begin, args("$.p[999999999]", `"stringValue":"a"`), stop}, []string{`view {} !{"p":null`}},
		"no place":                             {[]string{begin, args("$.p[x]", `"stringValue":"a"`), stop}, []string{`view {} !{`}},
	} {
		t.Run(name, func(t *testing.T) {
			asm := &message.Assembler{}
			var calls []string
			s := &dialect.Stream{Emit: func(e stream.Event) error {
				done, err := asm.Add(e.Data)
				for _, b := range done {
					calls = append(calls, strings.TrimSuffix(b.Name+" "+string(b.Input)+" !"+b.Invalid, " !"))
				}
				return err
			}}
			for _, e := range c.events {
				require.NoError(t, s.Add(stream.Event{Data: []byte(e)}))
			}
			require.NoError(t, s.End())
			assert.Equal(t, c.want, calls)
		})
	}
}

// What a stream has in pieces, a whole answer has at once.
func TestWholeAnswers(t *testing.T) {
	for api, text := range map[dialect.API]string{
		dialect.Chat: `{"id":"r","object":"chat.completion","model":"m","choices":[{"message":{"role":"assistant","content":"Yes.","reasoning_content":"I see.","tool_calls":[{"id":"A","function":{"name":"view","arguments":"{\"p\":1}"}}]},"finish_reason":"stop"}],
			"usage":{"prompt_tokens":9,"prompt_cache_hit_tokens":6,"completion_tokens":4}}`,
		dialect.Responses: `{"id":"r","object":"response","model":"m","status":"completed","output":[{"type":"reasoning","summary":[{"text":"I see."}]},{"type":"message","content":[{"type":"output_text","text":"Yes."}]},
			{"type":"function_call","id":"f","call_id":"A","name":"view","arguments":"{\"p\":1}"}],"usage":{"input_tokens":9,"input_tokens_details":{"cached_tokens":6},"output_tokens":4}}`,
		dialect.Gemini: `{"responseId":"r","modelVersion":"m","candidates":[{"content":{"parts":[{"text":"I see.","thought":true},{"text":"Yes."},{"functionCall":{"id":"A","name":"view","args":{"p":1}}}]},"finishReason":"STOP"}],
			"usageMetadata":{"promptTokenCount":7,"toolUsePromptTokenCount":2,"cachedContentTokenCount":6,"candidatesTokenCount":3,"thoughtsTokenCount":1}}`,
		dialect.Interactions: `{"id":"r","object":"interaction","model":"m","status":"requires_action","steps":[{"type":"thought","summary":[{"type":"text","text":"I see."}]},{"type":"model_output","content":[{"type":"text","text":"Yes."}]},
			{"type":"function_call","id":"A","name":"view","arguments":{"p":1}}],"usage":{"total_input_tokens":7,"total_tool_use_tokens":2,"total_cached_tokens":6,"total_output_tokens":3,"total_thought_tokens":1}}`,
		dialect.Cohere: `{"id":"r","message":{"role":"assistant","content":[{"type":"thinking","thinking":"I see."},{"type":"text","text":"Yes."}],"tool_calls":[{"id":"A","type":"function","function":{"name":"view","arguments":"{\"p\":1}"}}]},
			"finish_reason":"TOOL_CALL","usage":{"billed_units":{"input_tokens":1,"output_tokens":1},"tokens":{"input_tokens":9,"output_tokens":4},"cached_tokens":6}}`,
	} {
		got, m, ok := dialect.Reply(gjson.Parse(text), dialect.Origin{Model: "m", IDs: &dialect.IDs{}})
		require.True(t, ok, api)
		assert.Equal(t, api, got)
		id := "A"
		if api == dialect.Gemini {
			id = "view_2d2e"
		}
		assert.JSONEq(t, `{"type":"message","id":"r","role":"assistant","model":"m","content":[{"type":"thinking","thinking":"I see."},{"type":"text","text":"Yes."},{"type":"tool_use","id":"`+id+`","name":"view","input":{"p":1}}],
			"stop_reason":"tool_use","usage":{"input_tokens":3,"cache_creation_input_tokens":0,"cache_read_input_tokens":6,"output_tokens":4}}`, m.Raw, api)
	}
}

// Most count what their cache gave and what was written to it as input too. Where that is more than all the input, they are
// counted apart.
func TestWhatTheCacheGave(t *testing.T) {
	for counted, want := range map[string]string{
		`"prompt_tokens":9,"completion_tokens":4,"prompt_tokens_details":{"cached_tokens":9}`:                                                       `[0,9,0]`,
		`"prompt_tokens":9,"completion_tokens":4,"prompt_tokens_details":{"cached_tokens":160}`:                                                     `[9,160,0]`,
		`"prompt_tokens":9,"completion_tokens":4`:                                                                                                   `[9,0,0]`,
		`"prompt_tokens":9,"completion_tokens":4,"prompt_tokens_details":{"cached_tokens":2,"cache_write_tokens":6}`:                                `[1,2,6]`,
		`"prompt_tokens":9,"completion_tokens":4,"prompt_tokens_details":{"cached_tokens":2,"cache_creation_tokens":6}`:                             `[1,2,6]`,
		`"prompt_tokens":9,"completion_tokens":4,"prompt_tokens_details":{"cached_tokens":0,"cache_write_tokens":null,"cache_creation_tokens":160}`: `[9,0,160]`,
	} {
		_, m, ok := dialect.Reply(gjson.Parse(`{"choices":[{"message":{"content":"Yes."},"finish_reason":"stop"}],"usage":{`+counted+`}}`), dialect.Origin{})
		require.True(t, ok)
		assert.Equal(t, want, m.Get("[usage.input_tokens,usage.cache_read_input_tokens,usage.cache_creation_input_tokens]").Raw, counted)
	}
}

// Whatever a body or an event holds, what comes of it is JSON.
func FuzzTranslation(f *testing.F) {
	f.Add(`{"model":"m","input":[{"type":"function_call","arguments":"{"},{"role":"user","content":[{}]}]}`)
	f.Add(`{"contents":[{"parts":[{"functionCall":{}},{"functionResponse":{"response":[]}}]}],"tools":[{"functionDeclarations":[{"parameters":{"anyOf":[1],"nullable":true,"type":"STRING"}}]}]}`)
	f.Add(`{"messages":[{"role":"tool"},{"role":"assistant","tool_calls":[{}],"content":[["x"]]}],"choices":[{"delta":{"tool_calls":[{"index":1e300}]}}]}`)
	f.Add(`{"type":"response.output_item.done","item":{"type":"mcp_call"},"candidates":[{"content":{"parts":[{"text":1}]}}]}`)
	f.Add(`{"type":"tool-call-start","index":0,"delta":{"message":{"tool_calls":{"function":{"name":"a"}}}}}`)
	f.Add(`{"id":1,"message":{"role":"assistant","content":[{"type":"document","document":{"data":{}}}]},"finish_reason":"ERROR"}`)
	f.Fuzz(func(t *testing.T, body string) {
		for _, address := range []string{"", "/chat/completions", "/responses", "/api/chat", "/v2/chat"} {
			if _, v, ok := dialect.Request(address, []byte(body), &dialect.IDs{}); ok {
				assert.True(t, json.Valid([]byte(v.Raw)), v.Raw)
			}
		}
		if !json.Valid([]byte(body)) {
			return
		}
		if _, v, ok := dialect.Reply(gjson.Parse(body), dialect.Origin{}); ok {
			assert.True(t, json.Valid([]byte(v.Raw)), v.Raw)
		}
		s := &dialect.Stream{Emit: func(e stream.Event) error {
			assert.True(t, json.Valid(e.Data))
			return nil
		}}
		for range 2 {
			require.NoError(t, s.Add(stream.Event{Type: gjson.Get(body, "type").String(), Data: []byte(body)}))
		}
		require.NoError(t, s.Done())
	})
}
