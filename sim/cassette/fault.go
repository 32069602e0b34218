package cassette

import (
	"time"

	"toolbench/sim/stream"
)

// Attempt is an answer that is about to be given: what a fault may depend on.
type Attempt struct {
	Interaction int // its number
	Try         int // from 1; more when an earlier answer was spoiled
	Method, URL string
}

// Fault changes one answer (O7). The zero value changes nothing. Where events
// are counted, a body that is no stream counts as one event.
//
// An answer spoiled by Status, Cut, Error or an endless Stall does not use its
// interaction up, so that the same request, retried, finds it; UseUp says
// otherwise.
type Fault struct {
	// Status answers with this HTTP status and an error body (429, 529, 500)
	// instead of the recorded response; RetryAfter becomes its header, in
	// whole seconds, rounded up.
	Status     int
	RetryAfter time.Duration
	// Pace replaces the times of the events.
	Pace *stream.Pace
	// Rewrite replaces the events: malformed data, repeated ids, anything.
	Rewrite func([]stream.Event) []stream.Event
	Stall   *Stall
	Cut     *Cut
	// Error ends the stream with an error event, after ErrorAfter events, at
	// Error.At or with the event before it.
	Error      *stream.Error
	ErrorAfter int
	// Chunk cuts the body into pieces, the i-th of Chunk(i) bytes, without
	// regard to events; a piece arrives with the last event it holds a part of.
	Chunk func(i int) int
	UseUp bool
	// AgainIf looks at what Rewrite made: true leaves the interaction unused, for what the
	// client will not accept. nil is false.
	AgainIf func([]stream.Event) bool
}

// Stall delays all that follows the first After events by For. For 0: for
// ever, until the request is cancelled or the body closed.
type Stall struct {
	After int
	For   time.Duration
}

// Cut ends the body after that many events and Bytes bytes of the next, as a
// lost connection does (io.ErrUnexpectedEOF); Clean: as a server that stops.
type Cut struct {
	After, Bytes int
	Clean        bool
}

// spoils reports whether the answer is no full replay of the interaction.
func (f Fault) spoils(i *Interaction) bool {
	return f.refused(i) || !f.UseUp && (f.Status != 0 || f.Cut != nil || f.Error != nil || f.Stall != nil && f.Stall.For == 0)
}

// refused: the client will not accept what Rewrite made.
func (f Fault) refused(i *Interaction) bool {
	if f.Rewrite == nil || f.AgainIf == nil || !i.IsStream() {
		return false
	}
	events, err := i.Events()
	return err == nil && f.AgainIf(f.Rewrite(events))
}
