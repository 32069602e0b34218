package cassette

import (
	"errors"
	"io"
	"math"
	"time"

	"toolbench/sim/stream"
)

// tape is a response body laid out in time: what a body reads from.
type tape struct {
	pieces []piece
	end    error // after the last piece
}

// piece is bytes that arrive together.
type piece struct {
	at    time.Duration // since the request was sent
	bytes []byte
}

// never is the time of what is stalled for ever.
const never = time.Duration(math.MaxInt64)

// tapeOf lays the recorded response out, as paced and faulted.
func tapeOf(i *Interaction, pace *stream.Pace, f Fault) (tape, error) {
	pieces, err := i.pieces(pace, f)
	if err != nil {
		return tape{}, err
	}
	t := tape{pieces: pieces, end: io.EOF}
	t.fail(f)
	t.stall(f.Stall)
	t.cut(f.Cut)
	t.chunk(f.Chunk)
	return t, nil
}

// pieces are the recorded bytes, one piece an event.
func (i *Interaction) pieces(pace *stream.Pace, f Fault) ([]piece, error) {
	if !i.IsStream() {
		return i.whole()
	}
	events, err := i.Events()
	if _, cut := errors.AsType[*stream.TruncatedError](err); err != nil && !cut {
		return nil, err
	}
	if pace != nil {
		events = pace.Apply(events)
	}
	if f.Pace != nil {
		events = f.Pace.Apply(events)
	}
	if f.Rewrite != nil {
		return encoded(f.Rewrite(events)), nil
	}
	return cutAtEvents([]byte(i.Response.Body), times(events)), nil
}

// whole is a body that is no stream: one piece, at the time it was complete.
func (i *Interaction) whole() ([]piece, error) {
	at := i.Response.Duration
	if text := i.Response.Headers.Get(OffsetsHeader); text != "" {
		offsets, err := parseOffsets(text)
		if err != nil {
			return nil, err
		}
		at = offsets[len(offsets)-1]
	}
	return []piece{{at, []byte(i.Response.Body)}}, nil
}

func encoded(events []stream.Event) []piece {
	pieces := make([]piece, len(events))
	for k, e := range events {
		pieces[k] = piece{e.At, stream.Append(nil, e)}
	}
	return pieces
}

// cutAtEvents cuts a body behind each event. What follows the last one (an end
// mark, an event that was cut) comes with it. The recorded bytes stay as they
// are, odd line ends and comments included.
func cutAtEvents(body []byte, at []time.Duration) []piece {
	var d stream.Decoder
	var pieces []piece
	from := 0
	// The error is that of Events, which has been looked at.
	_ = d.Feed(body, func(stream.Event) error {
		to := int(d.Offset())
		if body[to-1] == '\r' && to < len(body) && body[to] == '\n' {
			to++ // clients that only know \n would wait for it
		}
		pieces = append(pieces, piece{at[len(pieces)], body[from:to]})
		from = to
		return nil
	})
	return withRest(pieces, body[from:], at)
}

func withRest(pieces []piece, rest []byte, at []time.Duration) []piece {
	switch {
	case len(rest) == 0:
		return pieces
	case len(at) > len(pieces): // a last event without its blank line
		return append(pieces, piece{at[len(pieces)], rest})
	case len(pieces) == 0:
		return []piece{{0, rest}}
	}
	return append(pieces, piece{pieces[len(pieces)-1].at, rest})
}

// last is the time of the last piece before i.
func (t *tape) last(i int) time.Duration {
	if i == 0 {
		return 0
	}
	return t.pieces[i-1].at
}

// fail ends the stream with an error event.
func (t *tape) fail(f Fault) {
	if f.Error == nil {
		return
	}
	n := min(max(f.ErrorAfter, 0), len(t.pieces))
	e := stream.Event{At: max(t.last(n), f.Error.At), Type: "error", Data: f.Error.JSON()}
	t.pieces = append(t.pieces[:n:n], encoded([]stream.Event{e})...)
}

func (t *tape) stall(s *Stall) {
	if s == nil {
		return
	}
	n := min(max(s.After, 0), len(t.pieces))
	if s.For == 0 {
		t.pieces = append(t.pieces[:n:n], piece{at: never})
		return
	}
	for i := n; i < len(t.pieces); i++ {
		t.pieces[i].at += s.For
	}
	if n == len(t.pieces) { // only the end is late
		t.pieces = append(t.pieces, piece{at: t.last(n) + s.For})
	}
}

func (t *tape) cut(c *Cut) {
	if c == nil {
		return
	}
	if !c.Clean {
		t.end = io.ErrUnexpectedEOF
	}
	n := min(max(c.After, 0), len(t.pieces))
	kept := t.pieces[:n:n]
	if n < len(t.pieces) && c.Bytes > 0 {
		next := t.pieces[n]
		kept = append(kept, piece{next.at, next.bytes[:min(c.Bytes, len(next.bytes))]})
	}
	t.pieces = kept
}

// chunk cuts the bytes anew. A chunk is complete with the piece that brings
// its last byte. Pieces without bytes (delays) stay where they are.
func (t *tape) chunk(sizes func(int) int) {
	if sizes == nil {
		return
	}
	var body []byte
	for _, p := range t.pieces {
		body = append(body, p.bytes...)
	}
	var chunks []piece
	k, seen, to := -1, 0, 0
	for _, c := range stream.Rechunk(body, sizes) {
		to += len(c)
		for seen < to {
			k++
			seen += len(t.pieces[k].bytes)
		}
		chunks = append(chunks, piece{t.pieces[k].at, c})
	}
	for _, p := range t.pieces[k+1:] {
		chunks = append(chunks, p)
	}
	t.pieces = chunks
}
