package main

// Slips in what may overtake what (J8).
var effects = []mutant{
	{
		name:  "a call does not wait for what it reads to be written",
		file:  "toolsys/schedule/footprint.go",
		old:   "overlap(a.Writes, b.Reads) || ",
		new:   "",
		tests: []string{"./toolsys/schedule"},
	},
	{
		name:  "a call goes by names that an earlier one moves",
		file:  "toolsys/schedule/footprint.go",
		old:   "return e == nil || overlap(by.Shifts, e.Reads) || overlap(by.Shifts, e.Writes)",
		new:   "return false",
		tests: []string{"./toolsys/schedule"},
	},
	{
		name:  "a link is not the file it leads to",
		file:  "toolsys/footprint/footprint.go",
		old:   "if !can {",
		new:   "if can {",
		tests: []string{"./toolsys/footprint"},
	},
	{
		name:  "files that are changed out of order are listed so",
		file:  "toolsys/builtin/file/place.go",
		old:   "append(d.keys(name, c), footprint.Order)",
		new:   "append(d.keys(name, c), footprint.Order+name)",
		tests: []string{"./property/effects", "-run", "Nobody", "-mixes", "300"},
	},
	{
		name:  "a call does not see what those before it left behind until it is let out",
		file:  "toolsys/loop/effects.go",
		old:   "for k := len(ex.emitted); k < i; k++ {",
		new:   "for k := i; k < i; k++ {",
		tests: []string{"./toolsys/loop"},
	},
	{
		name:  "a person is asked out of order",
		file:  "toolsys/pipeline/effects.go",
		old:   "return permission.Resolve(in).Behaviour == permission.Ask",
		new:   "return false",
		tests: []string{"./toolsys/pipeline"},
	},
}
