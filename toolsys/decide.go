package toolsys

import (
	"encoding/json"
	"strings"

	"toolbench/toolsys/permission"
	"toolbench/toolsys/pipeline"
	"toolbench/toolsys/search"
	"toolbench/toolsys/tool"
)

// Decide resolves a call by its tool's name without running it (SPEC F7): no hook is
// run, nobody is asked. The context says where the call would run, by which rules and
// in which mode. Of a tool that is not in the catalogue only the name is known. An
// input that does not fit its tool is an error.
func (s *System) Decide(name string, input json.RawMessage, c *tool.Context) (permission.Decision, permission.Query, error) {
	if t := s.find(name); t != nil {
		return pipeline.Decide(t, input, c, s.cfg.Resolve)
	}
	q := permission.Query{Subject: permission.Subject{Tool: name}, Dir: c.State.Dir, Home: c.Home, Roots: c.Roots}
	if rest, ok := strings.CutPrefix(name, "mcp__"); ok {
		server, bare, _ := strings.Cut(rest, "__")
		q.MCP = &permission.Origin{Server: server, Tool: bare}
	}
	return permission.Resolve(permission.Inputs{Rules: c.Rules, Query: q, Mode: c.Mode, CanAsk: true}), q, nil
}

// find looks a tool up by name or alias.
func (s *System) find(name string) *tool.Tool {
	for _, e := range s.Catalogue.Entries() {
		if e.Tool != nil && e.Tool.Matches(name) {
			return e.Tool
		}
	}
	return nil
}

// Safe reports whether a call may run beside others; one that cannot be read may not.
func (s *System) Safe(name string, input json.RawMessage) bool {
	t := s.find(name)
	if t == nil {
		return false
	}
	in, problems := t.Parse(input)
	return len(problems) == 0 && t.Behaviour.Safe(in)
}

// RuleProblems lists the rules that can never match a tool of the system, and those
// that others leave nothing to decide.
func (s *System) RuleProblems(rules permission.Rules) []permission.Problem {
	var known []permission.Known
	for _, e := range s.Catalogue.Entries() {
		k := permission.Known{Subject: permission.Subject{Tool: e.Name}, Content: true}
		if e.Tool != nil {
			k.Aliases, k.Content = e.Tool.Aliases, e.Tool.TakesContent
		}
		known = append(known, k)
	}
	return rules.Problems(known, func(name string, names []string) []string { return search.Nearest(name, names, nil, 1) })
}
