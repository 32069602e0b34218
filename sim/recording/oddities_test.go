package recording_test

import (
	"bufio"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/text/encoding/unicode"

	"toolbench/sim/recording"
	"toolbench/sim/stream"
)

// problems words each problem in short.
func problems(rec *recording.Recording) []string {
	var out []string
	for _, p := range rec.Problems {
		out = append(out, string(p.Kind)+" "+p.String())
	}
	return out
}

func TestSeveralConversationsInOneFileAreToldApart(t *testing.T) {
	doc := httpMock(t)
	other := strings.NewReplacer("call_", "other_", "Look at a.", "Look at b.").Replace(doc)
	again := strings.ReplaceAll(doc, "call_", "again_") // begins with the same words
	// One after the other, and line about: the first requests of all before the rest.
	docs := [][]string{strings.Split(doc, "---\n"), strings.Split(other, "---\n"), strings.Split(again, "---\n")}
	var woven []string
	for n := range docs[0] {
		for _, d := range docs {
			woven = append(woven, d[n])
		}
	}
	for name, text := range map[string]string{
		"in a row": doc + "---\n" + other + "---\n" + again,
		"woven":    strings.Join(woven, "---\n"),
	} {
		rec := open(t, text)
		require.Len(t, rec.Conversations, 3, name)
		for n, prefix := range []string{"call_", "other_", "again_"} {
			turns := rec.Conversations[n].Turns
			require.Len(t, turns, 3, name)
			assert.Equal(t, prefix+"1", turns[0].Calls[0].ID)
			assert.Equal(t, prefix+"3", turns[1].Results[0].Call)
		}
		assert.Empty(t, rec.Problems)
	}
}

func TestARequestThatIsSentAgainStaysInItsConversation(t *testing.T) {
	docs := strings.Split(httpMock(t), "---\n")
	refused := inYAML(t, object{
		"when": object{"path": "/v1/messages", "body": exchanges(t)[1].request},
		"then": object{"status": 529, "body": `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`},
	})
	rec := open(t, strings.Join([]string{docs[0], refused, docs[1], docs[2]}, "---\n"))
	require.Len(t, rec.Conversations, 1)
	assert.Len(t, rec.Conversations[0].Turns, 3)
	assert.Equal(t, []string{"call_1 text of a", "call_2 a b"}, answers(rec.Conversations[0].Turns[0]))
	assert.Equal(t, []string{"error line 84, interaction 2: the request was answered with status 529: overloaded_error: Overloaded"}, problems(rec))
}

// Some clients have a tool called for the form of its input alone, and keep that as
// what the model sent.
func TestACallMayBeSentBackAsAText(t *testing.T) {
	asked := func(messages, answer string) string {
		return inYAML(t, object{"when": object{"path": "/v1/messages", "body": `{"messages":[` + messages + `]}`},
			"then": object{"status": 200, "body": `{"type":"message","content":[` + answer + `]}`}})
	}
	first, call := `{"role":"user","content":"Name it."}`, `{"type":"tool_use","id":"c1","name":"form","input":{"a":1}}`
	again := first + `,{"role":"assistant","content":[{"type":"text","text":"{\"a\":1}"}]},{"role":"user","content":"Once more."}`
	rec := open(t, asked(first, call)+"---\n"+asked(again, `{"type":"text","text":"x"}`))
	require.Len(t, rec.Conversations, 1)
	require.Len(t, rec.Conversations[0].Turns, 2)
	assert.Equal(t, "the conversation goes on without its result", rec.Conversations[0].Turns[0].Unanswered[0].Reason)
}

func TestWhatAsksNoModelIsCounted(t *testing.T) {
	answered := func(path, request, response string) object {
		return object{"when": object{"path": path, "method": "POST", "body": request}, "then": object{"status": 200, "body": response}}
	}
	for what, doc := range map[string]object{
		"requests that ask no model":                           answered("/weather", "", `{"temperature":20}`),
		"requests that count tokens":                           answered("/v1/messages/count_tokens", exchanges(t)[0].request, `{"input_tokens":5}`),
		"requests to OpenAI's completions":                     answered("/v1/completions?v=2", `{"prompt":"x"}`, `{"choices":[{"text":"y"}]}`),
		"requests to Ollama's chat":                            answered("/api/chat", `{"prompt":"x"}`, `{"done":true}`),
		"requests of message batches":                          answered("/v1/messages/batches/b_1/results", "", "{}"),
		"requests of batches":                                  answered("/v1/batches/b_1/cancel", "", "{}"),
		"requests that make images, speech or video":           answered("/v1/images/generations", `{"prompt":"x"}`, `{"data":[]}`),
		"requests that transcribe or moderate":                 answered("/v1/moderations?v=1", `{"input":"x"}`, `{"results":[]}`),
		"requests in another model's words, or for embeddings": answered("/model/titan/invoke", `{"inputText":"x"}`, `{"results":[]}`),
		"requests for text completions, which have no tools":   answered("/v1/complete", `{"prompt":"x"}`, `{"completion":"y"}`),
	} {
		rec := open(t, inYAML(t, doc)+"---\n"+httpMock(t))
		assert.Equal(t, map[string]int{what: 1}, rec.Ignored)
		assert.Empty(t, rec.Problems, what)
		assert.Len(t, rec.Conversations, 1, what)

		_, err := recording.Open("file", strings.NewReader(inYAML(t, doc)+"---\n"+inYAML(t, doc)), recording.Limits{}, nil)
		assert.EqualError(t, err, "file: not a recording: it holds no turn of a model, only "+what+" (2)")
	}
}

// Batches of something else, as of traces, are none of a model's.
func TestBatchesOfSomethingElseAskNoModel(t *testing.T) {
	for path, what := range map[string]string{
		"/crewai_plus/api/v1/tracing/ephemeral/batches/b_1/events": "requests that ask no model",
		"/crewai_plus/api/v1/tracing/batches":                      "requests that ask no model",
		"/openai/batches/b_1?api-version=2024-10-21":               "requests of batches",
		"/openai/v1/batches":                                       "requests of batches",
	} {
		rec := open(t, inYAML(t, object{"when": object{"path": path, "method": "POST", "body": "{}"}, "then": object{"status": 200, "body": "{}"}})+"---\n"+httpMock(t))
		assert.Equal(t, map[string]int{what: 1}, rec.Ignored, path)
	}
}

