package recording_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/sim/recording"
)

// flattened gives a value's members each by its whole name, as tracers keep messages in attributes.
func flattened(name string, v any, into map[string]any) map[string]any {
	switch v := v.(type) {
	case object:
		for k, inner := range v {
			flattened(name+"."+k, inner, into)
		}
	case []object:
		for i, inner := range v {
			flattened(fmt.Sprint(name, ".", i), inner, into)
		}
	default:
		into[name] = v
	}
	return into
}

// otlpSpans are spans as OpenTelemetry writes them in JSON, of attributes each; one of a tool is among them.
func otlpSpans(t testing.TB, spans ...map[string]any) string {
	list := []object{{"name": "view", "attributes": []object{{"key": "tool.name", "value": object{"stringValue": "view"}}}}}
	for i, attributes := range spans {
		var pairs []object
		for _, name := range slices.Sorted(maps.Keys(attributes)) {
			value := object{"stringValue": attributes[name]}
			if n, ok := attributes[name].(int); ok {
				value = object{"intValue": fmt.Sprint(n)}
			}
			pairs = append(pairs, object{"key": name, "value": value})
		}
		list = append(list, object{"name": "chat", "attributes": pairs, "startTimeUnixNano": fmt.Sprint(9-4*i, "000000000"), "endTimeUnixNano": fmt.Sprint(11-4*i, "000000000")})
	}
	return asJSON(t, object{"resourceSpans": []object{{"scopeSpans": []object{{"spans": list}}}}})
}

// openInference are the attributes of a turn's span by OpenInference's conventions.
func openInference(n int) map[string]any {
	said := spokenWith(func(id, name string, input object) object {
		return object{"tool_call": object{"id": id, "function": object{"name": name, "arguments": fmt.Sprintf(`{"p":%d}`, len(input))}}}
	}, func(id, text string, _ bool) object {
		return object{"role": "tool", "tool_call_id": id, "content": text}
	})
	said[4] = object{"role": "assistant", "contents": []object{{"message_content": object{"type": "text", "text": "{\"a\": 1} is it."}}}}
	var wrapped []object
	for _, m := range said {
		wrapped = append(wrapped, object{"message": m})
	}
	out := object{"llm.model_name": "m-1", "llm.token_count.prompt": 9, "llm.token_count.completion": 4, "openinference.span.kind": "LLM",
		"llm.tools.0.tool.json_schema": `{"type":"function","function":{"name":"view","description":"Reads.","parameters":{"type":"object"}}}`,
		"llm.tools.1.tool.json_schema": `{"name":"ls","description":"Lists.","input_schema":{"type":"object"}}`, "llm.tools.2.tool.json_schema": "{}"}
	flattened("llm.input_messages", wrapped[:n], out)
	return flattened("llm.output_messages", wrapped[n:n+1], out)
}

// openLLMetry are those by the conventions of OpenLLMetry.
func openLLMetry(n int) map[string]any {
	said := spokenWith(func(id, name string, input object) object {
		return object{"id": id, "name": name, "arguments": fmt.Sprintf(`{"p":%d}`, len(input))}
	}, func(id, text string, _ bool) object {
		return object{"role": "tool", "tool_call_id": id, "content": text}
	})
	said[4] = object{"role": "assistant", "content": "Done.", "finish_reason": "stop"}
	out := object{"gen_ai.request.model": "m", "gen_ai.response.model": "m-1", "gen_ai.usage.input_tokens": 9, "gen_ai.usage.output_tokens": 4,
		"llm.request.functions.0.name": "view", "llm.request.functions.0.parameters": `{"type":"object"}`, "llm.request.functions.1.name": "ls"}
	flattened("gen_ai.prompt", said[:n], out)
	return flattened("gen_ai.completion", said[n:n+1], out)
}

