package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"toolbench/property/fuzz"
	"toolbench/property/generate"
)

// fuzzPatience is how long a child may be silent before it counts as hung, by
// default; lastWords is how long it then has to print its stacks.
const (
	fuzzPatience = 40 * time.Second
	lastWords    = 5 * time.Second
)

// simulatedStride is how many simulated cases a child plays between two lines that it writes.
const simulatedStride = 256

// childLine is a line that a child writes to its standard output: which case is
// next, or what came of all.
type childLine struct {
	At   *uint64      `json:"at,omitempty"`
	Done *fuzz.Result `json:"done,omitempty"`
}

// fuzzChild plays a batch for a parent.
func (a *app) fuzzChild(ctx context.Context, f fuzzFlags) error {
	var b fuzz.Batch
	if _, err := fmt.Sscanf(f.child, "%d:%d:%d", &b.First, &b.N, &b.Step); err != nil {
		return usage("--child %q: %s", f.child, err)
	}
	// A child holds some megabytes: collecting at every doubling of so little is a
	// quarter of its time.
	defer debug.SetGCPercent(debug.SetGCPercent(1000))
	// Nothing in a case runs beside anything else: a second processor would only take
	// goroutines over and hand them back, which costs a sixth of the time. Other
	// children have better use for it.
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	out := json.NewEncoder(a.Stdout)
	played := uint64(0)
	at := func(n uint64) {
		if f.engine != string(fuzz.DES) || played%simulatedStride == 0 {
			_ = out.Encode(childLine{At: &n}) // a parent that has ended reads none
		}
		played++
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	if a.Stdin != nil {
		go func() {
			if awaitWord(a.Stdin) {
				stop()
			}
		}()
	}
	return wrap(out.Encode(childLine{Done: new(fuzz.Play(ctx, f.plan(), fuzz.Engine(f.engine), b, at))}))
}

// enough is the line by which a parent ends a child: it reports what it has played so far
// and goes. A signal would do that only once, and a terminal sends one to both.
const enough = "enough"

func awaitWord(r io.Reader) bool {
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		if lines.Text() == enough {
			return true
		}
	}
	return false
}

// fuzzRunner plays batches in processes of their own, or in this one where the program
// does not know its own path.
func (a *app) fuzzRunner(f fuzzFlags) fuzz.Runner {
	if a.Self == "" {
		return func(ctx context.Context, b fuzz.Batch) (fuzz.Result, error) {
			return fuzz.Play(ctx, f.plan(), fuzz.Engine(f.engine), b, nil), nil
		}
	}
	return func(ctx context.Context, b fuzz.Batch) (fuzz.Result, error) { return a.bisect(ctx, f, b) }
}

// bisect plays a batch in a child; when that dies, it looks for the case that killed
// it.
func (a *app) bisect(ctx context.Context, f fuzzFlags, b fuzz.Batch) (fuzz.Result, error) {
	r, died, err := a.spawn(ctx, f, b)
	if err != nil || died == nil || ctx.Err() != nil {
		return r, err
	}
	lost := fuzz.Batch{First: died.at, N: 1, Step: b.Step}
	if f.engine == string(fuzz.DES) {
		lost.N = min(simulatedStride, b.N-(died.at-b.First)/b.Step)
	}
	for lost.N > 1 {
		half := lost
		half.N = lost.N / 2
		_, again, err := a.spawn(ctx, f, half)
		switch {
		case err != nil || ctx.Err() != nil:
			return r, err
		case again != nil:
			lost, died = half, again
		default:
			lost.First, lost.N = lost.Case(half.N), lost.N-half.N
		}
	}
	r.Failed = &fuzz.Failure{Case: lost.First, Broke: died.how, Found: died.output}
	return r, nil
}

// childExit is a child that ended without a result.
type childExit struct {
	at          uint64 // the case it reported last
	how, output string
}

// spawn plays a batch in a child. One that crashes or writes nothing for too long gives
// how it ended.
func (a *app) spawn(ctx context.Context, f fuzzFlags, b fuzz.Batch) (fuzz.Result, *childExit, error) {
	args := []string{
		"fuzz", "--child", fmt.Sprintf("%d:%d:%d", b.First, b.N, b.Step), "--seed", strconv.FormatUint(f.seed, 10),
		"--engine", f.engine, "--policy", strings.Join(f.policies, ","), "--faults", faultWords(f.may),
	}
	cmd := exec.CommandContext(ctx, a.Self, args...)
	cmd.Env, cmd.Dir = append(slices.Clone(a.Env), "GOTRACEBACK=all", "TOOLBENCH_DEBUG=1"), a.Dir
	errs := &limitedBuffer{most: 1 << 15} // a crash begins with its cause
	cmd.Stderr = errs
	in, err := cmd.StdinPipe()
	if err != nil {
		return fuzz.Result{}, nil, err
	}
	cmd.Cancel = func() error {
		_, err := io.WriteString(in, enough+"\n")
		return err
	}
	cmd.WaitDelay = lastWords
	out, err := cmd.StdoutPipe()
	if err != nil {
		return fuzz.Result{}, nil, err
	}
	if err := cmd.Start(); err != nil {
		return fuzz.Result{}, nil, err
	}
	var done *fuzz.Result
	var at uint64
	hung, err := untilSilent(f.patience, func() { quit(cmd.Process) }, func(alive func()) error {
		done, at = readChild(out, alive)
		return cmd.Wait()
	})
	switch {
	case done != nil:
		return *done, nil, nil
	case ctx.Err() != nil:
		return fuzz.Result{}, nil, nil
	}
	d := &childExit{at: max(at, b.First), how: "crash", output: errs.String()}
	if hung {
		d.how = "hang"
	}
	if err != nil && d.output == "" {
		d.output = err.Error()
	}
	return fuzz.Result{}, d, nil
}

