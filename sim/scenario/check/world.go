package check

import (
	"fmt"
	"maps"
	"path"
	"reflect"
	"slices"
	"strings"

	"toolbench/sim/scenario"
	"toolbench/toolsys/settings"
	"toolbench/toolsys/tool"
	"toolbench/toolsys/trace"
)

// lastState is the main conversation's state as the trace has it last.
func (j *checker) lastState() trace.StateView {
	for _, e := range slices.Backward(j.rec.Events) {
		if s, ok := e.Data.(trace.State); ok && e.Agent == "" {
			return s.State
		}
	}
	return trace.StateView{}
}

func (j *checker) state() {
	want, found := j.e.State, j.lastState()
	if want.CWD != nil {
		j.equal("state.cwd", *want.CWD, found.Dir)
	}
	for _, f := range []struct{ key, want, found string }{
		{"state.mode", want.Mode, found.Mode}, {"state.plan", want.Plan, found.Plan}, {"state.denials", want.Denials, found.Denials},
		{"state.output", want.Output, found.Output},
	} {
		if f.want != "" {
			j.equal(f.key, f.want, f.found)
		}
	}
	for _, k := range sorted(want.Env) {
		j.equal("state.env."+k, want.Env[k], found.Env[k])
	}
	for _, k := range sorted(want.Options) {
		j.equal("state.options."+k, want.Options[k], found.Options[k])
	}
	j.list("state.discovered", want.Discovered, found.Discovered)
	j.list("state.read", want.Read, found.Files)
	if want.Todos != nil {
		j.list("state.todos", want.Todos, tool.Each(found.Todos, func(t trace.Todo) string { return t.Status + ": " + t.Content }))
	}
}

// list compares lists in order; nil expects nothing.
func (j *checker) list(key string, want, found []string) {
	if want != nil && !slices.Equal(want, found) {
		j.offer(key, strings.Join(want, " | "), strings.Join(found, " | "), scenario.FlowText(found))
	}
}

func (j *checker) files() {
	left := map[string]trace.File{}
	for _, e := range j.rec.Events {
		if f, ok := e.Data.(trace.File); ok {
			left[f.Path] = f
		}
	}
	for _, p := range sorted(j.e.Files) {
		want, key := j.e.Files[p], "files."+p
		found, ok := left[path.Clean("/"+p)]
		if !ok {
			j.fail(key, "the file", "nothing is known of it")
			continue
		}
		if want.Is != "" {
			j.equal(key, want.Is, found.Is)
		}
		j.text(key, found.Content, want.Contains, want.Lacks, want.Equals)
	}
}

// pools are the tools of each request of the main conversation.
func (j *checker) pools() []trace.Pool {
	var all []trace.Pool
	for _, e := range j.rec.Events {
		if p, ok := e.Data.(trace.Pool); ok && e.Agent == "" {
			all = append(all, p)
		}
	}
	return all
}

func (j *checker) pool() {
	want, pools := j.e.Pool, j.pools()
	if len(pools) == 0 {
		if !reflect.ValueOf(want).IsZero() {
			j.fail("pool", "a request with tools", "no request was sent")
		}
		return
	}
	first, last := pools[0], pools[len(pools)-1]
	j.list("pool.tools", want.Tools, first.Tools)
	j.list("pool.last", want.Last, last.Tools)
	j.list("pool.deferred", want.Deferred, first.Deferred)
	sent := func(name string) bool {
		return slices.ContainsFunc(pools, func(p trace.Pool) bool { return slices.Contains(p.Tools, name) || slices.Contains(p.Deferred, name) })
	}
	for _, name := range want.Contains {
		if !sent(name) {
			j.fail("pool.contains", name, "in no request")
		}
	}
	for _, name := range want.Lacks {
		if sent(name) {
			j.fail("pool.lacks", "no "+name, "it was there")
		}
	}
	j.stability(want, pools)
	exact(j, "pool.sorted", want.Sorted, sortedPools(pools))
	exact(j, "pool.deferring", want.Deferring, last.Deferring)
	for _, name := range sorted(want.Omitted) {
		if !strings.Contains(last.Omitted[name], want.Omitted[name]) || last.Omitted[name] == "" {
			j.fail("pool.omitted."+name, want.Omitted[name], last.Omitted[name])
		}
	}
	j.bound("pool.size", want.Size, float64(len(last.Tools)), "%.0f")
}

