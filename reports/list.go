package reports

import (
	"io"
	"strings"

	"toolbench/toolsys/trace"
)

// ListReport is a list of scenarios.
type ListReport struct {
	Version   int      `json:"version"`
	Scenarios []Listed `json:"scenarios"`
}

// Listed is one scenario of a list.
type Listed struct {
	Name  string   `json:"name"`
	Tags  []string `json:"tags"`
	About string   `json:"about"`
	File  string   `json:"file"`
}

func (r ListReport) document() any {
	r.Version = ListVersion
	return r
}

func (r ListReport) show(p *page) {
	g := Grid{Columns: columns("Scenario", "Tags", "About")}
	for _, l := range r.Scenarios {
		g.add(Safe(l.Name), Safe(strings.Join(l.Tags, " ")), Safe(l.About))
	}
	p.grid(g)
}

// TraceKinds writes the kinds of events of a run and what their members hold.
func TraceKinds(w io.Writer, o Options) error {
	p := newPage(w, o)
	g := Grid{Columns: columns("Kind", "About", "Members")}
	for _, kind := range trace.Kinds() {
		var members []string
		for _, m := range kind.Members {
			text := m.Name + " " + m.Type
			if m.Optional {
				text = "[" + text + "]"
			}
			members = append(members, text)
		}
		g.add(kind.Kind, kind.About, strings.Join(members, ", "))
	}
	p.tables(g)
	p.lines("A member in brackets is left out where it is empty.")
	return p.end()
}
