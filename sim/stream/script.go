package stream

import (
	"math/rand/v2"
	"slices"
	"time"
	"unicode/utf8"
)

// Script writes the events of a scripted turn: message_start, ping, the
// blocks, message_delta, message_stop (O2). The bytes are compact JSON in one
// fixed order of members; the same turn gives the same bytes. Times never run
// backwards.
func Script(t Turn) []Event { return write(&script{turn: t}) }

// Outline appends the events that Script writes, without their data: for whoever asks
// only what comes when. It takes a tenth of the time.
func Outline(out []Event, t Turn) []Event {
	from := len(out)
	s := script{turn: t, bare: true}
	if len(t.Pings) == 0 && t.CutAfter == 0 { // nothing is put in or taken out by place
		s.events = out
		return write(&s)
	}
	return append(out[:from], write(&s)...)
}

func write(s *script) []Event {
	t := &s.turn
	s.now = t.FirstByte.Truncate(Tick)
	s.open()
	s.blocks()
	s.close()
	return s.interrupt(s.addPings(t.Pings, s.events))
}

// script is a turn being written.
type script struct {
	turn   Turn
	now    time.Duration // the time of the last event
	events []Event
	output int  // bytes of output so far
	bare   bool // events go without data
}

// put appends an event, no earlier than the one before it.
func put[T any](s *script, at time.Duration, typ string, v T) {
	s.now = max(s.now, at.Truncate(Tick))
	s.events = append(s.events, event(s, s.now, typ, v))
}

// event makes one. The type of v is static, so that a bare event makes nothing of it:
// no value in an interface, no JSON.
func event[T any](s *script, at time.Duration, typ string, v T) Event {
	e := Event{At: at, Type: typ}
	if !s.bare {
		e.Data = compact(v)
	}
	return e
}

func (s *script) open() {
	t := s.turn
	put(s, s.now, typeMessageStart, wireStart{Type: typeMessageStart, Message: wireMessage{
		ID: t.id(), Type: "message", Role: "assistant", Model: or(t.Model, "scripted"), Content: []string{},
		Usage: wireUsage{t.Usage.Input, t.Usage.CacheWrite, t.Usage.CacheRead, 1},
	}})
	put(s, s.now, typePing, wireBare{typePing})
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
	put(s, from, typeBlockStart, s.start(i, b))
	pieces := b.pieces(s.turn.Seed, i)
	for k, p := range pieces {
		at := p.At
		if at == 0 {
			at = from + share(end-from, k+1, len(pieces))
		}
		s.piece(at, i, b, p.Text)
		s.output += len(p.Text)
	}
	s.now = max(s.now, end.Truncate(Tick))
	if b.CutAt != 0 {
		return
	}
	if b.Kind == Thinking && b.Signature != "" {
		signature := b.Signature // of its own: else every block would live on the heap
		s.delta(end, i, wirePiece{Type: "signature_delta", Signature: &signature})
	}
	put(s, end, typeBlockStop, wireStop{typeBlockStop, i})
}

// start is the beginning of a block.
func (s *script) start(i int, b Block) wireBlock {
	if s.bare {
		return wireBlock{}
	}
	return wireBlock{typeBlockStart, i, b.head(s.turn, i)}
}

// piece is a delta of a block's text or input.
func (s *script) piece(at time.Duration, i int, b Block, text string) {
	if s.bare {
		put(s, at, typeDelta, wireDelta{})
		return
	}
	s.delta(at, i, b.wrap(text))
}

func (s *script) delta(at time.Duration, i int, p wirePiece) {
	put(s, at, typeDelta, wireDelta{typeDelta, i, p})
}

// close ends the message, with an error event in its place if the turn fails
// there.
func (s *script) close() {
	t := s.turn
	if t.Error != nil && t.CutAfter == 0 {
		put(s, max(t.Error.At, t.End), typeError, t.Error.wire())
		return
	}
	end := wireEndDelta{StopReason: t.stop()}
	if t.StopSequence != "" {
		end.StopSequence = &t.StopSequence
	}
	put(s, t.End, typeMessageDelta, wireEnd{typeMessageDelta, end, wireEndUsage{s.outputTokens()}})
	put(s, t.End, typeMessageStop, wireBare{typeMessageStop})
}

