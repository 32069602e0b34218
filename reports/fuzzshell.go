package reports

import (
	"fmt"
	"strings"
)

// FuzzShellReport is what came of scripts that are called read-only, run in Bash.
type FuzzShellReport struct {
	Version   int               `json:"version"`
	Engine    string            `json:"engine" enum:"shell"`
	Seed      uint64            `json:"seed"`
	Generated uint64            `json:"generated" jsonschema:"The scripts that were made."`
	Ran       uint64            `json:"ran" jsonschema:"Those that are called read-only and were run."`
	Late      uint64            `json:"late" jsonschema:"Those that were stopped because they took too long."`
	Seconds   float64           `json:"seconds"`
	Finding   *FuzzShellFinding `json:"finding,omitempty" jsonschema:"The first script that changed or executed something."`
	Replayed  []FuzzShellReplay `json:"replayed,omitempty" jsonschema:"Scripts from files."`
}

// FuzzShellFinding is a script that is called read-only and is not.
type FuzzShellFinding struct {
	Number  uint64   `json:"number"`
	Script  string   `json:"script" jsonschema:"As generated."`
	Small   string   `json:"small" jsonschema:"What is left of it after shrinking."`
	Changed []string `json:"changed" jsonschema:"The files that differ afterwards."`
	File    string   `json:"file" jsonschema:"Where it was saved."`
}

// FuzzShellReplay is a saved script that was tried again.
type FuzzShellReplay struct {
	File     string   `json:"file"`
	ReadOnly bool     `json:"read_only" jsonschema:"Whether it is called read-only."`
	Changed  []string `json:"changed" jsonschema:"The files that differ afterwards; a script that is not called read-only is not run."`
}

// Failed reports whether a script that is called read-only changed something.
func (r FuzzShellReport) Failed() bool {
	for _, one := range r.Replayed {
		if one.ReadOnly && len(one.Changed) > 0 {
			return true
		}
	}
	return r.Finding != nil
}

func (r FuzzShellReport) document() any {
	r.Version, r.Engine = FuzzVersion, "shell"
	return r
}

// show writes what came of the run in a few lines.
func (r FuzzShellReport) show(p *page) {
	for _, one := range r.Replayed {
		switch {
		case !one.ReadOnly:
			p.lines(Safe(one.File + ": it is not called read-only"))
		case len(one.Changed) > 0:
			p.lines(Safe("FAILED " + one.File + ": it changed " + strings.Join(one.Changed, ", ")))
		default:
			p.lines(Safe(one.File + ": it changed nothing"))
		}
	}
	if r.Replayed != nil {
		return
	}
	p.lines(fmt.Sprintf("seed %d: %d scripts, %d called read-only and run in Bash (%.0f/s), %d of them stopped", r.Seed, r.Generated, r.Ran, float64(r.Ran)/max(r.Seconds, 0.001), r.Late))
	if f := r.Finding; f != nil {
		p.lines(Safe("FAILED: a script that is called read-only changed " + strings.Join(f.Changed, ", ")))
		p.lines(SafeLines(f.Small)...)
		p.lines(Safe("again: toolbench fuzz --engine shell --replay " + f.File))
		return
	}
	p.lines("none changed or executed anything")
}
