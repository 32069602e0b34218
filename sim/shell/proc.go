package shell

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"
	"time"
)

// command runs a command and gives its exit code, 0 to 255.
type command func(p *proc) int

// withOptions is a command whose options, which spec lists for [proc.parse], are read before it runs.
func withOptions(spec string, run func(p *proc, o options) int) command {
	return func(p *proc) int {
		o, ok := p.parse(spec)
		if !ok {
			return exitUsage
		}
		return run(p, o)
	}
}

// proc is one running command: all it can see and touch.
type proc struct {
	Ctx            context.Context
	Name           string   // as it was called
	Args           []string // without the name
	Files          *files   // the filesystem, from the working directory
	Stdin          *bufio.Reader
	Stdout, Stderr io.Writer
	Getenv         func(name string) string
	Environ        func() []string // NAME=value, sorted by name
	System         *system
}

// system is what commands of one shell share. All members are needed.
type system struct {
	Now   func() time.Time
	Sleep func(ctx context.Context, d time.Duration) error // gives the context's error when cut short
	User  string
	// Exec runs another command, named by its Name and Args (xargs, find -exec, env, timeout).
	Exec func(p *proc) int
	// Script runs a command line in a shell of its own (sh -c); args are $0, $1, ...
	Script func(p *proc, script string, args []string) int
}

// child is a copy of p that runs another command on the same streams.
func (p *proc) child(name string, args []string) *proc {
	c := *p
	c.Name, c.Args = name, args
	return &c
}

// Exit codes with a meaning shared by all commands.
const (
	exitFailure    = 1
	exitUsage      = 2
	exitTimedOut   = 124
	exitCannotWrap = 125 // env and timeout, about themselves
	exitCannotRun  = 126
	exitNotFound   = 127
)

// complain writes "name: message" to standard error.
func (p *proc) complain(format string, a ...any) {
	fmt.Fprintf(p.Stderr, "%s: %s\n", p.Name, fmt.Sprintf(format, a...))
}

// fail complains and gives code.
func (p *proc) fail(code int, format string, a ...any) int {
	p.complain(format, a...)
	return code
}

// failure reports err about name as GNU words it, and gives 1.
func (p *proc) failure(name string, err error) int {
	return p.fail(exitFailure, "%s: %s", name, reason(err))
}

// usage complains about the way the command was called.
func (p *proc) usage(format string, a ...any) int { return p.fail(exitUsage, format, a...) }

func (p *proc) print(s string) error {
	_, err := io.WriteString(p.Stdout, s)
	return err
}

// printed is print for the last thing that a command does: its exit code.
func (p *proc) printed(s string) int {
	if p.print(s) != nil {
		return exitFailure
	}
	return 0
}

func (p *proc) printf(format string, a ...any) error {
	_, err := fmt.Fprintf(p.Stdout, format, a...)
	return err
}

// open gives the named input; "-" is standard input.
func (p *proc) open(name string) (io.ReadCloser, error) {
	if name == "-" {
		return io.NopCloser(p.Stdin), nil
	}
	return p.Files.Open(name)
}

// read gives all of an input.
func (p *proc) read(name string) ([]byte, error) {
	if name == "-" {
		return io.ReadAll(p.Stdin)
	}
	return p.Files.ReadFile(name)
}

// inputs calls use on each named input, or on standard input if there is none. An input that cannot be
// read is reported; the exit code is then 1.
func (p *proc) inputs(names []string, use func(name string, in *bufio.Reader) error) int {
	if len(names) == 0 {
		names = []string{"-"}
	}
	code := 0
	for _, name := range names {
		f, err := p.open(name)
		if err != nil {
			code = p.failure(name, err)
			continue
		}
		if name == "-" {
			err = use(name, p.Stdin)
		} else {
			err = use(name, bufio.NewReader(f))
		}
		f.Close()
		if err != nil || p.Ctx.Err() != nil {
			return exitFailure
		}
	}
	return code
}

// eachLine calls use with every line, without its newline; ended reports whether it had one.
func eachLine(in *bufio.Reader, use func(line string, ended bool) error) error {
	for {
		line, err := in.ReadString('\n')
		if line == "" && err != nil {
			return nil
		}
		ended := err == nil
		if ended {
			line = line[:len(line)-1]
		}
		if err := use(line, ended); err != nil {
			return err
		}
	}
}

// lines gives all lines of all inputs.
func (p *proc) lines(names []string) (all []string, code int) {
	code = p.inputs(names, func(_ string, in *bufio.Reader) error {
		return eachLine(in, func(line string, _ bool) error {
			all = append(all, line)
			return nil
		})
	})
	return all, code
}

// splitEnded gives a text's lines, or what else has an end of its own, without the ends; ended reports whether the
// last one had one.
func splitEnded(s, end string) (parts []string, ended bool) {
	if s == "" {
		return nil, true
	}
	body, ended := strings.CutSuffix(s, end)
	return strings.Split(body, end), ended
}

// looksBinary reports whether data looks like no text: it has a NUL byte near its beginning.
func looksBinary(data []byte) bool {
	return strings.IndexByte(string(data[:min(len(data), 8000)]), 0) >= 0
}
