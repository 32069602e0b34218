package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"mvdan.cc/sh/v3/shell"

	"toolbench/cmd/toolbench/cli"
)

var update = flag.Bool("update", false, "rewrite what scripts compare with")

// planted say to a program with planted faults in it which one is on (property/mutants).
var planted = []string{"MUTANTS_CHANGE", "MUTANTS_LOG"}

func TestCommandLine(t *testing.T) {
	// A program that nohup starts has SIGHUP ignored, and so has what it starts; a handler here ends that.
	closed := make(chan os.Signal, 1)
	signal.Notify(closed, syscall.SIGHUP)
	t.Cleanup(func() { signal.Stop(closed) })
	agents := t.TempDir()
	build := sync.OnceValue(func() error { return buildAgents(agents) })
	testscript.Run(t, testscript.Params{
		Dir:           filepath.Join("testdata", "script"),
		UpdateScripts: *update,
		Setup: func(e *testscript.Env) error {
			e.Setenv("XDG_CACHE_HOME", filepath.Join(e.WorkDir, ".cache"))
			e.Setenv("HOME", e.WorkDir)
			for _, key := range planted {
				e.Setenv(key, os.Getenv(key))
			}
			if _, err := os.Stat(filepath.Join(e.WorkDir, "needs-agent")); err != nil {
				return nil
			}
			e.Setenv("PATH", agents+string(os.PathListSeparator)+e.Getenv("PATH"))
			return build()
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"cli": inProcess, "code": code, "interrupt": interrupt, "unread": unread, "again": again, "widest": widest, "times": times, "hostile": hostile, "deep": deep,
		},
	})
}

// buildAgents builds the agents that are tried, which are programs of their own and no part of
// toolbench.
func buildAgents(dir string) error {
	out, err := exec.Command("go", "build", "-o", dir+string(os.PathSeparator), "../../sim/serve/testdata/agent", "../../sim/serve/testdata/chatagent").CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}

// cli ARGS...: the command line in this process, which takes a tenth of what a process of its own takes to begin.
func inProcess(ts *testscript.TestScript, neg bool, args []string) {
	if got := call(ts, args); (got != 0) != neg {
		ts.Fatalf("exit code %d", got)
	}
}

// call has the command line do something in this process, and gives its exit code.
func call(ts *testscript.TestScript, args []string) int {
	p := cli.Process{
		Args: args, Env: environment(ts), Stdout: ts.Stdout(), Stderr: ts.Stderr(), Stdin: strings.NewReader(""),
		Interrupts: new(cli.Interrupts), Dir: ts.MkAbs("."), Home: ts.Getenv("HOME"), Cache: ts.Getenv("XDG_CACHE_HOME"),
	}
	var err error
	p.Self, err = exec.LookPath("toolbench")
	ts.Check(err)
	// What is the process's own is left to it.
	p.Env = append(p.Env, "GOGC=100", "GOMEMLIMIT=off")
	return cli.Main(context.Background(), p, bench())
}

// bench is the program's, whose embedded suite is read once for all the scripts.
var bench = sync.OnceValue(func() cli.Bench {
	b := cli.Scenarios()
	find := b.Find
	var read sync.Map // of the files asked for, what find gives
	b.Find = func(fsys fs.FS, paths ...string) ([]cli.Case, []error) {
		if fsys != b.Suite {
			return find(fsys, paths...)
		}
		type found struct {
			cases []cli.Case
			errs  []error
		}
		once, _ := read.LoadOrStore(strings.Join(paths, "\n"), sync.OnceValue(func() (f found) {
			f.cases, f.errs = find(fsys, paths...)
			return f
		}))
		f := once.(func() found)()
		return slices.Clone(f.cases), slices.Clone(f.errs)
	}
	return b
})

// code N PROGRAM ARGS...: the program ends with exit code N.
func code(ts *testscript.TestScript, neg bool, args []string) {
	want := number(ts, args[0])
	got := 0
	if args[1] == "cli" {
		got = call(ts, args[2:])
	} else {
		got = exitCode(ts, ts.Exec(args[1], args[2:]...))
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

func number(ts *testscript.TestScript, text string) int {
	n, err := strconv.Atoi(text)
	ts.Check(err)
	return n
}

func exitCode(ts *testscript.TestScript, err error) int {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ExitCode()
	}
	ts.Check(err)
	return 0
}

// command is a program of the script with its environment.
func command(ts *testscript.TestScript, args []string) *exec.Cmd {
	path := ""
	for _, dir := range filepath.SplitList(ts.Getenv("PATH")) {
		if _, err := os.Stat(filepath.Join(dir, args[0])); err == nil {
			path = filepath.Join(dir, args[0])
			break
		}
	}
	cmd := exec.Command(path, args[1:]...)
	cmd.Dir = ts.MkAbs(".")
	cmd.Env = environment(ts)
	return cmd
}

// environment is that of a script, as far as the program and what it starts look at it.
func environment(ts *testscript.TestScript) (env []string) {
	for _, key := range slices.Concat([]string{"PATH", "HOME", "XDG_CACHE_HOME", "TMPDIR", "WORK", "GORACE"}, planted, assigned()) {
		if value := ts.Getenv(key); value != "" {
			env = append(env, key+"="+value)
		}
	}
	return env
}

// assigned are the variables that any of the scripts sets.
var assigned = sync.OnceValue(func() (keys []string) {
	files, err := filepath.Glob(filepath.Join("testdata", "script", "*.txtar"))
	if err != nil {
		panic(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			panic(err)
		}
		for line := range strings.Lines(string(text)) {
			if assignment, ok := strings.CutPrefix(line, "env "); ok {
				key, _, _ := strings.Cut(assignment, "=")
				keys = append(keys, key)
			}
		}
	}
	return keys
})

// interrupt [TWICE] [TERM|HUP] OUT ERR PROGRAM ARGS...: Ctrl-C, SIGTERM or SIGHUP, once the program
// has begun, and again at once with TWICE; it ends with 130. What it printed is left in two files.
func interrupt(ts *testscript.TestScript, neg bool, args []string) {
	sent, twice := os.Interrupt, args[0] == "TWICE"
	if twice {
		args = args[1:]
	}
	if other, ok := map[string]os.Signal{"TERM": syscall.SIGTERM, "HUP": syscall.SIGHUP}[args[0]]; ok {
		sent, args = other, args[1:]
	}
	var out, errs bytes.Buffer
	cmd := command(ts, args[2:])
	cmd.Stdout, cmd.Stderr = &out, &errs
	ts.Check(cmd.Start())
	for end := time.Now().Add(patient); ; time.Sleep(10 * time.Millisecond) {
		if _, err := os.Stat(ts.MkAbs("begun")); err == nil {
			break
		}
		if time.Now().After(end) {
			_ = cmd.Process.Kill()
			ts.Fatalf("it did not begin: %v\n%s", cmd.Wait(), errs.String())
		}
	}
	ts.Check(cmd.Process.Signal(sent))
	if twice {
		time.Sleep(10 * time.Millisecond) // two that are pending are one to the kernel
		ts.Check(cmd.Process.Signal(sent))
	}
	if got := exitCode(ts, cmd.Wait()); got != 130 {
		ts.Fatalf("exit code %d, want 130\n%s", got, errs.String())
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), out.Bytes(), 0o644))
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), errs.Bytes(), 0o644))
}

