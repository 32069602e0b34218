package run

import (
	"slices"
	"strconv"
	"strings"

	"toolbench/sim/cassette"
	"toolbench/sim/scenario"
	"toolbench/toolsys/builtin"
	"toolbench/toolsys/hook"
	"toolbench/toolsys/pipeline"
	"toolbench/toolsys/schedule"
	"toolbench/toolsys/settings"
	"toolbench/toolsys/tool"
	"toolbench/toolsys/trace"
)

// checkNames refuses a scenario that names a call or a tool which does not exist. What
// the model calls is known from the scripted turns and from the recorded answers; a
// session that is only being recorded may call anything.
func (r *runner) checkNames() error {
	if r.o.nested || r.live != nil {
		return nil
	}
	tools := r.toolNames()
	calls, called := map[string]bool{}, map[string]bool{}
	for _, t := range r.sc.Stream.Turns {
		for _, c := range t.Made() {
			calls[c.ID], called[c.Tool] = true, true
		}
	}
	asked := map[string]bool{}
	ask := func(name string) bool { asked[name] = false; return true }
	_ = r.sc.CheckNames(ask, ask, nil) // no name is wrong yet
	if r.answered != nil {
		recorded(r.answered.Interactions, asked)
	}
	return r.sc.CheckNames(
		func(id string) bool { return calls[id] || asked[id] },
		func(name string) bool { return slices.Contains(tools, name) || called[name] || asked[name] }, tools)
}

// recorded finds which names stand in quotes in what the model answered, in one reading for all that look there as
// they are: what stands between any quote and the next may be one.
func recorded(all []cassette.Interaction, names map[string]bool) {
	for name := range names {
		if quoted := strconv.Quote(name); len(quoted) > len(name)+len(`""`) {
			names[name] = slices.ContainsFunc(all, func(i cassette.Interaction) bool { return strings.Contains(i.Response.Body, quoted) })
		}
	}
	for _, i := range all {
		_, rest, quote := strings.Cut(i.Response.Body, `"`)
		for quote {
			var name string
			name, rest, quote = strings.Cut(rest, `"`)
			if _, asked := names[name]; asked && quote {
				names[name] = true
			}
		}
	}
}

// Words are the system's words that a scenario may use.
func Words() scenario.Words {
	w := scenario.Words{
		Kinds: texts(trace.Names()), Statuses: texts(pipeline.Statuses()), Waits: append(schedule.Reasons(), "none"), Events: texts(hook.Events()), Builtins: builtin.Names(),
	}
	w.Profiles = append(w.Profiles, tool.Each(settings.Profiles(), func(p settings.Profile) string { return p.Name })...)
	return w
}

func texts[T ~string](list []T) []string {
	return tool.Each(list, func(v T) string { return string(v) })
}

// toolNames are the names of all tools that may be there in some turn of the run: the
// built-in ones, those of the scenario and their aliases, and those of servers, also of
// lists that come later.
func (r *runner) toolNames() []string {
	names := builtin.Names()
	for _, e := range r.sys.Catalogue.Entries() {
		names = append(names, e.Name)
		if e.Tool != nil {
			names = append(names, e.Tool.Aliases...)
		}
	}
	for _, e := range r.servers.all {
		names = append(names, e.named...)
	}
	return names
}
