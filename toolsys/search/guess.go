package search

import "toolbench/toolsys/search/terms"

// guess looks for what an unknown word may be: two words in one, a word with a slip
// in it, the beginning of a longer one.
func (e *expansion) guess(g *group, w heard) {
	if e.guesses++; e.guesses > mostGuesses || len(w.text) > mostGuessed {
		return
	}
	if a, b, ok := e.split(w.text); ok {
		g.members = append(g.members, member{a, weightSplit, "split"}, member{b, weightSplit, "split"})
		return
	}
	for _, id := range e.slips.near(w.root) {
		g.members = append(g.members, member{id, weightSlip, "spelt like"})
	}
	if len(g.members) > 0 {
		return
	}
	for _, id := range e.slips.begun(w.root) {
		g.members = append(g.members, member{id, weightBegins, "begins"})
	}
}

// leastHalf is how many bytes each of two words in one has.
const leastHalf = 3

// split takes a word for two.
func (e *expansion) split(word string) (a, b int32, ok bool) {
	for i := leastHalf; i+leastHalf <= len(word); i++ {
		a, knownA := e.ids[terms.Root(word[:i])]
		b, knownB := e.ids[terms.Root(word[i:])]
		if knownA && knownB {
			return a, b, true
		}
	}
	return 0, 0, false
}
