package scenario

import (
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"

	"toolbench/toolsys/schema"
)

// Expect is what must come of a run. What is not named is not checked, except
// that nothing may leak and no recorded interaction may be left over.
type Expect struct {
	// Batches are the tools of each batch, all turns one after the other (I1).
	Batches [][]string `yaml:"batches" names:"tool"`
	// Starts, Ends and Emits are times of calls, by id: "2s", ">= 3s".
	Starts map[string]Bound `yaml:"starts" names:"call"`
	Ends   map[string]Bound `yaml:"ends" names:"call"`
	Emits  map[string]Bound `yaml:"emits" names:"call"`
	// NotStarted are calls whose tool never ran.
	NotStarted []string `yaml:"not_started" names:"call"`
	// Calls is how many calls came to a result.
	Calls *int `yaml:"calls"`
	// Called are exactly the calls of the main conversation, in the order in which the model made them.
	Called []CalledExpect `yaml:"called"`
	// Loosely are the calls of an agent that is not deterministic.
	Loosely LooseExpect `yaml:"loosely"`
	// Order is the ids in the order in which results left; Results has more on single ones.
	Order   []string          `yaml:"order" names:"call"`
	Results map[string]Answer `yaml:"results" names:"call"`
	// Shown is what a person sees of calls, by their ids.
	Shown map[string]ShownExpect `yaml:"drawn" names:"call"`
	// Waits is what a call waited for: stream, exclusive, limit, order, effects, none.
	Waits map[string]string `yaml:"waits" names:"call" values:"wait"`
	// MaxRunning is the most calls that ran at one moment.
	MaxRunning Bound `yaml:"max_running"`

	// State is the state at the end.
	State StateExpect `yaml:"state"`
	// Files by absolute path.
	Files map[string]FileExpect `yaml:"files"`
	// Pool is the tools that were sent to the model.
	Pool PoolExpect `yaml:"pool"`
	// Tokens is what the tools of the last request cost.
	Tokens TokenExpect `yaml:"tokens"`
	// Cache is what the prompt cache kept of the requests.
	Cache CacheExpect `yaml:"cache"`
	// Hints are exactly the calls whose result was that their tool must be loaded first (E7).
	Hints []string `yaml:"hints" names:"call"`
	// Gates check the catalogue's funnel (C1).
	Gates []GateExpect `yaml:"gates"`

	// Makespan is how long the whole run takes; Serial what it would take with one thing
	// after another; Hidden the share of Serial, in percent, that passed beside other work.
	Makespan Bound `yaml:"makespan"`
	Serial   Bound `yaml:"serial"`
	Hidden   Bound `yaml:"hidden"`
	// LowerBound is the lower bound of every policy (J8).
	LowerBound Bound `yaml:"least"`
	// Policies are the makespans under other policies, the scenario run again.
	Policies map[string]Bound `yaml:"policies" names:"policy"`
	// SameUnder are policies whose results and final state must be equal to this run's.
	SameUnder []string `yaml:"same_under" names:"policy"`

	// Requests are what was sent to the model.
	Requests RequestExpect `yaml:"requests"`
	// Servers are what reached MCP servers, by their names.
	Servers map[string]ServerExpect `yaml:"servers"`
	// Trace are events that must appear, in this order; Never must not appear.
	Trace []EventExpect `yaml:"trace"`
	Never []EventExpect `yaml:"never"`
	// Ends with: completed, or the text of the error that ended the run.
	Outcome string `yaml:"outcome"`
	// Invariant is run again under these chunk sizes and must give the same events.
	Chunks []int `yaml:"chunks"`
}

// Answer is what one call's result must be.
type Answer struct {
	// Status is what came of the call; Contains and Lacks are texts that stand in its result or do
	// not, Equals is the whole, and Error whether the model is told of a failure.
	Status   string  `yaml:"status" names:"status"`
	Contains Texts   `yaml:"contains"`
	Lacks    Texts   `yaml:"lacks"`
	Equals   *string `yaml:"equals"`
	Error    *bool   `yaml:"error"`
	// Chars bounds the text's length in code points.
	Chars Bound `yaml:"chars"`
}

// ShownExpect is what a person sees of one call: its line, what it is given and what came of it, as plain text.
type ShownExpect struct {
	// Working are texts that stand there while the call is at work, with all that it reports.
	Working Texts `yaml:"working"`
	// Brief is what stands there afterwards where room is short; Contains and Lacks are texts that
	// stand there or do not where all is wanted, and Equals is the whole of that.
	Brief    *string `yaml:"brief"`
	Contains Texts   `yaml:"contains"`
	Lacks    Texts   `yaml:"lacks"`
	Equals   *string `yaml:"equals"`
	// Asked are texts that a person is shown who is asked whether the call may run.
	Asked Texts `yaml:"asked"`
}