// vercelSpan are the attributes of a request's span by Vercel's AI SDK.
func vercelSpan(t testing.TB, n int) map[string]any {
	said := spokenWith(func(id, name string, input object) object {
		return object{"toolCallId": id, "toolName": name, "input": fmt.Sprintf(`{"p":%d}`, len(input))}
	}, func(id, text string, _ bool) object {
		return object{"role": "tool", "content": []object{{"type": "tool-result", "toolCallId": id, "toolName": "view", "output": object{"type": "text", "value": text}}}}
	})
	called := said[1]["tool_calls"].([]object)
	said[1] = object{"role": "assistant", "content": []object{}}
	for _, c := range called {
		said[1]["content"] = append(said[1]["content"].([]object), object{"type": "tool-call", "toolCallId": c["toolCallId"], "toolName": c["toolName"], "input": object{"p": 1}})
	}
	out := map[string]any{"ai.operationId": "ai.generateText.doGenerate", "ai.model.id": "m", "ai.response.model": "m-1", "ai.usage.promptTokens": 9, "ai.usage.completionTokens": 4,
		"ai.prompt.messages": asJSON(t, said[:n]), "ai.prompt.tools": asJSON(t, []string{`{"name":"view","inputSchema":{"type":"object"}}`, `{"name":"ls","parameters":{}}`})}
	if n > 1 {
		out["ai.response.text"] = "Done."
		return out
	}
	out["ai.response.toolCalls"] = asJSON(t, called)
	return out
}

// Spans whose messages are spread over their attributes are turns, in the order in which they began.
func TestTracesWithAMemberAnAttributeAreConversations(t *testing.T) {
	row := func(n int) object {
		return object{"name": "m", "span_kind": "LLM", "context": object{"trace_id": "t", "span_id": fmt.Sprint(n)}, "attributes": openInference(n),
			"start_time": fmt.Sprintf("2026-01-02T03:04:%02d+00:00", 10*n), "end_time": fmt.Sprintf("2026-01-02T03:04:%02d+00:00", 10*n+2)}
	}
	for name, text := range map[string]string{
		"OpenInference": otlpSpans(t, openInference(4), openInference(1)),
		"OpenLLMetry":   otlpSpans(t, openLLMetry(4), openLLMetry(1)),
		"Vercel":        otlpSpans(t, vercelSpan(t, 4), vercelSpan(t, 1)),
		"Phoenix":       asJSON(t, []object{{"context": object{"span_id": "0"}, "span_kind": "TOOL", "attributes": object{"tool.name": "view"}}, row(1), row(4)}),
	} {
		rec := open(t, text)
		assert.Empty(t, rec.Problems, name)
		require.Len(t, rec.Conversations, 1, name)
		turns := rec.Conversations[0].Turns
		require.Len(t, turns, 2, name)
		assert.Equal(t, []string{`A view {"p":1}`, `B ls {"p":0}`}, calls(turns[0]), name)
		assert.Equal(t, []string{"A a text", "B no such folder"}, answers(turns[0]), name)
		require.Len(t, turns[0].Tools, 2, name)
		assert.JSONEq(t, `{"type":"object"}`, string(turns[0].Tools[0].Schema), name)
		assert.Equal(t, []any{"m-1", "tool_use", 9, 4, 2.0}, []any{turns[0].Model, turns[0].Stop, turns[0].Usage.Input, turns[0].Usage.Output, turns[0].Calls[0].Ready.At.Seconds()}, name)
	}
}

// What a span counts of the cache is a part of what it counts as read, unless it is more.
func TestWhatASpanCountsOfTheCache(t *testing.T) {
	for name, read := range map[string][2]string{
		"OpenInference":     {"llm.token_count.prompt_details.cache_read", "llm.token_count.prompt_details.cache_write"},
		"OpenLLMetry":       {"gen_ai.usage.cache_read_input_tokens", "gen_ai.usage.cache_creation_input_tokens"},
		"OpenTelemetry":     {"gen_ai.usage.cache_read.input_tokens", "gen_ai.usage.cache_creation.input_tokens"},
		"Vercel's AI SDK":   {"ai.usage.inputTokenDetails.cacheReadTokens", "ai.usage.inputTokenDetails.cacheWriteTokens"},
		"Vercel's, earlier": {"ai.usage.cachedInputTokens", ""},
	} {
		for counted, want := range map[int]recording.Usage{2: {Input: 6, Read: 2, Written: 1, Output: 4}, 20: {Input: 9, Read: 20, Written: 1, Output: 4}} {
			span := openLLMetry(1)
			if read[1] == "" {
				want.Input, want.Written = min(9, want.Input+1), 0
			} else {
				span[read[1]] = 1
			}
			span[read[0]] = counted
			rec := open(t, otlpSpans(t, span))
			assert.Equal(t, &want, rec.Conversations[0].Turns[0].Usage, "%s: %d", name, counted)
		}
	}
}

