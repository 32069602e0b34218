package clock

import (
	"context"
	"time"
)

// Real has a gate's doors onto the clock on the wall, for runs against something that
// is really there. It puts nothing in order.
type Real struct{ start time.Time }

// Now begins real time: Since counts from here.
func Now() *Real { return &Real{time.Now()} }

// Now is the time on the wall.
func (r *Real) Now() time.Time { return time.Now() }

// Since is how long ago it began.
func (r *Real) Since() time.Duration { return time.Since(r.start) }

// Sleep waits for d, or until ctx ends; it returns the cause then.
func (r *Real) Sleep(ctx context.Context, _ string, d time.Duration) error {
	if d > 0 {
		timer := time.NewTimer(d)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
		}
	}
	return context.Cause(ctx)
}

// Go runs f in a goroutine.
func (r *Real) Go(_ string, f func()) { go f() }

// Close does nothing: there is nobody to let go.
func (r *Real) Close() {}
