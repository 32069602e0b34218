package replay_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/sim/recording"
	"toolbench/sim/replay"
)

const offer = `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"Hi"}],"tools":[{"name":"ls","input_schema":{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}}]}`

// message is a streamed answer with one block, as the Messages API gives it.
const message = `data: {"type":"message_start","message":{"id":"a","type":"message","role":"assistant","model":"m","content":[],"usage":{"input_tokens":3}}}

data: {"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"t","name":"ls","input":{}}}

data: {"type":"ping"}

data: {"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"path\":\"/\"}"}}

data: {"type":"content_block_stop","index":0}

data: {"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"output_tokens":2}}

data: {"type":"message_stop"}

`

const chatAsk = `{"model":"g","messages":[{"role":"user","content":"Hi"}]}`
const chatAnswer = `{"id":"c","object":"chat.completion","model":"g","choices":[{"index":0,"message":{"role":"assistant","content":"Hello","refusal":null},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":2}}`

func asked(url, body string) recording.Exchange {
	return recording.Exchange{Number: 4, URL: url, Body: []byte(body)}
}

func answer(e recording.Exchange, status int, body string) recording.Exchange {
	return e.Answered(status, http.Header{}, []byte(body), recording.Limits{})
}

// What differs in shape is named once, by what it is; texts, ids and pings are not.
func TestOnlyShapesDiffer(t *testing.T) {
	edit := func(pairs ...string) string { return strings.NewReplacer(pairs...).Replace(message) }
	for name, c := range map[string]struct {
		status int
		now    string
		want   []string
	}{
		"nothing":               {200, message, nil},
		"texts, ids and pings":  {200, edit(`"id":"t"`, `"id":"u"`, `data: {"type":"ping"}`+"\n\n", "", `\"/\"`, `\"/tmp\"`, `"output_tokens":2`, `"output_tokens":7`), nil},
		"null that has a value": {200, edit(`"stop_sequence":null`, `"stop_sequence":"x"`), nil},
		"status":                {400, `{"type":"error","error":{"type":"invalid_request_error","message":"no"}}`, []string{"status||200|400 invalid_request_error"}},
		"stop reason":           {200, edit(`"stop_reason":"tool_use"`, `"stop_reason":"pause"`), []string{"stop||tool_use|pause"}},
		"tool":                  {200, edit(`"name":"ls"`, `"name":"rm"`), []string{"tool|ls|yes|", "tool|rm||yes", "input|rm: it was not offered||yes"}},
		"input":                 {200, edit(`\"path\":`, `\"dir\":`), []string{"input|ls: path breaks required||yes"}},
		"usage":                 {200, edit(`"input_tokens":3`, `"input_tokens":3,"tier":"x"`), []string{"usage|message_start message/message: usage.tier||string"}},
		"type of a member":      {200, edit(`"output_tokens":2`, `"output_tokens":"2"`), []string{"usage|message_delta: usage.output_tokens|number|string"}},
		"new event":             {200, edit(`data: {"type":"message_stop"}`, `data: {"type":"note","at":1}`+"\n\n"+`data: {"type":"message_stop"}`), []string{"event|note||yes"}},
		"gone member":           {200, edit(`,"role":"assistant"`, ""), []string{"member|message_start message/message: role|string|"}},
		"no end":                {200, edit(`data: {"type":"message_stop"}`, ""), []string{"answer||a stream|a stream, not whole: it ends before message_stop"}},
		"cut":                   {200, message[:len(message)-5], []string{"answer||a stream|a stream, not whole: the body ends inside an event, at byte 561"}},
	} {
		t.Run(name, func(t *testing.T) {
			e := asked("/v1/messages", offer)
			var compared replay.Drift
			compared.Add(answer(e, 200, message), answer(e, c.status, c.now))
			var got []string
			for _, change := range compared.Changes() {
				assert.Equal(t, []int{4}, change.Requests)
				got = append(got, strings.Join([]string{change.Aspect, change.Name, change.Recorded, change.Now}, "|"))
			}
			assert.Equal(t, c.want, got)
		})
	}
}

// Where blocks have no types of their own, other blocks are named, not their members.
func TestOtherBlocksAreNamedOnce(t *testing.T) {
	e := asked("/v1/chat/completions", chatAsk)
	calls := strings.NewReplacer(`"content":"Hello"`, `"content":null,"tool_calls":[{"id":"t","type":"function","function":{"name":"ls","arguments":"{}"}}]`, `"finish_reason":"stop"`, `"finish_reason":"tool_calls"`).Replace(chatAnswer)
	var compared replay.Drift
	compared.Add(answer(e, 200, chatAnswer), answer(e, 200, calls))
	compared.Add(answer(e, 200, chatAnswer), answer(e, 200, calls))
	var got []string
	for _, c := range compared.Changes() {
		assert.Len(t, c.Requests, 2)
		got = append(got, c.Aspect)
	}
	assert.Equal(t, []string{"stop", "block", "tool", "input"}, got)
}

