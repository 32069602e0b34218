package cassette

import (
	"cmp"
	"context"
	"errors"
	"io"
	"math"
	"net/http"
	"sync/atomic"
	"time"

	"toolbench/sim/stream"
)

// timeline is a response body laid out in time: what a body reads from.
type timeline struct {
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

// timelineOf lays the recorded response out, as paced and faulted.
func timelineOf(i *Interaction, pace *stream.Pace, f Fault) (timeline, error) {
	pieces, err := i.pieces(pace, f)
	if err != nil {
		return timeline{}, err
	}
	t := timeline{pieces: pieces, end: io.EOF}
	t.fail(f)
	t.stall(f.Stall)
	t.cut(f.CutAfter)
	t.chunk(f.Chunk)
	return t, nil
}

// pieces are the recorded bytes, one piece an event.
func (i *Interaction) pieces(pace *stream.Pace, f Fault) ([]piece, error) {
	if !i.IsStream() {
		return i.inOnePiece()
	}
	events, err := i.begun()
	if err != nil {
		return nil, err
	}
	if pace != nil {
		events = pace.Apply(events)
	}
	if f.Rewrite != nil {
		return encoded(f.Rewrite(events)), nil
	}
	return cutAtEvents([]byte(i.Response.Body), times(events)), nil
}

// begun are the recorded events, of a stream that was cut those that came.
func (i *Interaction) begun() ([]stream.Event, error) {
	events, err := i.Events()
	if _, cut := errors.AsType[*stream.TruncatedError](err); cut {
		err = nil
	}
	return events, err
}

// laidOut reports why the response has no timeline.
func (i *Interaction) laidOut() (err error) {
	if i.IsStream() {
		_, err = i.begun()
	} else {
		_, err = i.inOnePiece()
	}
	return err
}

// inOnePiece is a body that is no stream: one piece, at the time it was complete.
func (i *Interaction) inOnePiece() ([]piece, error) {
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

// cutAtEvents cuts a body behind each event. What follows the last one (an end mark, an event that was cut) comes
// with it. The recorded bytes stay as they are, odd line ends and comments included.
func cutAtEvents(body []byte, at []time.Duration) []piece {
	var d stream.Decoder
	var pieces []piece
	from := 0
	// The error is that of Events, which has been looked at.
	_ = d.Feed(body, func(stream.Event) error {
		to := int(d.Offset())
		if body[to-1] == '\r' && to < len(body) && body[to] == '\n' {
			to++ // clients that only split at \n would wait for it
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
func (t *timeline) last(i int) time.Duration {
	if i == 0 {
		return 0
	}
	return t.pieces[i-1].at
}

// fail ends the stream with an error event.
func (t *timeline) fail(f Fault) {
	if f.Error == nil {
		return
	}
	n := min(max(f.ErrorAfter, 0), len(t.pieces))
	e := stream.Event{At: max(t.last(n), f.Error.At), Type: "error", Data: f.Error.JSON()}
	t.pieces = append(t.pieces[:n:n], encoded([]stream.Event{e})...)
}

func (t *timeline) stall(s *Stall) {
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

func (t *timeline) cut(after int) {
	if after <= 0 {
		return
	}
	t.end = io.ErrUnexpectedEOF
	t.pieces = t.pieces[:min(after, len(t.pieces))]
}

// chunk cuts the bytes anew. A chunk is complete with the piece that brings
// its last byte. Pieces without bytes (delays) stay where they are.
func (t *timeline) chunk(sizes func(int) int) {
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
	t.pieces = append(chunks, t.pieces[k+1:]...)
}

// Wait waits for d of the bench's time, or until ctx ends, and then returns
// its error. Actor names who waits, and is unique among those who do.
type Wait = func(ctx context.Context, actor string, d time.Duration) error

// body plays a timeline. All waiting happens in Read, in the reader's goroutine.
type body struct {
	timeline timeline
	rest     []byte // of the piece being read
	next     int
	actor    string
	start    time.Time
	wait     Wait
	now      func() time.Time
	ctx      context.Context
	cancel   context.CancelFunc
	closed   atomic.Bool
}

// Read returns bytes of one piece at most, when its time has come.
func (b *body) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	for len(b.rest) == 0 {
		if err := b.failure(); err != nil {
			return 0, err
		}
		if b.next == len(b.timeline.pieces) {
			b.cancel()
			return 0, b.timeline.end
		}
		piece := b.timeline.pieces[b.next]
		if err := b.until(piece.at); err != nil {
			return 0, err
		}
		b.rest = piece.bytes
		b.next++
	}
	n := copy(p, b.rest)
	b.rest = b.rest[n:]
	return n, nil
}

// until waits for a time of the timeline. A reader that comes late waits for
// nothing, but still passes through wait: that is what orders it among others.
func (b *body) until(at time.Duration) error {
	if at == never {
		<-b.ctx.Done()
		at = 0
	}
	err := b.wait(b.ctx, b.actor, max(0, at-b.now().Sub(b.start)))
	return cmp.Or(b.failure(), err)
}

// failure is why nothing more can be read: closed, or the request's context.
func (b *body) failure() error {
	if b.closed.Load() {
		return http.ErrBodyReadAfterClose
	}
	if b.next == len(b.timeline.pieces) {
		return nil // all was delivered: the end stays the end
	}
	return context.Cause(b.ctx)
}

// Close ends the body; a Read that waits returns.
func (b *body) Close() error {
	b.closed.Store(true)
	b.cancel()
	return nil
}
