package recording

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"toolbench/sim/dialect"
	"toolbench/sim/stream"
	"toolbench/toolsys/message"
)

// bareResponses are responses without requests: one conversation, its turns in a row.
type bareResponses struct {
	s         *scanner
	c         *Conversation
	turns     int
	responses responses
}

func (s *scanner) lone() *bareResponses {
	l := &bareResponses{s: s}
	l.responses = responses{limit: s.limits.Part, done: l.done}
	return l
}

func (l *bareResponses) done(t *Turn) error {
	if l.c == nil {
		var err error
		if l.c, err = l.s.begin("", ""); err != nil {
			return err
		}
	}
	l.turns++
	t.Number = l.turns
	t.Usage = usageOf(t.Events)
	t.settle(noRequests)
	return l.s.emit(l.c, t)
}

// scanSSE reads the bytes of streams, line by line.
func (s *scanner) scanSSE(r *bufio.Reader) error {
	s.format = SSE
	out, at := s.lone(), 0
	out.responses.trouble = func(k Kind, text string) { s.problem(Problem{Kind: k, Text: text, Line: at}) }
	dec, lines := stream.Decoder{MaxEvent: int(s.limits.Part)}, &lineReader{r: r, max: s.limits.Line}
	first, between, feed := 0, true, []byte(nil)
	d := &dialect.Stream{Emit: func(e stream.Event) error { return out.responses.add(e.Clone(), first) }}
	emit := func(e stream.Event) (err error) {
		for _, e := range apart(e) {
			if err == nil {
				err = d.Add(e)
			}
		}
		return err
	}
	for l, err := range lines.all(s) {
		if err != nil {
			return err
		}
		if at = l.n; l.long {
			s.tooLong(l.n)
			continue
		}
		if between && len(l.text) > 0 {
			first = l.n
		}
		between = len(l.text) == 0
		feed = append(append(feed[:0], l.text...), '\n')
		err = dec.Feed(feed, emit)
		if large, ok := errors.AsType[*stream.TooLargeError](err); ok {
			return s.fail(ErrTooLarge, "the event that goes on at line %d is larger than %d bytes", l.n, large.Limit)
		}
		if err != nil {
			return err
		}
		if bytes.Equal(l.text, doneMark) {
			if err := d.Done(); err != nil {
				return err
			}
		}
	}
	if err := s.endSSE(&dec, out, emit); err != nil {
		return err
	}
	if err := d.End(); err != nil {
		return err
	}
	return out.responses.end("the file ends before message_stop")
}

// apart gives the events of one that is several, else the one: some recorders drop the blank
// lines between them, so that the lines of their data stand together.
func apart(e stream.Event) (out []stream.Event) {
	lines := bytes.Split(e.Data, []byte("\n"))
	if len(lines) == 1 || json.Valid(e.Data) {
		return []stream.Event{e}
	}
	for _, l := range lines {
		switch {
		case string(l) == "[DONE]":
		case !json.Valid(l) || l[0] != '{':
			return []stream.Event{e}
		default:
			out = append(out, stream.Event{At: e.At, Type: gjson.GetBytes(l, "type").String(), Data: l})
		}
	}
	return out
}

// endSSE takes a last event that lacks nothing but its blank line.
func (s *scanner) endSSE(dec *stream.Decoder, out *bareResponses, emit func(stream.Event) error) error {
	cut, ok := errors.AsType[*stream.TruncatedError](dec.Close())
	switch {
	case !ok:
		return nil
	case cut.Whole, len(apart(cut.Event)) > 1:
		return emit(cut.Event)
	}
	if out.responses.turn == nil {
		s.problem(Problem{Kind: CutStream, Text: "the file ends inside an event"})
		return nil
	}
	return out.responses.end("the file ends inside an event")
}

// tooLong reports a part that is too long as a problem: nothing is skipped in silence.
func (s *scanner) tooLong(n int) {
	s.problem(Problem{Kind: TooLarge, Text: "the line is longer than the limit and was left out", Line: n})
}

func (s *scanner) broken(err error) error {
	if errors.Is(err, errCapped) {
		return err
	}
	return s.fail(ErrUnreadable, "%s", err)
}

// responses cuts a run of events into turns, one a message_start.
type responses struct {
	limit int64
	// done takes each turn as it ends; trouble takes what belongs to none.
	done    func(*Turn) error
	trouble func(Kind, string)
	// pace is what the events' times are worth.
	pace Pace

	turn *Turn
	asm  *message.Assembler
	size int64
	ids  map[string]bool
}

// The types of event that are looked at here.
const (
	messageStart = "message_start"
	messageStop  = "message_stop"
	pingEvent    = "ping"
	errorEvent   = "error"
)