// A request goes out as it was recorded, but for the model and for what could be secret.
func TestRequestsAreSentAsTheyWere(t *testing.T) {
	for name, c := range map[string]struct{ url, body, model, wantURL, wantBody, keyIn string }{
		"messages": {"https://api.example/v1/messages?beta=true&key=SECRET", offer, "", "/v1/messages?beta=true", offer, "X-Api-Key"},
		"another model": {"https://api.example/v1/messages", offer, `n"ew`, "/v1/messages",
			strings.Replace(offer, `"m"`, `"n\"ew"`, 1), "X-Api-Key"},
		"no address":    {"", chatAsk, "", "/v1/messages", chatAsk, "X-Api-Key"},
		"chat":          {"/v1/chat/completions", chatAsk, "h", "/v1/chat/completions", strings.Replace(chatAsk, `"g"`, `"h"`, 1), "Authorization"},
		"gemini":        {"/v1beta/models/g:streamGenerateContent?alt=sse&key=SECRET", `{"contents":[]}`, "h", "/v1beta/models/h:streamGenerateContent?alt=sse", `{"contents":[]}`, "X-Goog-Api-Key"},
		"gemini, short": {"/v1beta/models/m:generateContent", `{"contents":[]}`, "new", "/v1beta/models/new:generateContent", `{"contents":[]}`, "X-Goog-Api-Key"},
		"a project of that name": {"/v1/projects/g-1-test/locations/l/publishers/google/models/g-1:generateContent", `{"contents":[]}`, "h",
			"/v1/projects/g-1-test/locations/l/publishers/google/models/h:generateContent", `{"contents":[]}`, "X-Goog-Api-Key"},
		"an address as its name": {"/model/arn%3Aaws%3Abedrock%3Aeu%3A1%3Ainference-profile%2Feu.m/invoke", `{"messages":[{"role":"user","content":"x"}]}`, "arn:aws:b/eu.n",
			"/model/arn:aws:b%2Feu.n/invoke", `{"messages":[{"role":"user","content":"x"}]}`, "Authorization"},
		"another cloud": {"/model/a.b/invoke", offer, "", "/model/a.b/invoke", offer, "Authorization"},
	} {
		t.Run(name, func(t *testing.T) {
			e := asked(c.url, c.body)
			e.Sent = http.Header{"X-Api-Key": {"SECRET"}, "Authorization": {"SECRET"}, "Cookie": {"SECRET"}, "Anthropic-Beta": {"b"}}
			q := replay.Again(answer(e, 200, message), c.model)
			q.Authorize("key")
			assert.Equal(t, c.wantURL, q.URL)
			assert.JSONEq(t, c.wantBody, string(q.Body))
			assert.Contains(t, q.Sent.Get(c.keyIn), "key")
			assert.Equal(t, "b", q.Sent.Get("Anthropic-Beta"))
			assert.NotContains(t, q.Sent, "Cookie")
			for _, values := range q.Sent {
				assert.NotContains(t, values, "SECRET")
			}
		})
	}
}

// What has no whole answer, or depends on an earlier one, is not sent.
func TestWhatCannotBeComparedIsLeftOut(t *testing.T) {
	e := asked("/v1/messages", offer)
	assert.Empty(t, replay.LeftOut(answer(e, 200, message)))
	assert.Empty(t, replay.LeftOut(answer(e, 400, `{"type":"error","error":{"type":"invalid_request_error"}}`)))
	assert.Contains(t, replay.LeftOut(answer(e, 529, "")), "529")
	assert.Contains(t, replay.LeftOut(answer(e, 200, message[:len(message)-5])), "not whole")
	assert.Contains(t, replay.LeftOut(answer(asked("/v1/responses", `{"input":"x","previous_response_id":"r"}`), 200, "")), "goes on")
}

// Where a recorder keeps no addresses, a request goes where its API takes such.
func TestRequestsWithoutAnAddressGoWhereTheirAPIIs(t *testing.T) {
	const chat = `{"request":{"model":"m","messages":[{"role":"system","content":"Be brief."},{"role":"user","content":"Go."}]},"response":{"id":"r","object":"chat.completion","choices":[{"message":{"role":"assistant","content":"Done."},"finish_reason":"stop"}]}}`
	const messages = `{"request":{"model":"m","messages":[{"role":"user","content":"Go."}]},"response":{"type":"message","role":"assistant","content":[]}}`
	var urls []string
	_, err := recording.Scan("file", strings.NewReader(chat+"\n"+messages+"\n"), recording.Limits{}, recording.Handler{Exchange: func(e recording.Exchange) error {
		urls = append(urls, replay.Again(e, "").URL)
		return nil
	}})
	require.NoError(t, err)
	assert.Equal(t, []string{"/v1/chat/completions", "/v1/messages"}, urls)
}
