package serve

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"toolbench/sim/dialect"
	"toolbench/toolsys/message"
)

// request is what a client sent, as far as it matters here.
type request struct {
	api       dialect.API
	stream    bool
	body      []byte
	tools     []gjson.Result
	system    gjson.Result
	messages  []gjson.Result
	model     string
	maxTokens int64
	// auto: the request as a whole has a cache breakpoint, placed by the API.
	auto bool
}

// parse reads a request's body. Its errors are worded for the client.
func parse(body []byte) (*request, error) {
	body = bytes.TrimSpace(body)
	if !json.Valid(body) || len(body) == 0 || body[0] != '{' {
		return nil, errors.New("the body is no JSON object")
	}
	v := gjson.ParseBytes(body)
	r := &request{body: body, stream: v.Get("stream").Bool(), tools: v.Get("tools").Array(), system: v.Get("system"), auto: v.Get("cache_control").IsObject(), model: v.Get("model").Str, maxTokens: v.Get("max_tokens").Int()}
	list := v.Get("messages")
	if !list.IsArray() || len(list.Array()) == 0 {
		return nil, errors.New("messages: at least one message is required")
	}
	r.messages = list.Array()
	for i, m := range r.messages {
		if content := m.Get("content"); m.Get("role").Str == "" || content.Type != gjson.String && !content.IsArray() {
			return nil, fmt.Errorf("messages.%d: a message has a role and a content", i)
		}
	}
	return r, nil
}

// freeform reports whether a tool is offered whose input is a text.
func (r *request) freeform(tool string) bool {
	return slices.ContainsFunc(r.tools, func(t gjson.Result) bool { return toolName(t) == tool && t.Get("freeform").Bool() })
}

// blocks are a message's content as blocks: a string is one text block.
func blocks(m gjson.Result) []gjson.Result {
	content := m.Get("content")
	if content.Type == gjson.String {
		return []gjson.Result{gjson.Parse(`{"type":"text","text":` + content.Raw + `}`)}
	}
	return content.Array()
}

// replies are the places of the assistant messages, from a place on.
func (r *request) replies(from int) (at []int) {
	for i := max(0, from); i < len(r.messages); i++ {
		if r.messages[i].Get("role").Str == "assistant" {
			at = append(at, i)
		}
	}
	return at
}

// lastReply is the place of the last assistant message, -1 without one.
func (r *request) lastReply() int {
	all := r.replies(0)
	return append([]int{-1}, all...)[len(all)]
}

// firstOf is the place of the first message of an answer that comes back in the last assistant
// messages: a client may send each of its calls in a message of its own, with the call's result
// behind it. It is that of the last assistant message where that one is all, -1 without one.
func (r *request) firstOf(a *Answer) int {
	first, behind := r.lastReply(), []string{}
	for i := first; i >= 0; i-- {
		switch m := r.messages[i]; {
		case i == first || m.Get("role").Str == "assistant" && isPart(m, a, behind):
			first, behind = i, append(behind, callsOf(m)...)
		case m.Get("role").Str != "user" || slices.ContainsFunc(blocks(m), notResult):
			return first
		}
	}
	return first
}

// isPart reports whether all of a message's calls and texts are an answer's, and none of its
// calls is behind it already.
func isPart(m gjson.Result, a *Answer, behind []string) bool {
	text := message.PlainText(a.Reply.Message.Content)
	return !slices.ContainsFunc(blocks(m), func(b gjson.Result) bool {
		switch id := b.Get("id").Str; b.Get("type").Str {
		case "tool_use":
			return !isCall(a, id) || slices.Contains(behind, id)
		case "text":
			return !strings.Contains(text, b.Get("text").Str)
		}
		return false
	})
}

// callsOf are the ids of a message's calls.
func callsOf(m gjson.Result) (ids []string) {
	for _, b := range blocks(m) {
		if b.Get("type").Str == "tool_use" {
			ids = append(ids, b.Get("id").Str)
		}
	}
	return ids
}

// repeats reports whether one of the messages is the answer: it has one of its calls, or, when it has none, its text.
func (r *request) repeats(a *Answer) bool {
	text, own := message.PlainText(a.Reply.Message.Content), func(id string) bool { return isCall(a, id) }
	if len(a.Calls()) > 0 {
		text = ""
	}
	return slices.ContainsFunc(r.messages, func(m gjson.Result) bool {
		return m.Get("role").Str == "assistant" && (text != "" && plain(m.Get("content")) == text || slices.ContainsFunc(callsOf(m), own))
	})
}

// withoutBreakpoint is an object's bytes without its cache breakpoint, which moves and is no part of the prompt.
func withoutBreakpoint(v gjson.Result) string {
	if !v.IsObject() || !v.Get("cache_control").Exists() {
		return v.Raw
	}
	var b strings.Builder
	v.ForEach(func(key, value gjson.Result) bool {
		if key.Str != "cache_control" {
			b.WriteString(key.Raw + ":" + value.Raw + ",")
		}
		return true
	})
	return "{" + strings.TrimSuffix(b.String(), ",") + "}"
}

// Message is an answer as the API gives it to a client that asks for no stream: what
// message_start has, the blocks, and what message_delta changed.
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

// refusal is an answer that failed, as a client gets it that asked for no stream.
func refusal(a *Answer) (status int, kind, text string) {
	for _, e := range a.Events {
		if e.Type == "error" {
			v := gjson.GetBytes(e.Data, "error")
			kind = v.Get("type").Str
			return dialect.StatusOf(kind), kind, v.Get("message").Str
		}
	}
	return http.StatusInternalServerError, "api_error", "the recorded stream did not come to its end: " + a.Why
}
