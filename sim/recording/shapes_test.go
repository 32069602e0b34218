package recording_test

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/sim/recording"
	"toolbench/sim/stream"
)

// calledOnce is a conversation with one call, its id among them, which has its result.
func calledOnce(id string) string {
	return `[{"role":"user","content":"Go."},{"role":"assistant","content":[{"type":"tool_use","id":"` + id + `","name":"f","input":{}}]},` +
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":"` + id + `","content":"ok"}]},{"role":"assistant","content":"Done."}]`
}

// askedOf are the calls of each conversation.
func askedOf(rec *recording.Recording) (out []string) {
	for _, c := range rec.Conversations {
		for _, t := range c.Turns {
			for _, call := range t.Calls {
				out = append(out, fmt.Sprint(c.Number, " ", call.ID))
			}
		}
	}
	return out
}

// How a file is broken into lines decides nothing: what stands on one line may be several
// conversations, and behind a list, or a recorder's document, another may follow.
func TestConversationsOnOneLineAreToldApart(t *testing.T) {
	step := func(id string) string {
		return `{"schema_version":"ATIF-v1.4","steps":[{"source":"agent","message":"","tool_calls":[{"tool_call_id":"` + id + `","function_name":"f","arguments":{}}]}]}`
	}
	recorded := func(id string) string {
		return asJSON(t, object{"http_interactions": []object{{"request": object{"uri": endpoint, "body": `{"messages":[{"role":"user","content":"Go."}]}`},
			"response": object{"body": `{"type":"message","content":[{"type":"tool_use","id":"` + id + `","name":"f","input":{}}]}`}}}})
	}
	for name, text := range map[string]string{
		"a list":             `[{"messages":` + calledOnce("a") + `},{"messages":` + calledOnce("b") + `}]`,
		"trajectories":       "[" + step("a") + "," + step("b") + "]",
		"lists, a line each": calledOnce("a") + "\n" + calledOnce("b") + "\n",
		"documents":          recorded("a") + "\n" + recorded("b"),
	} {
		assert.Equal(t, []string{"1 a", "2 b"}, askedOf(open(t, text)), name)
	}
}

// Examples that models are trained with, and what agents keep for that, have calls without ids in a text.
func TestExamplesOfTrainersAreRead(t *testing.T) {
	said := func(pairs ...string) string {
		var all []object
		for i := 0; i < len(pairs); i += 2 {
			all = append(all, object{"from": pairs[i], "value": pairs[i+1]})
		}
		return asJSON(t, object{"conversations": all, "tools": "[]"})
	}
	const rome, oslo = `{"name": "weather", "arguments": {"city": "Rome"}}`, `{"name": "weather", "arguments": {"city": "Oslo"}}`
	both := []string{`weather {"city": "Rome"} = 20`, `weather {"city": "Oslo"} = 3`}
	for name, c := range map[string]struct {
		text  string
		turns int
	}{
		"one after the other": {said("human", "Go.", "function_call", rome, "observation", "20", "function_call", oslo, "observation", "3", "gpt", "Done."), 3},
		"at once":             {said("system", "Be good.", "human", "Go.", "function_call", rome, "function_call", oslo, "observation", "20", "observation", "3", "gpt", "Done."), 2},
		"in a list":           {said("human", "Go.", "function_call", "["+rome+","+oslo+"]", "observation", "20", "observation", "3", "gpt", "Done."), 2},
		"tags": {said("human", "Go.", "gpt", "I look.\n<tool_call>\n"+rome+"\n</tool_call>\n<tool_call>\n"+oslo+"\n</tool_call>",
			"tool", "<tool_response>\n{\"name\":\"weather\",\"content\":20}\n</tool_response>\n<tool_response>\n3\n</tool_response>", "gpt", "Done."), 2},
		"as Python prints it": {said("human", "Go.", "gpt", "<tool_call>{'name': 'weather', 'arguments': {'city': 'Rome'}}</tool_call><tool_call>{'name': 'weather', 'arguments': {'city': 'Oslo'}}</tool_call>",
			"tool", "20", "tool", "3", "gpt", "Done."), 2},
		"roles": {asJSON(t, object{"messages": []object{{"role": "user", "content": "Go."}, {"role": "tool_call", "content": rome}, {"role": "tool_call", "content": oslo},
			{"role": "tool_response", "content": "20"}, {"role": "tool_response", "content": "3"}, {"role": "assistant", "content": "Done."}}}), 2},
	} {
		rec := open(t, c.text)
		require.Len(t, rec.Conversations, 1, name)
		var got []string
		for _, turn := range rec.Conversations[0].Turns {
			for i, call := range turn.Calls {
				got = append(got, fmt.Sprintf("%s %s = %s", call.Name, strings.ReplaceAll(string(call.Input), `":"`, `": "`), turn.Results[i].Text))
			}
		}
		assert.Equal(t, both, got, name)
		assert.Len(t, rec.Conversations[0].Turns, c.turns, name)
	}
	rec := open(t, said("human", "Go.", "gpt", "<tool_call>look(around)</tool_call>", "human", "Well?", "gpt", "Done."))
	assert.Len(t, rec.Conversations[0].Turns, 2, "what is no call was said")
	assert.Zero(t, len(askedOf(rec)))
	const weather = `[{"type":"function","function":{"name":"weather","description":"Looks.","parameters":{"type":"object"}}}]`
	for _, text := range []string{
		strings.Replace(said("human", "Go.", "gpt", "Done."), `"tools":"[]"`, `"tools":`+asJSON(t, weather), 1),
		strings.Replace(said("system", "Use <tools> "+weather+" </tools>.", "human", "Go.", "gpt", "Done."), `,"tools":"[]"`, "", 1),
	} {
		want := []recording.Definition{{Name: "weather", Description: "Looks.", Schema: json.RawMessage(`{"type":"object"}`)}}
		assert.Equal(t, want, open(t, text).Conversations[0].Turns[0].Tools)
	}
}