// Langfuse keeps what went to a model and came from it as the observed library had it, as JSON or as a text of it.
func TestGenerationsOfLangfuseAreTurns(t *testing.T) {
	user := object{"role": "user", "content": "Go."}
	tool := object{"type": "function", "function": object{"name": "ls", "description": "Lists.", "parameters": object{"type": "object"}}}
	call := []object{{"id": "c1", "type": "function", "function": object{"name": "ls", "arguments": `{"p":1}`}}}
	kwargs := object{"role": "assistant", "content": "", "additional_kwargs": object{"tool_calls": call}}
	item := object{"type": "function_call", "call_id": "c1", "name": "ls", "arguments": `{"p":1}`}
	part := object{"function_call": object{"name": "ls", "args": object{"p": 1}}}
	block := object{"role": "assistant", "content": []object{{"type": "tool_use", "id": "c1", "name": "ls", "input": object{"p": 1}}}}
	for name, said := range map[string][4]any{
		"Chat Completions": {object{"messages": []object{user}, "tools": []object{tool}}, object{"choices": []object{{"message": object{"role": "assistant", "tool_calls": call}}}},
			object{"messages": []object{user, {"role": "assistant", "tool_calls": call}, {"role": "tool", "tool_call_id": "c1", "content": "x"}}}, "Done."},
		"LangChain in Python": {[]object{user, {"role": "tool", "content": tool}}, kwargs,
			[]object{user, kwargs, {"role": "tool", "tool_call_id": "c1", "content": "x"}}, object{"role": "assistant", "content": "Done."}},
		"LangChain in JavaScript": {[]object{user}, object{"role": "assistant", "tool_calls": call},
			[]object{user, {"role": "assistant", "tool_calls": call}, {"role": "ls", "content": "x", "additional_kwargs": object{}}}, []object{{"role": "assistant", "content": "Done."}}},
		"OpenAI's agents": {[]object{user}, object{"object": "response", "id": "r1", "output": []object{item}},
			[]object{user, item, {"type": "function_call_output", "call_id": "c1", "output": "x"}}, object{"object": "response", "output": []object{{"type": "message", "role": "assistant", "content": []object{{"type": "output_text", "text": "Done."}}}}}},
		"Google's agents": {object{"contents": []object{{"role": "user", "parts": []object{{"text": "Go."}}}}}, object{"content": object{"role": "model", "parts": []object{part}}, "finish_reason": "STOP"},
			object{"contents": []object{{"role": "user", "parts": []object{{"text": "Go."}}}, {"role": "model", "parts": []object{part}}, {"role": "user", "parts": []object{{"function_response": object{"name": "ls", "response": object{"output": "x"}}}}}}}, "Done."},
		"Messages": {"Go.", block, object{"messages": []object{user, block, {"role": "user", "content": []object{{"type": "tool_result", "tool_use_id": "c1", "content": "x"}}}}}, object{"role": "assistant", "content": "Done."}},
		"Vercel's AI SDK": {object{"prompt": "Go."}, []object{{"toolCallId": "c1", "toolName": "ls", "input": `{"p":1}`}},
			[]object{user, {"role": "assistant", "content": []object{{"type": "tool-call", "toolCallId": "c1", "toolName": "ls", "input": object{"p": 1}}}}, {"role": "tool", "content": []object{{"type": "tool-result", "toolCallId": "c1", "toolName": "ls", "result": "x"}}}}, "Done."},
	} {
		observed := func(id, parent, kind string, second int, input, output any) object {
			return object{"id": id, "traceId": "t", "parentObservationId": parent, "type": kind, "startTime": fmt.Sprintf("2026-01-02T03:04:%02dZ", second), "endTime": fmt.Sprintf("2026-01-02T03:04:%02dZ", second+2),
				"input": input, "output": output, "model": "m-1", "usageDetails": object{"input": 9, "output": 4}, "metadata": "{}"}
		}
		rec := open(t, asJSON(t, object{"trace": object{"id": "t"}, "observations": []object{
			observed("2", "0", "GENERATION", 10, asJSON(t, said[2]), said[3]), observed("0", "", "AGENT", 0, nil, nil), observed("1", "0", "GENERATION", 1, said[0], asJSON(t, said[1])),
			observed("1b", "1", "GENERATION", 1, "user: Go.", nil),
		}}))
		assert.Empty(t, rec.Problems, name)
		assert.Equal(t, map[string]int{`observations of type "AGENT"`: 1, "generations that were observed twice": 1}, rec.Ignored, name)
		require.Len(t, rec.Conversations, 1, name)
		turns := rec.Conversations[0].Turns
		require.Len(t, turns, 2, name)
		require.Len(t, turns[0].Calls, 1, name)
		require.NotNil(t, turns[0].Result(turns[0].Calls[0].ID), name)
		assert.Equal(t, []any{"ls", `{"p":1}`, "x", "m-1", 9, 4}, []any{turns[0].Calls[0].Name, string(turns[0].Calls[0].Input), strings.Trim(turns[0].Result(turns[0].Calls[0].ID).Text, `{"outp:}`),
			turns[0].Model, turns[0].Usage.Input, turns[0].Usage.Output}, name)
		assert.Len(t, turns[0].Tools, map[string]int{"Chat Completions": 1, "LangChain in Python": 1}[name], name)
	}
}

