package scenario

import (
	"encoding/json"
	"fmt"
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
			all[at].Answers = append(all[at].Answers, t.Events(n, 1))
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
	return sc.Open("stream.cassette", sc.Stream.Cassette)
}

// Events gives a scripted turn's stream as the n-th answer, counted from 0. Seed decides where inputs are split.
func (t Turn) Events(n int, seed uint64) []stream.Event {
	out := stream.Turn{
		ID: fmt.Sprintf("msg_%d", n+1), Stop: t.Stop, FirstByte: t.FirstByte.D(), End: t.End.D(),
		Seed: seed + uint64(n), CutAfter: t.CutAfter,
	}
	for _, at := range t.Pings {
		out.Pings = append(out.Pings, at.D())
	}
	if t.Error != "" {
		out.Error = &stream.Error{Type: t.Error, Message: "scripted"}
	}
	if t.Thinking != "" {
		out.Blocks = append(out.Blocks, stream.Block{Kind: stream.Thinking, Text: t.Thinking, Signature: "c2ln"})
	}
	if t.Text != "" {
		out.Blocks = append(out.Blocks, stream.Block{Kind: stream.Text, Text: t.Text})
	}
	for _, c := range t.Calls {
		out.Blocks = append(out.Blocks, c.block())
	}
	return stream.Script(out)
}

func (c Scripted) block() stream.Block {
	b := stream.Block{Kind: stream.ToolUse, ID: c.ID, Name: c.Tool, At: c.At.D(), CutAt: c.CutAt, Input: json.RawMessage(c.Raw)}
	if c.Raw == "" {
		raw, err := json.Marshal(c.Input)
		if err != nil || c.Input == nil {
			raw = []byte("{}")
		}
		b.Input = raw
	}
	return b
}
