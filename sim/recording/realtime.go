package recording

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"toolbench/sim/dialect"
)

// realtime puts the messages of a WebSocket, as OpenAI's realtime models and those that follow
// them have it, together into requests of Responses: what was added to the conversation since
// the answer before, and the events of the answer.
type realtime struct {
	xs      *exchanges
	session fields
	input   []any
	items   map[string]fields // of the client, by id; nil: the model's
	// next is what the next answer is asked for in one message; nil: what was added.
	next fields
	// last is the answer that the next one goes on from, at the one whose events come, open those that have begun;
	// those that are done wait for what was spoken before them, which may be written down late.
	last, at string
	open     map[string]*pendingAnswer
	done     []*pendingAnswer
}

// pendingAnswer is an answer with its request, of which parts may still be written down.
type pendingAnswer struct {
	*exchange
	asked fields
}

// frame takes a message, which is JSON or its text.
func (r *realtime) frame(v gjson.Result, line int) error {
	if v.Type == gjson.String {
		v = gjson.Parse(v.Str)
	}
	kind := v.Get("type").String()
	what, event, _ := strings.Cut(kind, ".")
	if kind == "session.created" || r.session == nil && slices.Contains([]string{"session", "conversation", "response"}, what) {
		if err := r.flush(); err != nil {
			return err
		}
		r.session, r.items, r.open = fields{}, map[string]fields{}, map[string]*pendingAnswer{}
	}
	switch {
	case r.session == nil:
		r.xs.s.ignore("messages of a WebSocket, as realtime models have")
	case what == "session":
		for _, name := range []string{"model", "instructions", "tools"} {
			if member := v.Get("session." + name); member.Exists() {
				r.session[name] = member.Value()
			}
		}
	case kind == "response.create" && v.Get("input").Exists(): // Responses over a WebSocket
		r.next, _ = v.Value().(fields)
	case what == "response" && event != "create":
		r.xs.s.format = Exchanges
		return r.answer(v, event, line)
	case kind == errorEvent:
		r.xs.s.ignore("errors of a realtime session")
	case kind == "conversation.item.added", kind == "conversation.item.created":
		r.add(v.Get("item"))
	case kind == "conversation.item.input_audio_transcription.completed":
		parts, _ := r.items[v.Get("item_id").String()]["content"].([]any)
		if at := int(v.Get("content_index").Int()); at >= 0 && at < len(parts) {
			parts[at] = textOf(v.Get("transcript").String())
		}
	}
	return nil
}

// whole takes a WebSocket that was kept as what a client sent and what it got: each answer is that of the next message that asks.
func (r *realtime) whole(sent, got []gjson.Result, line int) error {
	err := r.flush()
	for _, v := range got {
		for asked := v.Get("type").Str != "response.created"; !asked && len(sent) > 0 && err == nil; sent = sent[1:] {
			asked, err = sent[0].Get("type").Str == "response.create", r.frame(sent[0], line)
		}
		err = cmp.Or(err, r.frame(v, line))
	}
	return cmp.Or(err, r.flush())
}

// add takes what a client added, as the server repeats it. The items of answers are repeated after their own events.
func (r *realtime) add(item gjson.Result) {
	id := item.Get("id").String()
	if _, known := r.items[id]; !known || id == "" {
		r.items[id], _ = item.Value().(fields)
		r.input = append(r.input, r.items[id])
	}
}

// answer takes an event of an answer.
func (r *realtime) answer(v gjson.Result, event string, line int) error {
	if id := v.Get("item.id").String(); id != "" {
		r.items[id] = nil
	}
	id := cmp.Or(dialect.Either(v, "response_id", "response.id").String(), r.at)
	x := r.open[id]
	switch {
	case x == nil && !v.Get("response").IsObject():
		r.xs.s.ignore("events of an answer that did not begin")
		return nil
	case x == nil:
		if err := r.take(r.done); err != nil {
			return err
		}
		r.xs.number++
		x = &pendingAnswer{&exchange{number: r.xs.number, line: line, url: "/v1/responses", status: http.StatusOK, header: http.Header{}, made: true}, r.next}
		if r.next == nil {
			x.asked = maps.Clone(r.session)
			x.asked["input"], x.asked["previous_response_id"] = r.input, r.last
		}
		r.open[id], r.at, r.next, r.input, r.done = x, id, nil, []any{}, nil
	}
	ends := slices.Contains([]string{"done", "completed", "incomplete", "failed"}, event)
	switch raw := v.Get("@ugly").Raw; {
	case strings.HasSuffix(event, "audio.delta"):
	case !ends && int64(len(x.response)+len(raw)) > r.xs.s.limits.Part:
		r.xs.s.ignore("events of an answer that is too large")
	default:
		x.response = append(append(append(x.response, "data: "...), raw...), "\n\n"...)
	}
	if ends {
		delete(r.open, id)
		r.last, r.done = id, append(r.done, x)
	}
	return nil
}