func TestAgentFilesOfLettaAreRead(t *testing.T) {
	agent := func(id, call string) object {
		text := func(s string) []object { return []object{{"type": "text", "text": s}} }
		return object{"id": id, "llm_config": object{"model": "m"}, "messages": []object{
			{"role": "system", "content": text("Be good.")}, {"role": "user", "content": text("Go.")},
			{"role": "assistant", "content": text("I look."), "tool_calls": []object{{"id": call, "type": "function", "function": object{"name": "f", "arguments": "{}"}}}},
			{"role": "tool", "content": text("ok"), "tool_call_id": call}}}
	}
	file := asJSON(t, object{"agents": []object{agent("agent-0", "a"), agent("agent-1", "b")}, "blocks": []object{}})
	for _, text := range []string{file, strings.ReplaceAll(file, "},{", "},\n{")} { // the latter is broken over lines as logs are
		rec := open(t, text)
		assert.Equal(t, []string{"1 a", "2 b"}, askedOf(rec))
		for _, c := range rec.Conversations {
			assert.Equal(t, "m", c.Turns[0].Model)
			assert.Equal(t, "ok", c.Turns[0].Results[0].Text)
		}
	}
}

// A document that is none of a recorder's may have members of the same names.
func TestMembersOfARecordersNamesMayBeOthers(t *testing.T) {
	for _, member := range []string{`"log": "text"`, `"log": null`, `"interactions": 4`, `"recordings": {"a": []}`, `"mappings": {}`, `"log":` + strings.Repeat(" ", 70<<10) + "true"} {
		rec := open(t, "{\n"+member+",\n\"messages\": "+calledOnce("a")+"}")
		assert.Equal(t, []string{"1 a"}, askedOf(rec), member[:9])
	}
}

func TestTimesAreReadInEveryForm(t *testing.T) {
	at := time.Date(2025, 1, 2, 3, 4, 5, 500e6, time.UTC)
	for _, stamp := range []string{"1735787045.5", "1735787045500", `"2025-01-02T03:04:05.5Z"`, `"2025-01-02T04:04:05.500+01:00"`, `"2025-01-02T04:04:05.500+0100"`,
		`"2025-01-02 03:04:05.500000+00:00"`, `"2025-01-02 03:04:05.5"`, `"2025-01-02 03:04:05.5 UTC"`} {
		rec := open(t, `{"type":"user","timestamp":`+stamp+`,"message":{"role":"user","content":"Go."}}`+"\n"+
			`{"type":"assistant","timestamp":`+stamp+`,"message":{"id":"m","role":"assistant","content":[{"type":"text","text":"Done."}]}}`)
		assert.Equal(t, at, rec.Conversations[0].Turns[0].Sent, stamp)
	}
}

