package serve_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"toolbench/sim/cassette"
	"toolbench/sim/recording"
	"toolbench/sim/serve"
	"toolbench/sim/stream"
)

const (
	asMessages = `{"max_tokens":9,"messages":[{"role":"user","content":"How is it?"}],"tools":[{"name":"weather","input_schema":{"type":"object","properties":{"city":{"type":"string"}}}}]}`
	asChat     = `{"model":"g","stream":%,"messages":[{"role":"user","content":"How is it?"}],"tools":[{"type":"function","function":{"name":"weather"}}]}`
	asItems    = `{"model":"g","stream":%,"input":"How is it?","tools":[{"type":"function","name":"weather"}]}`
	asConverse = `{"messages":[{"role":"user","content":[{"text":"How is it?"}]}],"toolConfig":{"tools":[{"toolSpec":{"name":"weather","inputSchema":{"json":{"type":"object"}}}}]}}`
	asOllama   = `{"model":"g","stream":%,"messages":[{"role":"user","content":"How is it?"}],"tools":[{"type":"function","function":{"name":"weather"}}]}`
	asContents = `{"contents":[{"role":"user","parts":[{"text":"How is it?"}]}],"tools":[{"functionDeclarations":[{"name":"weather"}]}]}`
)

// wires are how each API is asked: its path, a body, whether it streams.
var wires = map[string]struct {
	path, body string
	kind       string
}{
	"bedrock whole":     {"/model/anthropic.claude/invoke", asMessages, "application/json"},
	"bedrock streamed":  {"/model/anthropic.claude/invoke-with-response-stream", asMessages, "application/vnd.amazon.eventstream"},
	"converse whole":    {"/model/m/converse", asConverse, "application/json"},
	"converse streamed": {"/model/m/converse-stream", asConverse, "application/vnd.amazon.eventstream"},
	"vertex whole":      {"/v1/projects/p/locations/l/publishers/anthropic/models/m:rawPredict", asMessages, "application/json"},
	"vertex streamed":   {"/v1/projects/p/locations/l/publishers/anthropic/models/m:streamRawPredict", strings.Replace(asMessages, "{", `{"stream":true,`, 1), "text/event-stream"},
	"chat whole":        {"/chat/completions", strings.Replace(asChat, "%", "false", 1), "application/json"},
	"chat streamed":     {"/v1/chat/completions", strings.Replace(asChat, "%", "true", 1), "text/event-stream"},
	"items whole":       {"/v1/responses", strings.Replace(asItems, "%", "false", 1), "application/json"},
	"items streamed":    {"/v1/responses", strings.Replace(asItems, "%", "true", 1), "text/event-stream"},
	"ollama whole":      {"/api/chat", strings.Replace(asOllama, "%", "false", 1), "application/json"},
	"ollama streamed":   {"/api/chat", strings.Replace(asOllama, `"stream":%,`, "", 1), "application/x-ndjson"},
	"gemini whole":      {"/v1beta/models/m:generateContent", asContents, "application/json"},
	"gemini streamed":   {"/v1beta/models/m:streamGenerateContent?alt=sse", asContents, "text/event-stream"},
	"gemini listed":     {"/v1/projects/p/locations/l/publishers/google/models/m:streamGenerateContent", asContents, "application/json"},
}

func posted(t *testing.T, url, body string) (*http.Response, string) {
	t.Helper()
	resp, err := http.Post(url, "application/json", strings.NewReader(body))
	require.NoError(t, err)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return resp, string(text)
}