// CalledExpect is one call as the model made it.
type CalledExpect struct {
	// ID is the call's, Tool the name that the model called.
	ID   string `yaml:"id" names:"call"`
	Tool string `yaml:"tool" names:"tool"`
	// Input is compared as JSON; not given, it may be anything.
	Input map[string]any `yaml:"input"`
}

// StateExpect is what the state must be at the end.
type StateExpect struct {
	// CWD is the working directory, Mode the permission mode, Env variables, Discovered the loaded
	// tools, Todos the list of things to do as "status: content", Plan the plan, Read the files that
	// were read, and Denials what the safety classifier counted.
	CWD        *string           `yaml:"cwd"`
	Mode       string            `yaml:"mode" names:"mode"`
	Env        map[string]string `yaml:"env"`
	Discovered []string          `yaml:"discovered"`
	Todos      []string          `yaml:"todos"`
	Plan       string            `yaml:"plan"`
	Read       []string          `yaml:"read"`
	Denials    string            `yaml:"denials"`
	// Output is the answer in the form of world.output, as JSON without spaces.
	Output string `yaml:"output"`
	// Options are settings that were changed in the session.
	Options map[string]string `yaml:"options"`
}

// FileExpect is what a file must be at the end; in a file it may be just "unchanged", "absent" or "created".
type FileExpect struct {
	// Is is what became of the file; Contains and Lacks are texts that stand in it or do not, Equals is the whole.
	Is       string  `yaml:"is" names:"change"`
	Contains Texts   `yaml:"contains"`
	Lacks    Texts   `yaml:"lacks"`
	Equals   *string `yaml:"equals"`
}

// PoolExpect is what the tools of the requests must be.
type PoolExpect struct {
	// Tools are the loaded tools of the first request, in order; Last those of the last request.
	Tools []string `yaml:"tools" names:"tool"`
	Last  []string `yaml:"last" names:"tool"`
	// Contains and Lacks look at every request's loaded and deferred tools.
	Contains Texts `yaml:"contains" names:"tool"`
	Lacks    Texts `yaml:"lacks" names:"tool"`
	// Deferred are the tools of the first request that are sent by name alone.
	Deferred []string `yaml:"deferred" names:"tool"`
	// PrefixStable: the bytes up to the cache breakpoint are the same in every
	// request (D4). Stable: all of the tools are.
	PrefixStable *bool `yaml:"prefix_stable"`
	Stable       *bool `yaml:"stable"`
	// Sorted: built-ins by name, then served tools by name (D1).
	Sorted *bool `yaml:"sorted"`
	// Deferring is whether the last request deferred tools.
	Deferring *bool `yaml:"deferring"`
	// Omitted are tools the last request left out, each with a part of its reason.
	Omitted map[string]string `yaml:"omitted" names:"tool"`
	// Size is how many tools the last request carried whole.
	Size Bound `yaml:"size"`
}

// GateExpect is the funnel under one profile.
type GateExpect struct {
	// Profile is a named profile of settings.
	Profile string `yaml:"profile" names:"profile"`
	// In and Out count the table's tools that the gates leave in and take out.
	In  *int `yaml:"in"`
	Out *int `yaml:"out"`
	// Reasons are why a tool is left out, by its name.
	Reasons map[string]string `yaml:"reasons"`
}

// RequestExpect is what was sent.
type RequestExpect struct {
	// Count is how many requests were sent.
	Count *int `yaml:"count"`
	// Contains must stand in some request's body, Lacks in none.
	Contains Texts `yaml:"contains"`
	Lacks    Texts `yaml:"lacks"`
	// Grows: each request repeats the messages of the one before, byte for byte, and adds to them (K2, E6).
	Grows *bool `yaml:"grows"`
	// GivenUp are exactly the requests, counted from 1, whose answer was not read to its
	// end: its connection was closed before, or broke.
	GivenUp []int `yaml:"given_up"`
}

// ServerExpect is what reached one MCP server. Calls are in the order in which the model made them.
type ServerExpect struct {
	// Called are exactly the calls that were sent to it, each as often as it was sent.
	Called []string `yaml:"called" names:"call"`
	// Cancelled are exactly the calls that it was asked to stop (notifications/cancelled).
	Cancelled []string `yaml:"cancelled" names:"call"`
	// Opened is how many connections it had, Closed how many of them were ended by the client and not by the server.
	Opened *int `yaml:"opened"`
	Closed *int `yaml:"closed"`
}

