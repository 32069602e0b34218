package recording

import (
	"cmp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"toolbench/sim/dialect"
	"toolbench/sim/stream"
)

// message takes a line of that dialect: user, assistant or toolResult; some agents write results as the user's
// messages instead, as in the Messages API. A line that follows another than the last begins a branch, which is
// another conversation's course; its turns are counted with the conversation they branch off.
func (ts *dialogues) message(v gjson.Result, line int) error {
	t, err := ts.of("session\x00"+ts.sessionID, ts.sessionID, "")
	if err != nil {
		return err
	}
	m := v.Get("message")
	at := cmp.Or(stamp(v.Get("timestamp")), stamp(m.Get("timestamp")))
	switch role := m.Get("role").String(); role {
	case "user":
		t.answers(v.Map(), m.Get("content"), at, line)
	case "toolResult":
		t.noteInput(at)
		t.result(Result{
			Call: strings.Clone(m.Get("toolCallId").String()), Text: strings.Clone(plain(m.Get("content"))), IsError: m.Get("isError").Bool(),
		}, at, line)
	case "assistant":
		return t.reply(v, m, at, line)
	default:
		ts.s.ignore("messages of the role " + quoted(role[:min(len(role), 40)]))
	}
	return nil
}

// stops translates stop reasons; an unknown one stays as it is.
var stops = map[string]string{"toolUse": "tool_use", "stop": "end_turn", "length": "max_tokens"}

// reply is a whole message. Its line is written at its end, so within it times are
// shared out by the amount of output.
func (t *dialogue) reply(v, m gjson.Result, end time.Time, line int) error {
	stop := m.Get("stopReason").String()
	content := m.Get("content")
	if stop == "error" && len(content.Array()) == 0 {
		t.s.problem(Problem{Kind: ErrorEvent, Text: "the model failed: " + quoted(m.Get("errorMessage").String()), Line: line, Conversation: t.c.Number})
		return nil
	}
	d, err := t.draft(strings.Clone(v.Get("id").String()), strings.Clone(m.Get("model").String()), line, callIDs(content))
	if err != nil {
		return err
	}
	d.exact = false
	d.turn.Stop = cmp.Or(stops[stop], strings.Clone(stop))
	switch stop {
	case "error":
		d.turn.Ending, d.turn.Why = Failed, "the stream failed: "+quoted(m.Get("errorMessage").String())
	case "aborted":
		d.turn.Ending, d.turn.Why = Cut, aborted
	}
	blocks := contentBlocks(content)
	for i, at := range shares(blocks, t.input, end) {
		t.add(d, blocks[i], at)
	}
	return nil
}

// shares gives each block its end between the request and the line's time.
func shares(blocks []stream.Block, sent, end time.Time) []time.Time {
	out := make([]time.Time, len(blocks))
	if end.IsZero() {
		return out
	}
	if sent.IsZero() || sent.After(end) {
		sent = end
	}
	total, sum := 0, 0
	for _, b := range blocks {
		total += len(b.Text) + len(b.Input) + 1
	}
	for i, b := range blocks {
		sum += len(b.Text) + len(b.Input) + 1
		out[i] = sent.Add(time.Duration(float64(end.Sub(sent)) * float64(sum) / float64(total)))
	}
	return out
}

// block takes a line of the dialect that writes one content block a line, each
// message by its id, results as the user's messages.
func (ts *dialogues) block(v gjson.Result, line int) error {
	of := v.Map() // a member that is missing would else be looked for in all of a long result
	t, err := ts.dialogueOf(of)
	if err != nil {
		return err
	}
	at := stamp(of["timestamp"])
	m := of["message"]
	content := m.Get("content")
	if of["type"].String() == "user" {
		t.answers(of, content, at, line)
		return nil
	}
	if of["isApiErrorMessage"].Bool() {
		t.s.problem(Problem{Kind: ErrorEvent, Text: "the API failed: " + quoted(plain(content)), Line: line, Conversation: t.c.Number})
		return nil
	}
	if m.Get("model").String() == "<synthetic>" {
		ts.s.ignore("messages the agent wrote in the model's place")
		return nil
	}
	d, err := t.draft(strings.Clone(cmp.Or(m.Get("id").String(), of["uuid"].String())), strings.Clone(m.Get("model").String()), line, callIDs(content))
	if err != nil {
		return err
	}
	if stop := m.Get("stop_reason"); stop.Type == gjson.String {
		d.turn.Stop = strings.Clone(stop.Str)
	}
	if u := usageIn(m); u != nil { // each line of a message repeats it
		d.turn.Usage = u
	}
	t.content(d, content, at)
	return nil
}

