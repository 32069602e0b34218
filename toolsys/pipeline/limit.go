package pipeline

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// limit is a call's time limit. It stands still while a person is asked, because a
// server whose question is answered after an hour has not been slow (N4, N5, H1). Where
// the tool's limits allow it, progress puts its end off, as far as a total.
type limit struct {
	now         func() time.Time
	idle, total time.Duration

	mu    sync.Mutex
	timer *time.Timer
	// left is what was left of idle, and spent what was used of total, at since.
	left, spent time.Duration
	since       time.Time
	// held counts what holds the limit, such as questions that are open.
	held int
	// moved: progress has put the end off.
	moved bool
}

// limited gives a context that ends with errTimeout when the call's own time is used up; no limit where d is not
// positive. Only a server's tool, one that may take longer when it reports progress, and one that asks have a limit
// that moves: for others the context's own deadline gives the tool more information.
func (r *run) limited(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	total := r.pre.tool.Limit.Total
	switch {
	case d <= 0:
		return ctx, func() {}
	case r.pre.tool.Origin == nil && total <= d && !r.pre.tool.Limit.Asks:
		return context.WithTimeoutCause(ctx, d, errTimeout)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	now := r.p.Handlers.Clock.Now
	l := &limit{now: now, idle: d, total: max(total, d), left: d, since: now(), timer: time.AfterFunc(d, func() { cancel(errTimeout) })}
	r.mu.Lock()
	r.clock = l
	r.mu.Unlock()
	return ctx, func() {
		l.timer.Stop()
		cancel(nil)
	}
}

// stop takes the running time into account; false when the limit does not run.
func (l *limit) stop() bool {
	if !l.timer.Stop() {
		return false
	}
	ran := l.now().Sub(l.since)
	l.left -= ran
	l.spent += ran
	return true
}

func (l *limit) start() {
	l.since = l.now()
	l.timer.Reset(max(0, l.left))
}

// progressed puts the end off. A limit that has passed, or stands still, is left alone.
func (l *limit) progressed() {
	if l == nil || l.total <= l.idle {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.stop() {
		l.left, l.moved = min(l.idle, l.total-l.spent), true
		l.start()
	}
}

// hold stops the limit until the functions that it gave have all been called: a server may
// have several questions open.
func (r *run) hold() (release func()) {
	l := r.clock
	if l == nil {
		return func() {}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.held == 0 && !l.stop() {
		return func() {}
	}
	l.held++
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.held--; l.held == 0 {
			l.start()
		}
	}
}

// exceeded words what limit a call ran into.
func (r *run) exceeded() string {
	d := r.pre.tool.Limit.Timeout(r.pre.input)
	if l := r.clock; l != nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		switch {
		case l.moved && l.spent+l.left >= l.total:
			return fmt.Sprintf("%s was stopped after %s in all, though it reported progress.", r.name(), l.total)
		case l.moved:
			return fmt.Sprintf("%s was stopped after %s without progress.", r.name(), d)
		}
	}
	return fmt.Sprintf("%s was stopped after its time limit of %s.", r.name(), d)
}
