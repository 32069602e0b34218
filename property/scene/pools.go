package scene

import (
	"bytes"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// deferrable says whether a tool is sent by name only where tools are deferred (E1).
func (s *Scene) deferrable(name string) bool {
	if t := s.tool(name); t != nil {
		return t.Deferrable && !t.Always
	}
	return served[name] != nil && !served[name].always
}

// deferring is what the setting says of whether tools are deferred (E2); sure is false
// where it depends on their size.
func (s *Scene) deferring() (on, sure bool) {
	switch s.Search {
	case "", "true", "auto:0":
		return true, true
	case "false", "auto:100":
		return false, true
	}
	return false, false
}

// known are the tools that are discovered before a request, and those that may be: a
// search by words finds what it finds.
func (v *view) known(turn int) (names map[string]bool, more bool) {
	names = map[string]bool{}
	for _, n := range v.s.Known {
		names[n] = true
	}
	for _, p := range v.calls {
		if p.call.Tool != "ToolSearch" || p.parent != nil {
			continue
		}
		if more = more || p.again; p.turn >= turn || p.status != "ok" {
			continue
		}
		list, exact := strings.CutPrefix(p.call.Query, "select:")
		more = more || !exact || p.want.unsure
		for name := range strings.SplitSeq(list, ",") {
			in, sure := v.has(name, p.turn, p.asked)
			names[name] = names[name] || exact && in && sure && !p.want.unsure
			more = more || !sure
		}
	}
	return names, more
}

// all are the names of a scene's tools that it may call.
func (s *Scene) all() []string {
	names := slices.Concat(builtins, slices.Sorted(maps.Keys(served)))
	for _, t := range s.Tools {
		names = append(names, t.Name)
	}
	return names
}

func loaded(v *view) error {
	requests := v.main()
	for _, r := range requests {
		on := r.deferring()
		if want, sure := v.s.deferring(); sure && want != on || on != requests[0].deferring() {
			return fmt.Errorf("request %d: tools are deferred: %t; before it was, or the setting has it, otherwise", r.turn, on)
		}
		known, more := v.known(r.turn)
		for _, name := range v.s.all() {
			if name == "ToolSearch" || more && v.s.deferrable(name) && !known[name] {
				continue
			}
			in, sure := v.has(name, r.turn, r)
			want := in && (!on || !v.s.deferrable(name) || known[name])
			if sure && r.loaded[name] != want {
				return fmt.Errorf("request %d: %s is there whole: %t; it is to be: %t", r.turn, name, r.loaded[name], want)
			}
		}
	}
	return nil
}

var shownName = regexp.MustCompile(`"name":"([^"]+)"`)

func searches(v *view) error {
	for _, p := range v.calls {
		if p.call.Tool != "ToolSearch" || p.status != "ok" || p.want.output != "" || p.want.unsure {
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
			missed := strings.Contains(p.text, "no tool named "+name)
			if in, sure := v.has(name, p.turn, p.asked); exact && p.parent == nil && missed && in && sure && slices.Contains(v.s.all(), name) {
				return fmt.Errorf("call %s did not find %s, which is there", p.call.ID, name)
			}
		}
	}
	return nil
}

// after is the request of the same conversation after a call's.
func (v *view) after(p *played) *request {
	i := slices.Index(v.requests, p.asked)
	for _, r := range v.requests[i+1:] {
		if r.agent == p.agent {
			return r
		}
	}
	return nil
}

// stays: no server took the tool away. A sub-agent's requests are made while the main
// conversation is at some turn of its own.
func (v *view) stays(name string, next *request) bool {
	if serverOf(name) == "" {
		return true
	}
	in, sure := v.has(name, next.turn, next)
	return next.agent == "" && in && sure
}

func prefixes(v *view) error {
	requests := v.main()
	for _, r := range requests {
		first := requests[0]
		if r.prefix != first.prefix || !bytes.Equal(bytes.Join(asBytes(r.defs[:r.prefix]), nil), bytes.Join(asBytes(first.defs[:first.prefix]), nil)) {
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

func isServed(name string) bool { return strings.HasPrefix(name, "mcp__") }

func asBytes[T ~[]byte](all []T) [][]byte {
	out := make([][]byte, len(all))
	for i, b := range all {
		out[i] = b
	}
	return out
}
