package stream

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"toolbench/toolsys/jsonscan"
)

// Script writes the events of a scripted turn: message_start, ping, the blocks, message_delta, message_stop (O2). The
// bytes are compact JSON in one fixed order of members; the same turn gives the same bytes. Times never run
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
	s.addPings()
	s.interrupt()
	return s.events
}

// script is a turn being written.
type script struct {
	turn   Turn
	now    time.Duration // the time of the last event
	events []Event
	data   []byte // of the events so far, one behind the other
	output int    // bytes of output so far
	bare   bool   // events go without data
}

// put appends an event, no earlier than the one before it; its data, if it is to have any, is filled in by fill.
func (s *script) put(at time.Duration, typ string) {
	s.now = max(s.now, at.Truncate(Tick))
	s.events = append(s.events, Event{At: s.now, Type: typ})
}

// fill writes the data of the last event: its type, and what members appends in the API's
// order, so that the same turn always gives the same bytes.
func (s *script) fill(members func(buf []byte) []byte) {
	if s.bare {
		return
	}
	e, from := &s.events[len(s.events)-1], len(s.data)
	s.data = append(append(append(s.data, `{"type":"`...), e.Type...), '"')
	s.data = append(members(s.data), '}')
	e.Data = s.data[from:len(s.data):len(s.data)]
}

// nothing stands behind the type of some events.
func nothing(buf []byte) []byte { return buf }

// quoted appends a member's name, as it stands in JSON, and its text.
func quoted(buf []byte, name, text string) []byte {
	return jsonscan.AppendQuoted(append(buf, name...), text)
}

// number appends a member's name, as it stands in JSON, and its value.
func number(buf []byte, name string, n int) []byte {
	return strconv.AppendInt(append(buf, name...), int64(n), 10)
}

func (s *script) open() {
	t := s.turn
	s.put(s.now, typeMessageStart)
	s.fill(func(buf []byte) []byte {
		buf = quoted(buf, `,"message":{"id":`, t.id())
		buf = quoted(buf, `,"type":"message","role":"assistant","model":`, cmp.Or(t.Model, "scripted"))
		buf = append(buf, `,"content":[],"stop_reason":null,"stop_sequence":null`...)
		if len(t.Diagnostics) > 0 {
			buf = append(append(buf, `,"diagnostics":`...), squeeze(t.Diagnostics)...)
		}
		buf = number(buf, `,"usage":{"input_tokens":`, t.Usage.Input)
		buf = number(buf, `,"cache_creation_input_tokens":`, t.Usage.CacheWrite)
		buf = number(buf, `,"cache_read_input_tokens":`, t.Usage.CacheRead)
		return append(buf, `,"output_tokens":1}}`...)
	})
	s.put(s.now, typePing)
	s.fill(nothing)
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
	s.put(from, typeBlockStart)
	s.fill(func(buf []byte) []byte {
		return b.appendHead(append(number(buf, `,"index":`, i), `,"content_block":`...), s.turn, i)
	})
	pieces := b.pieces(s.turn.Seed, i)
	for k, p := range pieces {
		at := cmp.Or(p.At, from+share(end-from, k+1, len(pieces)))
		s.delta(at, i, b.deltaMember(), p.Text)
		s.output += len(p.Text)
	}
	s.now = max(s.now, end.Truncate(Tick))
	if b.CutAt != 0 {
		return
	}
	if b.Kind == Thinking && b.Signature != "" {
		s.delta(end, i, "signature", b.Signature)
	}
	s.put(end, typeBlockStop)
	s.fill(func(buf []byte) []byte { return number(buf, `,"index":`, i) })
}

// delta is a piece of a block; member holds it, and names its type.
func (s *script) delta(at time.Duration, i int, member, text string) {
	s.put(at, typeDelta)
	kind := member
	if member == "partial_json" {
		kind = "input_json"
	}
	s.fill(func(buf []byte) []byte {
		buf = append(append(number(buf, `,"index":`, i), `,"delta":{"type":"`...), kind...)
		buf = append(append(buf, `_delta","`...), member...)
		return append(quoted(buf, `":`, text), '}')
	})
}

// close ends the message, with an error event in its place if the turn fails there.
func (s *script) close() {
	t := &s.turn
	if t.Error != nil && t.CutAfter == 0 {
		s.put(max(t.Error.At, t.End), typeError)
		s.fail()
		return
	}
	s.put(t.End, typeMessageDelta)
	s.fill(s.appendEnd)
	s.put(t.End, typeMessageStop)
	s.fill(nothing)
}