// LangSmith and Braintrust keep requests as Langfuse does, each in words of its own; lines stand in the order in which requests ended.
func TestWhatObserversKeepIsTakenInOrder(t *testing.T) {
	user, tool := object{"role": "user", "content": "Go."}, object{"type": "function", "function": object{"name": "ls", "parameters": object{"type": "object"}}}
	call := []object{{"id": "c1", "type": "function", "function": object{"name": "ls", "arguments": `{"p":1}`}}}
	said, result := object{"role": "assistant", "content": "", "tool_calls": call}, object{"role": "tool", "tool_call_id": "c1", "content": "x"}
	human := object{"lc": 1, "type": "constructor", "id": []string{"langchain", "HumanMessage"}, "kwargs": object{"content": "Go."}}
	ai := object{"lc": 1, "type": "constructor", "id": []string{"langchain", "AIMessage"}, "kwargs": object{"content": "", "tool_calls": []object{{"id": "c1", "name": "ls", "args": object{"p": 1}}}}}
	answer := object{"lc": 1, "type": "constructor", "id": []string{"langchain", "ToolMessage"}, "kwargs": object{"content": "x", "tool_call_id": "c1"}}
	langSmith := func(id, kind string, second int, in, out any) object {
		return object{"id": id, "run_type": kind, "start_time": fmt.Sprintf("2026-01-02T03:04:%02d", second), "end_time": fmt.Sprintf("2026-01-02T03:04:%02d", second+2), "inputs": in, "outputs": out,
			"extra": object{"metadata": object{"ls_model_name": "m-1"}, "invocation_params": object{"tools": []object{tool}}}, "prompt_tokens": 9, "completion_tokens": 4}
	}
	braintrust := func(id, kind string, second int, in, out any) object {
		return object{"id": "r" + id, "span_id": id, "span_parents": []string{"0"}, "span_attributes": object{"type": kind}, "metadata": object{"model": "m-1", "tools": []object{tool}}, "input": in, "output": out,
			"metrics": object{"start": 1.7e9 + float64(second), "end": 1.7e9 + float64(second) + 2, "prompt_tokens": 12, "completion_tokens": 4, "prompt_cached_tokens": 3}}
	}
	last := object{"role": "assistant", "content": "Done."}
	for name, rows := range map[string][]object{
		"LangSmith": {langSmith("2", "llm", 10, object{"messages": []object{user, said, result}}, object{"choices": []object{{"message": last}}}),
			langSmith("1", "llm", 1, object{"messages": []object{user}}, object{"choices": []object{{"message": said}}}), langSmith("0", "chain", 0, nil, nil)},
		"LangChain in LangSmith": {langSmith("2", "llm", 10, object{"messages": [][]object{{human, ai, answer}}}, object{"generations": [][]object{{{"text": "", "message": ai}}}}),
			langSmith("1", "llm", 1, object{"messages": [][]object{{human}}}, object{"generations": [][]object{{{"text": "", "message": ai}}}}), langSmith("0", "chain", 0, nil, nil)},
		"Braintrust": {braintrust("2", "llm", 10, []object{user, said, result}, []object{{"finish_reason": "stop", "message": last}}),
			braintrust("1", "llm", 1, []object{user}, []object{{"finish_reason": "tool_calls", "message": said}}), braintrust("0", "task", 0, nil, nil)},
		"Responses in Braintrust": {braintrust("2", "llm", 10, []object{user, {"type": "function_call", "call_id": "c1", "name": "ls", "arguments": `{"p":1}`}, {"type": "function_call_output", "call_id": "c1", "output": "x"}}, last),
			braintrust("1", "llm", 1, []object{user}, []object{{"type": "reasoning"}, {"type": "function_call", "call_id": "c1", "name": "ls", "arguments": `{"p":1}`}}), braintrust("0", "task", 0, nil, nil)},
	} {
		nested := object{"runs": []object{{"id": "0", "run_type": "chain", "start_time": "2026-01-02T03:04:00", "child_runs": rows[:2]}}}
		for form, text := range map[string]string{"a list": asJSON(t, rows), "lines": asJSON(t, rows[0]) + "\n" + asJSON(t, rows[1]) + "\n" + asJSON(t, rows[2]), "a member": asJSON(t, object{"data": rows}), "nested": asJSON(t, nested)} {
			rec := open(t, text)
			assert.Empty(t, rec.Problems, name)
			require.Len(t, rec.Conversations, 1, name+" "+form)
			turns := rec.Conversations[0].Turns
			require.Len(t, turns, 2, name)
			assert.Equal(t, []string{`{"p":1}`}, inputs(turns[0]), name)
			require.NotNil(t, turns[0].Result("c1"), name)
			assert.Equal(t, []any{"x", "m-1", 9, 4}, []any{turns[0].Result("c1").Text, turns[0].Model, turns[0].Usage.Input, turns[0].Usage.Output}, name)
			assert.Len(t, rec.Ignored, 1, name+" "+form)
		}
	}
}

