package file

import (
	"path"
	"slices"

	"toolbench/toolsys/permission"
	"toolbench/toolsys/tool"
)

// hidden knows which files a search must pass over: the call as a whole was
// allowed, but a rule forbids reading some of what lies below, or wants it asked
// about (F1). A rule that covers the searched folder itself, or speaks of the
// tool as a whole, was settled before the call and hides nothing.
type hidden struct {
	rules []permission.Rule
	query permission.Query
	names []string // the searched folder, as named and as resolved
}

func hiddenBelow(name string, root place, c *tool.Context) hidden {
	h := hidden{
		names: slices.Compact([]string{root.abs, root.real}),
		query: permission.Query{
			Subject: permission.Subject{Tool: name}, Kin: []string{"Read"},
			Dir: c.State.Dir, Home: c.Home, Roots: c.Roots,
		},
	}
	for _, hit := range slices.Concat(c.Rules.All(), c.State.Rules.All()) {
		if hit.Behaviour == permission.Allow || h.covers(hit.Rule, "") {
			continue
		}
		h.rules = append(h.rules, hit.Rule)
	}
	return h
}

// hides tells whether a file below the folder must not be shown.
func (h hidden) hides(rel string) bool {
	return slices.ContainsFunc(h.rules, func(r permission.Rule) bool { return h.covers(r, rel) })
}

func (h hidden) covers(r permission.Rule, rel string) bool {
	q := h.query
	for _, name := range h.names {
		q.Paths = append(q.Paths, path.Join(name, rel))
	}
	return r.Covers(q)
}

// hiddenNote says that there is more than is shown.
func hiddenNote(n int) string {
	return count(n, "file") + " left out, which permission rules keep from being read."
}
