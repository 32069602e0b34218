package search

import (
	"fmt"
	"slices"
	"strings"
)

// why names, for one tool, the words of the query with what each adds, and the term
// that it was found by where that is another.
func (l *lexicon) why(tool int, groups []group) string {
	var reasons []string
	for _, g := range groups {
		best, worth := member{}, 0.0
		for _, m := range g.members {
			if w := m.weight * min(l.terms[m.term].idf, g.most) * l.worthIn(m.term, tool); w > worth {
				best, worth = m, w
			}
		}
		if worth > 0 {
			reasons = append(reasons, fmt.Sprintf("%s%s %.2f", g.said, l.via(best), g.weight*worth))
		}
	}
	return strings.Join(reasons, "; ")
}

// worthIn is what a term counts in a tool, 0 where it does not occur.
func (l *lexicon) worthIn(term int32, tool int) float64 {
	posts := l.terms[term].posts
	i, ok := slices.BinarySearchFunc(posts, tool, func(p lexPost, t int) int { return int(p.tool) - t })
	if !ok {
		return 0
	}
	return posts[i].worth()
}

// via tells how a term came in that is not the word that was said.
func (l *lexicon) via(m member) string {
	if m.how == "" {
		return ""
	}
	return fmt.Sprintf(" (%s: %s)", m.how, l.terms[m.term].text)
}
