package recording

import (
	"cmp"
	"container/list"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"

	"toolbench/sim/stream"
	"toolbench/toolsys/message"
)

// dialogues are the conversations of a transcript, by agent.
type dialogues struct {
	s    *scanner
	open map[string]*list.Element // of *dialogue
	// order has the conversation that spoke last at its front.
	order *list.List
	// place is which conversation a line belongs to that names it only through the line it follows.
	places places
	// session is the id that a first line gave.
	sessionID string
}

// maxDialogues is how many conversations are kept open at once.
const maxDialogues = 1024

// dialogue is one conversation of a transcript, with the turns that wait for results.
type dialogue struct {
	s       *scanner
	key     string
	c       *Conversation
	input   time.Time // when the model was last given something to answer
	waiting []*draft
	held    int64
	turns   int
	user    userText
	// bare: these are messages as requests and responses hold them; asked: one of them is a user's.
	bare, asked bool
	// tools are what its turns were offered, where the conversation has a list of them.
	tools []Definition
}

// draft is a turn that is being put together.
type draft struct {
	turn     *Turn
	blocks   []stream.Block
	ends     []time.Time // when each block was taken down
	exact    bool
	results  []time.Time
	answered map[string]bool
	size     int64
}

// of finds a conversation, or opens it.
func (ts *dialogues) of(key, id, agent string) (*dialogue, error) {
	if e, ok := ts.open[key]; ok {
		ts.order.MoveToFront(e)
		return e.Value.(*dialogue), nil
	}
	if len(ts.open) == maxDialogues {
		oldest := ts.order.Remove(ts.order.Back()).(*dialogue)
		delete(ts.open, oldest.key)
		if err := oldest.flush(0); err != nil {
			return nil, err
		}
	}
	c, err := ts.s.begin(id, agent)
	if err != nil {
		return nil, err
	}
	t := &dialogue{s: ts.s, key: key, c: c}
	ts.open[key] = ts.order.PushFront(t)
	return t, nil
}

// end flushes what still waits, the conversation that was silent longest first.
func (ts *dialogues) end() error {
	for e := ts.order.Back(); e != nil; e = e.Prev() {
		if err := e.Value.(*dialogue).flush(0); err != nil {
			return err
		}
	}
	return nil
}

// noteInput notes when the model got something to answer. Lines are not quite in order
// of time; a long way back means that another recording begins.
func (t *dialogue) noteInput(at time.Time) {
	if at.After(t.input) || t.input.Sub(at) > time.Hour {
		t.input = at
	}
}

// draft finds the turn of a message, or begins it.
func (t *dialogue) draft(id, model string, line int, calls []string) (*draft, error) {
	for _, d := range slices.Backward(t.waiting) {
		if id != "" && d.turn.ID == id && !slices.ContainsFunc(calls, func(id string) bool { return d.turn.place(id) >= 0 }) {
			return d, nil
		}
	}
	t.turns++
	d := &draft{turn: &Turn{Number: t.turns, ID: id, Model: model, Line: line, Sent: t.input, UserTexts: t.user.flush(), Tools: t.tools, Streamed: true}, exact: true, answered: map[string]bool{}}
	for _, text := range d.turn.UserTexts {
		t.grow(d, len(text))
	}
	t.waiting = append(t.waiting, d)
	return d, t.flush(window)
}

// window is how many turns may wait for results behind one another.
const window = 16

// flush hands on turns from the front: those that are answered, and those that have too many, or too much, behind
// them. The last one may still grow, unless nothing more will come (keep 0).
func (t *dialogue) flush(keep int) error {
	for len(t.waiting) > min(keep, 1) {
		d := t.waiting[0]
		if keep > 0 && len(t.waiting) <= keep && t.held <= t.s.limits.Part && len(d.answered) < len(d.turn.Calls) {
			return nil
		}
		t.waiting = t.waiting[1:]
		t.held -= d.size
		reason := atTheEnd
		switch {
		case t.bare && !t.asked:
			reason = noRequests
		case len(t.waiting) > 0:
			reason = passedOver
		}
		if err := t.s.emit(t.c, d.finish(reason)); err != nil {
			return err
		}
	}
	return nil
}

// result adds a result to the turn that asked for it.
func (t *dialogue) result(r Result, at time.Time, line int) {
	for _, d := range slices.Backward(t.waiting) {
		if d.turn.place(r.Call) < 0 || d.answered[r.Call] {
			continue
		}
		d.answered[r.Call] = true
		d.turn.Results = append(d.turn.Results, r)
		d.results = append(d.results, at)
		t.grow(d, len(r.Text))
		return
	}
	t.s.problem(Problem{Kind: Stray, Text: "a result for " + quoted(r.Call) + ", which no call waits for", Line: line, Conversation: t.c.Number})
}

