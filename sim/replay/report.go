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
	File          string         `json:"file"`
	Format        string         `json:"format" jsonschema:"Recognized by its content; empty when nothing was recognized." enum:",go-vcr-v1,go-vcr-v2,vcrpy,ruby-vcr,httpmock-yaml,har,httprr,exchange-list,txtar,sse-text,event-lines,event-frames,jsonl-transcript,jsonl-session,json-messages,agent-log,gzip"`
	Problems      []Problem      `json:"problems" jsonschema:"What is wrong with the recording itself; at most 100 are listed."`
	MoreProblems  int            `json:"more_problems,omitempty" jsonschema:"Problems that are only counted."`
	Ignored       []Count        `json:"ignored" jsonschema:"What was not read, by kind."`
	Err           error          `json:"-"` // why the file could not be read, or not to its end
	Conversations []Conversation `json:"-"`
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
	Number          int    `json:"number" minimum:"1"`
	ID              string `json:"id,omitempty" jsonschema:"The session's id, where the recording has one."`
	Agent           string `json:"agent,omitempty" jsonschema:"The sub-agent whose conversation it is; absent for the main one."`
	Model           string `json:"model,omitempty"`
	Turns           int    `json:"turns" jsonschema:"Messages of the model."`
	Calls           int    `json:"calls" jsonschema:"Calls that the client has to answer."`
	Answered        int    `json:"answered" jsonschema:"Calls whose result is in the recording."`
	ParallelBatches int    `json:"parallel_batches" jsonschema:"Messages with more than one call."`
	Batches         int    `json:"batches" jsonschema:"What the calls part into: neighbouring safe calls, or one exclusive call."`
	// OutOfOrder are the turns whose results are not in call order (I3); before those of
	// ToolsChanged the tools array changed.
	OutOfOrder, ToolsChanged List `json:"-"`
	// Unanswered are calls without a result, of which Why counts all by reason, sorted.
	Unanswered Some[Unanswered] `json:"-"`
	Why        []Count          `json:"-"`
	// Broken are inputs that break their own tool's schema, or are no JSON object.
	Broken Some[BrokenInput] `json:"-"`
	// Figures are the policies', in the order of Options; Measured is what the session took
	// when it was recorded, nil without times.
	Figures  []Figure `json:"-"`
	Measured *Figure  `json:"-"`
	// Safe are the tools that were taken for safe and why, sorted by name.
	Safe  []SafeTool   `json:"-"`
	Notes Some[string] `json:"-"`
	// Played is what happened under each policy, in the order of Options, and Seen what a
	// person saw; only where Options ask for it.
	Played []Played     `json:"-"`
	Seen   []trace.Seen `json:"-"`
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