// unread N PROGRAM ARGS...: nobody reads the output; the program ends with code N
// and has nothing to say about it.
func unread(ts *testscript.TestScript, neg bool, args []string) {
	var errs bytes.Buffer
	cmd := command(ts, args[1:])
	r, w, err := os.Pipe()
	ts.Check(err)
	ts.Check(r.Close())
	cmd.Stdout, cmd.Stderr = w, &errs
	ts.Check(cmd.Start())
	ts.Check(w.Close())
	if got, want := exitCode(ts, cmd.Wait()), number(ts, args[0]); got != want || strings.Contains(errs.String(), "pipe") {
		ts.Fatalf("exit code %d, want %d\n%s", got, want, errs.String())
	}
}

// again N FILE: each command that a report gives to show a failure again ends with
// code N.
func again(ts *testscript.TestScript, neg bool, args []string) {
	found := 0
	for line := range strings.Lines(ts.ReadFile(args[1])) {
		line, ok := strings.CutPrefix(strings.TrimSpace(line), "again: ")
		if !ok {
			continue
		}
		found++
		words, err := shell.Fields(line, nil) // it is for a shell, which takes a quoted name as one word
		ts.Check(err)
		if got := exitCode(ts, ts.Exec(words[0], words[1:]...)); got != number(ts, args[0]) {
			ts.Fatalf("%s: exit code %d, want %s", line, got, args[0])
		}
	}
	if found == 0 {
		ts.Fatalf("%s gives no command", args[1])
	}
}

// widest N FILE: no line is wider, and one is not much narrower.
func widest(ts *testscript.TestScript, neg bool, args []string) {
	most := 0
	for line := range strings.Lines(ts.ReadFile(args[1])) {
		if !strings.Contains(line, "again:") {
			most = max(most, len([]rune(strings.TrimSuffix(line, "\n"))))
		}
	}
	if want := number(ts, args[0]); most > want || most < want/2 {
		ts.Fatalf("the widest line has %d columns, asked were %d", most, want)
	}
}

// times N TEXT FILE: the text stands N times in the file.
func times(ts *testscript.TestScript, neg bool, args []string) {
	if got := strings.Count(ts.ReadFile(args[2]), args[1]); got != number(ts, args[0]) {
		ts.Fatalf("%q stands %d times in %s, want %s", args[1], got, args[2], args[0])
	}
}

// hostile writes scenarios whose names would be workflow commands into mine.
func hostile(ts *testscript.TestScript, neg bool, args []string) {
	ts.Check(os.MkdirAll(ts.MkAbs("mine"), 0o755))
	for _, name := range []string{"::error::pwned.yaml", "x\n::error::pwned.yaml", "x\r\n  ::error::pwned.yaml", "##[error]pwned.yaml"} {
		ts.Check(os.WriteFile(filepath.Join(ts.MkAbs("mine"), name), []byte("name: [\n"), 0o644))
	}
}

// deep writes scenarios that are nested 50,000 deep, each in another way, and one that
// begins with a byte order mark.
func deep(ts *testscript.TestScript, neg bool, args []string) {
	const head, levels = "name: deep\nabout: It is nested.\nstream: {turns: [{text: Hello., end: 2s}]}\n", 50_000
	for name, text := range map[string]string{
		"brackets.yaml": head + "prompt: " + strings.Repeat("[", levels) + strings.Repeat("]", levels) + "\n",
		"open.yaml":     head + "prompt: " + strings.Repeat("{a: ", levels),
		"json.yaml":     `{"name": "deep", "prompt": ` + strings.Repeat(`{"a":`, levels) + "1" + strings.Repeat("}", levels) + "}",
		"dashes.yaml":   head + "prompt:\n  " + strings.Repeat("- ", levels) + "x\n",
		"tags.yaml":     head + "prompt: " + strings.Repeat("!a ", levels) + "x\n",
		"bom.yaml":      "\ufeff" + head + "expect:\n  makespan: 9s\n",
	} {
		ts.Check(os.WriteFile(ts.MkAbs(name), []byte(text), 0o644))
	}
}
