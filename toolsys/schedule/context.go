package schedule

import (
	"context"
	"sync"
)

// callContext is a call's context. Most calls only look whether it has ended; the one that
// can be waited for is made for a call that waits, or asks why.
type callContext struct {
	context.Context // the driver's, which does not end

	mu    sync.Mutex
	ended error // why, once it has
	full  context.Context
	end   context.CancelCauseFunc
}

// cancel ends the context; the first cause counts.
func (c *callContext) cancel(cause error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended != nil {
		return
	}
	c.ended = cause
	if c.full != nil {
		c.end(cause)
	}
}

// Err is [context.Context.Err].
func (c *callContext) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended != nil {
		return context.Canceled
	}
	return nil
}

// Done is [context.Context.Done].
func (c *callContext) Done() <-chan struct{} { return c.whole().Done() }

// Value is [context.Context.Value]. Package context finds by it what a context ended with.
func (c *callContext) Value(key any) any { return c.whole().Value(key) }

// whole gives the context that can be waited for.
func (c *callContext) whole() context.Context {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.full == nil {
		c.full, c.end = context.WithCancelCause(c.Context)
		if c.ended != nil {
			c.end(c.ended)
		}
	}
	return c.full
}
