package check

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"toolbench/sim/scenario"
	"toolbench/toolsys/settings"
	"toolbench/toolsys/trace"
)

// lastState is the main conversation's state as the trace has it last.
func (j *checker) lastState() stateView {
	var v stateView
	for _, e := range slices.Backward(j.rec.Events) {
		if e.Kind == trace.StateNow && e.Agent == "" {
			if json.Unmarshal([]byte(e.Get("state")), &v) != nil {
				return stateView{}
			}
			return v
		}
	}
	return v
}

// stateView is the state as a trace carries it.
type stateView struct {
	Dir        string            `json:"cwd"`
	Mode       string            `json:"mode"`
	Env        map[string]string `json:"env"`
	Discovered []string          `json:"discovered"`
	Todos      []struct {
		Content string `json:"content"`
		Status  string `json:"status"`
	} `json:"todos"`
	Plan    string   `json:"plan"`
	Files   []string `json:"files"`
	Denials string   `json:"denials"`
}

func (j *checker) state() {
	want, found := j.e.State, j.lastState()
	if want.CWD != nil {
		j.equal("state.cwd", *want.CWD, found.Dir)
	}
	for _, f := range []struct{ key, want, found string }{
		{"state.mode", want.Mode, found.Mode}, {"state.plan", want.Plan, found.Plan}, {"state.denials", want.Denials, found.Denials},
	} {
		if f.want != "" {
			j.equal(f.key, f.want, f.found)
		}
	}
	for _, k := range sorted(want.Env) {
		j.equal("state.env."+k, want.Env[k], found.Env[k])
	}
	j.list("state.discovered", want.Discovered, found.Discovered)
	j.list("state.read", want.Read, found.Files)
	if want.Todos != nil {
		var todos []string
		for _, t := range found.Todos {
			todos = append(todos, t.Status+": "+t.Content)
		}
		j.list("state.todos", want.Todos, todos)
	}
}

// list compares lists in order; nil expects nothing.
func (j *checker) list(key string, want, found []string) {
	if want != nil && !slices.Equal(want, found) {
		j.offer(key, strings.Join(want, " | "), strings.Join(found, " | "), scenario.FlowText(found))
	}
}

func (j *checker) files() {
	left := map[string]trace.Event{}
	for _, e := range j.rec.Events {
		if e.Kind == trace.File && e.Get("path") != "" {
			left[e.Get("path")] = e
		}
	}
	for _, p := range sorted(j.e.Files) {
		want, key := j.e.Files[p], "files."+p
		found, ok := left[p]
		if !ok {
			j.fail(key, "the file", "nothing is known of it")
			continue
		}
		if want.Is != "" {
			j.equal(key, want.Is, found.Get("is"))
		}
		j.text(key, found.Get("content"), want.Contains, want.Lacks, want.Equals)
	}
}

// poolView is one request's tools as a trace carries them.
type poolView struct {
	tools, deferred []string
	builtins        int
	prefixHash      string
	hash            string
	deferring       string
	omitted         map[string]string
}

func (j *checker) pools() []poolView {
	var all []poolView
	for _, e := range j.rec.Events {
		if e.Kind != trace.PoolBuilt || e.Agent != "" {
			continue
		}
		v := poolView{builtins: int(e.Int("builtins")), prefixHash: e.Get("prefix_hash"), hash: e.Get("hash"), deferring: e.Get("deferring")}
		for text, into := range map[string]any{e.Get("tools"): &v.tools, e.Get("deferred"): &v.deferred} {
			if json.Unmarshal([]byte(text), into) != nil {
				continue
			}
		}
		if json.Unmarshal([]byte(e.Get("omitted")), &v.omitted) != nil {
			v.omitted = nil
		}
		all = append(all, v)
	}
	return all
}

