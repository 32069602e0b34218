package recording

import (
	"encoding/binary"
	"encoding/json"
	"hash/fnv"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"toolbench/sim/dialect"
	"toolbench/sim/stream"
)

// request is what of a request's body distinguishes conversations.
type request struct {
	api      dialect.API
	ids      *dialect.IDs
	model    string
	messages []gjson.Result
	// previous is the answer that the request goes on from, where it does not repeat it, or conversation
	// where the provider keeps that.
	previous, conversation string
	// prefix[n] identifies the first n messages.
	prefix []prefix
	// toolsID identifies the tools as sent, less cache breakpoints, which move.
	toolsID prefix
	offered gjson.Result
	// raw is the body as it was sent, or in the words of the Messages API.
	raw string
}

type prefix [16]byte

// parseRequest reads a body; ok is false when it asks no model.
func parseRequest(address string, body []byte) (*request, bool) {
	ids := &dialect.IDs{}
	api, v, ok := dialect.Request(address, body, ids)
	if !ok {
		return nil, false
	}
	r := &request{
		api: api, ids: ids, raw: v.Raw, model: v.Get("model").String(), messages: v.Get("messages").Array(),
		previous: v.Get("previous_response_id").String(), conversation: strings.Clone(v.Get("conversation").String()),
	}
	r.prefix = make([]prefix, len(r.messages)+1)
	for i, m := range r.messages {
		h := fnv.New128a()
		h.Write(r.prefix[i][:])
		digest(h.Write, m)
		copy(r.prefix[i+1][:], h.Sum(nil))
	}
	r.offered = v.Get("tools")
	h := fnv.New128a()
	for _, t := range r.offered.Array() {
		h.Write([]byte(less(t, "cache_control")))
	}
	copy(r.toolsID[:], h.Sum(nil))
	return r, true
}

// calls are the ids of the calls that it repeats.
func (r *request) calls() []string {
	return slices.Concat(mapped(r.messages, func(m gjson.Result) []string { return callIDs(m.Get("content")) })...)
}

// userTexts is the last user message, results apart, if it has any text.
func (r *request) userTexts() []string {
	for _, m := range slices.Backward(r.messages) {
		if m.Get("role").Str == "user" {
			var u userText
			if text := userTextIn(m.Get("content")); text != "" {
				u.add(text, false)
			}
			return u.texts
		}
	}
	return nil
}

// digest writes what makes a message the same when it is sent again: clients move
// cache breakpoints, drop false members, and write texts as strings or as blocks.
func digest(write func([]byte) (int, error), m gjson.Result) {
	put := func(parts ...string) {
		for _, p := range parts {
			var n [8]byte
			binary.BigEndian.PutUint64(n[:], uint64(len(p)))
			_, _ = write(n[:]) // a hash never fails
			_, _ = write([]byte(p))
		}
	}
	put(m.Get("role").String())
	content := m.Get("content")
	if content.Type == gjson.String {
		put("text", content.Str)
		return
	}
	for _, b := range content.Array() {
		switch kind := b.Get("type").String(); kind {
		case "text":
			put(kind, b.Get("text").String())
		case "tool_result":
			put(kind, b.Get("tool_use_id").String(), plain(b.Get("content")))
		default:
			put(kind, b.Get("id").String(), b.Get("name").String(), b.Get("tool_use_id").String())
		}
	}
}

// definition reads a tool as it stands in a request.
func definition(t gjson.Result) Definition {
	d := Definition{
		Name: strings.Clone(t.Get("name").String()), Description: strings.Clone(t.Get("description").String()),
		Kind: strings.Clone(t.Get("type").String()), ReadOnly: t.Get("annotations.readOnlyHint").Type == gjson.True,
	}
	for _, c := range t.Get("allowed_callers").Array() {
		d.Callers = append(d.Callers, strings.Clone(c.String()))
	}
	if d.Kind == "custom" {
		d.Kind = ""
	}
	if s := t.Get("input_schema"); s.IsObject() {
		d.Schema = json.RawMessage(s.Raw)
	}
	return d
}

// resultsIn are the results that messages hold, from the first on.
func resultsIn(messages []gjson.Result) []Result {
	var out []Result
	for _, m := range messages {
		for _, b := range m.Get("content").Array() {
			if r, ok := resultIn(b.Map()); ok {
				out = append(out, r)
			}
		}
	}
	return out
}

// Usage is what the API itself counted for a request and its answer, in tokens
// (D5). Input is what was neither read from the prompt cache nor written to it.
type Usage struct {
	Input, Written, Read, Output int
	// Hour are those of Written that are kept for an hour.
	Hour int
	// Reason is why the API could not read all of the prompt before from its cache, in its own
	// word such as tools_changed, and Missed what it might have read; "" where it was not asked.
	Reason string
	Missed int
}

// usageIn reads what a message counts; nil where that is nothing.
func usageIn(m gjson.Result) *Usage {
	var u Usage
	u.update(m.Get("usage"))
	u.diagnose(m.Get("diagnostics"))
	return u.known()
}

// known is nil for a usage that counts nothing.
func (u Usage) known() *Usage {
	if u == (Usage{}) {
		return nil
	}
	return &u
}

// update takes the members that an object has: those of a stream's last event stand for those of its first.
func (u *Usage) update(v gjson.Result) {
	for name, to := range map[string]*int{
		"input_tokens": &u.Input, "cache_creation_input_tokens": &u.Written, "cache_read_input_tokens": &u.Read, "output_tokens": &u.Output,
		"cache_creation.ephemeral_1h_input_tokens": &u.Hour,
	} {
		if n := v.Get(name); n.Type == gjson.Number && n.Num >= 0 && n.Num < 1e12 {
			*to = int(n.Num)
		}
	}
}

// diagnose reads why the API could not read more from its cache, where it was asked that.
func (u *Usage) diagnose(v gjson.Result) {
	if why := v.Get("cache_miss_reason"); why.IsObject() {
		u.Reason, u.Missed = strings.Clone(why.Get("type").String()), int(why.Get("cache_missed_input_tokens").Int())
	}
}

// usageOf reads a stream's usage; nil where it has none.
func usageOf(events []stream.Event) *Usage {
	var u Usage
	for _, e := range events {
		switch e.Type {
		case messageStart:
			u.update(gjson.GetBytes(e.Data, "message.usage"))
			u.diagnose(gjson.GetBytes(e.Data, "message.diagnostics"))
		case "message_delta":
			u.update(gjson.GetBytes(e.Data, "usage"))
		}
	}
	return u.known()
}

// asked gives the handler a turn's request, where it takes them.
func (s *scanner) asked(c *Conversation, turn int, req *request) error {
	if s.handler.Request == nil || len(req.messages) == 0 {
		return nil
	}
	return s.handler.Request(c, turn, strings.Clone(req.raw))
}
