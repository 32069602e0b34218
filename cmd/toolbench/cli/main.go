package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"strings"
	"syscall"

	"toolbench/reports/screen"
)

// Main runs one command line and gives the exit code. It never panics, and prints
// a stack only when TOOLBENCH_DEBUG asks for it. A reader that closes the standard
// output early ends it quietly, with the code of what was found.
func Main(ctx context.Context, p Process, b Bench) (code int) {
	defer func() {
		if v := recover(); v != nil {
			code = ExitHarness
			confess(p, v, debug.Stack())
		}
	}()
	app := &app{Process: p, bench: b, borrowed: map[string]bool{}}
	root := app.root()
	root.SetArgs(p.Args)
	root.SetOut(p.Stdout)
	root.SetErr(p.Stderr)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return ExitHeld
	}
	if closed(err) {
		return app.verdict
	}
	app.tell(err)
	return codeOfError(err)
}

// app is one command line on its way.
type app struct {
	Process
	bench Bench
	// verdict is what the outcomes say, kept for a report nobody reads to its end.
	verdict int
	// borrowed are the flags that the environment gave.
	borrowed map[string]bool
}

// tell prints one message for an error that has one.
func (a *app) tell(err error) {
	var e *exitError
	if errors.As(err, &e) && e.err == nil {
		return
	}
	a.say("%s", err)
}

// say prints a line to the standard error output, safely.
func (a *app) say(format string, args ...any) { say(a.Stderr, format, args...) }

func say(w io.Writer, format string, args ...any) {
	text := strings.TrimSpace(fmt.Sprintf(format, args...))
	fmt.Fprintf(w, "toolbench: %s\n", strings.Join(screen.SafeLines(text), "\n"))
}

// confess tells of a panic what helps, and no more unless asked.
func confess(p Process, v any, stack []byte) {
	say(p.Stderr, "internal error: %v; this is a defect of toolbench", v)
	if p.debugging() {
		fmt.Fprintf(p.Stderr, "%s", stack)
		return
	}
	say(p.Stderr, "set TOOLBENCH_DEBUG=1 to see the stack")
}

func (p Process) debugging() bool {
	value := p.env("TOOLBENCH_DEBUG")
	return value != "" && value != "0" && value != "false"
}

// closed tells a pipe that nobody reads any more, as in `toolbench run | head`.
func closed(err error) bool {
	return errors.Is(err, syscall.EPIPE) || errors.Is(err, io.ErrClosedPipe)
}