func (j *checker) stability(want scenario.PoolExpect, pools []trace.Pool) {
	same := func(of func(trace.Pool) string) bool {
		return !slices.ContainsFunc(pools, func(v trace.Pool) bool { return of(v) != of(pools[0]) })
	}
	exact(j, "pool.prefix_stable", want.PrefixStable, same(func(v trace.Pool) string { return v.PrefixHash }))
	exact(j, "pool.stable", want.Stable, same(func(v trace.Pool) string { return v.Hash }))
}

// sortedPools reports whether each pool has what is always whole by name, then the served
// tools by name, in bytes. Discovered built-ins stand between, by name as well (D1, D4).
func sortedPools(pools []trace.Pool) bool {
	for _, v := range pools {
		cut := slices.IndexFunc(v.Tools, isServed)
		if cut < 0 {
			cut = len(v.Tools)
		}
		served := v.Tools[cut:]
		builtins := slices.DeleteFunc(slices.Clone(v.Deferred), isServed)
		mixed := slices.ContainsFunc(served, func(n string) bool { return !isServed(n) })
		if mixed || !slices.IsSorted(served) || !slices.IsSorted(builtins) || len(v.Deferred) == 0 && !slices.IsSorted(v.Tools[:cut]) {
			return false
		}
	}
	return true
}

func isServed(name string) bool { return strings.HasPrefix(name, "mcp__") }

// servers checks what reached MCP servers.
func (j *checker) servers() {
	for _, name := range sorted(j.e.Servers) {
		want, key := j.e.Servers[name], "servers."+name
		found, ok := j.rec.Servers[name]
		if !ok {
			j.fail(key, "a server of that name", "there are "+strings.Join(sorted(j.rec.Servers), ", "))
			continue
		}
		j.list(key+".called", want.Called, j.asMade(found.Called))
		j.list(key+".cancelled", want.Cancelled, j.asMade(found.Cancelled))
		exact(j, key+".opened", want.Opened, found.Opened)
		exact(j, key+".closed", want.Closed, found.Closed)
	}
}

// asMade sorts calls as the model made them: in one instant they come in any order.
func (j *checker) asMade(ids []string) []string {
	at := func(id string) int { return slices.IndexFunc(j.out.Calls, func(c Call) bool { return c.ID == id }) }
	return slices.SortedFunc(slices.Values(ids), func(a, b string) int { return at(a) - at(b) })
}

func (j *checker) gates() {
	for i, want := range j.e.Gates {
		key := fmt.Sprintf("gates.%d", i)
		f, ok := j.rec.Gates[want.Profile]
		if !ok {
			_, err := settings.FindProfile(want.Profile)
			j.fail(key, want.Profile, fmt.Sprint(err))
			continue
		}
		exact(j, key+".in", want.In, f.In)
		exact(j, key+".out", want.Out, f.Out)
		if want.Reasons == nil {
			continue
		}
		names := slices.Sorted(maps.Keys(f.Reasons))
		if wanted := sorted(want.Reasons); !slices.Equal(wanted, names) {
			j.fail(key+".reasons", strings.Join(wanted, " "), strings.Join(names, " "))
		}
		for _, name := range sorted(want.Reasons) {
			if !strings.Contains(f.Reasons[name], want.Reasons[name]) {
				j.fail(key+".reasons."+name, want.Reasons[name], f.Reasons[name])
			}
		}
	}
}