// What breaks a stream off stands a line behind its pieces, without a type.
func TestAStreamOfLinesMayEndInAnError(t *testing.T) {
	for pieces, said := range map[string]string{
		`{"model":"m","created_at":"2025-01-01T00:00:00Z","message":{"role":"assistant","content":"x"},"done":false}` + "\n" + `{"error":"the runner stopped"}`:          "the runner stopped",
		`{"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"x"}}]}` + "\n" + `{"error":{"code":502,"message":"the provider is gone"}}`: "the provider is gone",
	} {
		rec := open(t, pieces)
		require.Len(t, rec.Problems, 1)
		assert.Contains(t, rec.Problems[0].Text, said)
		assert.Empty(t, rec.Ignored)
	}
}

// Lists of choices and of candidates are a model's only where they have what a model's have.
func TestNamesOfMembersAloneAreNoAnswer(t *testing.T) {
	for _, text := range []string{
		`{"candidates":[{"id":"D1","score":15}]}`, `{"choices":[{"label":"a","value":1}]}`, `{"choices":["a","b"]}`, `{"response":{"candidates":[{"name":"x"}]}}`,
	} {
		_, err := recording.Open("file", strings.NewReader(text), recording.Limits{}, nil)
		assert.EqualError(t, err, "file: not a recording: it holds no turn of a model, only lines without a type (1)", text)
	}
	for _, text := range []string{
		`{"candidates":[{"index":0,"safetyRatings":[]}]}`, `{"candidates":[{"finish_reason":"STOP"}]}`, `{"choices":[{"delta":{},"finish_reason":null}]}`,
	} {
		assert.Len(t, open(t, text).Conversations, 1, text)
	}
}

// A log may have lost its head, as one that was cut to its last lines has: what is left of a line
// stands first.
func TestALogThatLostItsHeadIsRead(t *testing.T) {
	for name, text := range map[string]string{"transcript": transcript(t), "session": sessionLog(t), "events": eventLines(t)} {
		whole := open(t, text)
		for _, at := range []int{3, strings.Index(text, "\n") - 20} {
			rec := open(t, text[at:])
			assert.Equal(t, whole.Format, rec.Format, name)
			assert.Contains(t, problems(rec), "malformed line 1: the line is no JSON", name)
		}
	}
	text := bareSSE(t)
	rec := open(t, text[strings.Index(text, "}\n")-3:])
	assert.Equal(t, recording.SSE, rec.Format)
	assert.Equal(t, "cut line 1: the file begins inside an event", problems(rec)[0])
}

// Some proxies send a message's begin once more. One that comes when something was written is that
// of another attempt.
func TestAMessageMayBeginTwice(t *testing.T) {
	begin := func(id string) string {
		return `data: {"type":"message_start","message":{"id":"` + id + `","role":"assistant","model":"m","content":[]}}` + "\n\n"
	}
	const ping, rest = "data: {\"type\":\"ping\"}\n\n", `data: {"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"c","name":"view","input":{}}}

data: {"type":"content_block_stop","index":0}

data: {"type":"message_delta","delta":{"stop_reason":"tool_use"}}

data: {"type":"message_stop"}

`
	rec := open(t, begin("m")+ping+begin("m")+rest)
	assert.Empty(t, rec.Problems)
	require.Len(t, rec.Conversations[0].Turns, 1)
	assert.Len(t, rec.Conversations[0].Turns[0].Calls, 1)
	for name, text := range map[string]string{"another": begin("m") + begin("n") + rest, "without an id": begin("") + begin("") + rest, "again": begin("m") + rest[:strings.Index(rest, "data: {\"type\":\"message_delta")] + begin("m") + rest} {
		rec := open(t, text)
		assert.Len(t, rec.Problems, 1, name)
		assert.Len(t, rec.Conversations[0].Turns, 2, name)
	}
}

// A file may be in UTF-16, as PowerShell writes what it redirects.
func TestUTF16IsRead(t *testing.T) {
	plain := open(t, httpMock(t))
	for _, order := range []unicode.Endianness{unicode.LittleEndian, unicode.BigEndian} {
		text, err := unicode.UTF16(order, unicode.UseBOM).NewEncoder().String(httpMock(t))
		require.NoError(t, err)
		rec := open(t, text)
		assert.Empty(t, rec.Problems)
		assert.Equal(t, len(plain.Conversations), len(rec.Conversations))
		assert.Equal(t, plain.Conversations[0].Turns, rec.Conversations[0].Turns)
	}
	_, err := recording.Open("file", strings.NewReader("\xff\xfe"), recording.Limits{}, nil)
	assert.EqualError(t, err, "file: not a recording: it is empty")
}

// Of several choices the first is the conversation's; that there were others is counted.
func TestFurtherChoicesAreCounted(t *testing.T) {
	for request, path := range map[string]string{
		`{"n":2,"messages":[{"role":"user","content":"Go."}]}`:                                            "/v1/chat/completions",
		`{"generationConfig":{"candidateCount":2},"contents":[{"role":"user","parts":[{"text":"Go."}]}]}`: "/v1beta/models/m:generateContent",
	} {
		rec := open(t, inYAML(t, object{"when": object{"path": path, "body": request}, "then": object{"status": 200,
			"body": `{"choices":[{"index":0,"message":{"role":"assistant","content":"a"}},{"index":1,"message":{"role":"assistant","content":"b"}}],"candidates":[{"content":{"parts":[{"text":"a"}]}},{"content":{"parts":[{"text":"b"}]}}]}`}}))
		require.Len(t, rec.Conversations, 1, path)
		assert.Equal(t, map[string]int{"answers with several choices, but for their first": 1}, rec.Ignored, path)
	}
}

