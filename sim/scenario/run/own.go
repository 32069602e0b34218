package run

import (
	"net/http"
	"path"
	"slices"

	"github.com/spf13/afero"

	"toolbench/sim/scenario/check"
	"toolbench/toolsys/builtin/file"
	"toolbench/toolsys/hook"
	"toolbench/toolsys/tool"
)

// Own is what a program brings to the runs of its scenarios, beside what they describe.
type Own struct {
	// Tools makes the program's tools for one run; nil makes none. They are in the pool
	// beside those of the scenario, whose `only` does not concern them.
	Tools func(World) ([]*tool.Tool, error)
	// Decorate puts another tool in the place of each, the built-in ones as well, before the
	// scenario's times and faults are added to it; nil leaves them.
	Decorate func(*tool.Tool) *tool.Tool
	// Hooks are asked before those of the scenario.
	Hooks []hook.Hook
	// Checks look at what came of a run that was checked against its expectations; an
	// error is a failure under the check's name.
	Checks map[string]func(check.Result) error
}

// World is what a run has in place of a machine: its disk, its clock and its network.
type World struct {
	FS    afero.Fs
	Clock tool.Clock
	// Dir is the working directory at the beginning.
	Dir  string
	HTTP func(*http.Request) (*http.Response, error)
	// Cleanup takes what is to be called when the run is over, the last one first.
	Cleanup func(func())
}

// ownTools are the program's tools for this run, behind those of the scenario.
func (r *runner) ownTools() ([]*tool.Tool, error) {
	tools, err := ownTools(r.sc)
	if dir := r.sc.World.Memory; dir != "" {
		if !path.IsAbs(dir) {
			dir = path.Join(r.dir(), dir)
		}
		tools = append(tools, file.Memory(r.disk(), dir))
	}
	if err != nil || r.o.Own == nil || r.o.Own.Tools == nil {
		return tools, err
	}
	more, err := r.o.Own.Tools(World{FS: r.disk(), Clock: r.clock(), Dir: r.dir(), HTTP: r.fetch, Cleanup: func(f func()) { r.ends = append(r.ends, f) }})
	return slices.Concat(tools, more), err
}

// decorate makes of a tool what runs in its place.
func (r *runner) decorate(t *tool.Tool) *tool.Tool {
	if r.o.Own != nil && r.o.Own.Decorate != nil {
		t = r.o.Own.Decorate(t)
	}
	return r.simulate(t)
}

// ownHooks are the program's hooks.
func (r *runner) ownHooks() []hook.Hook {
	if r.o.Own == nil {
		return nil
	}
	return slices.Clone(r.o.Own.Hooks)
}

// Checked are the failures that the program's own checks find, by the checks' names.
func (o *Own) Checked(out check.Result) (failures []check.Failure) {
	if o == nil {
		return nil
	}
	for _, name := range sorted(o.Checks) {
		if err := o.Checks[name](out); err != nil {
			failures = append(failures, check.Failure{Expectation: "checks." + name, Expected: "it holds", Found: err.Error(), At: out.File})
		}
	}
	return failures
}
