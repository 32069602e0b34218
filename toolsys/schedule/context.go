package schedule

import (
	"context"
	"sync/atomic"
)

// callContext is a call's context. Most calls only look whether it has ended; the one that
// can be waited for is made for a call that waits, or asks why.
type callContext struct {
	context.Context // the driver's, which does not end

	ended atomic.Uint32 // the Cause, once it has
	full  atomic.Pointer[waitable]
}

// waitable is a context that can be waited for, and what ends it.
type waitable struct {
	context.Context
	end context.CancelCauseFunc
}

// callOver is the cause with which a call's context ends when the call does.
const callOver = Vanished + 1

// cancel ends the context; the first cause counts.
func (c *callContext) cancel(cause Cause) {
	if c.ended.CompareAndSwap(0, uint32(cause)) && c.full.Load() != nil {
		c.whole()
	}
}

// Err is [context.Context.Err].
func (c *callContext) Err() error {
	if c.ended.Load() != 0 {
		return context.Canceled
	}
	return nil
}

// Done is [context.Context.Done].
func (c *callContext) Done() <-chan struct{} { return c.whole().Done() }

// Value is [context.Context.Value]. Package context finds by it what a context ended with.
func (c *callContext) Value(key any) any { return c.whole().Value(key) }

// whole gives the context that can be waited for. Whoever gets it finds it ended where this one
// is, also when that happens right now.
func (c *callContext) whole() context.Context {
	w := c.full.Load()
	if w == nil {
		w = &waitable{}
		w.Context, w.end = context.WithCancelCause(c.Context)
		if !c.full.CompareAndSwap(nil, w) {
			w = c.full.Load()
		}
	}
	switch cause := Cause(c.ended.Load()); cause {
	case NoCause:
	case callOver:
		w.end(context.Canceled)
	default:
		w.end(cause)
	}
	return w
}
