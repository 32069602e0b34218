package serve_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"toolbench/sim/serve"
	"toolbench/sim/stream"
)

const responsesTools = `"tools":[{"type":"function","name":"weather","parameters":{"type":"object"}}]`

func responses(s *serve.Server, w http.ResponseWriter, body string) {
	s.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "http://localhost/v1/responses", strings.NewReader(body)))
}

// eager is a client that asks again as soon as it has read the end of an answer.
type eager struct {
	*httptest.ResponseRecorder
	next func(id string)
}

func (e *eager) Write(p []byte) (int, error) {
	_, data, found := bytes.Cut(p, []byte("event: response.completed\ndata: "))
	if found {
		line, _, _ := bytes.Cut(data, []byte("\n"))
		e.next(gjson.GetBytes(line, "response.id").Str)
	}
	return e.ResponseRecorder.Write(p)
}

// A request that goes on from an answer finds it kept, however soon it comes.
func TestAnAnswerIsKeptBeforeItsEndIsSent(t *testing.T) {
	s, asked := serve.New(weather(), serve.Options{}), ""
	responses(s, &eager{httptest.NewRecorder(), func(id string) {
		w := httptest.NewRecorder()
		responses(s, w, `{"model":"m","previous_response_id":"`+id+`",`+responsesTools+`,"input":[
			{"type":"function_call_output","call_id":"call_a","output":"wet"},{"type":"function_call_output","call_id":"call_b","output":"dry"}]}`)
		asked = w.Body.String()
	}}, `{"model":"m","stream":true,"input":"How is it?",`+responsesTools+`}`)
	assert.Contains(t, asked, "Bern", "the conversation goes on")
	assert.Len(t, s.Report().Sessions, 1)
}

// What goes on from an answer that was never given is refused, and is no new conversation.
func TestAnAnswerThatIsNotKeptIsNamed(t *testing.T) {
	s := serve.New(weather(), serve.Options{})
	w := httptest.NewRecorder()
	responses(s, w, `{"model":"m","previous_response_id":"resp_gone",`+responsesTools+`,"input":"And now?"}`)
	assert.Equal(t, http.StatusBadRequest, w.Code)
	assert.Contains(t, w.Body.String(), `resp_gone`)
	r := s.Report()
	assert.Len(t, r.Refused, 1)
	assert.Empty(t, r.Sessions)
	assert.Equal(t, 1, s.State().Requests)

	w = httptest.NewRecorder()
	responses(s, w, `{"model":"m","previous_response_id":null,`+responsesTools+`,"input":"How is it?"}`)
	assert.Equal(t, http.StatusOK, w.Code, "null goes on from nothing")
}

// A call whose block begins with its input, as some recorders write it, gets its arguments in the
// client's words like any other.
func TestAnInputThatIsThereFromTheStartIsRenamed(t *testing.T) {
	c := &serve.Conversation{Number: 1, Answers: []serve.Answer{serve.NewAnswer(started(t, `{"city":"Oslo"}`))}}
	client := newClient(t, &serve.Script{Source: "s", Conversations: []*serve.Conversation{c}}, serve.Options{
		Names: serve.Names{"weather": {Name: "forecast", Args: map[string]string{"city": "place"}}},
	})
	client.tools = `[{"name":"forecast","input_schema":{"type":"object","properties":{"place":{"type":"string"}}}}]`
	client.say(user(`"How is it?"`))
	call := gjson.Get(client.ask("").Body.String(), "content.0")
	assert.Equal(t, "forecast", call.Get("name").Str)
	assert.JSONEq(t, `{"place":"Oslo"}`, call.Get("input").Raw)
}

// started gives a stream whose call has its input at its start, and no pieces of it.
func started(t *testing.T, input string) (out []stream.Event) {
	for _, e := range stream.Script(stream.Turn{ID: "msg_1", Blocks: []stream.Block{call("call_a", "weather", "{}", 0)}}) {
		switch e.Type {
		case "content_block_delta":
			continue
		case "content_block_start":
			e.Data = bytes.Replace(e.Data, []byte(`"input":{}`), []byte(`"input":`+input), 1)
			require.Contains(t, string(e.Data), input)
		}
		out = append(out, e)
	}
	require.True(t, json.Valid(out[0].Data))
	return out
}

// An answer that failed has the status of its error, whichever that is, also for a client that asked
// for no stream.
func TestAFailedAnswerHasTheStatusOfItsError(t *testing.T) {
	for kind, status := range map[string]int{
		"overloaded_error": 529, "rate_limit_error": 429, "invalid_request_error": 400, "authentication_error": 401,
		"permission_error": 403, "not_found_error": 404, "request_too_large": 413, "api_error": 500,
	} {
		failed := stream.Event{Type: "error", Data: stream.Error{Type: kind, Message: "No."}.JSON()}
		c := &serve.Conversation{Number: 1, Answers: []serve.Answer{serve.NewAnswer([]stream.Event{failed})}}
		client := newClient(t, &serve.Script{Source: "s", Conversations: []*serve.Conversation{c}}, serve.Options{})
		client.say(user(`"How is it?"`))
		w := client.ask("")
		assert.Equal(t, status, w.Code, kind)
		assert.Equal(t, kind, gjson.Get(w.Body.String(), "error.type").Str)
	}
}