// dialogueOf finds the conversation of a line: by its session, and below that by the
// sub-agent, or for older logs by the line it follows.
func (ts *dialogues) dialogueOf(of map[string]gjson.Result) (*dialogue, error) {
	session := strings.Clone(cmp.Or(of["sessionId"].String(), of["session_id"].String()))
	agent := strings.Clone(cmp.Or(of["agentId"].String(), of["parent_tool_use_id"].String()))
	uuid, parent := strings.Clone(of["uuid"].String()), of["parentUuid"].String()
	key := session + "\x00" + agent
	if of["isSidechain"].Bool() && agent == "" {
		if from := cmp.Or(ts.places.latest[parent], ts.places.before[parent]); strings.HasPrefix(from, key+"\x00") {
			key = from
		} else {
			key += "\x00" + uuid
		}
		agent = "side"
	}
	ts.places.put(uuid, key)
	return ts.of(key, session, agent)
}

// answers takes a user's message: results, and whatever else is sent to the model.
func (t *dialogue) answers(of map[string]gjson.Result, content gjson.Result, at time.Time, line int) {
	t.noteInput(at)
	t.user.take(of, content)
	for _, b := range content.Array() {
		if r, ok := resultIn(b.Map()); ok {
			r.Took = took(of["toolUseResult"])
			t.result(r, at, line)
		}
	}
}

// resultIn reads a block that is a result: one of the Messages API, as Amp has it with how its tool ran,
// or one of Goose's.
func resultIn(b map[string]gjson.Result) (r Result, ok bool) {
	id, content, status := b["tool_use_id"], b["content"], ""
	switch b["type"].String() {
	case "tool_result":
		if run := b["run"]; run.IsObject() {
			id, content, status = b["toolUseID"], run.Get("result"), run.Get("status").String()
		}
	case "toolResponse":
		given := b["toolResult"]
		id, content, status = b["id"], dialect.Either(given, "value.content", "value", "error"), given.Get("status").String()
	default:
		return r, false
	}
	return Result{Call: strings.Clone(id.String()), Text: strings.Clone(plain(content)), IsError: status == "error" || b["is_error"].Bool()}, true
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
func (t *dialogue) content(d *draft, content gjson.Result, at time.Time) {
	for _, b := range contentBlocks(content) {
		t.add(d, b, at)
	}
}

func contentBlocks(content gjson.Result) []stream.Block {
	if content.Type == gjson.String {
		return []stream.Block{{Kind: stream.Text, Text: strings.Clone(content.Str)}}
	}
	return mapped(content.Array(), blockOf)
}

// calledAs is where agents keep the name and the input of a call that is no tool_use of theirs.
var calledAs = map[string]struct{ name, input string }{
	"toolCall":    {"name", "arguments"},
	"toolRequest": {"toolCall.value.name", "toolCall.value.arguments"}, // of Goose's
}

// blockOf reads a content block. Texts are cloned: they must not keep the line.
func blockOf(b gjson.Result) stream.Block {
	kind := strings.Clone(b.Get("type").String())
	out := stream.Block{Kind: stream.Kind(kind), ID: strings.Clone(b.Get("id").String()), Name: strings.Clone(b.Get("name").String())}
	if at, ok := calledAs[kind]; ok {
		out.Kind, out.Name, out.Input = stream.ToolUse, strings.Clone(b.Get(at.name).String()), []byte(b.Get(at.input).Raw)
		return out
	}
	switch out.Kind {
	case stream.Text:
		out.Text = strings.Clone(b.Get("text").String())
	case stream.Thinking:
		out.Text, out.Signature = strings.Clone(b.Get("thinking").String()), strings.Clone(b.Get("signature").String())
	case stream.Redacted:
		out.Text = strings.Clone(b.Get("data").String())
	case stream.ToolUse, stream.ServerToolUse, stream.MCPToolUse:
		out.Input, out.Server = []byte(b.Get("input").Raw), strings.Clone(b.Get("server_name").String())
		out.Toolset, out.Caller = strings.Clone(b.Get("toolset_name").String()), []byte(b.Get("caller").Raw)
	default:
		out.ID, out.Content = strings.Clone(b.Get("tool_use_id").String()), []byte(b.Get("content").Raw)
	}
	return out
}

// plain is the text of a content, be it a string or blocks; blocks of some kinds are left
// out, and any other that is no text is named.
func plain(content gjson.Result, without ...string) string {
	if content.Type == gjson.String {
		return content.Str
	}
	var parts []string
	for _, b := range content.Array() {
		switch kind := b.Get("type").String(); {
		case kind == "text":
			parts = append(parts, b.Get("text").String())
		case kind == "" && b.Type != gjson.Null: // no block: what is there is the text
			parts = append(parts, b.String())
		case !slices.Contains(without, kind):
			parts = append(parts, "["+kind[:min(len(kind), 40)]+"]")
		}
	}
	return strings.Join(parts, "\n")
}

// userTextIn is the text of a user's message, results apart.
func userTextIn(content gjson.Result) string {
	return plain(content, "tool_result", "toolResult", "toolResponse")
}

func callIDs(content gjson.Result) []string {
	var ids []string
	for _, b := range content.Array() {
		if kind := b.Get("type").String(); kind == "tool_use" || calledAs[kind].name != "" {
			ids = append(ids, b.Get("id").String())
		}
	}
	return ids
}

// stamp reads a time: a text of RFC 3339, with or without its zone, or with a blank in the middle; seconds since
// 1970, milliseconds or nanoseconds, which no clock of our time mixes up; zero if it is none of these.
func stamp(v gjson.Result) time.Time {
	switch {
	case v.Type != gjson.Number:
	case v.Num > 0 && v.Num < 1e11:
		return time.UnixMicro(int64(v.Num * 1e6)).UTC()
	case v.Num > 0 && v.Num < 1e15:
		return time.UnixMilli(int64(v.Num)).UTC()
	case v.Num > 1e17:
		return time.Unix(0, v.Int()).UTC()
	}
	text := strings.Replace(strings.TrimSuffix(v.String(), " UTC"), " ", "T", 1)
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05Z0700", "2006-01-02T15:04:05"} { // some leave their zone out
		if at, err := time.Parse(layout, text); err == nil {
			return at.UTC()
		}
	}
	return time.Time{}
}

