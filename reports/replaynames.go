package reports

import (
	"path"

	"toolbench/reports/screen"
	"toolbench/sim/replay"
)

// rowNames are short names for the recordings' rows that tell them apart: a file's
// own name; with its folders, where several files have it; without its middle,
// where they begin alike.
func rowNames(all []replay.Report, o Options) []string {
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
	short := make([]string, len(names))
	for i, name := range names {
		short[i] = screen.Cut(name, nameWidth, o.ASCII)
	}
	same = alike(short)
	for i, name := range names {
		if same[short[i]] > 1 {
			short[i] = screen.CutMiddle(name, nameWidth, o.ASCII)
		}
	}
	return short
}

// alike counts how often each name is given.
func alike(names []string) map[string]int {
	count := map[string]int{}
	for _, name := range names {
		count[name]++
	}
	return count
}