// Each line of Ollama's streams has its time, and the last how long all took, so that the
// stream keeps its pace; the answers of a conversation are joined though no call has an id.
func TestStreamsOfOllamaKeepTheirPace(t *testing.T) {
	asked := func(messages string, lines ...string) string {
		return inYAML(t, object{"when": object{"path": "/api/chat", "body": `{"model":"m","tools":[{"type":"function","function":{"name":"view","parameters":{"type":"object"}}}],"messages":[` + messages + `]}`},
			"then": object{"status": 200, "body": strings.Join(lines, "\n")}})
	}
	line := func(ms int, message, rest string) string {
		return fmt.Sprintf(`{"model":"m","created_at":"2026-01-01T00:00:%06.3fZ","message":{"role":"assistant",%s},%s}`, float64(ms)/1000, message, rest)
	}
	call := `"content":"","tool_calls":[{"function":{"name":"view","arguments":{"p":1}}}]`
	first := `{"role":"user","content":"Look."}`
	whole := []string{line(1200, `"content":"I look."`, `"done":false`), line(1500, call, `"done":false`), line(2000, `"content":""`, `"done":true,"done_reason":"stop","total_duration":1500000000,"eval_count":3`)}
	again := first + `,{"role":"assistant","content":"I look.","tool_calls":[{"function":{"name":"view","arguments":{"p":1}}}]},{"role":"tool","tool_name":"view","content":"It is."}`
	rec := open(t, asked(first, whole...)+"---\n"+asked(again, line(0, `"content":"Done."`, `"done":true,"done_reason":"stop","total_duration":700000000`)))
	require.Len(t, rec.Conversations, 1)
	turns := rec.Conversations[0].Turns
	require.Len(t, turns, 2)
	assert.Equal(t, recording.Exact, turns[0].Pace)
	assert.Equal(t, recording.Moment{At: time.Second, Known: true}, turns[0].Calls[0].Ready)
	assert.Equal(t, []string{"view_2d2e It is."}, answers(turns[0]))
	assert.Empty(t, problems(rec))

	rec = open(t, asked(first, whole[0], whole[1][:40]))
	assert.Contains(t, strings.Join(problems(rec), ""), "the body ends inside a line")
}

func TestChangesOfTheToolsAreNoticedAndMovedBreakpointsAreNot(t *testing.T) {
	text := httpMock(t)
	broken := strings.Replace(text, `"name":"view"}`, `"cache_control":{"type":"ephemeral"},"name":"view"}`, 1)
	require.NotEqual(t, text, broken)
	changed := replaceLast(text, `"description":"Lists."`, `"description":"Lists files."`)
	assert.Equal(t, []int{}, changes(open(t, text)))
	assert.Equal(t, []int{}, changes(open(t, broken)))
	assert.Equal(t, []int{3}, changes(open(t, changed)))
}

func replaceLast(text, old, with string) string {
	i := strings.LastIndex(text, old)
	return text[:i] + with + text[i+len(old):]
}

func changes(rec *recording.Recording) []int {
	out := []int{}
	for _, t := range rec.Conversations[0].Turns {
		if t.ToolsChanged {
			out = append(out, t.Number)
		}
	}
	return out
}

func TestResultsInAnotherOrderAreSeen(t *testing.T) {
	first, second := results[0][0], results[0][1]
	results[0][0], results[0][1] = second, first
	defer func() { results[0][0], results[0][1] = first, second }()
	for _, text := range []string{goVCR(t, 1), transcript(t)} {
		turn := open(t, text).Conversations[0].Turns[0]
		assert.False(t, turn.InOrder())
		assert.Equal(t, []string{"call_2 a b", "call_1 text of a"}, answers(turn))
	}
}

// sse is a stream of the given turns.
func sse(turns ...stream.Turn) string {
	var out []byte
	for _, turn := range turns {
		out = append(out, stream.Bytes(stream.Script(turn))...)
	}
	return string(out)
}

func TestStreamsThatAreNotWholeAreProblemsWithTheirPlace(t *testing.T) {
	whole := sse(script[0])
	for name, c := range map[string]struct {
		text    string
		ending  recording.Ending
		problem string
		reason  string // why call_2 has no result
	}{
		"cut behind an event": {whole[:strings.Index(whole, "event: message_delta")], recording.Cut,
			"cut line 1, conversation 1, turn 1: the file ends before message_stop", "the stream was cut, so that its message was never complete"},
		"cut inside an event": {whole[:strings.LastIndex(whole, `"stop_reason"`)], recording.Cut,
			"cut line 1, conversation 1, turn 1: the file ends inside an event", "the stream was cut, so that its message was never complete"},
		"the next message begins": {strings.Replace(whole, "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n", "", 1) + sse(script[2]), recording.Cut,
			"cut line 1, conversation 1, turn 1: the next message begins before message_stop", "the stream was cut, so that its message was never complete"},
		"an error event": {sse(stream.Turn{ID: "m", Blocks: script[0].Blocks, Error: &stream.Error{Type: "overloaded_error", Message: "Overloaded"}}), recording.Failed,
			"error line 1, conversation 1, turn 1: the stream ends in an error event: overloaded_error: Overloaded", "the stream failed: overloaded_error: Overloaded"},
		"an event that is no JSON": {strings.Replace(whole, `data: {"type":"ping"}`, `data: {"type":"ping"`, 1), recording.Broken,
			"malformed line 1, conversation 1, turn 1: line 4: an event cannot be taken: malformed stream event: unexpected end of JSON input", "the recording holds no requests, so no results"},
	} {
		rec := open(t, c.text)
		turn := rec.Conversations[0].Turns[0]
		assert.Equal(t, c.ending, turn.Ending, name)
		assert.Equal(t, c.problem, problems(rec)[0], name)
		require.Len(t, turn.Calls, 2, name)
		assert.Equal(t, c.reason, turn.Unanswered[1].Reason, name)
	}
}

func TestACallThatIsCutOffIsNoCompleteCall(t *testing.T) {
	rec := open(t, sse(stream.Turn{ID: "m", Blocks: []stream.Block{
		{Kind: stream.ToolUse, ID: "call_1", Name: "view", Input: []byte(`{"path":"/a"}`)},
		{Kind: stream.ToolUse, ID: "call_2", Name: "view", Input: []byte(`{"path":"/b"}`), CutAt: 6},
	}}))
	turn := rec.Conversations[0].Turns[0]
	assert.Equal(t, "max_tokens", turn.Stop)
	assert.Equal(t, recording.Whole, turn.Ending, "a message that ends early by itself is whole")
	require.Len(t, turn.Calls, 2)
	assert.False(t, turn.Calls[0].Cut)
	assert.True(t, turn.Calls[1].Cut)
	assert.Equal(t, `{"path`, turn.Calls[1].Invalid)
	assert.Equal(t, "cut off by max_tokens before its input was complete", turn.Unanswered[1].Reason)
}

