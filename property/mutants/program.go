package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"toolbench/toolsys/host"
)

// program is what was built with changes in it, of which one at most is on when it runs.
type program struct {
	path, dir string
	args      []string
	skip      []string // tests that are left out
}

// tests makes the tests of a package one program, over the files of an overlay. Those of rapid
// keep no failing case, and take no time to make one small.
func tests(ctx context.Context, root, temp, overlay, name string) (program, error) {
	p := program{path: filepath.Join(temp, strings.NewReplacer("/", "-", ".", "").Replace(name)+".test"), args: []string{"-test.paniconexit0"}}
	cmd := exec.CommandContext(ctx, "go", "test", "-c", "-vet=off", "-overlay", overlay, "-o", p.path, name)
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		return p, fmt.Errorf("the tests of %s do not build with changes: %w\n%s", name, err, out)
	}
	if _, err := os.Stat(p.path); err != nil {
		return p, fmt.Errorf("%s has no tests", name)
	}
	cmd = exec.CommandContext(ctx, "go", "list", "-test", "-deps", "-f", "{{.ImportPath}} {{.Dir}}", name)
	cmd.Dir = root
	deps, err := cmd.Output()
	if err != nil {
		return p, fmt.Errorf("go list -test %s: %w", name, err)
	}
	if bytes.Contains(deps, []byte("pgregory.net/rapid ")) {
		p.args = append(p.args, "-rapid.nofailfile", "-rapid.shrinktime=100ms")
	}
	lines := strings.Split(strings.TrimSpace(string(deps)), "\n")
	_, p.dir, _ = strings.Cut(lines[len(lines)-1], " ")
	return p, nil
}

// ending is how a program came to its end: it failed when its exit code was not 0, and also when it
// did not end in time.
type ending struct {
	out, errs    []byte
	failed, late bool
}

// run runs the program with its environment extended. What it began in its process group ends with it. It
// is an error if it could not begin, or if ctx has ended.
func (p program) run(ctx context.Context, limit time.Duration, env string) (ending, error) {
	timed, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	args := p.args
	if len(p.skip) > 0 {
		args = append(slices.Clone(args), "-test.skip", "^("+strings.Join(p.skip, "|")+")$")
	}
	cmd := exec.CommandContext(timed, p.path, args...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = p.dir, append(os.Environ(), "MUTANTS_CHANGE=", "MUTANTS_LOG=", env), time.Second
	kill := host.Grouped(cmd)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	kill()
	end := ending{out: out.Bytes(), errs: errs.Bytes(), late: timed.Err() != nil}
	exit := new(exec.ExitError)
	switch {
	case ctx.Err() != nil:
		return end, ctx.Err()
	case end.late, errors.As(err, &exit), errors.Is(err, exec.ErrWaitDelay):
		end.failed = true
		return end, nil
	}
	return end, err
}

// with runs the program with a change on.
func (p program) with(ctx context.Context, id int, limit time.Duration) (ending, error) {
	return p.run(ctx, limit, "MUTANTS_CHANGE="+strconv.Itoa(id))
}

// baseline is how a program runs with no change on: which changes it asks about, and how long it took.
type baseline struct {
	program
	reached map[int]bool
	took    time.Duration
	out     []byte
}

// limit is how long the program may take with a change on.
func (b baseline) limit() time.Duration { return max(10*b.took, 4*time.Second) }

var failed = regexp.MustCompile(`(?m)^--- FAIL: (\S+)`)

// reach runs the program with no change on, and leaves out tests that fail so, as one may that
// counts allocations: a function with changes in it makes others.
func (p program) reach(ctx context.Context, temp string) (baseline, error) {
	log, err := os.CreateTemp(temp, "reached")
	if err != nil {
		return baseline{}, err
	}
	log.Close()
	whole := p
	whole.args = slices.DeleteFunc(slices.Clone(p.args), func(arg string) bool { return arg == "-test.failfast" })
	began := time.Now()
	end, err := whole.run(ctx, time.Hour, "MUTANTS_LOG="+log.Name())
	if err != nil {
		return baseline{}, err
	}
	took, name := time.Since(began), filepath.Base(p.path)
	if end.failed {
		hits := failed.FindAllSubmatch(end.out, -1)
		if len(hits) == 0 || len(p.skip) > 0 {
			return baseline{}, fmt.Errorf("%s fails with no change: %s%s", strings.Join(append([]string{name}, p.args...), " "), end.out, end.errs)
		}
		for _, hit := range hits {
			p.skip = append(p.skip, string(hit[1]))
		}
		fmt.Fprintf(os.Stderr, "%s: left out, as they fail with no change: %s\n", name, strings.Join(p.skip, ", "))
		return p.reach(ctx, temp)
	}
	b := baseline{program: p, reached: map[int]bool{}, took: took, out: end.out}
	data, err := os.ReadFile(log.Name())
	for line := range strings.FieldsSeq(string(data)) {
		if id, err := strconv.Atoi(line); err == nil {
			b.reached[id] = true
		}
	}
	return b, err
}
