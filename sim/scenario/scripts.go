package scenario

import (
	"slices"

	"toolbench/sim/stream"
)

// ScriptedConversation is what a scenario's turns say in one conversation: the main
// one, or, with For, that of a sub-agent whose first message holds the text.
type ScriptedConversation struct {
	For     string
	Answers [][]stream.Event
}

// Scripts gives the scripted turns by conversation, in the order in which each is
// first heard of (O2).
func (sc *Scenario) Scripts() []ScriptedConversation {
	var all []ScriptedConversation
	n := 0
	for _, t := range sc.Stream.Turns {
		at := slices.IndexFunc(all, func(c ScriptedConversation) bool { return c.For == t.For })
		if at < 0 {
			at = len(all)
			all = append(all, ScriptedConversation{For: t.For})
		}
		for range t.Repeat + 1 {
			all[at].Answers = append(all[at].Answers, t.events(n, 1))
			n++
		}
	}
	return all
}

// CassetteFile is the content of the scenario's cassette, nil when it names none.
// Errors are *FileError.
func (sc *Scenario) CassetteFile() ([]byte, error) {
	if sc.Stream.Cassette == "" {
		return nil, nil
	}
	return sc.open("stream.cassette", sc.Stream.Cassette)
}
