package oracle

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"toolbench/property/generate"
)

// discovered are the tools that are discovered before a request. More reports whether there
// may be others, since what a search by keywords finds is not predicted.
func (v *SystemView) discovered(turn int) (names map[string]bool, more bool) {
	names = map[string]bool{}
	for _, n := range v.s.Discovered {
		names[n] = true
	}
	for _, p := range v.calls {
		if p.call.Tool != "ToolSearch" || p.parent != nil {
			continue
		}
		if more = more || p.repeated; p.turn >= turn || p.status != "ok" {
			continue
		}
		list, exact := strings.CutPrefix(p.call.Query, "select:")
		more = more || !exact || p.want.Unknown
		for name := range strings.SplitSeq(list, ",") {
			in, sure := v.offers(name, p.turn, p.asked)
			names[name] = names[name] || exact && in && sure && !p.want.Unknown
			more = more || !sure
		}
	}
	return names, more
}

// gatedByMore are the built-ins whose gates look at more than settings.
var gatedByMore = []string{"ListMcpResources", "ReadMcpResource", "SyntheticOutput", "TodoWrite"}

// all are the names of the tools that a case may call.
func all(s *generate.SystemCase) []string {
	names := slices.Concat(generate.Builtins, slices.Sorted(maps.Keys(generate.Served)))
	for _, name := range s.Kit {
		if !slices.Contains(gatedByMore, name) {
			names = append(names, name)
		}
	}
	return append(names, each(s.Tools, func(t generate.Tool) string { return t.Name })...)
}

func loaded(v *SystemView) error {
	requests := v.main()
	for _, r := range requests {
		on := r.deferring()
		if want, sure := Deferring(v.s); sure && want != on || on != requests[0].deferring() {
			return fmt.Errorf("request %d: tools are deferred: %t; before it was, or the setting has it, otherwise", r.turn, on)
		}
		discovered, more := v.discovered(r.turn)
		for _, name := range all(v.s) {
			if name == "ToolSearch" || more && v.s.Deferrable(name) && !discovered[name] {
				continue
			}
			in, sure := v.offers(name, r.turn, r)
			want := in && (!on || !v.s.Deferrable(name) || discovered[name])
			if sure && r.loaded[name] != want {
				return fmt.Errorf("request %d: %s is defined: %t; it is to be: %t", r.turn, name, r.loaded[name], want)
			}
		}
	}
	return nil
}

var shownName = regexp.MustCompile(`"name":"([^"]+)"`)

func searches(v *SystemView) error {
	for _, p := range v.calls {
		if p.call.Tool != "ToolSearch" || p.status != "ok" || p.want.Output != "" || p.want.Unknown {
			continue
		}
		next := v.after(p)
		for _, m := range shownName.FindAllStringSubmatch(p.text, -1) {
			if next != nil && p.asked.deferring() && !next.loaded[m[1]] && v.stays(m[1], next) {
				return fmt.Errorf("call %s was shown %s; the next request does not have it", p.call.ID, m[1])
			}
		}
		list, exact := strings.CutPrefix(p.call.Query, "select:")
		for name := range strings.SplitSeq(list, ",") {
			missed := regexp.MustCompile(`no tool named ` + regexp.QuoteMeta(name) + `\b`).MatchString(p.text)
			if in, sure := v.offers(name, p.turn, p.asked); exact && p.parent == nil && missed && in && sure && slices.Contains(all(v.s), name) {
				return fmt.Errorf("call %s did not find %s, which is there", p.call.ID, name)
			}
		}
	}
	return nil
}

// after is the request that follows the one of a call in the same conversation, or nil.
func (v *SystemView) after(p *systemCall) *request {
	i := slices.Index(v.requests, p.asked)
	for _, r := range v.requests[i+1:] {
		if r.agent == p.agent {
			return r
		}
	}
	return nil
}

// stays reports whether it is certain that no server took the tool away. For a sub-agent it is not: at which
// turn of the main conversation its requests are made is not predicted.
func (v *SystemView) stays(name string, next *request) bool {
	if generate.ServerOf(name) == "" {
		return !slices.Contains(gatedByMore, name)
	}
	in, sure := v.offers(name, next.turn, next)
	return next.agent == "" && in && sure
}

func prefixes(v *SystemView) error {
	requests := v.main()
	for _, r := range requests {
		first := requests[0]
		if !slices.EqualFunc(r.beginning(), first.beginning(), func(a, b json.RawMessage) bool { return bytes.Equal(a, b) }) {
			return fmt.Errorf("request %d: the definitions up to the cache breakpoint are not those of the first: %v, then %v", r.turn, first.names[:first.prefix], r.names[:r.prefix])
		}
		own, others := r.names[r.prefix:], []string(nil)
		if i := slices.IndexFunc(own, isServed); i >= 0 {
			own, others = own[:i], own[i:]
		}
		for _, block := range [][]string{r.names[:r.prefix], own, others} {
			if !slices.IsSorted(block) {
				return fmt.Errorf("request %d: %v are not in order", r.turn, block)
			}
		}
		if slices.ContainsFunc(r.names[:r.prefix], isServed) || slices.ContainsFunc(others, func(n string) bool { return !isServed(n) }) {
			return fmt.Errorf("request %d: served tools stand among the built-ins: %v", r.turn, r.names)
		}
	}
	return nil
}

// beginning are the definitions up to the cache breakpoint, without the built-ins that come and go
// with the servers that have resources (C3).
func (r *request) beginning() (all []json.RawMessage) {
	for i, def := range r.defs[:r.prefix] {
		if name := r.names[i]; name != "ListMcpResources" && name != "ReadMcpResource" {
			all = append(all, def)
		}
	}
	return all
}

func isServed(name string) bool { return strings.HasPrefix(name, "mcp__") }