// Each API is answered in its own form, streamed and whole, and its errors are its own. What
// is recorded of that reads back with the same calls.
func TestEachAPIIsAnsweredInItsForm(t *testing.T) {
	for name, w := range wires {
		t.Run(name, func(t *testing.T) {
			s := serve.New(weather(), serve.Options{Fault: func(n int) (f cassette.Fault) {
				switch n {
				case 1:
					f.Status = 529
				case 2:
					f.CutAfter = 1
				case 3:
					f.Error, f.ErrorAfter = &stream.Error{Type: "overloaded_error", Message: "Busy"}, 1
				}
				return f
			}})
			at := httptest.NewServer(s)
			defer at.Close()
			resp, text := posted(t, at.URL+w.path, w.body)
			if strings.HasPrefix(name, "vertex") {
				assert.Equal(t, 529, resp.StatusCode)
			} else {
				assert.Equal(t, 503, resp.StatusCode)
			}
			assert.NotEmpty(t, gjson.Get(text, "error.message").Str+gjson.Get(text, "message").Str+gjson.Get(text, "error").Str)

			cut, err := http.Post(at.URL+w.path, "application/json", strings.NewReader(w.body))
			if err == nil {
				_, err = io.ReadAll(cut.Body)
				cut.Body.Close()
			}
			require.ErrorContains(t, err, "EOF")
			_, text = posted(t, at.URL+w.path, w.body)
			assert.Contains(t, text, "Busy")

			file := t.TempDir() + "/c.yaml"
			journal, err := cassette.NewJournal(file, http.DefaultTransport, nil)
			require.NoError(t, err)
			got, err := (&http.Client{Transport: journal}).Post(at.URL+w.path, "application/json", strings.NewReader(w.body))
			require.NoError(t, err)
			assert.True(t, strings.HasPrefix(got.Header.Get("Content-Type"), w.kind), got.Header)
			body, err := io.ReadAll(got.Body)
			require.NoError(t, err)
			got.Body.Close()
			require.NoError(t, journal.Close(t.Context()))
			f, err := os.Open(file)
			require.NoError(t, err)
			defer f.Close()
			back, err := serve.FromRecording(file, f, recording.Limits{}, stream.Pace{})
			require.NoError(t, err)
			assert.NotEmpty(t, body)
			var cities []string
			for _, call := range back.Conversations[0].Answers[0].Calls() {
				cities = append(cities, call.Name+gjson.GetBytes(call.Input, "city").Str)
			}
			assert.Equal(t, []string{"weatherOslo", "weatherRome"}, cities)
			again, err := os.Open(file)
			require.NoError(t, err)
			defer again.Close()
			rec, err := recording.Open(file, again, recording.Limits{}, nil)
			require.NoError(t, err)
			assert.Equal(t, !strings.HasSuffix(name, "whole"), rec.Conversations[0].Turns[0].Pace == recording.Exact, "each event of a stream has its time")
		})
	}
}

// A client that has asked too often is told when to ask again, as each of these APIs does: some give up where that is not there.
func TestWhoAsksTooOftenIsToldWhenToAskAgain(t *testing.T) {
	for name, w := range wires {
		t.Run(name, func(t *testing.T) {
			at := httptest.NewServer(serve.New(weather(), serve.Options{Fault: func(n int) cassette.Fault { return cassette.Fault{Status: map[int]int{1: 429, 2: 500}[n]} }}))
			defer at.Close()
			for _, want := range []struct {
				status int
				after  string
			}{{429, "1"}, {500, ""}, {200, ""}} {
				resp, _ := posted(t, at.URL+w.path, w.body)
				assert.Equal(t, want.status, resp.StatusCode)
				assert.Equal(t, want.after, resp.Header.Get("Retry-After"))
			}
		})
	}
}

// What is not served is an error in the words of the API that is meant, with what is.
func TestWhatIsNotServedIsNamed(t *testing.T) {
	at := httptest.NewServer(serve.New(weather(), serve.Options{}))
	defer at.Close()
	for path, member := range map[string]string{"/v1/embeddings": "error.code", "/v1beta/models/m:embedContent": "error.status", "/v1/files": "error.type", "/model/m/guess": "error.type"} {
		resp, text := posted(t, at.URL+path, "{}")
		assert.Equal(t, http.StatusNotFound, resp.StatusCode)
		assert.NotEmpty(t, gjson.Get(text, member).Str, text)
		assert.Contains(t, gjson.Get(text, "error.message").Str, "/v1/chat/completions")
	}
	for _, path := range []string{"/v1/models", "/v1beta/models"} {
		resp, err := http.Get(at.URL + path)
		require.NoError(t, err)
		resp.Body.Close()
		assert.Equal(t, http.StatusOK, resp.StatusCode)
	}
}

