package generate

import (
	"math/rand/v2"
	"slices"
	"strings"
)

// Variation is a case that differs from another one.
type Variation struct {
	Case Case
	// Changes are what was changed, one after the other.
	Changes []Changed
}

// Changed is a change of a case in one place.
type Changed struct {
	// Path leads to the place by the names of a case's file; From is the first member that
	// was taken out of a list there, -1 where none was.
	Path string
	From int
	// To is the change in words.
	To string
}

// String is the change in a line.
func (c Changed) String() string { return c.Path + ": " + c.To }

// Variations are the cases that differ in one place.
func (d Case) Variations() (all []Variation) {
	for n := range changesOf(d).all() {
		var v Variation
		if v.Case = d.Clone(); v.change(func([]change) int { return n }) {
			all = append(all, v)
		}
	}
	return all
}

// Vary changes the case in some places more, which r chooses of those that may is true
// for; false if that makes no case.
func (d Case) Vary(r *rand.Rand, places int, may func(Changed) bool) (Variation, bool) {
	v := Variation{Case: d.Clone()}
	for range places {
		there := v.change(func(all []change) int {
			var some []int
			for i, c := range all {
				if may(c.changed()) {
					some = append(some, i)
				}
			}
			if len(some) == 0 {
				return -1
			}
			return some[r.IntN(len(some))]
		})
		if !there {
			return Variation{}, false
		}
	}
	return v, true
}

// change makes the change that choose finds among all; false if that makes no case.
func (v *Variation) change(choose func([]change) int) bool {
	all := changesOf(v.Case).all()
	n := choose(all)
	if n < 0 {
		return false
	}
	v.Changes = append(v.Changes, all[n].changed())
	all[n].do()
	return v.Case.Check() == nil
}

func (r reductions) all() []change { return slices.Concat(r.lists, r.values, r.times, r.growths) }

// changed describes the change; the name of the file's part that holds the case is left out.
func (c change) changed() Changed {
	path := strings.TrimPrefix(strings.TrimPrefix(c.path, "system_case."), "case.")
	return Changed{Path: path, From: c.from, To: c.text}
}