func TestAnIdThatIsGivenTwiceIsAProblem(t *testing.T) {
	b := stream.Block{Kind: stream.ToolUse, ID: "call_1", Name: "view"}
	rec := open(t, sse(stream.Turn{ID: "m", Blocks: []stream.Block{b, b}}))
	assert.Equal(t, []string{`repeated line 1, conversation 1, turn 1: two calls of one message have the id "call_1"`}, problems(rec))
	assert.Equal(t, "its id is taken by another call of the message", rec.Conversations[0].Turns[0].Unanswered[1].Reason)
}

func TestCallsMayStandInTheStartOfAMessage(t *testing.T) {
	rec := open(t, `{"type":"message_start","message":{"id":"m","role":"assistant","content":[{"type":"tool_use","id":"call_1","name":"roll","input":{"n":6}}],"stop_reason":"tool_use"}}
{"type":"message_stop"}
{"type":"ping"}
[DONE]
`)
	turn := rec.Conversations[0].Turns[0]
	assert.Equal(t, []string{`call_1 roll {"n":6}`}, calls(turn))
	assert.Equal(t, "tool_use", turn.Stop)
	assert.Empty(t, rec.Problems)
}

func TestADataLineMayEndInBlanksAndPingsComeAnywhere(t *testing.T) {
	text := strings.ReplaceAll(sse(script[0]), "}\n", "}   \n")
	text = strings.ReplaceAll(text, "event: content_block_delta", "event: ping\ndata: {\"type\": \"ping\"}\n\nevent: content_block_delta")
	rec := open(t, text+"data: [DONE]\n\n")
	assert.Empty(t, rec.Problems)
	assert.Len(t, rec.Conversations[0].Turns[0].Calls, 2)
}

func TestATranscriptMayStillBeWritten(t *testing.T) {
	whole := transcript(t)
	lines := strings.SplitAfter(whole, "\n")
	for n := range lines {
		part := strings.Join(lines[:n], "")
		if rec, err := recording.Open("file", strings.NewReader(part), recording.Limits{}, nil); err == nil {
			assert.Empty(t, rec.Problems, "whole lines are a whole file, %d", n)
		}
	}
	rec := open(t, whole[:len(whole)-30])
	assert.Equal(t, []string{"cut line 11: the last line is not complete: the file was cut, or is still being written"}, problems(rec))
	rec = open(t, strings.Join(lines[:6], ""))
	assert.Equal(t, []recording.Unanswered{{Call: "call_1", Tool: "view", Reason: "the recording ends before its result"}, {Call: "call_2", Tool: "ls", Reason: "the recording ends before its result"}},
		rec.Conversations[0].Turns[0].Unanswered)
}

func TestSubAgentsHaveConversationsOfTheirOwn(t *testing.T) {
	mark := func(l object, members object) object {
		maps.Copy(l, members)
		return l
	}
	side := object{"isSidechain": true}
	line := func(second float64, kind, id, uuid, parent string, b object) object {
		return mark(mark(said(second, kind, id, b), side), object{"uuid": uuid, "parentUuid": parent})
	}
	text := object{"type": "text", "text": "x"}
	rec := open(t, jsonLines(t,
		said(0, "user", "", text),
		mark(mark(said(1, "assistant", "m1", use("c1", "view", "{}")), side), object{"agentId": "agent-1"}),
		said(2, "assistant", "m2", text),
		line(3, "user", "", "u1", "", text), line(3, "user", "", "u2", "", text),
		line(4, "assistant", "m3", "a1", "u1", text), line(4, "assistant", "m4", "a2", "u2", text),
		line(5, "assistant", "m5", "a3", "a1", text),
	))
	var got []string
	for _, c := range rec.Conversations {
		for _, turn := range c.Turns {
			got = append(got, fmt.Sprintf("%d %s %s", c.Number, c.Agent, turn.ID))
		}
	}
	assert.ElementsMatch(t, []string{"1  m2", "2 agent-1 m1", "3 side m3", "3 side m5", "4 side m4"}, got)
}

func TestNothingOfATranscriptIsSkippedInSilence(t *testing.T) {
	rec := open(t, transcript(t)+"{broken}\n"+jsonLines(t,
		object{"type": "system", "content": "x"}, object{"other": 1},
		said(20, "user", "", object{"type": "tool_result", "tool_use_id": "call_9", "content": "x"}),
		object{"type": "assistant", "sessionId": "session-1", "isApiErrorMessage": true, "message": object{"model": "<synthetic>", "content": []object{{"type": "text", "text": "API Error: 500"}}}},
	))
	assert.Equal(t, map[string]int{`lines of type "summary"`: 1, `lines of type "system"`: 1, "lines without a type": 1}, rec.Ignored)
	assert.Equal(t, []string{
		"malformed line 12: the line is no JSON",
		`stray line 15, conversation 1: a result for "call_9", which no call waits for`,
		`error line 16, conversation 1: the API failed: "API Error: 500"`,
	}, problems(rec))
}

func TestTagsOfOtherLanguagesAreNotActedOn(t *testing.T) {
	text := strings.Replace(vcrPy(t, textRequest, func(x httpExchange) object { return object{"body": object{"string": string(x.response)}} }),
		"      response:", "        headers:\n          ? !!python/object/apply:os.system [touch x]\n          : - 1\n          ? !!python/object/new:multidict._multidict.istr\n          - Content-Type\n          : - text/plain\n      response:", 1)
	require.Contains(t, text, "os.system")
	rec := open(t, text)
	assert.Empty(t, rec.Problems)
	assert.Len(t, rec.Conversations[0].Turns, 3)
}