// Lines of Ollama's whose times were blanked have none, and are read all the same.
func TestLinesOfOllamaMayLackTheirTimes(t *testing.T) {
	for _, time := range []string{"", `"created_at":"[redacted]",`} {
		lines := `{"model":"m",` + time + `"message":{"role":"assistant","content":"Hi."},"done":false}` + "\n" +
			`{"model":"m",` + time + `"message":{"role":"assistant","content":""},"done":true,"total_duration":5000000}`
		rec := open(t, asJSON(t, []object{{"request": object{"url": "http://localhost:11434/api/chat", "body": `{"messages":[{"role":"user","content":"Go."}]}`},
			"response": object{"status": 200, "body": lines}}}))
		require.Len(t, rec.Conversations, 1)
		assert.Equal(t, recording.Unknown, rec.Conversations[0].Turns[0].Pace)
	}
}

// What is no block in a result is its text.
func TestResultsOfAnyShapeAreKept(t *testing.T) {
	for content, want := range map[string]string{`{"out":"x","code":1}`: `{"out":"x","code":1}`, `["a","b"]`: "a\nb", `42`: "42", `[{"type":"image"},{"a":1}]`: "[image]\n{\"a\":1}", `null`: "", `[]`: ""} {
		rec := open(t, `{"messages":`+strings.Replace(calledOnce("c"), `"ok"`, content, 1)+`}`)
		assert.Equal(t, want, rec.Conversations[0].Turns[0].Results[0].Text, content)
	}
}

// Each is looked at as a whole, so that a file of a megabyte must not hold thousands in each other.
func TestValuesMayNotStandInEachOtherWithoutEnd(t *testing.T) {
	within := func(n int) string {
		return strings.Repeat(`{"messages":[{"direction":"in","message":`, n) + `{"messages":` + calledOnce("a") + "}" + strings.Repeat("}]}", n)
	}
	assert.Equal(t, []string{"1 a"}, askedOf(open(t, within(3))))
	_, err := recording.Open("file", strings.NewReader(within(2000)), recording.Limits{}, nil)
	assert.EqualError(t, err, "file: not a recording: it holds no turn of a model, only lines deep within others (1)")
}

// A span keeps why its answer ended.
func TestASpanKeepsItsStopReason(t *testing.T) {
	for finish, want := range map[string]string{"length": "max_tokens", "stop": "end_turn", "tool_call": "tool_use", "refusal": "refusal"} {
		rec := open(t, otlpSpans(t, map[string]any{"gen_ai.request.model": "m", "gen_ai.input.messages": `[{"role":"user","parts":[{"type":"text","content":"Go."}]}]`,
			"gen_ai.output.messages": `[{"role":"assistant","parts":[{"type":"text","content":"Done."}],"finish_reason":"` + finish + `"}]`}))
		assert.Equal(t, want, rec.Conversations[0].Turns[0].Stop)
	}
}

// A frame that is whole, but holds no event, is no cut.
func TestAFrameMayHoldNoEvent(t *testing.T) {
	kind := map[string]string{":event-type": "chunk"}
	for payload, why := range map[string]string{`{"bytes":"%%"}`: "its event is no JSON in base64", `{"bytes":"` + base64.StdEncoding.EncodeToString([]byte("{")) + `"}`: "its event is no JSON in base64"} {
		rec := open(t, string(frames(stream.Script(script[0])[:4]))+string(frame(kind, []byte(payload))))
		assert.Equal(t, []string{"malformed conversation 1, turn 1: a frame of the event stream is damaged: " + why + "; it and the rest of the file were left out"}, problems(rec))
		_, err := recording.Open("file", bytes.NewReader(frame(kind, []byte(payload))), recording.Limits{}, nil)
		assert.ErrorContains(t, err, "it holds no turn of a model; a frame of the event stream is damaged: "+why)
	}
}

