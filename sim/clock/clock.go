// Package clock is the bench's virtual time. It is two things together.
//
// The bubble is Go's own testing/synctest: inside it every timer, every context
// deadline and time.Now itself run on a fake clock that jumps ahead when all
// goroutines wait, so the system runs unchanged and hours take milliseconds.
//
// The gate makes it one run and not one of many. A bubble alone wakes goroutines of
// the same instant in any order. Whoever waits for something simulated (a stream
// event, a tool's duration, a person's answer) waits at the gate instead, and the
// gate lets exactly one of them go at a time: first by time, then by a hash of the
// seed and of who it is. The next is let go when everything has come to rest. So
// the trace is the same for the same seed, on any number of processors (O4).
package clock

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"testing"
	"testing/synctest"
	"time"
)

// ErrDeadlock is wrapped when everything in a bubble waits for something that can
// never come.
var ErrDeadlock = errors.New("every goroutine of the run waits and nothing can wake one")

// PanicError is a panic of the function run in a bubble.
type PanicError struct {
	Value any
	Stack []byte
}

func (e *PanicError) Error() string { return fmt.Sprintf("panic: %v", e.Value) }

// Bubble runs f in virtual time, outside of any test: synctest asks for a
// *testing.T but, as a test of this package pins, needs nothing of it. That T must
// never be used. It returns f's error, or a *PanicError.
func Bubble(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = errors.Join(ErrDeadlock, fmt.Errorf("%v", p))
		}
	}()
	synctest.Test(new(testing.T), func(*testing.T) {
		defer func() {
			if p := recover(); p != nil {
				err = &PanicError{Value: p, Stack: debug.Stack()}
			}
		}()
		err = f()
	})
	return err
}

// Real has a gate's methods on the clock on the wall, for runs against something that
// is really there. It puts nothing in order.
type Real struct{ start time.Time }

// Now begins real time: Since counts from here.
func Now() *Real { return &Real{time.Now()} }

// Now is the time on the wall.
func (r *Real) Now() time.Time { return time.Now() }

// Since is how long ago it began.
func (r *Real) Since() time.Duration { return time.Since(r.start) }

// Sleep is Pause, whoever it is that waits.
func (r *Real) Sleep(ctx context.Context, _ string, d time.Duration) error { return Pause(ctx, d) }

// Pause waits for d, or until ctx ends; it returns the cause then.
func Pause(ctx context.Context, d time.Duration) error {
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

// Close does nothing: in real time no goroutine waits for the clock.
func (r *Real) Close() {}
