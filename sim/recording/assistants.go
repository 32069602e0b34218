package recording

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"toolbench/sim/cassette"
	"toolbench/sim/dialect"
)

// OpenAI's assistants keep the conversation themselves: a thread, to which the client adds messages, and runs on it, which it
// looks at until one wants the results of calls or is over. What a run came to is made an answer of Chat Completions.

// heldThread is such a thread, as requests of Chat Completions would have it.
type heldThread struct {
	messages []any
	run      gjson.Result // the last one that was seen
	seen     map[string]bool
}

// assistant takes an exchange about a thread, or else one about a batch. took is false where that adds nothing to the conversation, as with a run that
// goes on.
func (c *chains) assistant(x *exchange, body []byte) (took bool, err error) {
	values := x.objects(c.s.limits.Part)
	if len(values) == 0 {
		return c.batch(x, body)
	}
	c.hold(len(body) + len(x.response))
	name := strings.Clone(firstOf(values[0], "thread_id id").String())
	t := c.held[name]
	if t == nil {
		t = &heldThread{seen: map[string]bool{}}
		c.held[name] = t
	}
	sent := gjson.ParseBytes(body)
	for _, m := range append(firstOf(sent, "messages thread.messages additional_messages").Array(), sent) {
		if content := m.Get("content"); content.Exists() && m.Get("role").Exists() {
			t.messages, took = append(t.messages, fields{"role": m.Get("role").Str, "content": content.Value()}), true
		}
	}
	for _, r := range sent.Get("tool_outputs").Array() {
		t.messages, took = append(t.messages, fields{"role": "tool", "tool_call_id": r.Get("tool_call_id").Str, "content": r.Get("output").String()}), true
	}
	for _, v := range values {
		answered, err := c.assisted(t, x, v)
		if took = took || answered; err != nil {
			return took, err
		}
	}
	return took, nil
}

// hold lets go of all that is held of threads and batches when it has become too much.
func (c *chains) hold(n int) {
	if c.heldBytes += int64(n); c.heldBytes > c.s.limits.Part {
		clear(c.held)
		clear(c.batched)
		c.heldBytes = 0
	}
}

// objects are what a response about threads holds, the oldest first: an object, a list of them, or the events of a stream.
func (x *exchange) objects(max int64) []gjson.Result {
	if !strings.Contains(x.url, "/threads") {
		return nil
	}
	text, err := cassette.Decode(x.response, x.header.Get("Content-Encoding"), max)
	if err != nil {
		return nil
	}
	v, list := gjson.ParseBytes(text), "data|@reverse"
	if strings.Contains(x.url, "order=asc") {
		list = "data"
	}
	return slices.DeleteFunc(append(documents(text), v.Get(list).Array()...), func(v gjson.Result) bool { return !strings.HasPrefix(v.Get("object").Str, "thread") })
}

// assisted takes an object of a thread: a run that wants results, or a message of the assistant's, unless it was taken before.
func (c *chains) assisted(t *heldThread, x *exchange, v gjson.Result) (took bool, err error) {
	calls, id, m := v.Get("required_action.submit_tool_outputs.tool_calls"), v.Get("id").String(), fields{"role": "assistant"}
	if v.Get("object").Str == "thread.run" {
		t.run, id = v, calls.Get("0.id").String()
		m["tool_calls"] = json.RawMessage(cmp.Or(calls.Raw, "[]"))
	} else if v.Get("object").Str == "thread.message" && v.Get("role").Str == "assistant" {
		m["content"] = texts(v.Get("content.#.text.value"), "")
	}
	if id == "" || t.seen[id] || len(m) == 1 || m["content"] == "" {
		return false, nil
	}
	t.seen[id] = true
	said := append([]any{fields{"role": "system", "content": t.run.Get("instructions").String()}}, t.messages...)
	t.messages = append(t.messages, m)
	request := fields{"model": t.run.Get("model").String(), "messages": said, "tools": definitions(t.run.Get("tools").Array())}
	reply := fields{"id": id, "choices": []any{fields{"message": m, "finish_reason": "stop"}}}
	return true, c.take(&exchange{number: x.number, line: x.line, url: "/v1/chat/completions", status: 200, made: true, request: dialect.JSON(request), response: dialect.JSON(reply)})
}

var ofBatches = regexp.MustCompile(`/batches\b|/files\b|/batch/jobs\b|:batchGenerateContent`)

// batch takes an exchange about a batch, which is a body or a file of lines; took is false where it has no results. Each is
// made the answer of the request that had its name.
func (c *chains) batch(x *exchange, body []byte) (took bool, err error) {
	text, err := cassette.Decode(x.response, x.header.Get("Content-Encoding"), c.s.limits.Part)
	if err != nil || !ofBatches.MatchString(x.url) {
		return false, nil // it is named as others are
	}
	f := recorders().Batches
	for _, v := range append(documents(body), documents(text)...) {
		for i, item := range firstOf(v, f.Lists).Array() {
			c.hold(len(item.Raw))
			name := textIn(item, f.Names)
			if name == "" && len(item.Raw) < len(v.Raw) { // it stands in a list, and has a place
				name = fmt.Sprint("#", i)
			}
			if name == "" {
				continue
			}
			c.batchAsked(name, v, item)
			if firstOf(item, "result batch_result response error").Exists() {
				took = true
				if err := c.batchAnswered(name, x, item); err != nil {
					return took, err
				}
			}
		}
	}
	return took, nil
}

// batchAsked notes the request that an item has. Nothing tells which of two with one name is answered.
func (c *chains) batchAsked(name string, v, item gjson.Result) {
	for _, body := range recorders().Batches.Bodies {
		asked := item.Get(body.At)
		if !asked.IsObject() {
			continue
		}
		one := &exchange{url: cmp.Or(item.Get("url").String(), v.Get("endpoint").String(), body.Address), request: []byte(asked.Raw)}
		if old := c.batched[name]; old != nil && old.request != nil && !bytes.Equal(old.request, one.request) {
			one = &exchange{request: []byte{}}
		}
		c.batched[name] = one
		return
	}
}

// batchAnswered takes the result that an item has, unless it was fetched before.
func (c *chains) batchAnswered(name string, x *exchange, item gjson.Result) error {
	one, answer := cmp.Or(c.batched[name], &exchange{url: "/v1/messages"}), firstOf(item, recorders().Batches.Answers)
	if bytes.Equal(one.response, []byte(answer.Raw)) {
		return nil
	}
	one.response, c.batched[name] = []byte(answer.Raw), one
	if answer.Raw == item.Raw && !item.Get("error").Exists() {
		c.s.ignore("requests of a batch that were not answered")
		return nil
	}
	answered := *one
	answered.number, answered.line, answered.header, answered.made = x.number, x.line, http.Header{}, true
	answered.status = cmp.Or(int(item.Get("response.status_code").Int()), x.status)
	return c.take(&answered)
}

// documents are the objects of a body: one, one a line, or the events of a stream.
func documents(text []byte) (all []gjson.Result) {
	if dialect.Valid(text) {
		return []gjson.Result{gjson.ParseBytes(text)}
	}
	for l := range bytes.Lines(text) {
		if l = bytes.TrimSpace(bytes.TrimPrefix(l, []byte("data:"))); dialect.Valid(l) {
			all = append(all, gjson.ParseBytes(l))
		}
	}
	return all
}
