package reports

import (
	"path"

	"toolbench/reports/screen"
	"toolbench/sim/replay"
)

// rowNames are names for the recordings' rows that tell them apart: a file's own
// name; with its folders, where several files have it. The short ones fit a table,
// without their middle where they begin alike.
func rowNames(all []replay.Report, o Options) (whole, short []string) {
	names := make([]string, len(all))
	for i, r := range all {
		names[i] = screen.Safe(path.Base(r.File))
	}
	same := alike(names)
	for i, r := range all {
		if same[names[i]] > 1 {
			names[i] = screen.Safe(path.Clean(r.File))
		}
	}
	short = make([]string, len(names))
	for i, name := range names {
		short[i] = screen.Cut(name, nameWidth, o.ASCII)
	}
	same = alike(short)
	for i, name := range names {
		if same[short[i]] > 1 {
			short[i] = screen.CutMiddle(name, nameWidth, o.ASCII)
		}
	}
	return names, short
}

// alike counts how often each name is given.
func alike(names []string) map[string]int {
	count := map[string]int{}
	for _, name := range names {
		count[name]++
	}
	return count
}
