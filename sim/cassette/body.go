package cassette

import (
	"context"
	"net/http"
	"sync/atomic"
	"time"
)

// Wait waits for d of the bench's time, or until ctx ends, and then returns
// its error. Actor names who waits, and is unique among those who do.
type Wait = func(ctx context.Context, actor string, d time.Duration) error

// body plays a tape. All waiting happens in Read, in the reader's goroutine.
type body struct {
	tape   tape
	rest   []byte // of the piece being read
	next   int
	actor  string
	start  time.Time
	wait   Wait
	now    func() time.Time
	ctx    context.Context
	cancel context.CancelFunc
	closed atomic.Bool
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
		if b.next == len(b.tape.pieces) {
			b.cancel()
			return 0, b.tape.end
		}
		piece := b.tape.pieces[b.next]
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

// until waits for a time of the tape. A reader that comes late waits for
// nothing, but still passes through wait: that is what orders it among others.
func (b *body) until(at time.Duration) error {
	if at == never {
		<-b.ctx.Done()
		at = 0
	}
	d := max(0, at-b.now().Sub(b.start))
	err := b.wait(b.ctx, b.actor, d)
	if f := b.failure(); f != nil {
		return f
	}
	return err
}

// failure is why nothing more can be read: closed, or the request's context.
func (b *body) failure() error {
	if b.closed.Load() {
		return http.ErrBodyReadAfterClose
	}
	if b.next == len(b.tape.pieces) {
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

// Sleep is the Wait of the standard clock, which is virtual inside a bubble.
func Sleep(ctx context.Context, _ string, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