// What is packed may be as large as the limit.
func TestTheLimitOfAPackedFileIsItself(t *testing.T) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	text := transcript(t)
	_, err := z.Write([]byte(text))
	require.NoError(t, err)
	require.NoError(t, z.Close())
	for most, want := range map[int]error{len(text): nil, len(text) - 1: recording.ErrTooLarge} {
		_, err := recording.Open("file", bytes.NewReader(packed.Bytes()), recording.Limits{Unpacked: int64(most)}, nil)
		assert.ErrorIs(t, err, want)
	}
}

func TestAnAnswerInYAMLMayBeginWithItsID(t *testing.T) {
	rec := open(t, `id: r1
choices:
- message:
    role: assistant
    tool_calls:
    - id: c1
      function: {name: ls, arguments: '{"a":1}'}
`)
	assert.Equal(t, []string{`c1 ls {"a":1}`}, calls(rec.Conversations[0].Turns[0]))
}

func TestASpanMayStandByItself(t *testing.T) {
	rec := open(t, `{"name":"ChatCompletion","attributes":[{"key":"llm.input_messages.0.message.role","value":{"stringValue":"user"}},
{"key":"llm.output_messages.0.message.role","value":{"stringValue":"assistant"}},
{"key":"llm.output_messages.0.message.tool_calls.0.tool_call.id","value":{"stringValue":"c1"}},
{"key":"llm.output_messages.0.message.tool_calls.0.tool_call.function.name","value":{"stringValue":"ls"}},
{"key":"llm.output_messages.0.message.tool_calls.0.tool_call.function.arguments","value":{"stringValue":"{\"a\":1}"}}]}`)
	assert.Equal(t, []string{`c1 ls {"a":1}`}, calls(rec.Conversations[0].Turns[0]))
}

// The streams of Vercel's AI SDK before its fifth version have a letter and a value a line; results stand beside the calls.
func TestOlderStreamsToAPageAreRead(t *testing.T) {
	lines := []string{
		`f:{"messageId":"m1"}`, `0:"I look"`, `0:" at \"both\"."`, `8:[{"note":1}]`,
		`b:{"toolCallId":"c1","toolName":"look"}`, `c:{"toolCallId":"c1","argsTextDelta":"{\"at\""}`, `c:{"toolCallId":"c1","argsTextDelta":":\"a\"}"}`,
		`9:{"toolCallId":"c1","toolName":"look","args":{"at":"a"}}`, `9:{"toolCallId":"c2","toolName":"look","args":{"at":"b"}}`,
		`a:{"toolCallId":"c1","result":"A"}`, `a:{"toolCallId":"c2","result":{"is":["B"]}}`,
		`e:{"finishReason":"tool-calls","usage":{"promptTokens":1,"completionTokens":2},"isContinued":false}`,
		`f:{"messageId":"m2"}`, `0:"Done."`, `e:{"finishReason":"stop"}`, `d:{"finishReason":"stop"}`,
	}
	for name, text := range map[string]string{
		"as it is": strings.Join(lines, "\n"), "with CRLF": strings.Join(lines, "\r\n") + "\r\n", "without its first line": strings.Join(lines[1:], "\n"),
	} {
		t.Run(name, func(t *testing.T) {
			rec := open(t, text)
			assert.Empty(t, rec.Problems)
			require.Len(t, rec.Conversations, 1)
			turns := rec.Conversations[0].Turns
			require.Len(t, turns, 2)
			require.Len(t, turns[0].Calls, 2)
			assert.Equal(t, []string{`c1 A`, `c2 {"is":["B"]}`}, answers(turns[0]))
			assert.JSONEq(t, `{"at":"a"}`, string(turns[0].Calls[0].Input))
			assert.Equal(t, map[string]int{`lines of type "8:"`: 1}, rec.Ignored)
		})
	}
	rec := open(t, strings.Join(lines[:8], "\n"))
	assert.Equal(t, []string{"1 c1"}, askedOf(rec), "one that was cut has what came")
}
