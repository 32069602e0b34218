package permission

import (
	"cmp"
	"fmt"
	"strings"
)

// Known is a tool that rules may be about.
type Known struct {
	Subject
	// Content reports whether a rule with a content can be about the tool's calls.
	Content bool
}

// Problem is a rule that has no effect as it is written.
type Problem struct {
	Hit Hit
	// Why is the reason; Nearest is what may have been meant, empty where nothing is near.
	Why, Nearest string
	// Unknown reports whether the rule names no known tool, Shadowed whether it could
	// match and another rule comes first.
	Unknown, Shadowed bool
}

// String is the problem in one line.
func (p Problem) String() string {
	line := fmt.Sprintf("%s rule %s of %s %s", p.Hit.Behaviour, p.Hit.Rule, p.Hit.Source, p.Why)
	if p.Nearest != "" {
		line += "; did you mean " + p.Nearest + "?"
	}
	return line
}

// Problems lists the rules that can never match a call of the known tools, and those
// that others leave nothing to decide. Rules about MCP servers are not held against
// the known tools, since servers come and go. nearest proposes names for one that no
// tool has.
func (rs Rules) Problems(known []Known, nearest func(name string, names []string) []string) []Problem {
	var all []Problem
	first := rs.firsts()
	for i, h := range rs.hits {
		if p, ok := h.idle(known, nearest); ok {
			all = append(all, p)
		} else if by, ok := rs.shadowedBy(i, first); ok {
			all = append(all, Problem{Hit: h, Why: fmt.Sprintf("never decides: %s rule %s of %s comes first", by.Behaviour, by.Rule, by.Source), Shadowed: true})
		}
	}
	return all
}

// idle reports why a rule can never match.
func (h Hit) idle(known []Known, nearest func(string, []string) []string) (Problem, bool) {
	r := h.Rule
	if strings.HasPrefix(r.tool, mcpPrefix) {
		if r.Blanket() {
			return Problem{}, false
		}
		return Problem{Hit: h, Why: "never matches: rules about MCP tools take no content", Nearest: r.tool}, true
	}
	found := false
	var names []string
	for _, k := range known {
		names = append(names, k.Tool)
		if !r.names(k.Subject) {
			continue
		}
		found = true
		if r.Blanket() {
			return Problem{}, false
		}
		if why, meant := missed(k.Tool, r.content); why != "" {
			p := Problem{Hit: h, Why: "never matches: " + why}
			if meant != "" {
				p.Nearest = Rule{tool: r.tool, content: meant}.String()
			}
			return p, true
		}
		if k.Content {
			return Problem{}, false
		}
	}
	if !found {
		p := Problem{Hit: h, Why: "never matches: there is no tool " + r.tool, Unknown: true}
		for _, name := range nearest(r.tool, names) {
			p.Nearest = Rule{tool: name, content: r.content}.String()
		}
		return p, true
	}
	return Problem{Hit: h, Why: "never matches: calls of " + r.tool + " name nothing that a content could match", Nearest: r.tool}, true
}

// firsts has, one further, the first rule of each behaviour about a tool as a whole, or about one content of its calls.
func (rs Rules) firsts() map[Rule][Deny + 1]int {
	all := map[Rule][Deny + 1]int{}
	for i, h := range rs.hits {
		if h.Rule.Blanket() {
			h.Rule.content = ""
		}
		of := all[h.Rule]
		of[h.Behaviour] = cmp.Or(of[h.Behaviour], i+1)
		all[h.Rule] = of
	}
	return all
}

// shadowedBy finds a rule that decides whatever this one would: one that is asked
// before it and covers all of its content.
func (rs Rules) shadowedBy(i int, first map[Rule][Deny + 1]int) (Hit, bool) {
	h, by := rs.hits[i], len(rs.hits)
	for _, about := range []Rule{{tool: h.Rule.tool}, h.Rule} {
		for b := h.Behaviour; b <= Deny; b++ {
			if at := first[about][b] - 1; at >= 0 && (b > h.Behaviour || at < i) {
				by = min(by, at)
			}
		}
	}
	if by == len(rs.hits) {
		return Hit{}, false
	}
	return rs.hits[by], true
}
