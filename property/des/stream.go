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
	for i := range e.c.Faults {
		if e.c.Faults[i].Request == request {
			e.log.FaultsHit = append(e.log.FaultsHit, int16(i))
			return &e.c.Faults[i]
		}
	}
	return nil
}

// breaksAnswer reports whether a fault cuts an answer short, which is then given again to
// the next request. A fault at an event that does not come breaks nothing.
func breaksAnswer(f *Fault, events []event) bool {
	return f != nil && (f.Status != 0 || f.Cut > 0 || f.Error != "" || f.Malformed > 0 && events[len(events)-1].what == breaks || f.Stall > 0 && f.For == 0)
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

// events are the moments of an answer's stream that matter. Where a fault counts
// events, it is written out and counted; else its calls are enough.
func (e *Engine) events(out []event, script int, f *Fault) []event {
	t := &textOnly
	if script < len(e.c.Turns) {
		t = &e.c.Turns[script]
	}
	if f != nil && f.Status == 0 {
		return f.apply(e.written(out, t, script))
	}
	now := time.Duration(0)
	for i := range t.Calls {
		now = max(now, t.Calls[i].At)
		out = append(out, event{now, block})
	}
	return append(out, event{max(now, t.End), ends})
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

// written are all events of the turn's stream. Only what comes when matters: names and
// ids are left out.
func (e *Engine) written(out []event, t *Turn, number int) []event {
	e.blocks = t.blocks(e.blocks[:0])
	e.outline = stream.Outline(e.outline[:0], stream.Turn{End: t.End, Seed: streamSeed(number), Blocks: e.blocks})
	for _, ev := range e.outline {
		e := event{at: ev.At}
		switch ev.Type {
		case "content_block_stop":
			e.what = block
			if len(t.Calls) == 0 {
				e.what = nothing
			}
		case "message_stop":
			e.what = ends
		}
		out = append(out, e)
	}
	return out
}

// apply applies a fault to a stream that is written out, as sim/cassette does.
func (f *Fault) apply(events []event) []event {
	if f.Malformed > 0 && f.Malformed <= len(events) {
		events[f.Malformed-1].what = breaks
		events = events[:f.Malformed]
	}
	if f.Error != "" {
		n := min(f.Cut, len(events))
		events = append(events[:n], event{last(events, n), breaks})
	}
	if f.Stall > 0 {
		events = f.stall(events)
	}
	if f.Cut > 0 && f.Error == "" {
		events = append(events[:min(f.Cut, len(events))], event{what: gone})
	}
	for i := range events[:len(events)-1] {
		if events[i].what == ends { // it is no end if more follows
			events[i].what = nothing
		}
	}
	return events
}

func (f *Fault) stall(events []event) []event {
	n := min(f.Stall, len(events))
	if f.For == 0 {
		return append(events[:n], event{0, stalls})
	}
	for i := n; i < len(events); i++ {
		events[i].at += f.For
	}
	if n == len(events) { // only the end of the bytes is late
		events = append(events, event{last(events, n) + f.For, ends})
	}
	return events
}

func last(events []event, n int) time.Duration {
	if n == 0 {
		return 0
	}
	return events[n-1].at
}