// A request may be written down when it is sent and added to when its answer is there, in the same batch, the next or a line of its own.
func TestPiecesOfARequestAreOne(t *testing.T) {
	user, said := object{"role": "user", "content": "Go."}, object{"role": "assistant", "content": "Done."}
	begun := object{"id": "1", "trace_id": "t", "run_type": "llm", "start_time": "2026-01-02T03:04:05", "inputs": object{"messages": []object{user}}, "outputs": object{}, "extra": object{"metadata": object{"ls_model_name": "m-1"}}}
	ended := object{"id": "1", "trace_id": "t", "parent_run_id": nil, "end_time": "2026-01-02T03:04:07", "extra": object{"metadata": object{"k": 1}},
		"outputs": object{"choices": []object{{"message": said}}, "usage_metadata": object{"input_tokens": 9, "output_tokens": 4}}}
	typed := object{"run_type": "llm", "start_time": "2026-01-02T03:04:05"}
	for k, v := range ended {
		typed[k] = v
	}
	row := object{"id": "r", "root_span_id": "t", "span_id": "1", "_is_merge": false, "span_attributes": object{"type": "llm"}, "metrics": object{"start": 1.7e9}, "metadata": object{"model": "m-1"}, "input": []object{user}}
	counted := object{"id": "r", "root_span_id": "t", "span_id": "1", "_is_merge": true, "metrics": object{"end": 1.7e9 + 2, "prompt_tokens": 9, "completion_tokens": 4}}
	answer := object{"id": "r", "root_span_id": "t", "span_id": "1", "_is_merge": true, "output": []object{{"message": said}}}
	for name, text := range map[string]string{
		"a batch":      asJSON(t, object{"post": []object{begun}, "patch": []object{ended}}),
		"two batches":  asJSON(t, object{"post": []object{begun}}) + "\n" + asJSON(t, object{"post": []object{}, "patch": []object{ended}}),
		"two of types": asJSON(t, object{"post": []object{begun}, "patch": []object{typed}}),
		"lines":        asJSON(t, begun) + "\n" + asJSON(t, ended),
		"rows":         asJSON(t, object{"rows": []object{row, counted, answer}}),
		"a list":       asJSON(t, []object{row, answer, counted}),
		"two of rows":  asJSON(t, object{"rows": []object{row}}) + "\n" + asJSON(t, object{"rows": []object{answer, counted}}),
	} {
		rec := open(t, text)
		require.Len(t, rec.Conversations, 1, name)
		require.Len(t, rec.Conversations[0].Turns, 1, name)
		turn := rec.Conversations[0].Turns[0]
		assert.Equal(t, []any{"m-1", 9, 4, 2 * time.Second, true}, []any{turn.Model, turn.Usage.Input, turn.Usage.Output, turn.Events[len(turn.Events)-1].At, turn.Ending == recording.Whole}, name)
		assert.Empty(t, rec.Ignored, name)
	}
}