// A sub-agent is a conversation of its own beside the main one, of whichever API: both are
// served at the same time.
func TestConversationsOfSeveralAPIsRunBesideEachOther(t *testing.T) {
	script := weather()
	sub := scriptOf(stream.Turn{ID: "msg_sub", Blocks: []stream.Block{{Kind: stream.Text, Text: "Done by the other."}}}).Conversations[0]
	sub.Number, sub.For = 2, "sub-task"
	script.Conversations = append(script.Conversations, sub)
	both := make(chan struct{}, 2)
	s := serve.New(script, serve.Options{Speed: 1, Wait: func(ctx context.Context, _ string, _ time.Duration) error {
		select {
		case both <- struct{}{}:
		default:
		}
		for len(both) < 2 && ctx.Err() == nil { // until the other streams too
			time.Sleep(time.Millisecond)
		}
		return ctx.Err()
	}})
	at := httptest.NewServer(s)
	defer at.Close()
	var asked sync.WaitGroup
	asked.Go(func() { posted(t, at.URL+"/v1/messages", asMessages) })
	asked.Go(func() {
		_, text := posted(t, at.URL+"/v1/chat/completions", strings.Replace(strings.Replace(asChat, "%", "false", 1), "How is it?", "Do the sub-task.", 1))
		assert.Equal(t, "Done by the other.", gjson.Get(text, "choices.0.message.content").Str)
	})
	asked.Wait()
	r := s.Report()
	require.Len(t, r.Sessions, 2)
	assert.ElementsMatch(t, []int{1, 2}, []int{r.Sessions[0].Conversation, r.Sessions[1].Conversation})
	assert.Empty(t, r.Refused)
}

// A signature of a call is given as it was recorded, and has to come back.
func TestSignaturesOfCallsComeBack(t *testing.T) {
	recorded := `{"candidates":[{"content":{"role":"model","parts":[{"functionCall":{"name":"weather","args":{"city":"Oslo"}},"thoughtSignature":"c2VhbGVk"},` +
		`{"functionCall":{"name":"weather","args":{"city":"Rome"}}}]},"finishReason":"STOP"}],"modelVersion":"m","responseId":"r"}`
	for lost, status := range map[string]serve.Status{"": serve.Held, `,"thoughtSignature":"c2VhbGVk"`: serve.Failed} {
		script, err := serve.FromRecording("gemini.json", strings.NewReader(recorded), recording.Limits{}, stream.Pace{})
		require.NoError(t, err)
		s := serve.New(script, serve.Options{})
		at := httptest.NewServer(s)
		defer at.Close()
		_, text := posted(t, at.URL+"/v1beta/models/m:generateContent", asContents)
		parts := gjson.Get(text, "candidates.0.content.parts")
		assert.Equal(t, []string{"c2VhbGVk", ""}, []string{parts.Get("0.thoughtSignature").Str, parts.Get("1.thoughtSignature").Str})
		said := `{"role":"model","parts":` + strings.Replace(parts.Raw, lost, "", 1) + `}`
		results := `{"role":"user","parts":[{"functionResponse":{"name":"weather","response":{"output":"wet"}}},{"functionResponse":{"name":"weather","response":{"output":"dry"}}}]}`
		posted(t, at.URL+"/v1beta/models/m:generateContent", strings.Replace(asContents, `"parts":[{"text":"How is it?"}]}`, `"parts":[{"text":"How is it?"}]},`+said+","+results, 1))
		for _, c := range s.Report().Sessions[0].Checks {
			switch c.Name {
			case "echo":
				assert.Equal(t, []any{status, serve.Refused}, []any{c.Status, c.Weight}, "%v", c.Findings)
			default:
				assert.NotEqual(t, serve.Failed, c.Status, "%s: %v", c.Name, c.Findings)
			}
		}
	}
}