// add takes one event; its data must stay as it is. Line is where it stands.
func (r *responses) add(e stream.Event, line int) error {
	if e.Type == messageStart && r.again(e) {
		return nil
	}
	if e.Type == messageStart {
		if err := r.end("the next message begins before message_stop"); err != nil {
			return err
		}
		r.turn, r.asm, r.size, r.ids = &Turn{Line: line, Streamed: true, Pace: r.pace}, &message.Assembler{}, 0, map[string]bool{}
	}
	if r.turn == nil {
		r.homeless(e)
		return nil
	}
	r.turn.Events = append(r.turn.Events, e)
	if r.size += int64(len(e.Data)); r.size > r.limit {
		r.markIncomplete(Broken, fmt.Sprintf("the response is larger than %d bytes; the rest of it is left out", r.limit))
		return r.finish()
	}
	blocks, err := r.asm.Add(e.Data)
	if failed, ok := errors.AsType[*message.StreamError](err); ok {
		r.markIncomplete(Failed, "the stream ends in an error event: "+failed.Kind+": "+failed.Message)
		return r.finish()
	}
	if err != nil {
		r.markIncomplete(Broken, at(line)+"an event cannot be taken: "+err.Error())
	}
	for _, b := range blocks {
		if b.Type == message.TypeToolUse {
			r.call(Call{ID: b.ID, Name: b.Name, Input: b.Input, Invalid: b.Invalid, Ready: Moment{e.At, r.pace != Unknown}})
		}
	}
	if e.Type == messageStop {
		return r.finish()
	}
	return nil
}

// again reports whether an event is the message's begin once more, of which nothing has come yet.
func (r *responses) again(e stream.Event) bool {
	id := gjson.GetBytes(e.Data, "message.id").String()
	return r.turn != nil && id != "" && id == gjson.GetBytes(r.turn.Events[0].Data, "message.id").String() &&
		!slices.ContainsFunc(r.turn.Events, func(e stream.Event) bool { return e.Type != messageStart && e.Type != pingEvent })
}

// homeless is an event outside of any message. Pings come anywhere.
func (r *responses) homeless(e stream.Event) {
	switch e.Type {
	case pingEvent, "keepalive": // the latter of Responses
	case errorEvent:
		_, err := new(message.Assembler).Add(e.Data)
		r.trouble(ErrorEvent, fmt.Sprint("an error event stands alone: ", err))
	default:
		r.trouble(Malformed, fmt.Sprintf("an event %q stands outside of any message", e.Type))
	}
}

// markIncomplete notes why the message is not whole; the first reason counts.
func (r *responses) markIncomplete(how Ending, why string) {
	if r.turn.Ending == Whole {
		r.turn.Ending, r.turn.Why = how, why
	}
}

// unread notes an event that cannot be read at all.
func (r *responses) unread(line int, data []byte, why string) {
	if r.turn == nil {
		r.trouble(Malformed, why)
		return
	}
	r.turn.Events = append(r.turn.Events, stream.Event{Data: data})
	r.markIncomplete(Broken, at(line)+why)
}

func at(line int) string {
	if line == 0 {
		return ""
	}
	return fmt.Sprintf("line %d: ", line)
}

func (r *responses) call(c Call) {
	c.Repeated = r.ids[c.ID]
	r.ids[c.ID] = true
	r.turn.Calls = append(r.turn.Calls, c)
}

// end closes a message that is still open, for it was cut.
func (r *responses) end(why string) error {
	if r.turn == nil {
		return nil
	}
	r.markIncomplete(Cut, why)
	return r.finish()
}

func (r *responses) finish() error {
	t := r.turn
	reply, err := r.asm.End()
	if err != nil && t.Ending == Whole {
		t.Ending, t.Why = Cut, "the stream ends before message_stop"
	}
	t.ID, t.Model, t.Stop = reply.ID, reply.Model, reply.StopReason
	for _, b := range r.asm.Open() {
		r.call(Call{ID: b.ID, Name: b.Name, Input: []byte("{}"), Invalid: b.Invalid, Cut: true})
	}
	r.turn = nil
	if n := len(t.Events); n > 0 && r.pace != Unknown {
		t.First = Moment{t.Events[0].At, true}
	}
	return r.done(t)
}

// settle names the calls that no result answers; otherwise is the reason where the call itself gives none.
func (t *Turn) settle(otherwise string) {
	for _, c := range t.Calls {
		if t.Result(c.ID) == nil || c.Repeated {
			t.Unanswered = append(t.Unanswered, Unanswered{Call: c.ID, Tool: c.Name, Reason: t.reason(c, otherwise)})
		}
	}
}

func (t *Turn) reason(c Call, otherwise string) string {
	switch {
	case c.Repeated:
		return "its id is taken by another call of the message"
	case c.Cut && t.Stop == "max_tokens":
		return "cut off by max_tokens before its input was complete"
	case c.Cut:
		return "cut off: its block never ended"
	case t.Ending == Cut && t.Why == aborted:
		return aborted + " before it was complete"
	case t.Ending == Cut:
		return "the stream was cut, so that its message was never complete"
	case t.Ending == Failed:
		return "the stream failed: " + strings.TrimPrefix(strings.TrimPrefix(t.Why, "the stream ends in an error event: "), "the stream failed: ")
	}
	return otherwise
}

// aborted is why a message of a session's log ended before it was complete.
const aborted = "the message was aborted"

// The reasons that depend on what came after.
const (
	noRequests = "the recording holds no requests, so no results"
	atTheEnd   = "the recording ends before its result"
	passedOver = "the conversation goes on without its result"
)
