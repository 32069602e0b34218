package reports

import (
	"path/filepath"

	"toolbench/sim/draft"
)

// InitReport is what init wrote into a folder.
type InitReport struct {
	Version int           `json:"version"`
	Drafts  []draft.Draft `json:"scenarios"`
	Folder  string        `json:"-"`
	// Recorded is set where the drafts were made from a recording.
	Recorded bool `json:"-"`
}

func (r InitReport) document() any {
	return InitReport{Version: InitVersion, Drafts: each(r.Drafts, func(d draft.Draft) draft.Draft {
		for _, file := range []*string{&d.File, &d.Cassette, &d.Tree} {
			if *file != "" {
				*file = filepath.Join(r.Folder, filepath.FromSlash(*file))
			}
		}
		return d
	})}
}

// show writes what was written, what to look at in each draft, and how to run it.
func (r InitReport) show(p *page) {
	if r.Recorded {
		g := Grid{Columns: columns("Scenario", ">Turns", ">Calls", ">Answered", ">Files", ">Batches", ">Makespan")}
		for _, d := range r.Drafts {
			g.add(Safe(d.Name), d.Turns, d.Calls, d.Answered, d.Files, len(d.Outcome.Batches), d.Outcome.Makespan)
		}
		p.grid(g)
		p.printf("\n")
	}
	target := r.Folder
	for _, d := range r.Drafts {
		if len(r.Drafts) == 1 {
			target = filepath.Join(r.Folder, d.File)
		}
		for i, n := range d.Notes {
			if i == 0 {
				p.lines(Safe(d.Name))
			}
			p.lines("- " + Safe(n))
		}
	}
	p.lines(Safe("wrote "+target) + "; run it with: toolbench run " + Quoted(target))
}
