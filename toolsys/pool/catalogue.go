package pool

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/afero"

	"toolbench/toolsys/settings"
	"toolbench/toolsys/tool"
)

// Entry is one line of the catalogue.
type Entry struct {
	Name string
	// Tool is nil while the tool is only planned: it keeps its place and its gate
	// in the table, and never enters a pool.
	Tool *tool.Tool
	Gate Gate
	// Repl tools are reached through the REPL only while that mode is on (C3).
	Repl bool
	// Simple tools are the ones of simple mode (C3). Own marks a tool that the program
	// brought itself: simple mode, which narrows the built-in ones, leaves it.
	Simple, Own bool
}

// Host is what a system gives to the tools that join it.
type Host struct {
	// FS is where tools read and write; Resolve gives what a path leads to when links
	// are followed (L6), nil where the filesystem has none.
	FS      afero.Fs
	Resolve func(path string) string
	// ResultsDir is where results too large for the conversation go.
	ResultsDir string
	// Servers is the way to connected MCP servers.
	Servers tool.Servers
}

// Catalogue is the single list of built-ins (C1), sorted by name.
type Catalogue struct{ entries []Entry }

// NewCatalogue checks that no two tools claim the same name or alias.
func NewCatalogue(entries []Entry) (*Catalogue, error) {
	sorted := slices.Clone(entries)
	slices.SortFunc(sorted, func(a, b Entry) int { return strings.Compare(a.Name, b.Name) })
	owner := map[string]string{}
	claim := func(name, by string) error {
		if other, taken := owner[name]; taken {
			return fmt.Errorf("catalogue: %q is claimed by %s and %s", name, other, by)
		}
		owner[name] = by
		return nil
	}
	for _, e := range sorted {
		if err := claim(e.Name, e.Name); err != nil {
			return nil, err
		}
		if e.Tool == nil {
			continue
		}
		if e.Tool.Name != e.Name {
			return nil, fmt.Errorf("catalogue: entry %q holds the tool %q", e.Name, e.Tool.Name)
		}
		for _, a := range e.Tool.Aliases {
			if err := claim(a, e.Name); err != nil {
				return nil, err
			}
		}
	}
	return &Catalogue{sorted}, nil
}

// Entries lists the whole table, by name.
func (c *Catalogue) Entries() []Entry { return slices.Clone(c.entries) }

// Omission is a tool that is not in the pool, and why.
type Omission struct{ Name, Reason string }

// Gated gives, for every entry of the table, built or planned, the reason why the
// gates leave it out under s: the catalogue's funnel before deny rules (C1).
func (c *Catalogue) Gated(s settings.Settings, cond Conditions) []Omission {
	var out []Omission
	for _, e := range c.entries {
		if reason := closed(e, s, cond); reason != "" {
			out = append(out, Omission{e.Name, reason})
		}
	}
	return out
}

// closed applies the modes (C3), then the entry's own gate.
func closed(e Entry, s settings.Settings, cond Conditions) string {
	repl := s.Has(settings.ReplMode) && s.Internal()
	switch {
	case s.Simple && !simple(e, s, repl):
		return "not part of simple mode"
	case repl && e.Repl:
		return "reached through the REPL only"
	}
	return e.Gate.Closed(s, cond)
}

// simple mode keeps its three tools, or the REPL in their place, and what the
// coordinator needs.
func simple(e Entry, s settings.Settings, repl bool) bool {
	switch {
	case e.Name == "REPL":
		return repl
	case e.Own:
		return true
	case e.Simple:
		return !repl
	}
	return slices.Contains(e.Gate.Any, settings.CoordinatorMode) && s.Has(settings.CoordinatorMode)
}