// runsAndWaits serves a session in which two tools are called, of which the first may take a text.
func runsAndWaits() *serve.Server {
	return serve.New(scriptOf(
		stream.Turn{ID: "1", Blocks: []stream.Block{call("call_a", "run", `{"script":"ls \"x\"\n"}`, 0), call("call_b", "wait", `{"ms":1}`, 0)}},
		stream.Turn{ID: "2", Blocks: []stream.Block{{Kind: stream.Text, Text: "Done."}}},
	), serve.Options{})
}

// Tools of Responses may stand in an item of the input and in namespaces, and may take a text:
// calls of those are given as such, and read back as what was called.
func TestToolsOfResponsesThatStandElsewhere(t *testing.T) {
	s := runsAndWaits()
	at := httptest.NewServer(s)
	defer at.Close()
	input := `{"type":"additional_tools","role":"developer","tools":[{"type":"namespace","name":"functions","tools":[{"type":"custom","name":"run","format":{"type":"text"}},
		{"type":"function","name":"wait","parameters":{"type":"object"}}]}]},{"type":"message","role":"user","content":"List."}`
	_, streamed := posted(t, at.URL+"/v1/responses", `{"model":"g","stream":true,"input":[`+input+`]}`)
	assert.Contains(t, streamed, `"type":"response.custom_tool_call_input.delta"`)
	assert.NotContains(t, streamed, "script")
	last := streamed[strings.LastIndex(streamed, "data: ")+len("data: "):]
	items := gjson.Get(last, "response.output").Array()
	require.Len(t, items, 2)
	assert.Equal(t, []string{"custom_tool_call", "run", "ls \"x\"\n", "function_call"},
		[]string{items[0].Get("type").Str, items[0].Get("name").Str, items[0].Get("input").Str, items[1].Get("type").Str})
	input += "," + items[0].Raw + "," + items[1].Raw + `,{"type":"custom_tool_call_output","call_id":"call_a","output":"x"},{"type":"function_call_output","call_id":"call_b","output":"."}`
	_, whole := posted(t, at.URL+"/v1/responses", `{"model":"g","input":[`+input+`]}`)
	assert.Equal(t, "Done.", gjson.Get(whole, "output.0.content.0.text").Str)
	r := s.Report()
	require.Len(t, r.Sessions, 1)
	assert.Empty(t, r.Asides)
	assert.Equal(t, []string{"guessed: run is called run, its script input"}, r.Sessions[0].Notes[:1])
	requireHeld(t, s)
}

// So it is in Chat Completions, where a call of a custom tool is of that type.
func TestCustomToolsOfChatCompletions(t *testing.T) {
	const run = `{"id":"call_a","type":"custom","custom":{"name":"run","input":"ls \"x\"\n"}}`
	const calls = `[` + run + `,{"id":"call_b","type":"function","function":{"name":"wait","arguments":"{\"ms\":1}"}}]`
	for _, streamed := range []bool{true, false} {
		s := runsAndWaits()
		at := httptest.NewServer(s)
		defer at.Close()
		ask := func(stream bool, more string) string {
			_, text := posted(t, at.URL+"/v1/chat/completions", fmt.Sprintf(`{"model":"g","stream":%t,"messages":[{"role":"user","content":"List."}%s],
				"tools":[{"type":"custom","custom":{"name":"run"}},{"type":"function","function":{"name":"wait","parameters":{"type":"object"}}}]}`, stream, more))
			return text
		}
		if got := ask(streamed, ""); streamed {
			assert.Contains(t, got, `"tool_calls":[{"index":0,"id":"call_a","type":"custom","custom":{"name":"run","input":""}}]`)
			assert.Contains(t, got, `"tool_calls":[{"index":0,"custom":{"input":"ls \"x\"\n"}}]`)
			assert.NotContains(t, got, "script")
		} else {
			assert.JSONEq(t, calls, gjson.Get(got, "choices.0.message.tool_calls").Raw)
		}
		done := ask(false, `,{"role":"assistant","tool_calls":`+calls+`},{"role":"tool","tool_call_id":"call_a","content":"x"},{"role":"tool","tool_call_id":"call_b","content":"."}`)
		assert.Equal(t, "Done.", gjson.Get(done, "choices.0.message.content").Str)
		assert.Empty(t, s.Report().Asides)
		requireHeld(t, s)
	}
}

