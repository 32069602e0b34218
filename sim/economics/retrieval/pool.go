package retrieval

import (
	"encoding/json"
	"fmt"

	"toolbench/sim/world/mcpserve"
	"toolbench/toolsys/mcptool"
	"toolbench/toolsys/search"
)

// Pool is a catalogue as ToolSearch sees it, all of it deferred.
type Pool struct {
	// Entries are the tools, in the order of the catalogue.
	Entries []search.Entry
	// labelled leads from a label to the names of the tools it means.
	labelled map[string][]string
}

// NewPool makes tools of a catalogue, named as a client would name them (SPEC N1).
func NewPool(c mcpserve.Catalogue) Pool {
	p := Pool{labelled: map[string][]string{}}
	taken := map[string]bool{}
	for _, s := range c {
		for _, t := range s.Tools {
			name := free(taken, mcptool.Name(s.Name, t.Name, false))
			schema, _ := t.InputSchema.(json.RawMessage) // a tool without one has no parameters
			p.Entries = append(p.Entries, search.Entry{
				Name: name, MCP: true, Server: s.Name, Description: t.Description, Params: search.Parameters(schema),
			})
			for _, label := range []string{s.Name + "::" + t.Name, t.Name, name} {
				p.labelled[label] = append(p.labelled[label], name)
			}
		}
	}
	return p
}

// free is a name that no tool has yet: names that differ in other characters than a
// client keeps become alike, and each tool is to be found.
func free(taken map[string]bool, name string) string {
	own := name
	for n := 2; taken[own]; n++ {
		own = fmt.Sprintf("%s_%d", name, n)
	}
	taken[own] = true
	return own
}

// Resolve gives the names of the tools that labels mean, and the labels that no
// tool has.
func (p Pool) Resolve(labels []string) (names map[string]bool, unknown []string) {
	names = map[string]bool{}
	for _, label := range labels {
		if len(p.labelled[label]) == 0 {
			unknown = append(unknown, label)
		}
		for _, name := range p.labelled[label] {
			names[name] = true
		}
	}
	return names, unknown
}