func (r *realtime) take(all []*pendingAnswer) error {
	for _, x := range all {
		x.request = dialect.JSON(x.asked)
		if err := r.xs.chains.take(x.exchange); err != nil {
			return err
		}
	}
	return nil
}

// flush ends a session, and takes what is left of it: the last answers, and those that were cut.
func (r *realtime) flush() error {
	all := append(r.done, slices.SortedFunc(maps.Values(r.open), func(a, b *pendingAnswer) int { return a.number - b.number })...)
	*r = realtime{xs: r.xs}
	return r.take(all)
}

// live takes a message of a session of Gemini's live models: each side's have the form of generateContent. Audio is not read.
func (ls *lineScan) live(v gjson.Result) (known bool, err error) {
	if v.Get("setup.model").Exists() {
		ls.logs = logs{key: fmt.Sprint("live\x00", ls.values), model: strings.Clone(v.Get("setup.model").String()), pieces: true}
		t, err := ls.dialogues.of(ls.logs.key, "", "")
		if err == nil {
			_, request, _ := dialect.Request(":generateContent", []byte(`{"contents":[],"tools":`+cmp.Or(v.Get("setup.tools").Raw, "[]")+`}`), &ls.logs.ids)
			t.tools = mapped(request.Get("tools").Array(), definition)
		}
		return true, err
	}
	said, asked := v.Get("serverContent"), dialect.Either(v, "clientContent", "client_content")
	gave, heard := dialect.Either(v, "toolResponse", "tool_response"), dialect.Either(v, "realtimeInput", "realtime_input")
	switch {
	case !strings.HasPrefix(ls.logs.key, "live\x00"):
		return false, nil
	case asked.Exists():
		err = each(asked.Get("turns"), func(m gjson.Result) error { return ls.contents(m, time.Time{}) })
	case said.Exists():
		parts := append(said.Get("modelTurn.parts.#(text)#").Array(), said.Get("[outputTranscription].#(text)#").Array()...)
		err = ls.parts("model", "@this", parts)
		ls.logs.answering = ls.logs.answering && !firstOf(said, "turnComplete interrupted").Bool()
	case v.Get("toolCall").Exists():
		err = ls.parts("model", "{functionCall:@this}", v.Get("toolCall.functionCalls").Array())
	case gave.Exists():
		err = ls.parts("user", "{functionResponse:@this}", gave.Get("functionResponses").Array())
	case heard.Get("text").Exists():
		err = ls.parts("user", "{text}", heard.Array())
	case firstOf(v, "realtimeInput realtime_input toolCallCancellation goAway sessionResumptionUpdate").Exists():
		ls.s.ignore("messages of a live session without words or calls")
	default:
		return firstOf(v, "setupComplete usageMetadata").Exists(), nil
	}
	return true, err
}

// parts takes a message of parts, each of which is made as a path has it.
func (ls *lineScan) parts(role, as string, of []gjson.Result) error {
	if len(of) == 0 {
		return nil
	}
	made := mapped(of, func(p gjson.Result) any { return json.RawMessage(p.Get(as).Raw) })
	return ls.contents(gjson.ParseBytes(dialect.JSON(fields{"role": role, "parts": made})), time.Time{})
}

// unframed leaves out what stands before each message that Google's test server kept of a WebSocket; lines keep their numbers.
type unframed struct {
	r      *bufio.Reader
	rest   []byte
	within bool // a line that is longer than the reader's memory
}

func (u *unframed) Read(p []byte) (n int, err error) {
	if len(u.rest) == 0 {
		u.rest, err = u.r.ReadSlice('\n')
		if !u.within {
			u.rest = u.rest[len(frameMark.Find(u.rest)):]
		}
		if u.within = errors.Is(err, bufio.ErrBufferFull); u.within || len(u.rest) > 0 {
			err = nil
		}
	}
	n = copy(p, u.rest)
	u.rest = u.rest[n:]
	return n, err
}