func TestAliasesAcrossInteractionsAreFollowed(t *testing.T) {
	text := goVCR(t, 1)
	text = strings.Replace(text, "headers: {}", "headers: &id001\n            X-A: [b]", 1)
	text = strings.ReplaceAll(text, "headers: {}", "headers: *id001")
	require.Equal(t, 2, strings.Count(text, "*id001"))
	rec := open(t, text)
	assert.Empty(t, rec.Problems)
	assert.Len(t, rec.Conversations[0].Turns, 3)
}

func TestACassetteThatIsCutIsReadAsFarAsItGoes(t *testing.T) {
	text := goVCR(t, 1)
	for cut := len(text) - 1; cut > 0; cut -= 97 {
		rec, err := recording.Open("file", strings.NewReader(text[:cut]), recording.Limits{}, nil)
		if err != nil {
			assert.ErrorIs(t, err, recording.ErrNotRecording)
			continue
		}
		turns := len(rec.Conversations[0].Turns)
		assert.LessOrEqual(t, turns, 3)
		_, last, _ := strings.Cut(text[strings.LastIndex(text[:cut], "- request:"):cut], "response:")
		if turns < 3 && !strings.Contains(last, "code: 200") && strings.TrimSpace(last) != "" {
			assert.NotEmpty(t, rec.Problems, "cut at byte %d", cut)
		}
	}
}

func TestAnAnswerMayGoOnUnderTheNameOfAnother(t *testing.T) {
	rec := open(t, "-- request --\n"+exchanges(t)[0].request+"\n-- streaming --\n"+sse(script[0])+"-- streaming/tool-call --\n"+sse(script[2])+"-- notes --\nnothing\n")
	require.Len(t, rec.Conversations, 1)
	assert.Len(t, rec.Conversations[0].Turns, 2)
	assert.Equal(t, "the recording does not hold the request that would answer it", rec.Conversations[0].Turns[0].Unanswered[0].Reason)
	assert.Equal(t, map[string]int{"files that are no exchange": 1}, rec.Ignored)
}

func TestAFrameMayBeAnException(t *testing.T) {
	text := string(frames(stream.Script(script[0])[:4])) + string(frame(map[string]string{":exception-type": "throttlingException", ":message-type": "exception"}, []byte(`{"message":"Too many"}`)))
	rec := open(t, text)
	assert.Equal(t, []string{"error conversation 1, turn 1: the stream ends in an error event: throttlingException: Too many"}, problems(rec))
	damaged := []byte(string(frames(stream.Script(script[0]))))
	damaged[len(damaged)-20] ^= 1
	rec = open(t, string(damaged))
	assert.Equal(t, []string{"malformed conversation 1, turn 1: a frame of the event stream is damaged; it and the rest of the file were left out"}, problems(rec))
}

// What stands before a cassette's own members is nothing of it.
func TestCassettesMayBeginWithOtherThings(t *testing.T) {
	yaml, list := vcrPy(t, textRequest, func(x httpExchange) object { return object{"body": object{"string": string(x.response)}} }), []any{}
	for _, x := range exchanges(t) {
		list = append(list, object{"request": object{"url": endpoint, "body": x.request}, "response": object{"body": string(x.response)}})
	}
	for name, text := range map[string]string{
		"a comment":         "# Recorded by hand.\n" + yaml,
		"a marked document": "# Recorded by hand.\n\n---\n" + yaml,
		"a directive":       "%YAML 1.1\n---\n" + yaml,
		"both":              "# Recorded by hand.\n%YAML 1.2\n# Really.\n--- # here\n" + yaml,
		"another notation":  "interactions:\n  " + asJSON(t, list) + "\n",
		"a member":          `{"by":{"name":"x"},"interactions":` + asJSON(t, list) + "}",
		"more members":      `{"tags":["a",{"b":null}],"n":1,"interactions":` + asJSON(t, list) + "}",
		"a member in lines": "{\"by\":{\"name\":\"x\"},\n \"interactions\":" + asJSON(t, list) + "}\n",
	} {
		rec, err := recording.Open("file", strings.NewReader(text), recording.Limits{}, nil)
		require.NoError(t, err, name)
		assert.Empty(t, rec.Problems, name)
		require.Len(t, rec.Conversations, 1, name)
		assert.Len(t, rec.Conversations[0].Turns, 3, name)
		assert.Equal(t, []string{"call_1 text of a", "call_2 a b"}, answers(rec.Conversations[0].Turns[0]), name)
	}
}

// A member may have the name of a recorder's list and be none.
func TestInteractionsThatAreNoListAreNamed(t *testing.T) {
	_, err := recording.Open("file", strings.NewReader("interactions:\n  key:\n  - text: x\n"), recording.Limits{}, nil)
	assert.EqualError(t, err, "file: not a recording: it holds no turn of a model, only documents without a type (1)")
}

// Of histories that ask the same, none goes on from another.
func TestHistoriesThatBeginAlikeAreAllRead(t *testing.T) {
	call := func(id string) string {
		return fmt.Sprintf("{role: assistant, content: [{type: tool_use, id: %s, name: ls, input: {}}]}", id)
	}
	const user, result = "{role: user, content: Go.}", "{role: user, content: [{type: tool_result, tool_use_id: a, content: x}]}"
	history := func(messages ...string) string { return "  - messages: [" + strings.Join(messages, ", ") + "]\n" }
	rec := open(t, "conversations:\n"+history(user, call("x"))+history(user, call("a"), result, call("c"))+history(user, call("a"), result, call("b"))+history(call("d"))+history(user, call("e")))
	var all []string
	for _, c := range rec.Conversations {
		for _, turn := range c.Turns {
			for _, call := range turn.Calls {
				all = append(all, fmt.Sprint(c.Number, call.ID))
			}
		}
	}
	assert.Equal(t, []string{"1a", "1c", "2a", "2b", "3d", "4e"}, all, "the first is what others go on from")
}