// A trace that is larger than what is kept of one loses nothing of what is nested in it.
func TestWhatIsNestedInALargeTraceIsTaken(t *testing.T) {
	var lines []string
	for i := range 3 {
		asked, said := object{"role": "user", "content": fmt.Sprint("Go ", i)}, object{"role": "assistant", "content": "Done."}
		request := object{"id": fmt.Sprint("r", i), "run_type": "llm", "start_time": "2026-01-02T03:04:05", "inputs": object{"messages": []object{asked}}, "outputs": object{"choices": []object{{"message": said}}}}
		lines = append(lines, asJSON(t, object{"id": fmt.Sprint(i), "run_type": "chain", "start_time": "2026-01-02T03:04:00", "child_runs": []object{request}}))
	}
	for _, part := range []int64{1 << 20, 700} {
		rec, err := recording.Open("file", strings.NewReader(strings.Join(lines, "\n")), recording.Limits{Part: part}, nil)
		require.NoError(t, err)
		assert.Len(t, rec.Conversations, 3, part)
	}
}

// Numbers in names are numbers: the tenth message comes behind the second. A text that is JSON stays a text.
func TestManyMessagesOfASpanKeepTheirOrder(t *testing.T) {
	var said []object
	for i := range 12 {
		said = append(said, object{"message": object{"role": []string{"user", "assistant"}[i%2], "content": fmt.Sprint("m", i)}})
	}
	said = append(said, object{"message": object{"role": "user", "content": `["last"]`}})
	span := flattened("llm.input_messages", said, object{"llm.model_name": "m-1"})
	rec := open(t, otlpSpans(t, flattened("llm.output_messages", []object{{"message": object{"role": "assistant", "content": "Yes."}}}, span)))
	assert.Equal(t, []string{`["last"]`}, rec.Conversations[0].Turns[0].UserTexts)
}

// A session of Google's kit has pieces of a stream besides what they came to, and events that say nothing.
func TestSessionsOfGooglesKitAreConversations(t *testing.T) {
	event := func(author string, second float64, parts ...object) object {
		return object{"author": author, "timestamp": 1.7e9 + second, "content": object{"parts": parts}, "partial": nil}
	}
	for name, names := range map[string][2]string{"as the library writes it": {"function_call", "function_response"}, "as its page exports it": {"functionCall", "functionResponse"}} {
		piece := event("agent", 1, object{"text": "I lo"})
		piece["partial"] = true
		rec := open(t, indented(t, object{"id": "s", "events": []object{
			{"author": "agent", "actions": object{"stateDelta": object{}}}, event("user", 0, object{"text": "Go."}), piece,
			event("agent", 2, object{"text": "I look.", names[0]: nil}, object{names[0]: object{"name": "view", "args": object{"p": 1}}}),
			event("agent", 2.5, object{names[1]: object{"name": "view", "response": object{"result": "a text"}}}),
			event("agent", 4, object{"text": "Done."}),
		}}))
		assert.Empty(t, rec.Problems, name)
		require.Len(t, rec.Conversations, 1, name)
		turns := rec.Conversations[0].Turns
		require.Len(t, turns, 2, name)
		require.Len(t, turns[0].Results, 1, name)
		assert.Equal(t, []string{"Go.", "a text"}, []string{turns[0].UserTexts[0], turns[0].Results[0].Text}, name)
		assert.Equal(t, []any{2.0, 2.5}, []any{turns[0].Calls[0].Ready.At.Seconds(), turns[0].Results[0].At.At.Seconds()}, name)
	}
}

