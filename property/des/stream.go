package des

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"toolbench/sim/stream"
)

// fault is what hits a request, or nil.
func (e *Engine) fault(request int) *Fault {
	f, i := e.c.FaultOf(request)
	if f != nil {
		e.log.FaultsHit = append(e.log.FaultsHit, int16(i))
	}
	return f
}

// FaultOf gives the fault that hits a request, and its place in the case; nil if none
// does.
func (c *Case) FaultOf(request int) (f *Fault, place int) {
	for i := range c.Faults {
		if c.Faults[i].Request == request {
			return &c.Faults[i], i
		}
	}
	return nil, 0
}

// CutsShort reports whether a fault cuts an answer of so many events short, which is then
// given again to the next request. A fault at an event that does not come breaks nothing.
func CutsShort(f *Fault, events int) bool {
	switch {
	case f == nil:
		return false
	case f.What == "malformed":
		return f.Event <= events
	case f.What == "stall":
		return f.For == 0
	}
	return true
}

// firstOf is the first call of an answer, counted over all.
func (e *Engine) firstOf(script int) int {
	n := 0
	for t := range min(script, len(e.c.Turns)) {
		n += len(e.c.Turns[t].Calls)
	}
	return n
}

// streamRank is the rank of a stream: of the number of the answer, and of the try.
func (e *Engine) streamRank(number, try int) uint64 {
	if try == 1 {
		return e.rankN("stream/", number)
	}
	return e.rank("stream/", strconv.Itoa(number), "#", strconv.Itoa(try))
}

// events are the moments of an answer's stream that matter, and how many events it has
// where a fault counts them: then it is written out, else its calls are enough.
func (e *Engine) events(out []event, script int, f *Fault) (all []event, count int) {
	t := &textOnly
	if script < len(e.c.Turns) {
		t = &e.c.Turns[script]
	}
	if f != nil && f.What != "status" {
		return e.broken(out, t, script, f)
	}
	now := time.Duration(0)
	for i := range t.Calls {
		now = max(now, t.Calls[i].At)
		out = append(out, event{now, block})
	}
	return append(out, event{max(now, t.End), ends}), 0
}

// textOnly is how the model answers behind its script; it is only read.
var textOnly Turn

// Stream is the turn as a script; number is its place among the answers, from 0.
func (t *Turn) Stream(number int) stream.Turn {
	s := stream.Turn{ID: fmt.Sprintf("msg_%d", number+1), End: t.End, Seed: streamSeed(number), Blocks: t.blocks(nil)}
	for i := range t.Calls {
		s.Blocks[i].ID, s.Blocks[i].Name = t.Calls[i].ID, ToolName(&t.Calls[i])
	}
	return s
}

// streamSeed decides where the inputs of an answer are split.
func streamSeed(number int) uint64 { return 1 + uint64(number) }

// blocks are the turn's, without names and ids.
func (t *Turn) blocks(out []stream.Block) []stream.Block {
	for i := range t.Calls {
		input := emptyInput
		if t.Calls[i].Failure == NotJSON {
			input = json.RawMessage(notJSONText)
		}
		out = append(out, stream.Block{Kind: stream.ToolUse, At: t.Calls[i].At, Input: input})
	}
	if len(t.Calls) == 0 {
		out = append(out, stream.Block{Kind: stream.Text, Text: finalText})
	}
	return out
}

// emptyInput is the input of a call; it is only read.
var emptyInput = json.RawMessage("{}")

// The input of a call that is no JSON, and the text of an answer without calls.
const (
	notJSONText = "[1,"
	finalText   = "Done."
)

// ToolName names the tool of a call: what it is, and whose.
func ToolName(c *Call) string {
	switch {
	case c.Failure == Unknown:
		return "Missing_" + c.ID
	case c.Safe:
		return "Look_" + c.ID
	}
	return "Change_" + c.ID
}

// broken are the moments of a stream with a fault in it. Only what comes when matters:
// names and ids are left out.
func (e *Engine) broken(out []event, t *Turn, number int, f *Fault) (all []event, count int) {
	e.blocks = t.blocks(e.blocks[:0])
	e.outline = stream.Outline(e.outline[:0], stream.Turn{End: t.End, Seed: streamSeed(number), Blocks: e.blocks})
	count = len(e.outline)
	events, cut := Break(f, e.outline)
	e.outline = events
	for i, ev := range events {
		what := nothing
		switch {
		case ev.At == Never:
			what = stalls
		case ev.Type == malformed, ev.Type == "error":
			return append(out, event{ev.At, breaks}), count
		case ev.Type == "content_block_stop" && len(t.Calls) > 0:
			what = block
		case ev.Type == "message_stop" && i == len(events)-1 && !cut: // it is no end if more follows
			what = ends
		}
		out = append(out, event{ev.At, what})
	}
	if cut {
		out = append(out, event{what: gone})
	}
	return out, count
}

// Never is the time of an event that does not come.
const Never = time.Duration(1<<63 - 1)

// malformed is the type of an event that a fault has broken.
const malformed = "malformed"

// Break applies a fault to the events of a stream, as sim/cassette does. The stream is
// cut where its bytes end without an end of the message.
func Break(f *Fault, events []stream.Event) (broken []stream.Event, cut bool) {
	n := min(f.Event, len(events))
	last := time.Duration(0)
	if n > 0 {
		last = events[n-1].At
	}
	switch f.What {
	case malformed:
		if f.Event <= len(events) {
			e := &events[n-1]
			e.Type, e.Data = malformed, e.Data[:len(e.Data)/2]
		}
	case "say":
		return append(events[:n], stream.Event{At: last, Type: "error", Data: stream.Error{Type: f.Arg, Message: "injected"}.JSON()}), false
	case "cut":
		return events[:n], true
	case "stall":
		return stall(events, n, f.For), false
	}
	return events, false
}

// stall delays what comes behind the first n events, for ever if for is 0.
func stall(events []stream.Event, n int, by time.Duration) []stream.Event {
	if by == 0 {
		return append(events[:n], stream.Event{At: Never})
	}
	for i := n; i < len(events); i++ {
		events[i].At += by
	}
	if n == len(events) { // only the end of the bytes is late
		events = append(events, stream.Event{At: events[n-1].At + by, Type: "message_stop"})
	}
	return events
}
