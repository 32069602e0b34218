package recording

import (
	"bufio"
	"bytes"
	"cmp"
	"container/list"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"toolbench/sim/dialect"
	"toolbench/sim/stream"
)

// lineScan reads a JSON value a line. What a line is shows in the line itself, so
// that logs which begin with anything are read too.
type lineScan struct {
	s         *scanner
	events    *bareResponses
	dialect   *dialect.Stream
	dialogues *dialogues
	exchanges *exchanges
	logs      logs
	at        int
	// values counts what was taken, since several may stand on one line; nested is how deep the
	// one is that is looked at within others.
	values, nested int
	// observed are the parts of traces that wait for the others, observedBytes is their size,
	// places where those are that may come in pieces.
	observed      []observed
	observedBytes int64
	places        map[string]int
	// group is the list that the values stand in.
	group int
	// what they are called: lines, or values.
	what string
}

func (s *scanner) lineScan() *lineScan {
	ls := &lineScan{s: s, events: s.lone(), dialogues: &dialogues{s: s, open: map[string]*list.Element{}, order: list.New()}, exchanges: s.exchanges(), places: map[string]int{}, what: "lines"}
	ls.events.responses.trouble = func(k Kind, text string) { s.problem(Problem{Kind: k, Text: text, Line: ls.at}) }
	ls.dialect = &dialect.Stream{Emit: func(e stream.Event) error { return ls.events.responses.add(e, ls.at) }}
	return ls
}

func (ls *lineScan) end() error {
	return cmp.Or(
		ls.dialect.End(), ls.events.responses.end("the file ends before message_stop"), ls.pageOver(time.Time{}), ls.dialogues.end(),
		ls.observations(), ls.exchanges.realtime.flush(), ls.exchanges.chains.end(),
	)
}

// scanLines reads logs of agents, and events without their "data:".
func (s *scanner) scanLines(r *bufio.Reader) error {
	ls := s.lineScan()
	lines := &lineReader{r: r, max: s.limits.Line}
	bad := 0
	for l, err := range lines.all(s) {
		if err != nil {
			return err
		}
		ls.at = l.n
		l.text = l.text[max(0, len(stampedLine.Find(l.text))-len(`{"`)):]
		switch text := bytes.TrimSpace(bytes.TrimPrefix(l.text, []byte("data:"))); {
		case l.long:
			s.tooLong(l.n)
		case len(text) == 0:
		case string(text) == "[DONE]":
			if err := ls.dialect.Done(); err != nil {
				return err
			}
		case dialect.Valid(text):
			if err := ls.take(text); err != nil {
				return err
			}
		case partLine.Match(text) && json.Valid(text[2:]):
			if err := ls.streamPart(string(text[:2]), gjson.ParseBytes(bytes.Clone(text[2:]))); err != nil {
				return err
			}
		default:
			rest, err := ls.sequence(text)
			if err != nil {
				return err
			}
			if len(rest) == 0 {
				continue
			}
			ls.malformed(l, rest)
			if bad++; !s.known() && bad > maxStrange {
				return s.fail(ErrNotRecording, "its first %d lines are not what a recording's are", bad)
			}
		}
	}
	return ls.end()
}

// sequence takes the objects with which a text begins, one behind the other, and gives what is left of it.
func (ls *lineScan) sequence(text []byte) (rest []byte, err error) {
	for rest = text; len(rest) > 0 && rest[0] == '{'; {
		var v json.RawMessage
		dec := json.NewDecoder(bytes.NewReader(rest))
		if dec.Decode(&v) != nil {
			break
		}
		if err := ls.take(v); err != nil {
			return nil, err
		}
		rest = bytes.TrimSpace(rest[dec.InputOffset():])
	}
	return rest, nil
}

// maxStrange is how many lines may be no JSON before a file in which nothing was recognized is given up.
const maxStrange = 100

func (s *scanner) known() bool { return s.format != "" && s.format != packed }