// quit has a child print its stacks and end; one that cannot is ended.
func quit(p *os.Process) {
	_ = p.Signal(syscall.SIGQUIT) // one that is gone needs none
	time.AfterFunc(lastWords, func() { _ = p.Kill() })
}

// readChild reads a child's lines; alive is called at each.
func readChild(r io.Reader, alive func()) (done *fuzz.Result, at uint64) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		alive()
		var l childLine
		if json.Unmarshal(lines.Bytes(), &l) != nil {
			continue
		}
		if l.At != nil {
			at = *l.At
		}
		if l.Done != nil {
			done = l.Done
		}
	}
	return done, at
}

// mostDeaths is how many processes are spent on making a case small that kills the one
// which plays it, mostHangs how many of them may hang, and hangTry how long one may take
// until it counts as hung: what is well takes a small part of that.
const (
	mostDeaths = 400
	mostHangs  = 24
	hangTry    = 5 * time.Second
)

// crashShrinker makes a case small that crashes or hangs the process which plays it: each try
// is one.
type crashShrinker struct {
	a     *app
	f     fuzzFlags
	dir   string
	tries int
	hangs int
}

func (a *app) smallestDeath(ctx context.Context, f fuzzFlags, c generate.Case, how string) generate.Case {
	dir, err := os.MkdirTemp("", "toolbench-fuzz")
	if err != nil {
		return c
	}
	defer os.RemoveAll(dir) // what cannot be removed there is the system's to remove
	d := &crashShrinker{a: a, f: f, dir: dir, tries: mostDeaths, hangs: mostHangs}
	if how != "hang" {
		return c.Shrink(func(smaller generate.Case) bool { return d.dies(ctx, smaller, d.crashes) })
	}
	limit := min(hangTry, f.patience)
	small := c.Shrink(func(smaller generate.Case) bool {
		return d.hangs > 0 && d.dies(ctx, smaller, func(ctx context.Context, c generate.Case) bool { return d.hung(ctx, c, limit) })
	})
	if !d.hung(ctx, small, 2*limit) { // it was only slow: then nothing is known of it
		return c
	}
	return small
}

// dies tries one case, as long as there are tries left.
func (d *crashShrinker) dies(ctx context.Context, c generate.Case, how func(context.Context, generate.Case) bool) bool {
	d.tries--
	return d.tries >= 0 && ctx.Err() == nil && how(ctx, c)
}

// hung plays a case in a process of its own and reports whether that takes longer than
// it may.
func (d *crashShrinker) hung(ctx context.Context, c generate.Case, limit time.Duration) bool {
	timed, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	_, _ = d.play(timed, c) // only the time counts here
	hung := timed.Err() != nil && ctx.Err() == nil
	if hung {
		d.hangs--
	}
	return hung
}

// crashes plays a case in a process of its own and reports whether that panicked.
func (d *crashShrinker) crashes(ctx context.Context, c generate.Case) bool {
	timed, cancel := context.WithTimeout(ctx, d.f.patience)
	defer cancel()
	output, err := d.play(timed, c)
	return err != nil && slices.ContainsFunc([]string{"panic:", "fatal error:", "internal error:"}, func(sign string) bool { return bytes.Contains(output, []byte(sign)) })
}

// play plays a case in a process and gives its error output.
func (d *crashShrinker) play(ctx context.Context, c generate.Case) (output []byte, err error) {
	file := filepath.Join(d.dir, "case.yaml")
	data, err := fuzz.NewSaved("A try.", fuzz.Engine(d.f.engine), c).YAML()
	if err == nil {
		err = os.WriteFile(file, data, 0o600)
	}
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, d.a.Self, "fuzz", "--replay", file)
	cmd.Env, cmd.Dir, cmd.WaitDelay = d.a.Env, d.a.Dir, time.Second
	var errs bytes.Buffer
	cmd.Stderr = &errs
	err = cmd.Run()
	return errs.Bytes(), err
}