// Some clients give each result a message to itself, and some shorten what went before.
func TestResultsMayStandInMessagesOfTheirOwn(t *testing.T) {
	asked := func(messages, answer string) string {
		return inYAML(t, object{"when": object{"path": "/v1/messages", "body": `{"messages":[` + messages + `]}`},
			"then": object{"status": 200, "body": `{"type":"message","content":[` + answer + `]}`}})
	}
	call := func(id string) string { return `{"type":"tool_use","id":"` + id + `","name":"ls","input":{}}` }
	result := func(id string) string {
		return `,{"role":"user","content":[{"type":"tool_result","tool_use_id":"` + id + `","content":"of ` + id + `"}]}`
	}
	const first, text = `{"role":"user","content":"Go."}`, `{"type":"text","text":"x"}`
	for name, history := range map[string]string{"whole": first, "shortened": `{"role":"user","content":"In short: go."}`} {
		rec := open(t, asked(first, call("a")+","+call("b")+","+call("c"))+"---\n"+
			asked(history+`,{"role":"assistant","content":[`+call("a")+","+call("b")+","+call("c")+`]}`+result("a")+result("b")+result("c"), text))
		require.Len(t, rec.Conversations, 1, name)
		assert.Equal(t, []string{"a of a", "b of b", "c of c"}, answers(rec.Conversations[0].Turns[0]), name)
	}
}

// A cassette may be cut where what is left is YAML all the same.
func TestACutBehindTheLastBodyIsNoticed(t *testing.T) {
	python := vcrPy(t, textRequest, func(x httpExchange) object { return object{"body": object{"string": string(x.response)}} })
	ruby := rubyVCR(t)
	for name, text := range map[string]string{
		"python": python[:strings.LastIndex(python, "status:")],
		"ruby":   ruby[:strings.LastIndex(ruby, "recorded_at:")] + ruby[strings.LastIndex(ruby, "request:"):strings.LastIndex(ruby, "recorded_with")],
	} {
		rec := open(t, text)
		require.Len(t, rec.Problems, 1, name)
		assert.Contains(t, problems(rec)[0], "interaction 3: the last interaction lacks what recorders write at its end: the file was cut", name)
		assert.Len(t, rec.Conversations[0].Turns, 3, name)
	}
}

// What a conversation's first request repeats of calls nobody recorded the answers of is no turn, and is counted.
func TestCallsBeforeTheFirstAnswerAreNamed(t *testing.T) {
	all := exchanges(t)
	list := func(from int) string {
		var list []any
		for _, x := range all[from:] {
			list = append(list, object{"request": object{"method": "POST", "uri": endpoint, "body": x.request, "headers": object{}}, "response": object{"status": object{"code": 200}, "body": object{"string": string(x.response)}, "headers": object{}}})
		}
		return inYAML(t, object{"interactions": list, "version": 1})
	}
	whole := open(t, list(0))
	assert.Empty(t, whole.Ignored)
	calls := len(whole.Conversations[0].Turns[0].Calls)
	rec := open(t, list(1))
	assert.Equal(t, map[string]int{"calls of answers before the first that is recorded": calls}, rec.Ignored)
	assert.Len(t, rec.Conversations[0].Turns, 2)
}

// A text in quotes may go on in lines that begin with a tab, or nothing, wherever its item is.
func TestATextMayGoOnAtTheMargin(t *testing.T) {
	x := exchanges(t)[0]
	rec := open(t, "interactions:\n  - request:\n      body: '"+strings.ReplaceAll(x.request, "'", "''")+"'\n      headers: {a:\n\t\t['b\n\tc']}\n      method: POST\n      uri: "+endpoint+
		"\n    response:\n      body: {string: "+asJSON(t, string(x.response))+"}\n      headers: {}\n      status: {code: 200}\nversion: 1\n")
	assert.Empty(t, problems(rec))
	require.Len(t, rec.Conversations, 1)
}

// A trajectory may hold those of the agents that its own sent out: each is a conversation.
func TestTrajectoriesWithinOneAreConversations(t *testing.T) {
	inner := `{"schema_version":"ATIF-v1.7","trajectory_id":"b","steps":[{"source":"user","message":"Look."},{"source":"agent","message":"Seen."}]}`
	rec := open(t, `{"schema_version":"ATIF-v1.7","session_id":"s","trajectory_id":"a","steps":[{"source":"user","message":"Go."},{"source":"agent","message":"Done."}],"subagent_trajectories":[`+inner+`,`+inner+`]}`)
	require.Len(t, rec.Conversations, 3)
	for i, said := range []string{"Go.", "Look.", "Look."} {
		assert.Equal(t, []string{said}, rec.Conversations[i].Turns[0].UserTexts)
	}
}

// Harbor writes what each call of OpenClaw gave as a step of the agent's, which holds no call and names one beside it.
func TestAStepOfATrajectoryMayBeAResult(t *testing.T) {
	result := func(id, text, extra string) string {
		return `{"source":"agent","message":"` + text + `","observation":{"results":[{"content":"` + text + `"}]},"extra":{"openclaw_role":"toolResult","tool_call_id":"` + id + `"` + extra + `}},`
	}
	rec := open(t, `{"schema_version":"ATIF-v1.6","session_id":"s","agent":{"name":"openclaw"},"steps":[{"source":"user","message":"Go."},`+
		`{"source":"agent","message":"","tool_calls":[{"tool_call_id":"c1","function_name":"ls","arguments":{}},{"tool_call_id":"c2","function_name":"cat","arguments":{}}]},`+
		result("c1", "x", "")+result("c2", "no such file", `,"is_error":true`)+`{"source":"agent","message":"Done."}]}`)
	assert.Empty(t, rec.Ignored)
	require.Len(t, rec.Conversations, 1)
	turns := rec.Conversations[0].Turns
	require.Len(t, turns, 2)
	require.Len(t, turns[0].Results, 2)
	for i, r := range turns[0].Results {
		assert.Equal(t, []string{"c1", "c2"}[i], r.Call)
		assert.Equal(t, i == 1, r.IsError)
		assert.Contains(t, asJSON(t, r), []string{"x", "no such file"}[i])
	}
}

// A body that is kept as what it means may have members that other recorders keep bodies in.
func TestABodyMayHaveAMemberText(t *testing.T) {
	body := object{"id": "r1", "object": "response", "model": "m-1", "status": "completed", "text": object{"format": object{"type": "text"}},
		"output": []object{{"type": "function_call", "id": "f1", "call_id": "c1", "name": "ls", "arguments": "{}"}}}
	asked := object{"model": "m-1", "input": "Go.", "text": object{"verbosity": "low"}}
	rec := open(t, asJSON(t, []object{{"request": object{"path": "/v1/responses", "body": asked}, "response": object{"status": 200, "body": body}}}))
	require.Len(t, rec.Conversations, 1)
	turn := rec.Conversations[0].Turns[0]
	assert.Equal(t, []string{"{}"}, inputs(turn))
	assert.Equal(t, []string{"Go."}, turn.UserTexts)
}

