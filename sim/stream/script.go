package stream

import (
	"math/rand/v2"
	"time"
)

// Script writes the events of a scripted turn: message_start, ping, the
// blocks, message_delta, message_stop (O2). The bytes are compact JSON in one
// fixed order of members; the same turn gives the same bytes. Times never run
// backwards.
func Script(t Turn) []Event {
	s := script{turn: t, now: t.FirstByte.Truncate(Tick)}
	s.open()
	s.blocks()
	s.close()
	return interrupt(t, addPings(t.Pings, s.events))
}

// script is a turn being written.
type script struct {
	turn   Turn
	now    time.Duration // the time of the last event
	events []Event
	output int // bytes of output so far
}

// put appends an event, no earlier than the one before it.
func (s *script) put(at time.Duration, typ string, v any) {
	s.now = max(s.now, at.Truncate(Tick))
	s.events = append(s.events, Event{At: s.now, Type: typ, Data: compact(v)})
}

func (s *script) open() {
	t := s.turn
	s.put(s.now, typeMessageStart, wireStart{Type: typeMessageStart, Message: wireMessage{
		ID: t.id(), Type: "message", Role: "assistant", Model: or(t.Model, "scripted"), Content: []string{},
		Usage: wireUsage{t.Usage.Input, t.Usage.CacheWrite, t.Usage.CacheRead, 1},
	}})
	s.put(s.now, typePing, wireBare{typePing})
}

// blocks writes the blocks, up to and including the first that is cut.
func (s *script) blocks() {
	ends := s.turn.ends()
	for i, b := range s.turn.Blocks {
		s.block(i, b, ends[i])
		if b.CutAt != 0 {
			return
		}
	}
}

func (s *script) block(i int, b Block, end time.Duration) {
	from := s.now
	s.put(from, typeBlockStart, wireBlock{typeBlockStart, i, b.head(s.turn, i)})
	pieces := b.pieces(rand.New(rand.NewPCG(s.turn.Seed, uint64(i))))
	for k, p := range pieces {
		at := p.At
		if at == 0 {
			at = from + share(end-from, k+1, len(pieces))
		}
		s.delta(at, i, b.wrap(p.Text))
		s.output += len(p.Text)
	}
	s.now = max(s.now, end.Truncate(Tick))
	if b.CutAt != 0 {
		return
	}
	if b.Kind == Thinking && b.Signature != "" {
		s.delta(end, i, wirePiece{Type: "signature_delta", Signature: &b.Signature})
	}
	s.put(end, typeBlockStop, wireStop{typeBlockStop, i})
}

func (s *script) delta(at time.Duration, i int, p wirePiece) {
	s.put(at, typeDelta, wireDelta{typeDelta, i, p})
}

// close ends the message, with an error event in its place if the turn fails
// there.
func (s *script) close() {
	t := s.turn
	if t.Error != nil && t.CutAfter == 0 {
		s.put(max(t.Error.At, t.End), typeError, t.Error.wire())
		return
	}
	end := wireEndDelta{StopReason: t.stop()}
	if t.StopSequence != "" {
		end.StopSequence = &t.StopSequence
	}
	s.put(t.End, typeMessageDelta, wireEnd{typeMessageDelta, end, wireEndUsage{s.outputTokens()}})
	s.put(t.End, typeMessageStop, wireBare{typeMessageStop})
}

func (s *script) outputTokens() int {
	if n := s.turn.Usage.Output; n > 0 {
		return n
	}
	return max(1, (s.output+BytesPerToken-1)/BytesPerToken)
}

// interrupt ends the events where the turn says that the stream is cut.
func interrupt(t Turn, events []Event) []Event {
	if t.CutAfter <= 0 || t.CutAfter >= len(events) {
		return events
	}
	events = events[:t.CutAfter:t.CutAfter]
	if t.Error == nil {
		return events
	}
	at := max(t.Error.At.Truncate(Tick), events[len(events)-1].At)
	return append(events, Event{At: at, Type: typeError, Data: compact(t.Error.wire())})
}