func (j *checker) pool() {
	want, pools := j.e.Pool, j.pools()
	if len(pools) == 0 {
		return
	}
	first, last := pools[0], pools[len(pools)-1]
	j.list("pool.tools", want.Tools, first.tools)
	j.list("pool.last", want.Last, last.tools)
	j.list("pool.deferred", want.Deferred, first.deferred)
	for _, name := range want.Contains {
		if !slices.ContainsFunc(pools, func(v poolView) bool { return v.has(name) }) {
			j.fail("pool.contains", name, "in no request")
		}
	}
	for _, name := range want.Lacks {
		if slices.ContainsFunc(pools, func(v poolView) bool { return v.has(name) }) {
			j.fail("pool.lacks", "no "+name, "it was there")
		}
	}
	j.stability(want, pools)
	if want.Sorted != nil {
		j.equal("pool.sorted", fmt.Sprint(*want.Sorted), fmt.Sprint(sortedPools(pools)))
	}
	if want.Deferring != nil {
		j.equal("pool.deferring", fmt.Sprint(*want.Deferring), last.deferring)
	}
	for _, name := range sorted(want.Omitted) {
		if !strings.Contains(last.omitted[name], want.Omitted[name]) || last.omitted[name] == "" {
			j.fail("pool.omitted."+name, want.Omitted[name], last.omitted[name])
		}
	}
	if want.Size.Set() && !want.Size.Holds(float64(len(last.tools))) {
		j.fail("pool.size", want.Size.String(), fmt.Sprint(len(last.tools)))
	}
}

func (v poolView) has(name string) bool {
	return slices.Contains(v.tools, name) || slices.Contains(v.deferred, name)
}

func (j *checker) stability(want scenario.PoolExpect, pools []poolView) {
	same := func(of func(poolView) string) bool {
		seen := map[string]bool{}
		for _, v := range pools {
			seen[of(v)] = true
		}
		return len(seen) == 1
	}
	if want.PrefixStable != nil {
		j.equal("pool.prefix_stable", fmt.Sprint(*want.PrefixStable), fmt.Sprint(same(func(v poolView) string { return v.prefixHash })))
	}
	if want.Stable != nil {
		j.equal("pool.stable", fmt.Sprint(*want.Stable), fmt.Sprint(same(func(v poolView) string { return v.hash })))
	}
}

// sortedPools: what is always whole by name, then the served tools by name, in
// bytes. Discovered built-ins stand between, by name as well (D1, D4).
func sortedPools(pools []poolView) bool {
	for _, v := range pools {
		cut := slices.IndexFunc(v.tools, func(n string) bool { return strings.HasPrefix(n, "mcp__") })
		if cut < 0 {
			cut = len(v.tools)
		}
		served := v.tools[cut:]
		if !slices.IsSorted(served) || !slices.IsSorted(v.deferredBuiltins()) {
			return false
		}
		if slices.ContainsFunc(served, func(n string) bool { return !strings.HasPrefix(n, "mcp__") }) {
			return false
		}
		if len(v.deferred) == 0 && !slices.IsSorted(v.tools[:cut]) {
			return false
		}
	}
	return true
}

func (v poolView) deferredBuiltins() []string {
	return slices.DeleteFunc(slices.Clone(v.deferred), func(n string) bool { return strings.HasPrefix(n, "mcp__") })
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
		if want.In != nil {
			j.equal(key+".in", fmt.Sprint(*want.In), fmt.Sprint(f.In))
		}
		if want.Out != nil {
			j.equal(key+".out", fmt.Sprint(*want.Out), fmt.Sprint(f.Out))
		}
		if want.Reasons == nil {
			continue
		}
		names := slices.Sorted(maps.Keys(f.Reasons))
		j.equal(key+".reasons", strings.Join(sorted(want.Reasons), " "), strings.Join(names, " "))
		for _, name := range sorted(want.Reasons) {
			if !strings.Contains(f.Reasons[name], want.Reasons[name]) {
				j.fail(key+".reasons."+name, want.Reasons[name], f.Reasons[name])
			}
		}
	}
}
