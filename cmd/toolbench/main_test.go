package main

import (
	"bytes"
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/fstest"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"toolbench/cmd/toolbench/cli"
	"toolbench/sim/replay"
	"toolbench/sim/scenario/check"
	scenariorun "toolbench/sim/scenario/run"
	"toolbench/toolsys/trace"
)

// TestMain has this binary play the programs that scripts and samples call. Under the race
// detector each of them would sleep for a second when it ends, which a test that starts
// hundreds has no time for: a moment is left for what is still running then. The other
// options are as the environment has them.
func TestMain(m *testing.M) {
	if err := os.Setenv("GORACE", "atexit_sleep_ms=50 "+os.Getenv("GORACE")); err != nil {
		panic(err)
	}
	testscript.Main(m, map[string]func(){
		"toolbench":      main,
		"crashbench":     func() { os.Exit(run(crashing())) },
		"frailbench":     frail,
		"languageserver": languageServer,
	})
}

// frail is the program, but that a process of its own is killed when it is given a recording with
// "poison" in its name, goes no further when it comes to one with "stuck" in its name, takes its
// time to write where one has "slow" in its name, and does not end where one has "lingering" in its name.
func frail() {
	if !slices.Contains(os.Args, "--child") {
		main()
		return
	}
	batch, err := io.ReadAll(os.Stdin)
	if err != nil || bytes.Contains(batch, []byte("poison")) {
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	}
	p := cli.ThisProcess()
	if bytes.Contains(batch, []byte("slow")) {
		p.Stdout = slow{p.Stdout}
	}
	before, stuck := untilStuck(batch)
	p.Stdin = bytes.NewReader(before)
	code := cli.Main(context.Background(), p, cli.Scenarios())
	for stuck || bytes.Contains(batch, []byte("lingering")) {
		time.Sleep(time.Hour)
	}
	os.Exit(code)
}

// slow is a process that comes to its results one by one.
type slow struct{ io.Writer }

// Write takes a quarter of a second.
func (s slow) Write(p []byte) (int, error) {
	time.Sleep(time.Second / 4)
	return s.Writer.Write(p)
}

// untilStuck cuts a batch of recordings off before one with "stuck" in its name.
func untilStuck(data []byte) (before []byte, stuck bool) {
	var batch struct {
		Options replay.Options
		Files   []struct {
			Of struct {
				Path, Digest string
				Size         int64
			}
			File string
		}
	}
	if gob.NewDecoder(bytes.NewReader(data)).Decode(&batch) != nil {
		return data, false
	}
	for i, f := range batch.Files {
		if strings.Contains(f.Of.Path, "stuck") {
			batch.Files = batch.Files[:i]
			var out bytes.Buffer
			if gob.NewEncoder(&out).Encode(batch) != nil {
				return data, false
			}
			return out.Bytes(), true
		}
	}
	return data, false
}

// crashing is a bench whose scenarios do what the real one must never do.
func crashing() cli.Bench {
	b := cli.Scenarios()
	b.Suite = fstest.MapFS{}
	b.Update = func(data []byte, _ []check.Failure) ([]byte, []check.Failure, error) {
		return append(data, "# updated\n"...), nil, nil
	}
	stopping := cli.Case{Name: "stops", File: "stops.yaml", Run: stops()}
	b.Find = func(_ fs.FS, paths ...string) ([]cli.Case, []error) {
		switch paths[0] {
		case "stuck.yaml":
			begun()
			select {}
		case stopping.File:
			return []cli.Case{stopping}, nil
		}
		return []cli.Case{
			{Name: "differs", File: "differs.yaml", Tags: []string{"odd"}, Run: differs()},
			{Name: "fails", File: "fails.yaml", Run: fails},
			{Name: "harness", File: "harness.yaml", Tags: []string{"odd"}, Run: gaveUp},
			{Name: "hangs", File: "hangs.yaml", Tags: []string{"slow"}, Run: hangs},
			{Name: "ignores", File: "ignores.yaml", Tags: []string{"slow"}, Run: ignores},
			{Name: "panics", File: "panics.yaml", Tags: []string{"odd"}, Run: panics},
			{Name: "passes", File: "passes.yaml", Run: passes},
		}, nil
	}
	return b
}

func outcome(name string, o scenariorun.Options) check.Result {
	return check.Result{Name: name, File: name + ".yaml", Status: check.Passed, Seed: o.Seed, Policy: "streaming", Digest: "d"}
}

func passes(_ context.Context, o scenariorun.Options) check.Result { return outcome("passes", o) }

func fails(_ context.Context, o scenariorun.Options) check.Result {
	out := outcome("fails", o)
	out.Status = check.Failed
	out.Failures = []check.Failure{{Expectation: "makespan", Expected: "1s", Found: "2s", At: "fails.yaml:3"}}
	return out
}

// differs gives another trace each time it runs.
func differs() func(context.Context, scenariorun.Options) check.Result {
	var runs atomic.Int64
	return func(_ context.Context, o scenariorun.Options) check.Result {
		n := runs.Add(1)
		out := outcome("differs", o)
		out.Digest = fmt.Sprint("digest-", n)
		out.Trace = []trace.Event{{Turn: 1, Data: trace.TurnStart{}}, {Turn: 1, Data: trace.Notice{Text: fmt.Sprint("run ", n)}}}
		return out
	}
}

// stops fails at first, and hangs when it is run again, as after an update.
func stops() func(context.Context, scenariorun.Options) check.Result {
	var runs atomic.Int64
	return func(ctx context.Context, o scenariorun.Options) check.Result {
		if runs.Add(1) == 1 {
			return fails(ctx, o)
		}
		return hangs(ctx, o)
	}
}

func gaveUp(_ context.Context, o scenariorun.Options) check.Result {
	out := outcome("harness", o)
	out.Status, out.Err = check.Errored, errors.New("the harness gave up")
	return out
}

// begun tells the test that the run is under way.
func begun() {
	if err := os.WriteFile("begun", nil, 0o644); err != nil {
		panic(err)
	}
}

func hangs(ctx context.Context, o scenariorun.Options) check.Result {
	begun()
	<-ctx.Done()
	out := outcome("hangs", o)
	out.Status, out.Err = check.Errored, context.Cause(ctx)
	return out
}

// ignores does not even notice that it should stop.
func ignores(context.Context, scenariorun.Options) check.Result {
	begun()
	select {}
}

func panics(context.Context, scenariorun.Options) check.Result { panic("boom") }