// The history of a trajectory is a conversation, whose results may name their calls in a list.
func TestAHistoryIsAConversation(t *testing.T) {
	call := func(id string) object {
		return object{"id": id, "type": "function", "function": object{"name": "ls", "arguments": "{}"}}
	}
	doc := object{"info": object{}, "history": []object{{"role": "system", "content": "Work."}, {"role": "user", "content": "Go.", "agent": "main"},
		{"role": "assistant", "content": "I look.", "tool_calls": []object{call("A"), call("B")}},
		{"role": "tool", "content": "2", "tool_call_ids": []string{"B"}}, {"role": "tool", "content": "1", "tool_call_ids": []string{"A"}}}}
	for _, text := range []string{indented(t, doc), "---\n" + indented(t, doc)} {
		rec := open(t, text)
		require.Len(t, rec.Conversations, 1)
		turns := rec.Conversations[0].Turns
		require.Len(t, turns, 1)
		assert.Equal(t, []string{"Go."}, turns[0].UserTexts)
		assert.Equal(t, []string{"B 2", "A 1"}, answers(turns[0]))
	}
}

// Who reads a stream writes its events down as its library has them: their type beside their data, which is a text or
// an object. A line of the stream that repeats a message, as agents print it, stays one.
func TestEventsMayStandInWhatTheirReaderWrites(t *testing.T) {
	chat := []string{`{"id":"a","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"A","function":{"name":"view","arguments":"{}"}}]}}]}`,
		`{"id":"a","object":"chat.completion.chunk","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}`}
	messages := []string{`{"type":"message_start","message":{"id":"m","role":"assistant","content":[]}}`, `{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"A","name":"view","input":{}}}`,
		`{"type":"content_block_stop","index":0}`, `{"type":"message_delta","delta":{"stop_reason":"tool_use"}}`, `{"type":"message_stop"}`}
	for _, form := range []string{`{"LastEventID":"","Type":"x","Data":%q}`, `{"event":"x","data":%q}`, `{"event":"x","data":%s}`, `{"time":1,"chunk":%s}`, `{"Ok":%s}`} {
		for _, events := range [][]string{chat, messages} {
			var lines []string
			for _, e := range events {
				lines = append(lines, fmt.Sprintf(form, e))
			}
			for _, text := range []string{strings.Join(lines, "\n"), "[" + strings.Join(lines, ",\n") + "]"} {
				rec, err := recording.Open("x", strings.NewReader(text), recording.Limits{}, nil)
				require.NoError(t, err, text)
				require.Len(t, rec.Conversations, 1)
				require.Len(t, rec.Conversations[0].Turns, 1)
				turn := rec.Conversations[0].Turns[0]
				assert.Equal(t, recording.Whole, turn.Ending)
				assert.Equal(t, "tool_use", turn.Stop)
				require.Len(t, turn.Calls, 1)
				assert.Equal(t, "A", turn.Calls[0].ID)
			}
		}
	}
	_, err := recording.Open("x", strings.NewReader(`{"type":"stream_event","event":`+messages[0]+`}`+"\n"+`{"type":"stream_event","data":`+messages[4]+`}`), recording.Limits{}, nil)
	assert.ErrorContains(t, err, "stream_event")
}

// A body may have the events of a stream a line each without what servers put before them, whoever's they are.
func TestABodyMayHaveAnEventALine(t *testing.T) {
	for request, body := range map[string]string{
		`{"model":"m","messages":[{"role":"system","content":"x"},{"role":"user","content":"Look."}]}`: `{"id":"a","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"A","function":{"name":"view","arguments":"{}"}}]}}]}` +
			"\n" + `{"id":"a","object":"chat.completion.chunk","choices":[{"index":0,"delta":{}}]}` + "\n[DONE]\n",
		`{"model":"m","input":[{"role":"user","content":"Look."}]}`: `{"type":"response.created","response":{"id":"r","output":[]}}` + "\n\n" +
			`{"type":"response.completed","response":{"id":"r","status":"completed","output":[{"type":"function_call","call_id":"A","name":"view","arguments":"{}"}]}}` + "\n",
		`{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"Look."}]}`: `{"type":"message_start","message":{"id":"m","role":"assistant","content":[]}}` + "\n" +
			`{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"A","name":"view","input":{}}}` + "\n" + `{"type":"content_block_stop","index":0}` + "\n" +
			`{"type":"message_delta","delta":{"stop_reason":"tool_use"}}` + "\n" + `{"type":"message_stop"}` + "\n",
	} {
		text := fmt.Sprintf(`{"interactions":[{"request":{"method":"POST","uri":"https://x.test/v1/any","body":%q},"response":{"status":{"code":200},"body":{"string":%q}}}]}`, request, body)
		rec, err := recording.Open("x", strings.NewReader(text), recording.Limits{}, nil)
		require.NoError(t, err, request)
		require.Len(t, rec.Conversations, 1)
		turn := rec.Conversations[0].Turns[0]
		assert.Equal(t, recording.Whole, turn.Ending, request)
		assert.Equal(t, "tool_use", turn.Stop, request)
		require.Len(t, turn.Calls, 1, request)
		assert.Equal(t, "A", turn.Calls[0].ID)
	}
}