// malformed reports a line that is broken, unless it is still being written.
func (ls *lineScan) malformed(l line, text []byte) {
	switch {
	case !l.ended:
		ls.s.problem(Problem{Kind: CutStream, Text: "the last line is not complete: the file was cut, or is still being written", Line: l.n})
	case ls.events.responses.turn != nil:
		ls.events.responses.unread(l.n, bytes.Clone(text), "it is no JSON")
	default:
		ls.s.problem(Problem{Kind: Malformed, Text: "the line is no JSON", Line: l.n})
	}
}

// take looks at what a line is.
func (ls *lineScan) take(text []byte) error {
	ls.values++
	if ls.nested++; ls.nested > maxNested {
		ls.nested--
		ls.s.ignore(ls.what + " deep within others")
		return nil
	}
	defer func() { ls.nested-- }()
	v := gjson.ParseBytes(text)
	kind := v.Get("type").String()
	if known, err := ls.paged(kind, v); known {
		return err
	}
	if known, err := ls.headless(kind, v); known {
		return err
	}
	switch {
	case isEvent(kind, v):
		ls.s.format = EventLines
		return ls.events.responses.add(stream.Event{Type: kind, Data: bytes.Clone(text)}, ls.at)
	case (kind == "message" || kind == "message_end") && v.Get("message.role").Exists(): // the latter where Pi's agent runs behind another program
		ls.s.format = Messages
		return ls.dialogues.message(v, ls.at)
	case kind == "agent_end" && ls.s.format == Messages: // has all of them again
		ls.s.ignore(ls.named(kind))
		return nil
	case kind == "session":
		ls.s.format = Messages
		ls.dialogues.sessionID = strings.Clone(v.Get("id").String()) // of the messages that follow, a line each
		return nil
	case v.Get("message.parts").IsArray() && v.Get("message.role").Exists(): // as Qwen's command line keeps Gemini's, each result on a line of its own
		ls.s.format = Logs
		ls.logs.model, ls.logs.key = cmp.Or(strings.Clone(v.Get("model").String()), ls.logs.model), "parts\x00"+strings.Clone(v.Get("sessionId").String())
		return ls.contents(v.Get("message"), stamp(v.Get("timestamp")))
	case (kind == "user" || kind == "assistant") && v.Get("message").IsObject():
		ls.s.format = Blocks
		return ls.dialogues.block(v, ls.at)
	case kind == "":
		if e, ok := dialect.ConverseEvent(v); ok {
			ls.s.format = EventLines
			return ls.dialect.Add(e)
		}
	}
	if isExchange(v) {
		return ls.exchanges.take(v, ls.at, false)
	}
	if dialect.EventAPI(v) != "" || kind == "" && ls.s.format == EventLines && v.Get("error").Exists() {
		ls.s.format = EventLines
		return ls.dialect.Add(stream.Event{Type: kind, Data: bytes.Clone(text)})
	}
	if known, err := ls.log(kind, v); known || err != nil {
		return err
	}
	if known, err := ls.history(v); known || err != nil {
		return err
	}
	if inner := parsed(firstOf(v, "data Data chunk Ok")); kind == "" && (isEvent(inner.Get("type").String(), inner) || dialect.EventAPI(inner) != "") {
		return ls.take([]byte(inner.Raw)) // as who reads a stream writes down its events
	}
	ls.s.ignore(ls.unread(v, kind))
	return nil
}

// unread words what a line is that is not read.
func (ls *lineScan) unread(v gjson.Result, kind string) string {
	for _, known := range recorders().Unread {
		if hasAll(v, known.Marks) {
			return known.What
		}
	}
	return ls.named(kind)
}

// maxNested is how deep what is taken may stand within others that hold such: each is looked at as a whole.
const maxNested = 8

// named words what a line is that is no message.
func (ls *lineScan) named(kind string) string {
	if kind == "" {
		return ls.what + " without a type"
	}
	return fmt.Sprintf("%s of type %q", ls.what, kind[:min(len(kind), 40)])
}

// isEvent reports whether a line is one of the Messages API's events.
func isEvent(kind string, v gjson.Result) bool {
	switch kind {
	case messageStart:
		return v.Get("message").IsObject() && !v.Get("message.timestamp").Exists() && v.Get("message.role").String() != "toolResult" && v.Get("message.content").Exists()
	case pingEvent, messageStop, "message_delta":
		return true
	case errorEvent:
		return v.Get("error").IsObject()
	}
	return strings.HasPrefix(kind, "content_block_")
}

