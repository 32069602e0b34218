// Package scenariotest runs scenarios as Go tests, against a program's own tools, hooks
// and checks. It exists so that who embeds the tool system proves theirs with `go test`
// and without a command line.
//
//	func TestScenarios(t *testing.T) {
//		scenariotest.Run(t, "testdata/*.yaml", scenariotest.Options{Own: run.Own{Tools: tools}})
//	}
package scenariotest

import (
	"bytes"
	"cmp"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"toolbench/reports"
	"toolbench/sim/scenario"
	"toolbench/sim/scenario/check"
	"toolbench/sim/scenario/run"
)

// Options are how scenarios are run. The zero value runs them as `toolbench run` does.
type Options struct {
	run.Own
	// FS is where the scenarios lie, and what they point to; nil is the working directory.
	FS fs.FS
	// Seed is what orders things that happen in one instant; 0 means 1.
	Seed uint64
	// Policy replaces that of the scenarios; "" keeps it.
	Policy string
	// Update writes the expectations that fail into the files, comments kept; a test of one's own
	// sets it from a flag. It needs files on the disk.
	Update bool
}

// Run runs every scenario that matches the pattern, as [fs.Glob] has it, each as a subtest
// of its name. One that does not pass fails with its timeline and what was expected. It is
// a failure that none matches.
func Run(t *testing.T, pattern string, o Options) {
	t.Helper()
	if o.FS == nil {
		o.FS = os.DirFS(".")
	}
	o.Seed = cmp.Or(o.Seed, 1)
	files, err := fs.Glob(o.FS, filepath.ToSlash(pattern))
	if err != nil {
		t.Fatalf("%s: %s", pattern, err)
	}
	if len(files) == 0 {
		t.Fatalf("no scenario matches %s", pattern)
	}
	for _, file := range files {
		sc, err := scenario.Load(o.FS, file)
		if err != nil {
			t.Errorf("%s", err)
			continue
		}
		t.Run(sc.Name, func(t *testing.T) { one(t, sc, file, o) })
	}
}

func one(t *testing.T, sc *scenario.Scenario, file string, o Options) {
	t.Helper()
	for _, c := range run.Cases(sc) {
		out := c.Run(t.Context(), run.Options{Seed: o.Seed, Policy: o.Policy, Own: &o.Own})
		if o.Update && out.Status == check.Failed && c.Scenario == sc {
			update(t, file, out)
			continue
		}
		if out.Status != check.Passed {
			t.Error(explanation(out, "go test -run '"+t.Name()+"$'"))
		}
	}
}

// explanation is the timeline of an outcome, and why it did not pass.
func explanation(out check.Result, again string) string {
	var b bytes.Buffer
	o := reports.Options{Width: 120, OmitTook: true, Again: func(check.Result) string { return again }}
	b.WriteByte('\n')
	_ = reports.Timeline(&b, out, o)              // a buffer takes all that is written
	_ = reports.Table(&b, []check.Result{out}, o) // as above
	return b.String()
}

// update writes the expectations that failed into the scenario's file.
func update(t *testing.T, file string, out check.Result) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Errorf("to be updated, scenarios must lie on the disk: %s", err)
		return
	}
	updated, left, err := check.Update(data, out.Failures)
	if err == nil && !bytes.Equal(updated, data) {
		err = os.WriteFile(file, updated, 0o644)
	}
	if err != nil {
		t.Errorf("%s: %s", file, err)
		return
	}
	t.Logf("updated %s: %d of %d expectations", file, len(out.Failures)-len(left), len(out.Failures))
	for _, f := range left {
		t.Errorf("%s: %s: expected %s, found %s: only a person can decide it", file, f.Expectation, f.Expected, f.Found)
	}
}