// A conversation in Converse's words: what was answered comes back, with the results.
func TestAConverseConversation(t *testing.T) {
	s := serve.New(weather(), serve.Options{})
	at := httptest.NewServer(s)
	defer at.Close()
	messages := `{"role":"user","content":[{"text":"How is it?"}]}`
	for range 3 {
		_, text := posted(t, at.URL+"/model/m/converse", strings.Replace(asConverse, `{"role":"user","content":[{"text":"How is it?"}]}`, messages, 1))
		var results []string
		for _, id := range gjson.Get(text, "output.message.content.#.toolUse.toolUseId").Array() {
			results = append(results, `{"toolResult":{"toolUseId":"`+id.Str+`","content":[{"text":"dry"}],"status":"error"}}`)
		}
		messages += "," + gjson.Get(text, "output.message").Raw + `,{"role":"user","content":[` + strings.Join(results, ",") + `]}`
	}
	r := s.Report()
	require.Len(t, r.Sessions, 1)
	assert.True(t, r.Held(), "%v", r.Sessions[0].Checks)
	assert.Equal(t, []int{3, 3, 3}, []int{r.Sessions[0].Answers, r.Sessions[0].Calls, r.Sessions[0].Results})
}

// A recording may have an id twice: clients whose API has none get each call by its own name.
func TestAnIDThatComesAgainIsAnotherCall(t *testing.T) {
	oslo, rome := stream.Block{}, stream.Block{}
	for to, city := range map[*stream.Block]string{&oslo: "Oslo", &rome: "Rome"} {
		*to = call("call_a", "weather", `{"city":"`+city+`"}`, 0)
	}
	s := serve.New(scriptOf(
		stream.Turn{ID: "1", Blocks: []stream.Block{oslo}}, stream.Turn{ID: "2", Blocks: []stream.Block{rome}}, stream.Turn{ID: "3", Blocks: []stream.Block{{Kind: stream.Text, Text: "Done."}}},
	), serve.Options{})
	at := httptest.NewServer(s)
	defer at.Close()
	history := `{"role":"user","parts":[{"text":"How is it?"}]}`
	var last string
	for range 3 {
		_, last = posted(t, at.URL+"/v1beta/models/m:generateContent", strings.Replace(asContents, `{"role":"user","parts":[{"text":"How is it?"}]}`, history, 1))
		history += `,` + gjson.Get(last, "candidates.0.content").Raw + `,{"role":"user","parts":[{"functionResponse":{"name":"weather","response":{"output":"wet"}}}]}`
	}
	assert.Equal(t, "Done.", gjson.Get(last, "candidates.0.content.parts.0.text").Str)
	requireHeld(t, s)
}

// Some agents ask again without a stream, or another model, where a stream was cut: that is the same conversation, be it its first request.
func TestWhoAsksAgainInAnotherWayGoesOnWithItsConversation(t *testing.T) {
	for name, change := range map[string][2]string{"without a stream": {`"stream":true`, `"stream":false`}, "another model": {`"model":"g"`, `"model":"h"`}} {
		t.Run(name, func(t *testing.T) {
			s := serve.New(weather(), serve.Options{Fault: func(n int) (f cassette.Fault) {
				if n == 1 {
					f.CutAfter = 1
				}
				return f
			}})
			at := httptest.NewServer(s)
			defer at.Close()
			body := strings.Replace(asChat, "%", "true", 1)
			require.NotEqual(t, body, strings.Replace(body, change[0], change[1], 1))
			if cut, err := http.Post(at.URL+"/v1/chat/completions", "application/json", strings.NewReader(body)); err == nil {
				_, _ = io.ReadAll(cut.Body)
				cut.Body.Close()
			}
			resp, text := posted(t, at.URL+"/v1/chat/completions", strings.Replace(body, change[0], change[1], 1))
			require.Equal(t, http.StatusOK, resp.StatusCode, text)
			assert.Contains(t, text, "call_b", "the answer is whole")
			assert.Len(t, s.Report().Sessions, 1)
			assert.Empty(t, s.Report().Refused)
		})
	}
}
