package serve

import (
	"encoding/json"
	"net/http"

	"github.com/tidwall/gjson"
)

// Message is an answer as the API gives it to a client that asks for no stream: what
// message_start said, the blocks, and what message_delta changed.
func Message(a *Answer) ([]byte, error) {
	members := map[string]json.RawMessage{}
	usage := map[string]json.RawMessage{}
	merge := func(into map[string]json.RawMessage, v gjson.Result) {
		v.ForEach(func(key, value gjson.Result) bool {
			into[key.Str] = json.RawMessage(value.Raw)
			return true
		})
	}
	for _, e := range a.Events {
		v := gjson.ParseBytes(e.Data)
		switch v.Get("type").Str {
		case "message_start":
			merge(members, v.Get("message"))
			merge(usage, v.Get("message.usage"))
		case "message_delta":
			merge(members, v.Get("delta"))
			merge(usage, v.Get("usage"))
		}
	}
	content, err := json.Marshal(a.Reply.Message)
	if err != nil {
		return nil, err
	}
	members["content"] = json.RawMessage(gjson.GetBytes(content, "content").Raw)
	if members["usage"], err = json.Marshal(usage); err != nil {
		return nil, err
	}
	return json.Marshal(members)
}

// refusal is an answer that failed, as a client hears of it that asked for no stream.
func refusal(a *Answer) (status int, kind, text string) {
	for _, e := range a.Events {
		if e.Type != "error" {
			continue
		}
		v := gjson.GetBytes(e.Data, "error")
		kind, text = v.Get("type").Str, v.Get("message").Str
		status = http.StatusInternalServerError
		switch kind {
		case "overloaded_error":
			status = 529
		case "rate_limit_error":
			status = http.StatusTooManyRequests
		case "invalid_request_error":
			status = http.StatusBadRequest
		}
		return status, kind, text
	}
	return http.StatusInternalServerError, "api_error", "the recorded stream did not come to its end: " + a.Why
}