// Choices that are texts are a question's, and no piece of a stream.
func TestAQuestionsChoicesAreNoStream(t *testing.T) {
	_, err := recording.Open("q.json", strings.NewReader(asJSON(t, object{"input": "Which?", "choices": []string{"yes", "no"}})), recording.Limits{}, nil)
	assert.ErrorContains(t, err, "it holds no turn of a model")
}

// structured is a value as OpenTelemetry's JSON has what is no text.
func structured(v any) object {
	switch v := v.(type) {
	case []object:
		values := []object{}
		for _, one := range v {
			values = append(values, structured(one))
		}
		return object{"arrayValue": object{"values": values}}
	case object:
		members := []object{}
		for _, name := range slices.Sorted(maps.Keys(v)) {
			members = append(members, object{"key": name, "value": structured(v[name])})
		}
		return object{"kvlistValue": object{"values": members}}
	case nil:
		return object{}
	}
	return object{"stringValue": v}
}

// Messages may be attributes of the structure that they have, and not its text.
func TestMessagesOfASpanMayBeLists(t *testing.T) {
	asked := []object{{"role": "user", "parts": []object{{"type": "text", "content": "Go."}}}}
	called := object{"role": "assistant", "finish_reason": "tool_call", "parts": []object{{"type": "tool_call", "id": "c", "name": "view", "arguments": object{"p": "x", "q": nil}}}}
	answered := object{"role": "tool", "parts": []object{{"type": "tool_call_response", "id": "c", "response": "seen"}}}
	done := []object{{"role": "assistant", "parts": []object{{"type": "text", "content": "Done."}}}}
	span := func(at string, in, out []object) object {
		return object{"startTimeUnixNano": at, "attributes": []object{{"key": "gen_ai.input.messages", "value": structured(in)}, {"key": "gen_ai.output.messages", "value": structured(out)}}}
	}
	rec := open(t, asJSON(t, object{"resourceSpans": []object{{"scopeSpans": []object{{"spans": []object{
		span("1000000000", asked, []object{called}), span("2000000000", append(asked, called, answered), done),
	}}}}}}))
	require.Len(t, rec.Conversations, 1)
	require.Len(t, rec.Conversations[0].Turns, 2)
	assert.Equal(t, []string{`c view {"p":"x","q":null}`}, calls(rec.Conversations[0].Turns[0]))
	assert.Equal(t, []string{"c seen"}, answers(rec.Conversations[0].Turns[0]))
}

// What an observer's API gives stands with the latest first, also where a part has the members of an exchange.
func TestPartsOfATraceMayStandInAnyOrder(t *testing.T) {
	user, call := object{"role": "user", "content": "Go."}, object{"role": "assistant", "tool_calls": []object{{"id": "c1", "type": "function", "function": object{"name": "ls", "arguments": "{}"}}}}
	asked := []object{{"model": "m", "messages": []object{user}}, {"model": "m", "messages": []object{user, call, {"role": "tool", "tool_call_id": "c1", "content": "x"}}}}
	given := []object{call, {"role": "assistant", "content": "Done."}}
	for name, part := range map[string]func(i int) object{
		"Langfuse": func(i int) object {
			return object{"id": fmt.Sprint(i), "traceId": "t", "type": "GENERATION", "startTime": fmt.Sprintf("2026-01-02T03:04:%02dZ", i), "endTime": fmt.Sprintf("2026-01-02T03:04:%02dZ", i)}
		},
		"Opik": func(i int) object {
			return object{"id": fmt.Sprint(i), "trace_id": "t", "type": "llm", "start_time": fmt.Sprintf("2026-01-02T03:04:%02dZ", i), "end_time": fmt.Sprintf("2026-01-02T03:04:%02dZ", i)}
		},
	} {
		var parts []object
		for i := len(asked) - 1; i >= 0; i-- {
			p := part(i)
			p["input"], p["output"] = asked[i], object{"choices": []object{{"message": given[i]}}}
			parts = append(parts, p)
		}
		for _, text := range []string{asJSON(t, object{"data": parts}), asJSON(t, parts[0]) + "\n" + asJSON(t, parts[1]) + "\n"} {
			rec := open(t, text)
			require.Len(t, rec.Conversations, 1, name)
			require.Len(t, rec.Conversations[0].Turns, 2, name)
			assert.Equal(t, []string{"c1 x"}, answers(rec.Conversations[0].Turns[0]), name)
		}
	}
}
