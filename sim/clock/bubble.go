package clock

import (
	"errors"
	"fmt"
	"runtime/debug"
	"testing"
	"testing/synctest"
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