// history reads messages as requests and responses hold them: one by itself, as a response is, or those of a request,
// be they under "messages" or a value each. known is false when v is none of these.
func (ls *lineScan) history(v gjson.Result) (known bool, err error) {
	if said := dialect.Either(v, "conversation", "history"); said.Get("0.role").Exists() && !v.Get("messages").Exists() {
		v = gjson.ParseBytes(dialect.JSON(fields{"messages": json.RawMessage(said.Raw), "model": v.Get("model").String()}))
	}
	if said := v.Get("message.content"); said.Exists() && firstOf(v, "message.role role").Exists() && !firstOf(v, "type done finish_reason").Exists() {
		// a message in a line, as Cursor keeps its sessions
		v = gjson.ParseBytes(dialect.JSON(fields{"role": firstOf(v, "message.role role").String(), "content": json.RawMessage(said.Raw)}))
	}
	if _, request, ok := dialect.Request("", []byte(v.Raw), &dialect.IDs{}); ok {
		v = request
	} else if _, m, ok := dialect.Reply(v, dialect.Origin{}); ok {
		v = m
	} else if v.Get("role").Type == gjson.String { // a message by itself, which may be one of Chat Completions
		if api, request, ok := dialect.Request("", []byte(`{"messages":[`+v.Raw+`]}`), &ls.logs.ids); ok && api == dialect.Chat {
			if v = request.Get("messages.0"); !v.Exists() {
				return true, nil
			}
		}
	}
	if isMessage(v) {
		ls.s.format = History
		return true, ls.dialogues.historyMessage(v, v.Get("model").String(), fmt.Sprint("history\x00", -ls.group), ls.at, time.Time{})
	}
	if _, m, ok := dialect.Reply(dialect.Either(v, "result.message", "response.body", "response", "body", "message"), dialect.Origin{}); ok && isMessage(m) && !v.Get("messages").Exists() {
		// one of a batch, whose answers belong to none
		ls.s.format = History
		return true, ls.dialogues.historyMessage(m, "", fmt.Sprint("batch\x00", ls.values), ls.at, time.Time{})
	}
	list := v.Get("messages")
	if !list.IsArray() {
		return false, nil
	}
	key, model := fmt.Sprint("history\x00", ls.values), v.Get("model").String()
	for _, m := range list.Array() {
		switch inner := m.Get("message"); {
		case isMessage(m):
			known = true
			ls.s.format = History
			err = ls.dialogues.historyMessage(m, model, key, ls.at, time.Time{})
		case inner.IsObject() && (m.Get("direction").Exists() || inner.Get("agentName").Exists()): // what went between an agent and who drives it
			known = true
			err = ls.take([]byte(inner.Raw))
		case inner.IsObject() && (m.Get("type").Str == "user" || m.Get("type").Str == "assistant"): // as agents print them, a line each
			known = true
			err = ls.take([]byte(m.Raw))
		}
		if err != nil {
			return known, err
		}
	}
	return known, nil
}

// isMessage reports whether v has what makes a message: role and content.
func isMessage(v gjson.Result) bool {
	role, content := v.Get("role").String(), v.Get("content")
	return (role == "user" || role == "assistant") && (content.IsArray() || content.Type == gjson.String) && !v.Get("tool_calls").Exists()
}

// historyMessage takes a message, with when it was taken down, if that is known.
func (ts *dialogues) historyMessage(m gjson.Result, model, key string, line int, at time.Time) error {
	t, err := ts.of(key, "", "")
	if err != nil {
		return err
	}
	t.bare = true
	if m.Get("role").String() == "user" {
		t.asked = true
		t.answers(m.Map(), m.Get("content"), at, line)
		return nil
	}
	d, err := t.draft(strings.Clone(m.Get("id").String()), strings.Clone(cmp.Or(m.Get("model").String(), model)), line, callIDs(m.Get("content")))
	if err != nil {
		return err
	}
	d.exact = d.exact && at.IsZero()
	d.turn.Stop, d.turn.Usage = strings.Clone(m.Get("stop_reason").String()), usageIn(m)
	t.content(d, m.Get("content"), at)
	return nil
}