func (t *dialogue) grow(d *draft, n int) {
	d.size += int64(n)
	t.held += int64(n)
}

// add appends a block that was complete at a time.
func (t *dialogue) add(d *draft, b stream.Block, at time.Time) {
	if b.Kind == stream.ToolUse && b.ID == "" { // some agents keep none, and calls are told apart by it
		b.ID = fmt.Sprintf("call_%d_%d", d.turn.Number, len(d.turn.Calls)+1)
	}
	d.blocks, d.ends = append(d.blocks, b), append(d.ends, at)
	t.grow(d, len(b.Text)+len(b.Input)+len(b.Content)+64)
	if b.Kind == stream.ToolUse {
		c := Call{ID: b.ID, Name: b.Name, Input: b.Input}
		if len(b.Input) == 0 || b.Input[0] != '{' {
			c.Invalid, c.Input = string(b.Input), json.RawMessage("{}")
		}
		c.Repeated = d.turn.place(b.ID) >= 0
		d.turn.Calls = append(d.turn.Calls, c)
	}
}

// finish writes the turn's stream: the blocks as the model must have sent them, at the times they were taken down.
func (d *draft) finish(reason string) *Turn {
	t := d.turn
	start := d.start()
	t.Pace = Bounded
	if d.exact {
		t.Pace = Exact
	}
	if start.IsZero() {
		t.Pace = Unknown
	}
	script := stream.Turn{ID: cmp.Or(t.ID, "msg_recorded"), Model: t.Model, Stop: t.Stop}
	next := 0
	for i, b := range d.blocks {
		if !start.IsZero() {
			b.At = max(stream.Tick, since(start, d.ends[i]))
		}
		if i == 0 {
			script.FirstByte = b.At
		}
		if b.Kind == stream.ToolUse {
			t.Calls[next].Ready = Moment{b.At, t.Pace == Exact}
			next++
		}
		switch b.Kind { // how it was split is unknown
		case stream.Text, stream.Thinking:
			b.Deltas = []stream.Delta{{At: b.At, Text: b.Text}}
		case stream.ToolUse, stream.ServerToolUse, stream.MCPToolUse:
			b.Deltas = []stream.Delta{{At: b.At, Text: string(b.Input)}}
		}
		script.Blocks = append(script.Blocks, b)
	}
	t.First = Moment{script.FirstByte, t.Pace != Unknown}
	t.Events = stream.Script(d.ended(script))
	for i := range t.Results {
		if at := d.results[i]; !start.IsZero() && !at.IsZero() {
			t.Results[i].At = Moment{since(start, at), true}
		}
	}
	t.settle(reason)
	return t
}

// ended ends the script as the message did.
func (d *draft) ended(script stream.Turn) stream.Turn {
	switch d.turn.Ending {
	case Cut:
		script.CutAfter = len(stream.Script(script)) - 2 // without message_delta and message_stop
	case Failed:
		script.Error = &stream.Error{Type: "api_error", Message: d.turn.Why}
	}
	return script
}

// start is the zero of the turn's times: when its request left, else its first block; zero when a block has no time.
func (d *draft) start() time.Time {
	if len(d.ends) == 0 || slices.ContainsFunc(d.ends, time.Time.IsZero) {
		return time.Time{}
	}
	if first := d.ends[0]; d.turn.Sent.IsZero() || d.turn.Sent.After(first) {
		return first
	}
	return d.turn.Sent
}

// longestTurn bounds what a turn may have taken: times that are further apart are of clocks that
// were set, or of nothing.
const longestTurn = 366 * 24 * time.Hour

func since(start, at time.Time) time.Duration {
	return min(max(0, at.Sub(start)), longestTurn).Truncate(stream.Tick)
}

// places remembers which conversation the latest lines belong to, by their id.
type places struct{ latest, before map[string]string }

// maxPlaces bounds what is remembered; a line follows one that was written lately.
const maxPlaces = 8192

func (p *places) put(id, key string) {
	if id == "" {
		return
	}
	if p.latest == nil || len(p.latest) == maxPlaces {
		p.latest, p.before = map[string]string{}, p.latest
	}
	p.latest[id] = key
}

// quoted shortens what stands in a message about a file's content.
func quoted(s string) string { return strconv.Quote(message.Excerpt(s, 81)) }
