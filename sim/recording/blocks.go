package recording

import (
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"toolbench/sim/stream"
)

// block takes a line of the dialect that writes one content block a line, each
// message by its id, results as the user's messages.
func (ts *talks) block(v gjson.Result, line int) error {
	t, err := ts.spoken(v)
	if err != nil {
		return err
	}
	at := stamp(v.Get("timestamp"))
	m := v.Get("message")
	if v.Get("type").String() == "user" {
		t.answers(v, m.Get("content"), at, line)
		return nil
	}
	if v.Get("isApiErrorMessage").Bool() {
		t.s.problem(Problem{Kind: ErrorEvent, Text: "the API failed: " + quoted(plain(m.Get("content"))), Line: line, Conversation: t.c.Number})
		return nil
	}
	if m.Get("model").String() == "<synthetic>" {
		ts.s.ignore("messages the agent wrote in the model's place")
		return nil
	}
	d, err := t.draft(strings.Clone(or(m.Get("id").String(), v.Get("uuid").String())), strings.Clone(m.Get("model").String()), line, callIDs(m.Get("content")))
	if err != nil {
		return err
	}
	if stop := m.Get("stop_reason"); stop.Type == gjson.String {
		d.turn.Stop = strings.Clone(stop.Str)
	}
	if u := usageIn(m.Get("usage")); u != nil { // each line of a message repeats it
		d.turn.Usage = u
	}
	return t.content(d, m.Get("content"), at)
}

// spoken finds the conversation of a line: by its session, and below that by the
// sub-agent, or for older logs by the line it follows.
func (ts *talks) spoken(v gjson.Result) (*talk, error) {
	session := strings.Clone(or(v.Get("sessionId").String(), v.Get("session_id").String()))
	agent := strings.Clone(or(v.Get("agentId").String(), v.Get("parent_tool_use_id").String()))
	uuid, parent := strings.Clone(v.Get("uuid").String()), v.Get("parentUuid").String()
	key := session + "\x00" + agent
	if v.Get("isSidechain").Bool() && agent == "" {
		from, known := ts.places.get(parent)
		switch {
		case known && strings.HasPrefix(from, key+"\x00"):
			key = from
		default:
			key += "\x00" + uuid
		}
		agent = "side"
	}
	ts.places.put(uuid, key)
	return ts.of(key, session, agent)
}

// answers takes a user's message: results, and whatever else the model is told.
func (t *talk) answers(v, content gjson.Result, at time.Time, line int) {
	t.heard(at)
	t.user.hear(v, content)
	for _, b := range content.Array() {
		if b.Get("type").String() != "tool_result" {
			continue
		}
		t.result(Result{
			Call: strings.Clone(b.Get("tool_use_id").String()), Text: strings.Clone(plain(b.Get("content"))), IsError: b.Get("is_error").Bool(),
			Took: took(v.Get("toolUseResult")),
		}, at, line)
	}
}

// took is what the agent itself measured, where it did.
func took(result gjson.Result) Moment {
	for _, member := range []string{"totalDurationMs", "durationMs"} {
		if ms := result.Get(member); ms.Type == gjson.Number && ms.Num >= 0 && ms.Num < 1e12 {
			return Moment{time.Duration(ms.Num * float64(time.Millisecond)).Truncate(stream.Tick), true}
		}
	}
	return Moment{}
}

// content adds a model's blocks, which were complete at one time.
func (t *talk) content(d *draft, content gjson.Result, at time.Time) error {
	if content.Type == gjson.String {
		t.add(d, stream.Block{Kind: stream.Text, Text: strings.Clone(content.Str)}, at)
		return nil
	}
	for _, b := range content.Array() {
		t.add(d, blockOf(b), at)
	}
	return nil
}

// blockOf reads a content block. Texts are cloned: they must not keep the line.
func blockOf(b gjson.Result) stream.Block {
	kind := strings.Clone(b.Get("type").String())
	out := stream.Block{Kind: stream.Kind(kind), ID: strings.Clone(b.Get("id").String()), Name: strings.Clone(b.Get("name").String())}
	switch out.Kind {
	case stream.Text:
		out.Text = strings.Clone(b.Get("text").String())
	case stream.Thinking:
		out.Text, out.Signature = strings.Clone(b.Get("thinking").String()), strings.Clone(b.Get("signature").String())
	case stream.Redacted:
		out.Text = strings.Clone(b.Get("data").String())
	case stream.ToolUse, stream.ServerToolUse, stream.MCPToolUse:
		out.Input, out.Server = []byte(b.Get("input").Raw), strings.Clone(b.Get("server_name").String())
	default:
		out.ID, out.Content = strings.Clone(b.Get("tool_use_id").String()), []byte(b.Get("content").Raw)
	}
	return out
}

// plain is the text of a content, be it a string or blocks; what is no text is
// named.
func plain(content gjson.Result) string {
	if content.Type == gjson.String {
		return content.Str
	}
	var parts []string
	for _, b := range content.Array() {
		switch kind := b.Get("type").String(); kind {
		case "text":
			parts = append(parts, b.Get("text").String())
		default:
			parts = append(parts, "["+kind+"]")
		}
	}
	return strings.Join(parts, "\n")
}

func callIDs(content gjson.Result) []string {
	var ids []string
	for _, b := range content.Array() {
		if kind := b.Get("type").String(); kind == "tool_use" || kind == "toolCall" {
			ids = append(ids, b.Get("id").String())
		}
	}
	return ids
}

// stamp reads a time: a text of RFC 3339, or milliseconds since 1970; zero if it
// is neither.
func stamp(v gjson.Result) time.Time {
	if v.Type == gjson.Number && v.Num > 0 && v.Num < 1e15 {
		return time.UnixMilli(int64(v.Num)).UTC()
	}
	at, err := time.Parse(time.RFC3339Nano, v.String())
	if err != nil {
		return time.Time{}
	}
	return at.UTC()
}
