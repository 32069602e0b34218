package pipeline

import (
	"context"
	"sync"
	"time"
)

// limit is a call's time limit. It stands still while a person is asked: a server whose
// question is answered after an hour has not been slow (N4, N5, H1).
type limit struct {
	mu    sync.Mutex
	timer *time.Timer
	left  time.Duration
	since time.Time
}

// limited gives a context that ends with errTimeout when the call's own time is used up;
// no limit where d is not positive. Only a server's tool has a limit that can stand
// still: for others the context's own deadline says more.
func (r *run) limited(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	switch {
	case d <= 0:
		return ctx, func() {}
	case r.tool.Origin == nil:
		return context.WithTimeoutCause(ctx, d, errTimeout)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	l := &limit{left: d, since: r.p.now(), timer: time.AfterFunc(d, func() { cancel(errTimeout) })}
	r.clock = l
	return ctx, func() {
		l.timer.Stop()
		cancel(nil)
	}
}

// hold stops the clock until the function it gives is called.
func (r *run) hold() (release func()) {
	l := r.clock
	if l == nil {
		return func() {}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.timer.Stop() {
		return func() {}
	}
	l.left -= r.p.now().Sub(l.since)
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.since = r.p.now()
		l.timer.Reset(max(0, l.left))
	}
}