func (s *script) outputTokens() int {
	if n := s.turn.Usage.Output; n > 0 {
		return n
	}
	return max(1, (s.output+BytesPerToken-1)/BytesPerToken)
}

// interrupt ends the events where the turn has the stream cut.
func (s *script) interrupt(events []Event) []Event {
	t := &s.turn
	if t.CutAfter <= 0 || t.CutAfter >= len(events) {
		return events
	}
	events = events[:t.CutAfter:t.CutAfter]
	if t.Error == nil {
		return events
	}
	at := max(t.Error.At.Truncate(Tick), events[len(events)-1].At)
	return append(events, event(s, at, typeError, t.Error.wire()))
}

// ends are the times at which each block is complete. Blocks without a time share the span
// between their neighbours' evenly, up to the turn's end.
func (t Turn) ends() []time.Duration {
	ends := make([]time.Duration, len(t.Blocks))
	last := t.FirstByte
	for i := 0; i < len(ends); {
		n, until := t.span(i, last)
		for k := range n {
			ends[i+k] = last + share(until-last, k+1, n)
		}
		last = until
		i += n
	}
	return ends
}

// span is the run of blocks from i up to the next whose time is given (that
// one included, or up to the last), and the time at which the run is complete.
func (t Turn) span(i int, last time.Duration) (n int, until time.Duration) {
	for j := i; j < len(t.Blocks); j++ {
		if at := t.Blocks[j].At; at != 0 {
			return j - i + 1, max(last, at)
		}
	}
	return len(t.Blocks) - i, max(last, t.End)
}

// share is k n-ths of d.
func share(d time.Duration, k, n int) time.Duration {
	return d/time.Duration(n)*time.Duration(k) + d%time.Duration(n)*time.Duration(k)/time.Duration(n)
}

// addPings inserts further pings by time: after the opening, before the end.
func (s *script) addPings(pings []time.Duration, events []Event) []Event {
	if len(pings) == 0 {
		return events
	}
	const opening = 2 // message_start and its ping
	for _, at := range slices.Sorted(slices.Values(pings)) {
		i := opening
		for i < len(events)-1 && events[i].At <= at {
			i++
		}
		at = min(max(at.Truncate(Tick), events[i-1].At), events[i].At)
		events = slices.Insert(events, i, event(s, at, typePing, wireBare{typePing}))
	}
	return events
}

// How likely a delta ends at a place, in percent. Recorded streams split where
// it hurts an incremental parser most - within strings, behind a backslash,
// within numbers - and scripted ones do so on purpose, more often than chance.
const (
	afterBackslash = 50
	inNumber       = 30
	inString       = 10
	elsewhere      = 8
	inProse        = 12
)

// splitJSON cuts JSON text into pieces at odd places, never inside a rune: a
// delta is itself a JSON string and cannot hold half of one.
func splitJSON(s string, rng *rand.Rand) []string {
	var inside, escaped bool
	return split(s, rng, func(prev byte) int {
		switch {
		case escaped:
			escaped = false
			return inString
		case inside && prev == '\\':
			escaped = true
			return afterBackslash
		case prev == '"':
			inside = !inside
			return inString
		case inside:
			return inString
		case '0' <= prev && prev <= '9', prev == '-', prev == '.':
			return inNumber
		}
		return elsewhere
	})
}

// splitText cuts prose into pieces of a few characters each.
func splitText(s string, rng *rand.Rand) []string {
	return split(s, rng, func(byte) int { return inProse })
}

// split walks the runes and cuts behind one with the chance that odds gives
// for its last byte. No piece is empty.
func split(s string, rng *rand.Rand, odds func(prev byte) int) []string {
	var pieces []string
	from := 0
	for i := 0; i < len(s); {
		_, n := utf8.DecodeRuneInString(s[i:])
		i += n
		if chance := odds(s[i-1]); i < len(s) && rng.IntN(100) < chance {
			pieces = append(pieces, s[from:i])
			from = i
		}
	}
	if from < len(s) {
		pieces = append(pieces, s[from:])
	}
	return pieces
}

// cutText returns the first n bytes, or fewer so as not to break a rune.
func cutText(s string, n int) string {
	if n >= len(s) {
		return s
	}
	n = max(n, 0)
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
