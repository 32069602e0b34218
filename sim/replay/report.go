package replay

import (
	"maps"
	"slices"
	"strings"
	"time"

	"toolbench/toolsys/schedule"
	"toolbench/toolsys/tool"
	"toolbench/toolsys/trace"
)

// Report is what came of one recording. Its texts are blanked of secrets; they come
// from models, tools and files, so that writers still have to make them harmless.
type Report struct {
	File string
	// Format names the recorder's format, "" when none was recognized.
	Format   string
	Problems []Problem
	// MoreProblems counts those left out of Problems.
	MoreProblems  int
	Conversations []Conversation
	// Ignored counts what was not read, by kind, sorted.
	Ignored []Count
	// Err is why the file could not be read, or not to its end.
	Err error
}

// Problem is a problem of the recording's own.
type Problem struct {
	Kind  string `json:"kind" enum:"cut,error,malformed,too-large,stray,repeated,unreadable"`
	Place string `json:"place,omitempty" jsonschema:"Line, interaction, conversation and turn, as far as they are known."`
	Text  string `json:"text"`
}

// Count is how many there were of something.
type Count struct {
	What string `json:"what"`
	N    int    `json:"count" minimum:"1"`
}

// counts sorts what was counted.
func counts(m map[string]int) []Count {
	return tool.Each(slices.Sorted(maps.Keys(m)), func(what string) Count { return Count{what, m[what]} })
}

// Conversation is what came of one conversation.
type Conversation struct {
	Number    int
	ID, Agent string
	Model     string
	// Turns, Calls, Answered count messages of the model, its calls, and those of
	// them that have a result.
	Turns, Calls, Answered int
	// ParallelBatches are messages with more than one call. Batches are what the
	// calls of all messages part into (I1), under the safety there is evidence of.
	ParallelBatches, Batches int
	// OutOfOrder are the turns whose results are not in call order (I3).
	OutOfOrder List
	// ToolsChanged are the turns before which the tools array changed.
	ToolsChanged List
	Unanswered   Some[Unanswered]
	// Why counts the unanswered by reason, sorted.
	Why []Count
	// Broken are inputs that break their own tool's schema, or are no JSON object.
	Broken Some[BrokenInput]
	// Figures are the policies', in the order of Options.
	Figures []Figure
	// Measured is what the session took when it was recorded; nil without times.
	Measured *Figure
	// Safe are the tools that were taken for safe and why, sorted by name.
	Safe  []SafeTool
	Notes Some[string]
	// Played is what happened under each policy, in the order of Options; only where
	// Options ask for it.
	Played []Played
	// Seen is what a person saw; only where Options ask for it.
	Seen []trace.Seen
}

// Played is a conversation under one policy, its turns one after the other.
type Played struct {
	Policy string
	Events []trace.Event
}

// List is a list of turns that grows no longer than it can be read.
type List = Some[int]

// Some are the first of many.
type Some[T any] struct {
	First []T
	// N counts all of them.
	N int
}

// maxSome is how many of a kind are kept.
const maxSome = 100

func (s *Some[T]) add(v T) {
	if s.N++; len(s.First) < maxSome {
		s.First = append(s.First, v)
	}
}

// Unanswered is a call without a result, and why.
type Unanswered struct {
	Turn   int    `json:"turn" minimum:"1"`
	Call   string `json:"call"`
	Tool   string `json:"tool"`
	Reason string `json:"reason"`
}

// BrokenInput is an input that its tool would not have taken.
type BrokenInput struct {
	Turn int    `json:"turn" minimum:"1"`
	Call string `json:"call"`
	Tool string `json:"tool"`
	Text string `json:"text"`
}

// SafeTool is a tool that may run beside others.
type SafeTool struct {
	Tool    string `json:"tool"`
	Because string `json:"because" enum:"annotations,given,measured"`
}

// Figure is what one policy takes.
type Figure struct {
	// Name is the policy's, or "measured".
	Name string
	// Makespan is the time of the session, without what a person took between
	// its messages; Serial is what it takes with each stream followed by its calls
	// one by one; Hidden is the share of Serial that is saved, in percent (J7).
	Makespan, Serial time.Duration
	Hidden           float64
	Basis            Basis
}

func (f *Figure) setHidden() {
	if f.Serial > 0 {
		f.Hidden = 100 * float64(f.Serial-f.Makespan) / float64(f.Serial)
	}
}

// Basis is what a figure rests on: true where it was assumed and not measured.
type Basis struct{ Pace, Durations, Safety bool }

// String is "measured", or "assumed: " and what was.
func (b Basis) String() string {
	var assumed []string
	for _, part := range []struct {
		assumed bool
		name    string
	}{{b.Pace, "pace"}, {b.Durations, "durations"}, {b.Safety, "safety"}} {
		if part.assumed {
			assumed = append(assumed, part.name)
		}
	}
	if len(assumed) == 0 {
		return "measured"
	}
	return "assumed: " + strings.Join(assumed, ", ")
}

// under is what a policy's figure of a turn rests on: the safety of calls bears on none but
// policies that would run some side by side, and on messages with several calls.
func (b Basis) under(policy schedule.Policy, calls int) Basis {
	b.Safety = b.Safety && policy != schedule.Serial && calls > 1
	return b
}

// InOrder reports whether all results stand in call order.
func (c *Conversation) InOrder() bool { return c.OutOfOrder.N == 0 }
