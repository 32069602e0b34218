package search

import (
	"strings"

	"toolbench/toolsys/search/glossary"
)

// mean adds the words of concepts to a group: the English ones, and those of other
// languages for tools that are described in them.
func (e *expansion) mean(g *group, concepts []int, weight float64, how string) {
	for _, c := range concepts {
		for i, key := range e.glossary.Keys(c) {
			much := weight
			if i > 0 {
				much *= weightLater
			}
			e.want = e.want.or(actOf(key))
			e.say(g, member{weight: much, how: how}, key)
		}
		for _, term := range e.glossary.Elsewhere(c) {
			e.say(g, member{weight: weight * weightInto * term.Share, how: how}, term.Text)
		}
	}
}

// say adds a term, or a phrase: as two neighbours, else by its words.
func (e *expansion) say(g *group, m member, key string) {
	words := strings.Fields(key)
	if len(words) == 1 {
		if id, ok := e.ids[key]; ok {
			g.members = append(g.members, member{id, m.weight, m.how})
		}
		return
	}
	if id, ok := e.pair(words[0], words[1]); ok && len(words) == 2 {
		g.members = append(g.members, member{id, m.weight, m.how})
		return
	}
	for _, w := range words {
		if !e.glossary.Stop(glossary.English, w) {
			e.say(g, member{weight: m.weight * weightPiece, how: m.how}, w)
		}
	}
}