// EventExpect describes a trace event: kind, and what must be contained in its attributes.
type EventExpect struct {
	// Kind is the kind of event, as `toolbench list trace` names them.
	Kind string `yaml:"kind" names:"kind"`
	// Agent is a sub-agent's id, such as agent_1; "" is any, the main conversation's too.
	Agent string `yaml:"agent"`
	// Call is the id and Tool the tool that the event is about.
	Call string `yaml:"call" names:"call"`
	Tool string `yaml:"tool" names:"tool"`
	// Has are members that the event's own must contain; At is when it happens.
	Has map[string]string `yaml:"has"`
	At  Bound             `yaml:"at"`
}

// TokenExpect is what the tools of the last request cost, in tokens at four bytes each (E8): definitions as they are
// sent and the list of deferred names. The messages, and what searches loaded into them, are not in it.
type TokenExpect struct {
	// Whole is what all tools of the pool would cost whole; Sent is what was sent of them.
	Whole Bound `yaml:"whole"`
	Sent  Bound `yaml:"sent"`
	// Saved is the share of Whole that was not sent, in percent.
	Saved Bound `yaml:"saved"`
}

// CacheExpect is what a model of the prompt cache makes of the requests as they were
// sent (D5), in tokens at four bytes each. Nothing expires between requests.
type CacheExpect struct {
	// Kept is the share of built-in definitions that the requests after the first read from the cache.
	Kept Bound `yaml:"kept"`
	// Read and Missed count tokens over all requests: those read from the cache, and
	// those the request before had too and that were not read all the same.
	Read   Bound `yaml:"read"`
	Missed Bound `yaml:"missed"`
	// Breaks is how often the request before was not a prefix within the tools.
	Breaks Bound `yaml:"breaks"`
	// MissOverHit is, for price lists by name, how many times as much the built-in definitions of the requests after
	// the first would cost if each had missed them and written them anew.
	MissOverHit map[string]Bound `yaml:"miss_over_hit"`
}

// LooseExpect is what an agent that is not deterministic must call.
type LooseExpect struct {
	// Match is in_order (these calls in this order, others between them), any_order (these calls and no others),
	// subset (these calls, and others may be there) or at_most (no others, each at most once).
	Match string `yaml:"match" names:"looseness"`
	// Calls are those that are expected.
	Calls []LooseCall `yaml:"calls"`
}

// LooseCall is one call, by what it must have.
type LooseCall struct {
	// Tool is the tool's name, or a pattern of it: * stands for anything. Without it any tool fits.
	Tool string `yaml:"tool"`
	// Input are members that must be equal; others may be there.
	Input map[string]any `yaml:"input"`
	// Matches are patterns that members must match; one that is no text is matched as JSON.
	Matches map[string]string `yaml:"matches"`
	// Schema is the JSON Schema that the whole input must fit.
	Schema map[string]any `yaml:"schema"`
}

// looseness are the ways of comparing calls loosely.
var looseness = []string{"in_order", "any_order", "subset", "at_most"}

// Fits is the call's schema, nil where it has none.
func (c LooseCall) Fits() (*schema.Schema, error) {
	if c.Schema == nil {
		return nil, nil
	}
	raw, err := json.Marshal(c.Schema)
	if err != nil {
		return nil, err
	}
	return schema.Compile(raw)
}

func (sc *Scenario) validateLoose() error {
	l := sc.Expect.Loosely
	if l.Match == "" && l.Calls == nil {
		return nil
	}
	if l.Match == "" || l.Calls == nil {
		return sc.ErrorAt("expect.loosely", "calls are compared loosely by match and calls", "write match: in_order, any_order, subset or at_most, and calls")
	}
	for i, c := range l.Calls {
		key := fmt.Sprintf("expect.loosely.calls.%d", i)
		if _, err := path.Match(c.Tool, ""); err != nil {
			return sc.ErrorAt(key+".tool", fmt.Sprintf("%q is no pattern", c.Tool), "close the [")
		}
		for _, name := range slices.Sorted(maps.Keys(c.Matches)) {
			if _, err := regexp.Compile(c.Matches[name]); err != nil {
				return sc.ErrorAt(key+".matches."+name, err.Error(), "write a regular expression")
			}
		}
		if _, err := c.Fits(); err != nil {
			return sc.ErrorAt(key+".schema", err.Error(), "write a JSON Schema of type object")
		}
	}
	return nil
}
