package ours

import (
	"toolbench/bench/measure"
	"toolbench/toolsys/schedule"
)

// The rows' names: Calls and Loop are what the others are held against.
const (
	Loop   = "ours, streaming"
	Calls  = "ours, calls"
	Heard  = "ours, calls + hook"
	Prefix = "ours, "
	// Against is another's row that Calls is held against.
	Against = "eino, no decode"
)

// Peers are this project's rows: the calls alone, without and with a hook that
// hears them, and the conversation under each policy.
func Peers() []measure.Peer {
	all := []measure.Peer{
		{Name: Calls, Ours: true, Path: "pipeline.Run under schedule.Driver", Open: openCalls("Bash")},
		{Name: Heard, Ours: true, Path: "the same, with hooks before and after each call", Open: openCalls("*")},
	}
	for _, p := range []schedule.Policy{schedule.Serial, schedule.Batch, schedule.Streaming, schedule.Effects} {
		all = append(all, measure.Peer{Name: Prefix + p.String(), Ours: true, Path: "Session.Send, from the stream's JSON on", Open: openLoop(p)})
	}
	return all
}
