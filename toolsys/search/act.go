package search

import (
	"strings"

	"toolbench/toolsys/search/glossary"
	"toolbench/toolsys/search/terms"
)

// act is the kind of thing that a tool does, or that is asked for, by its verb.
type act uint8

const (
	actNone act = iota
	actLook
	actMake
	actChange
	actDrop
	actTell
)

// verbs are the words by which acts are known.
var verbs = [...]string{
	actLook: `get list show read view describe fetch search find query lookup retrieve display check status count browse inspect info
		what which who how`,
	actMake:   "create add insert new make generate build register append upload write save import",
	actChange: "update edit set modify change rename move configure replace assign patch restore",
	actDrop:   "delete remove drop destroy erase clear purge uninstall cancel discard",
	actTell:   "send publish post notify share submit invite",
}

// actsByVerb leads from the root of a verb to its act.
var actsByVerb = func() map[string]act {
	acts := map[string]act{}
	for a, words := range verbs {
		for verb := range strings.FieldsSeq(words) {
			acts[glossary.Key(verb)] = act(a)
		}
	}
	return acts
}()

// actOf is the act of a verb's root; actNone for any other word.
func actOf(root string) act { return actsByVerb[root] }

// actOfName is the act of the first verb in a tool's name.
func actOfName(name string) act {
	a := actNone
	for _, run := range terms.Runs(name) {
		for _, part := range terms.Parts(run.Text) {
			a = a.or(actOf(terms.Root(part)))
		}
	}
	return a
}

// or is an act, or the other where there is none.
func (a act) or(b act) act {
	if a == actNone {
		return b
	}
	return a
}

// fit is 1 for a tool that does what is wanted, -1 for one that only looks where
// something is to be done, the reverse, or one that destroys or spares what it
// should not; 0 where nothing can be said.
func (a act) fit(does act) float64 {
	sharp := func(x act) bool { return x == actLook || x == actDrop }
	switch {
	case a == actNone || does == actNone:
		return 0
	case a == does:
		return 1
	case sharp(a) || sharp(does):
		return -1
	}
	return 0
}
