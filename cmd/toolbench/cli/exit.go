package cli

import (
	"errors"
	"fmt"

	"toolbench/sim/scenario"
)

// Exit codes (O9).
const (
	// ExitHeld: all expectations held.
	ExitHeld = 0
	// ExitFailed: an expectation did not hold.
	ExitFailed = 1
	// ExitUsage: the command line or a file is wrong.
	ExitUsage = 2
	// ExitHarness: the harness itself failed.
	ExitHarness = 3
	// ExitInterrupted: somebody stopped the run.
	ExitInterrupted = 130
)

// exitError ends the command with a code; without an error, silently.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit %d", e.code)
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

func usage(format string, args ...any) error {
	return &exitError{ExitUsage, fmt.Errorf(format, args...)}
}

func harness(err error) error { return &exitError{ExitHarness, err} }

// verdict is the exit code of outcomes. What makes a run worth least counts most:
// a harness that failed, then a file that cannot be run, then an expectation.
func verdict(outcomes []scenario.Outcome) int {
	code := ExitHeld
	for _, o := range outcomes {
		code = max(code, codeOf(o))
	}
	return code
}

func codeOf(o scenario.Outcome) int {
	switch {
	case o.Status == scenario.Passed:
		return ExitHeld
	case o.Status == scenario.Failed:
		return ExitFailed
	case o.Invalid:
		return ExitUsage
	}
	return ExitHarness
}

// codeOfError is the code a command's error ends the process with. An error that
// is not ours is the argument parser's.
func codeOfError(err error) int {
	var e *exitError
	if errors.As(err, &e) {
		return e.code
	}
	return ExitUsage
}