// MaxUserText bounds what a transcript's Turn.UserTexts keeps, in bytes.
const MaxUserText = 256 << 10

// userText are the user's words that wait for the model's next answer.
type userText struct {
	texts []string
	size  int
	// command: the last of them is a command of the agent's own.
	command bool
}

// take takes a user's message of a transcript. An agent also writes there messages of its own, and what its own
// commands print: those are not the user's, and a command that the agent answered was never put to the model.
func (u *userText) take(of map[string]gjson.Result, content gjson.Result) {
	text := strings.TrimSpace(userTextIn(content))
	switch {
	case text == "" || of["isMeta"].Bool() || strings.HasPrefix(text, "Caveat: The messages below"):
	case strings.HasPrefix(text, "<local-command-"):
		if last := len(u.texts) - 1; u.command {
			u.size -= len(u.texts[last])
			u.texts, u.command = u.texts[:last], false
		}
	default:
		name, command := commandIn(text)
		if command {
			text = name
		}
		u.add(text, command)
	}
}

func (u *userText) add(text string, command bool) {
	room := MaxUserText - u.size
	if room <= 0 {
		return
	}
	if len(text) > room {
		for room > 0 && !utf8.RuneStart(text[room]) {
			room--
		}
		text = text[:room]
	}
	u.size += len(text)
	u.texts, u.command = append(u.texts, strings.Clone(text)), command
}

// flush gives the messages, once.
func (u *userText) flush() []string {
	texts := u.texts
	*u = userText{}
	return texts
}

// commandIn reads a command of the agent's own, as the user typed it.
func commandIn(text string) (command string, ok bool) {
	name, ok := enclosed(text, "<command-name>", "</command-name>")
	if !ok || !strings.HasPrefix(text, "<command-") {
		return "", false
	}
	args, _ := enclosed(text, "<command-args>", "</command-args>")
	return strings.TrimSpace("/" + strings.TrimPrefix(name, "/") + " " + args), true
}

// enclosed is what stands between two marks.
func enclosed(text, open, end string) (string, bool) {
	_, rest, found := strings.Cut(text, open)
	inner, _, ended := strings.Cut(rest, end)
	return strings.TrimSpace(inner), found && ended
}