// appendEnd appends why the turn ended and what it cost.
func (s *script) appendEnd(buf []byte) []byte {
	t := &s.turn
	buf = append(quoted(buf, `,"delta":{"stop_reason":`, t.stop()), `,"stop_sequence":`...)
	if t.StopSequence != "" {
		buf = quoted(buf, "", t.StopSequence)
	} else {
		buf = append(buf, "null"...)
	}
	if t.Container != "" {
		buf = append(quoted(buf, `,"container":{"id":`, t.Container), '}')
	}
	buf = append(number(buf, `},"usage":{"output_tokens":`, cmp.Or(max(0, s.turn.Usage.Output), max(1, (s.output+BytesPerToken-1)/BytesPerToken))), '}')
	if len(t.Cleared) > 0 {
		buf = append(append(append(buf, `,"context_management":{"applied_edits":`...), squeeze(t.Cleared)...), '}')
	}
	return buf
}

// fail gives the last event the data of the turn's error.
func (s *script) fail() {
	if !s.bare {
		s.events[len(s.events)-1].Data = s.turn.Error.JSON()
	}
}

// interrupt ends the events where the turn has the stream cut.
func (s *script) interrupt() {
	t := &s.turn
	if t.CutAfter <= 0 || t.CutAfter >= len(s.events) {
		return
	}
	s.events = s.events[:t.CutAfter:t.CutAfter]
	if t.Error != nil {
		s.now = s.events[t.CutAfter-1].At
		s.put(t.Error.At, typeError)
		s.fail()
	}
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
func (s *script) addPings() {
	const opening = 2 // message_start and its ping
	for _, at := range slices.Sorted(slices.Values(s.turn.Pings)) {
		i := opening
		for i < len(s.events)-1 && s.events[i].At <= at {
			i++
		}
		e := s.events[1]
		e.At = min(max(at.Truncate(Tick), s.events[i-1].At), s.events[i].At)
		s.events = slices.Insert(s.events, i, e)
	}
}

// How likely a delta ends at a place, in percent. Recorded streams split where it hurts an incremental parser most -
// within strings, behind a backslash, within numbers - and scripted ones do so on purpose, more often than chance.
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

// split walks the runes and cuts behind one with the chance that odds gives for its last byte. No piece is empty.
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

// Tick is the resolution of event times: times are multiples of it, so
// that a recording, which stores microseconds, loses nothing.
const Tick = time.Microsecond

// BytesPerToken is the estimate behind Pace: a token is four bytes of output.
const BytesPerToken = 4

// Pace is when the events of a stream arrive (O2).
type Pace struct {
	// FirstByte is when the first event arrives, after the request was sent.
	FirstByte time.Duration
	// TokensPerSecond is the model's speed from then on. Zero, or what is no
	// positive number, means that everything arrives with the first byte.
	TokensPerSecond float64
}

// Apply returns the events with the pace's times; the argument is unchanged. An event arrives once all output up to
// and including its own has been generated: FirstByte + (bytes of delta text so far) / BytesPerToken /
// TokensPerSecond, rounded down to a Tick. Text, thinking and tool input count, in bytes after unescaping; signatures
// and citations do not. Fractions of tokens count, and rounding does not add up over a stream.
func (p Pace) Apply(events []Event) []Event {
	paced := slices.Clone(events)
	var n int
	for i := range paced {
		n += outputBytes(paced[i])
		paced[i].At = p.at(n)
	}
	return paced
}

func (p Pace) at(n int) time.Duration {
	rate := p.TokensPerSecond
	if !(rate > 0) || math.IsInf(rate, 1) {
		return p.FirstByte.Truncate(Tick)
	}
	s := float64(n) / BytesPerToken / rate
	room := (math.MaxInt64 - p.FirstByte).Seconds() // never wrap round
	if s >= room {
		return time.Duration(math.MaxInt64).Truncate(Tick)
	}
	return (p.FirstByte + time.Duration(s*float64(time.Second))).Truncate(Tick)
}

// outputBytes is how much model output a delta carries.
func outputBytes(e Event) int {
	if e.Type != typeDelta {
		return 0
	}
	delta := gjson.GetBytes(e.Data, "delta")
	var n int
	for _, key := range []string{"text", "thinking", "partial_json"} {
		n += len(delta.Get(key).Str)
	}
	return n
}
