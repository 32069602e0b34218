package shell

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/interp"
	"mvdan.cc/sh/v3/syntax"
)

// run is the state of one script beside the interpreter's own. Everything runs in one goroutine, one
// command after the other, so that dynamic scope is enough: a redirection sets stdin when it opens and
// puts the old one back when it closes.
type run struct {
	shell  Shell
	system *system
	env    *environ
	stdout io.Writer
	stderr io.Writer

	stdin     *bufio.Reader
	ready     []*buffer // finished outputs of stages, waiting for the next stage
	statuses  [][]int   // of the stages of the pipelines that are running
	last      []int     // PIPESTATUS
	jobs      []int     // exit codes of background jobs
	files     map[string]string
	sources   map[string]string // rewritten scripts that source is about to read
	functions map[string]bool
	line      int
	began     time.Time
	random    uint64
	use       *usage // shared with the scripts it starts
	scripts   int    // nesting of scripts in scripts
}

// usage is what a script has used of its limits.
type usage struct {
	steps int // simple commands and turns of loops
	depth int // calls of functions that have not returned
	// stopped is why the script ends before its end, whatever it says; nil if it does not.
	stopped error
}

func newRun(s Shell, c Command) *run {
	r := &run{shell: s, stdin: reader(c.Stdin), files: map[string]string{}, sources: map[string]string{}, functions: map[string]bool{}, began: s.Now(), line: 1, use: &usage{},
		random: 0x853c49e6748fea9b}
	r.stdout = &limited{w: cmp.Or(c.Stdout, io.Discard), left: s.MaxOutput}
	r.stderr = &limited{w: cmp.Or(c.Stderr, io.Discard), left: s.MaxOutput}
	r.env = &environ{run: r, vars: c.Env, names: slices.Sorted(maps.Keys(c.Env)), dir: c.Dir}
	r.system = &system{Now: s.Now, Sleep: s.Sleep, User: s.User, Exec: r.execute, Script: r.script}
	return r
}

// start runs a prepared file and collects what is left of it.
func (r *run) start(ctx context.Context, file *syntax.File, args []string) (exit Exit, err error) {
	runner, err := r.runner(args)
	if err != nil {
		return Exit{Code: 1, Dir: r.env.dir, Env: r.env.vars}, err
	}
	r.declare(file)
	code := r.guarded(ctx, runner, file)
	if ctx.Err() != nil {
		return Exit{Code: 130, Dir: runner.Dir, Env: r.env.vars}, ctx.Err()
	}
	exit = Exit{Code: code, Dir: runner.Dir, Env: exported(runner, r.env)}
	if r.use.stopped == nil && r.use.steps > r.shell.MaxSteps {
		return exit, ErrRunaway
	}
	return exit, r.use.stopped
}

// step counts a command, or a turn of a loop.
func (r *run) step() error {
	r.use.steps++
	if r.use.steps > r.shell.MaxSteps {
		r.use.stopped = ErrRunaway
	}
	return r.use.stopped
}

// guarded runs file; a panic becomes exit code 2.
func (r *run) guarded(ctx context.Context, runner *interp.Runner, file *syntax.File) (code int) {
	defer func() {
		if p := recover(); p != nil {
			fmt.Fprintf(r.stderr, "bash: internal error: %v\n%s", p, innermost(debug.Stack()))
			code = 2
		}
	}()
	return exitCode(runner.Run(ctx, file), r.stderr)
}

// innermost gives the calls of a stack in which a panic came up.
func innermost(stack []byte) string {
	const n = 12
	lines := strings.SplitAfterN(string(stack), "\n", n+1)
	return strings.Join(lines[:min(n, len(lines))], "")
}

func exitCode(err error, stderr io.Writer) int {
	var status interp.ExitStatus
	switch {
	case err == nil:
		return 0
	case errors.As(err, &status):
		return int(status)
	case errors.Is(err, ErrRunaway), errors.Is(err, ErrTooLarge):
		return 1
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return 130
	}
	fmt.Fprintf(stderr, "bash: %v\n", err)
	return 1
}

// runner builds the interpreter with all its ways to the host closed or replaced.
func (r *run) runner(args []string) (*interp.Runner, error) {
	runner, err := interp.New(
		interp.Env(r.env),
		interp.StdIO(nil, r.stdout, r.stderr),
		interp.Dir("/"), // the real root exists everywhere; the real directory follows
		interp.Params(append([]string{"--"}, args...)...),
		interp.CallHandler(r.call),
		interp.ExecHandlers(func(interp.ExecHandlerFunc) interp.ExecHandlerFunc { return r.exec }),
		interp.OpenHandler(r.open),
		interp.ReadDirHandler2(r.readDir),
		interp.StatHandler(r.stat),
		interp.AccessHandler(r.access),
	)
	if err != nil {
		return nil, err
	}
	runner.Dir = path.Clean(r.env.dir)
	runner.Reset()
	r.env.booted = true
	return runner, nil
}

// exported gives the environment after a run.
func exported(runner *interp.Runner, before *environ) map[string]string {
	out := map[string]string{}
	for name, v := range runner.Vars {
		if v.Exported && v.IsSet() && v.Kind == expand.String {
			out[name] = v.Str
		}
	}
	for _, name := range []string{"PWD", "OLDPWD"} {
		if _, had := before.vars[name]; had && runner.Vars[name].IsSet() {
			out[name] = runner.Vars[name].Str
		}
	}
	return out
}

// declare notes the functions a script defines: their names win over builtins.
func (r *run) declare(node syntax.Node) {
	syntax.Walk(node, func(n syntax.Node) bool {
		if f, ok := n.(*syntax.FuncDecl); ok && f.Name != nil {
			r.functions[f.Name.Value] = true
		}
		return true
	})
}
