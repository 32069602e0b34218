package shell

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"runtime/debug"
	"strings"

	"mvdan.cc/sh/v3/interp"
)

// external begins the names by which the call handler sends a builtin's name to the exec handler.
const external = "\x01"

// Commands that only rewritten scripts call.
const (
	internalRecord   = renamed + "record"
	internalPipefail = renamed + "pipefail"
)

// exec runs what is neither a function nor the interpreter's own builtin.
func (r *run) exec(ctx context.Context, args []string) error {
	hc := interp.HandlerCtx(ctx)
	name := strings.TrimPrefix(args[0], external)
	switch name {
	case internalRecord:
		return status(r.recordLast(args[1:]))
	case internalPipefail:
		return status(r.pipefailStatus())
	}
	out := &output{w: hc.Stdout}
	p := &proc{Ctx: ctx, Name: name, Args: args[1:], Stdin: r.stdin, Stdout: out, Stderr: &unbuffered{hc.Stderr, out}, System: r.system,
		Getenv:  func(name string) string { return hc.Env.Get(name).String() },
		Environ: func() []string { return environOf(hc.Env) }}
	p.Files = r.filesIn(hc.Dir, p.Stdout, p.Stderr)
	r.line = max(1, int(hc.Pos.Line()))
	code := r.execute(p)
	out.flush()
	if err := ctx.Err(); err != nil {
		return err
	}
	if out.broken {
		return hc.Builtin(ctx, []string{"exit", "141"})
	}
	return status(code)
}

func status(code int) error {
	if code == 0 {
		return nil
	}
	return interp.ExitStatus(uint8(code))
}

// output gathers small writes. It remembers that its reader is gone.
type output struct {
	w      io.Writer
	held   []byte
	err    error
	broken bool
}

// maxHeld is how much is gathered before it is passed on.
const maxHeld = 8 << 10

func (o *output) Write(b []byte) (int, error) {
	if len(o.held)+len(b) > maxHeld {
		o.flush()
		if len(b) > maxHeld && o.err == nil {
			_, o.err = o.w.Write(b)
			o.broken = errors.Is(o.err, errPipe)
			return len(b), o.err
		}
	}
	if o.err != nil {
		return 0, o.err
	}
	o.held = append(o.held, b...)
	return len(b), nil
}

// WriteString spares the copy that io.WriteString would make.
func (o *output) WriteString(s string) (int, error) {
	if len(o.held)+len(s) > maxHeld {
		return o.Write([]byte(s))
	}
	if o.err != nil {
		return 0, o.err
	}
	o.held = append(o.held, s...)
	return len(s), nil
}

func (o *output) flush() {
	if len(o.held) > 0 && o.err == nil {
		_, o.err = o.w.Write(o.held)
		o.broken = errors.Is(o.err, errPipe)
	}
	o.held = o.held[:0]
}

// unbuffered is standard error: what the command has printed before comes first.
type unbuffered struct {
	w   io.Writer
	out *output
}

func (u *unbuffered) Write(b []byte) (int, error) {
	u.out.flush()
	return u.w.Write(b)
}

// execute runs a command by name: one of the table's, or a script file.
func (r *run) execute(p *proc) (code int) {
	defer func() {
		if v := recover(); v != nil {
			fmt.Fprintf(p.Stderr, "%s: internal error: %v\n%s", p.Name, v, innermost(debug.Stack()))
			code = 2
		}
	}()
	if p.Ctx.Err() != nil || r.step() != nil {
		return 130
	}
	f, ok := lookup(p.Name)
	if strings.Contains(p.Name, "/") && (!ok || p.Files.Exists(p.Name)) { // and not /bin/ls or the like
		return r.scriptFile(p)
	}
	if !ok {
		fmt.Fprintf(p.Stderr, "bash: line %d: %s: command not found%s\n", r.line, p.Name, hint(p.Name))
		return 127
	}
	p.Name = path.Base(p.Name)
	return f(p)
}

// scriptFile runs an executable text file in a shell of its own.
func (r *run) scriptFile(p *proc) int {
	refuse := func(code int, why string) int {
		fmt.Fprintf(p.Stderr, "bash: line %d: %s: %s\n", r.line, p.Name, why)
		return code
	}
	info, err := p.Files.Stat(p.Name)
	switch {
	case err != nil:
		return refuse(127, reason(err))
	case info.IsDir():
		return refuse(126, "Is a directory")
	case info.Mode()&0o111 == 0:
		return refuse(126, "Permission denied")
	}
	data, err := p.Files.ReadFile(p.Name)
	if err != nil {
		return refuse(126, reason(err))
	}
	first, _, _ := strings.Cut(string(data), "\n")
	if shebang, ok := strings.CutPrefix(first, "#!"); ok && !shellName(shebang) {
		return refuse(126, "only shell scripts run in the in-process shell, not "+strings.TrimSpace(shebang))
	}
	if strings.Contains(first, "\x00") {
		return refuse(126, "cannot execute binary file: Exec format error")
	}
	return r.script(p, string(data), append([]string{p.Name}, p.Args...))
}

func shellName(shebang string) bool {
	words := strings.Fields(shebang)
	if len(words) > 1 && path.Base(words[0]) == "env" {
		words = words[1:]
	}
	return len(words) > 0 && (path.Base(words[0]) == "sh" || path.Base(words[0]) == "bash")
}

// maxScripts bounds scripts that run scripts.
const maxScripts = 50

// script runs a command line in a shell of its own, with p's streams, directory and environment.
func (r *run) script(p *proc, script string, args []string) int {
	if r.scripts >= maxScripts {
		fmt.Fprintf(p.Stderr, "bash: scripts nested too deeply\n")
		return 126
	}
	file, err := parse(script)
	if err != nil {
		fmt.Fprintf(p.Stderr, "%s: %v\n", args[0], err)
		return 2
	}
	file.Name = args[0]
	shell := r.shell
	shell.Sleep = p.System.Sleep
	inner := newRun(shell, Command{Dir: p.Files.Dir, Env: p.environment(), Stdin: p.Stdin, Stdout: p.Stdout, Stderr: p.Stderr})
	inner.stdout, inner.stderr, inner.stdin = p.Stdout, p.Stderr, p.Stdin
	inner.scripts, inner.use = r.scripts+1, r.use
	exit, err := inner.start(p.Ctx, file, args[1:])
	if err != nil && p.Ctx.Err() == nil && !errors.Is(err, ErrRunaway) && !errors.Is(err, ErrTooLarge) {
		fmt.Fprintf(p.Stderr, "%s: %v\n", args[0], err)
	}
	return exit.Code
}

// recordLast keeps the status of a pipeline's last stage for PIPESTATUS, and gives it back.
func (r *run) recordLast(args []string) int {
	code := 0
	fmt.Sscan(strings.Join(args, " "), &code)
	if n := len(r.last); n > 0 {
		r.last[n-1] = code
	}
	return code
}

// pipefailStatus is the status of the rightmost stage that failed.
func (r *run) pipefailStatus() int {
	for i := len(r.last) - 1; i >= 0; i-- {
		if r.last[i] != 0 {
			return r.last[i]
		}
	}
	return 0
}