// The server that Google's libraries are tested against keeps bodies in segments: a request's one, and of a stream one for each event.
func TestBodiesInSegmentsAreRead(t *testing.T) {
	ask := `{"contents":[{"role":"user","parts":[{"text":"Look."}]}%s],"tools":[{"functionDeclarations":[{"name":"view"}]}]}`
	call := `{"functionCall":{"name":"view","args":{"p":1}}}`
	again := fmt.Sprintf(ask, `,{"role":"model","parts":[`+call+`]},{"role":"user","parts":[{"functionResponse":{"name":"view","response":{"output":"seen"}}}]}`)
	exchange := func(request, response string) string {
		return `{"request":{"method":"POST","url":"/v1beta/models/m:streamGenerateContent?alt=sse","headers":{},"bodySegments":[` + request +
			`],"previousRequest":"b4","serverAddress":"x.test","port":443},"response":{"statusCode":200,"headers":{"Content-Type":"text/event-stream"},"bodySegments":[` + response + `]}}`
	}
	piece := `{"candidates":[{"content":{"role":"model","parts":[%s]}%s}],"responseId":"%s","usageMetadata":{"promptTokenCount":9,"candidatesTokenCount":4}}`
	stop := `,"finishReason":"STOP"`
	text := `{"recordID":"r","interactions":[` + exchange(fmt.Sprintf(ask, ""), fmt.Sprintf(piece, call, "", "a")+","+fmt.Sprintf(piece, `{"text":""}`, stop, "a")) + "," +
		exchange(again, fmt.Sprintf(piece, `{"text":"Done."}`, stop, "b")) + `]}`
	rec, err := recording.Open("x", strings.NewReader(text), recording.Limits{}, nil)
	require.NoError(t, err)
	assert.Empty(t, rec.Problems)
	assert.Equal(t, recording.Exchanges, rec.Format)
	require.Len(t, rec.Conversations, 1)
	require.Len(t, rec.Conversations[0].Turns, 2)
	first := rec.Conversations[0].Turns[0]
	require.Len(t, first.Calls, 1)
	assert.Equal(t, "view", first.Calls[0].Name)
	assert.Equal(t, "seen", first.Results[0].Text)
	assert.Equal(t, 4, first.Usage.Output)
}

// Snapshots of Rust's insta have what they keep behind a document about it, which may hold what that was made of.
func TestASnapshotIsWhatStandsBehindItsHead(t *testing.T) {
	head := "---\nsource: src/tests.rs\ndescription: a.json\ninfo:\n  choices:\n    - index: 0\n      message:\n        role: assistant\n        content: Another.\n---\n"
	stream := string(exchanges(t)[0].response)
	plain := open(t, stream)
	for _, text := range []string{head + stream, strings.ReplaceAll(head+stream, "\n", "\r\n")} {
		rec := open(t, text)
		assert.Equal(t, recording.SSE, rec.Format)
		assert.Empty(t, rec.Problems)
		assert.Empty(t, rec.Ignored)
		require.Len(t, rec.Conversations, 1)
		require.Len(t, rec.Conversations[0].Turns, 1)
		assert.Equal(t, calls(plain.Conversations[0].Turns[0]), calls(rec.Conversations[0].Turns[0]))
		assert.Equal(t, 11, rec.Conversations[0].Turns[0].Line, "lines are those of the file")
	}
	message := object{"type": "message", "role": "assistant", "model": "m", "content": []object{{"type": "tool_use", "id": "A", "name": "view", "input": object{"p": 1}}}, "stop_reason": "tool_use"}
	for _, text := range []string{indented(t, message), inYAML(t, message), indented(t, object{"response": message})} {
		rec := open(t, head+text)
		require.Len(t, rec.Conversations, 1, text)
		require.Len(t, rec.Conversations[0].Turns, 1, text)
		assert.Equal(t, []string{`A view {"p":1}`}, calls(rec.Conversations[0].Turns[0]), text)
	}
}

// claude-code-router's log has what each body is beside its text, and the address, the status and the headers beside both.
func TestARoutersLogIsRead(t *testing.T) {
	body := func(text string) object {
		return object{"contentType": "application/json", "encoding": "utf8", "sizeBytes": len(text), "text": text, "truncated": false}
	}
	var list []object
	for _, x := range exchanges(t) {
		list = append(list, object{"id": 1, "method": "POST", "path": "/v1/messages", "url": "http://127.0.0.1:3456/v1/messages?beta=true", "statusCode": 200,
			"requestHeaders": object{}, "responseHeaders": object{"content-type": "text/event-stream"}, "requestBody": body(x.request), "responseBody": body(string(x.response))})
	}
	refused := maps.Clone(list[2])
	refused["statusCode"], refused["responseBody"] = 529, body(`{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`)
	list = append(list[:2:2], refused, list[2])
	lines := ""
	for _, x := range list {
		lines += asJSON(t, x) + "\n"
	}
	for _, text := range []string{asJSON(t, list), indented(t, list), lines} {
		rec := open(t, text)
		require.Len(t, rec.Conversations, 1)
		require.Len(t, rec.Conversations[0].Turns, 3)
		assert.Equal(t, []string{"call_1 text of a", "call_2 a b"}, answers(rec.Conversations[0].Turns[0]))
		require.Len(t, rec.Problems, 1)
		assert.Contains(t, rec.Problems[0].Text, "status 529: overloaded_error: Overloaded")
	}
}

// What a kill left undone of a recorder's last write stands in comments at the end, and is read from there. What is no
// file that can be read at any place is read as it comes.
func TestARecordingIsReadAsItsLastWriteWasToLeaveIt(t *testing.T) {
	const item = `- request: {body: '{"model":"m","messages":[{"role":"user","content":"Hi."}]}', url: "https://api.anthropic.com/v1/messages", method: POST}
  response: {body: '{"id":"m1","type":"message","role":"assistant","content":[{"type":"text","text":"Hello."}],"stop_reason":"end_turn"}', headers: {Content-Type: [application/json]}, code: 200}
`
	const head = "version: 1\ninteractions:\n"
	torn := head + item[:120] + "\n'" + item[200:] + "#---\n"
	file := torn + "#" + strings.ReplaceAll(strings.TrimSuffix(item, "\n"), "\n", "\n#") + "\n" +
		fmt.Sprintf("#from byte %d of this file on stands what follows in comments from byte %d on\n", len(head), len(torn))
	want := open(t, head+item)
	got := open(t, file)
	require.Len(t, got.Conversations, 1)
	assert.Empty(t, got.Problems)
	assert.Equal(t, want.Conversations[0].Turns[0].Events, got.Conversations[0].Turns[0].Events)
	_, err := recording.Open("file", bufio.NewReader(strings.NewReader(file)), recording.Limits{}, nil)
	assert.Error(t, err)
}
