// Package hook lets others take part in a call: Go functions and external commands that see it before and after it
// runs, change its input or output, decide its permission, stop it, or add context (SPEC G1-G3).
//
// The rules of merging, all in [Set.Run]:
//
//   - Every hook that matches runs, once, in the order of registration. Neither a
//     denial nor a stop ends the round early: a hook that keeps the books must see
//     the calls that others refuse.
//   - Each sees the input and the output as those before it left them.
//   - Deny beats ask beats allow; the reason is that of the first hook that gave the
//     strictest. The first stop gives the reason of the stop. Contexts and messages
//     are all kept, those of later hooks too.
//   - A hook can only add strictness and words, never lose a call (G2). One that
//     errors, panics, outstays its time or replies nonsense counts as its OnFailure
//     has it: as if it had not been there, or as asking or denying. A command that runs
//     before the call denies by default: a guard that died has not let anybody pass
//     (G4). Of a reply that makes sense in part, that part counts too. Each trouble is
//     in the [Report] of its hook, for the trace.
//   - In doubt a hook runs: an `if` that cannot be evaluated holds. It is judged by the input as
//     rewritten so far.
//   - An allow is for what its hook knew. It does not count for a call that is more than its
//     hook's `if` is about, with a reply of which a part made no sense, or once a later hook
//     rewrote the input.
//
// A hook runs in a goroutine of its own. One that ignores its context is left behind when its time is up, and its
// goroutine lives until it returns; what it was given are copies, so it can do no harm later.
package hook

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"toolbench/toolsys/message"
	"toolbench/toolsys/permission"
	"toolbench/toolsys/tool"
)

// Event is the moment a hook is asked at (G1).
type Event string

// The events. PreToolUse comes before permission, PostToolUse and PostToolUseFailure after the run, PermissionDenied
// after a refusal (F3), Elicitation before a server's question reaches the user, and ElicitationResult before the
// user's answer reaches the server (N5).
const (
	PreToolUse         Event = "PreToolUse"
	PostToolUse        Event = "PostToolUse"
	PostToolUseFailure Event = "PostToolUseFailure"
	PermissionDenied   Event = "PermissionDenied"
	Elicitation        Event = "Elicitation"
	ElicitationResult  Event = "ElicitationResult"
)

// DefaultTimeout is how long a hook that names no time may take.
const DefaultTimeout = 60 * time.Second

// Hook is one registration.
type Hook struct {
	// Name identifies the hook in traces.
	Name  string
	Event Event
	// Matcher selects tools, by name or alias: "" or "*" for all, else names
	// and globs with | between them, as in "Edit|Write|mcp__github__*".
	Matcher string
	// If is a permission rule, as in "Bash(git *)"; the hook runs only for calls of which it
	// may match a part. "" matches all.
	If string
	// Timeout is how long Run may take; 0 means DefaultTimeout.
	Timeout time.Duration
	// OnFailure is what becomes of the call when the hook fails: Run returns an error, panics or outstays its time,
	// or a part of its reply makes no sense. Allow lets the call go on without the hook; Ask puts it to a person and
	// Deny refuses it, both only where a decision counts. After the run Deny withholds the output, since a call that
	// ran cannot be refused. The zero value is Allow; see Command for Deny.
	OnFailure permission.Behaviour
	// Run is asked. Its context ends with the timeout and with the call.
	Run func(ctx context.Context, in Input) (Output, error)
}

// Input is what a hook is asked about. It is the hook's own copy; a command gets it as JSON.
type Input struct {
	Event Event `json:"event"`
	// Tool is the tool's name and Aliases its old ones; for the elicitation events
	// the name of the tool that was called.
	Tool    string   `json:"tool"`
	Aliases []string `json:"-"`
	Call    string   `json:"call,omitempty"`
	Turn    int      `json:"turn,omitempty"`
	// Agent is "" in the main conversation.
	Agent string `json:"agent,omitempty"`
	// Dir is the working directory.
	Dir  string          `json:"dir,omitempty"`
	Mode permission.Mode `json:"mode"`
	// Input is the call's input as observers see it (G2); for Elicitation the
	// server's question and for ElicitationResult the user's answer.
	Input json.RawMessage `json:"input,omitempty"`
	// Output is what the tool gave, after it ran.
	Output []message.Block `json:"output,omitempty"`
	// Error is what failed or why the call was denied.
	Error string `json:"error,omitempty"`
}

// Output is a hook's reply; its zero value leaves everything as it is. Members that have no
// meaning at an event are ignored there, with a report.
type Output struct {
	// Input replaces the call's input, or the elicitation's question or answer: a JSON object.
	Input json.RawMessage
	// Decision is on the call's permission, or on whether an elicitation is
	// answered; Passthrough leaves it to others.
	Decision permission.Behaviour
	// Reason explains the decision or the stop.
	Reason string
	// Stop ends the call before it ran, or the turn afterwards.
	Stop bool
	// Context is text for the model.
	Context string
	// Output replaces what the tool gave, of every tool alike; nil leaves it.
	Output []message.Block
	// Messages follow the results of the turn.
	Messages []message.Message
	// Garbled are parts of the hook's reply that made no sense; they are reported.
	Garbled []string
}

// Events are all events that hooks can be for.
func Events() []Event {
	return []Event{
		PreToolUse, PostToolUse, PostToolUseFailure, PermissionDenied, Elicitation,
		ElicitationResult,
	}
}

// outputParts are the parts of an Output count at an event.
type outputParts struct{ input, decision, output bool }

// table holds every event. Stop, context and messages count at all of them.
var table = map[Event]outputParts{
	PreToolUse:         {input: true, decision: true},
	PostToolUse:        {output: true},
	PostToolUseFailure: {output: true},
	PermissionDenied:   {},
	Elicitation:        {input: true, decision: true},
	ElicitationResult:  {input: true, decision: true},
}

// sift takes out of o what cannot count at event and describes it.
func sift(event Event, o Output) (Output, []string) {
	can, garbled := table[event], o.Garbled
	drop := func(format string, args ...any) { garbled = append(garbled, fmt.Sprintf(format, args...)) }
	switch {
	case o.Input == nil:
	case !can.input:
		drop("an input has no meaning at %s", event)
		o.Input = nil
	case !isObject(o.Input):
		drop("the input is no JSON object")
		o.Input = nil
	}
	switch {
	case o.Decision == permission.Passthrough:
	case !can.decision:
		drop("a decision has no meaning at %s", event)
		o.Decision = permission.Passthrough
	case o.Decision > permission.Deny:
		drop("there is no decision %d", o.Decision)
		o.Decision = permission.Passthrough
	}
	if o.Output != nil && !can.output {
		drop("an output has no meaning at %s", event)
		o.Output = nil
	}
	return o, garbled
}

func isObject(raw json.RawMessage) bool {
	var members map[string]json.RawMessage
	return json.Unmarshal(raw, &members) == nil && members != nil
}

// ErrHook is wrapped by every error of New.
var ErrHook = errors.New("invalid hook")

// Set is the hooks of a session, in order of registration. The zero Set has none. It never
// changes, but for hooks that are added to one that is open.
type Set struct {
	clock tool.Clock
	hooks []registered
	added *added
}

// added are the hooks that a session got while it ran. They are shared by all copies of
// their Set, and so by sub-agents at any depth (B4).
type added struct {
	mu   sync.Mutex // of who adds
	list atomic.Pointer[[]registered]
}

// Open gives the set such that hooks can be added to it and to its copies. One that is open stays as it is.
func (s Set) Open(clock tool.Clock) Set {
	if s.added == nil {
		s.clock, s.added = clock, &added{}
	}
	return s
}

// ErrClosed is the error of a hook for a set that takes none.
var ErrClosed = errors.New("no hooks can be added here")

// Add adds a hook behind those there are. One of a name that was added already takes its
// place. Its errors are those of New, and ErrClosed.
func (s Set) Add(h Hook) error {
	if s.added == nil {
		return ErrClosed
	}
	r, err := register(h)
	if err != nil {
		return fmt.Errorf("%w: %s: %w", ErrHook, describe(0, h), err)
	}
	s.added.mu.Lock()
	defer s.added.mu.Unlock()
	var all []registered
	if old := s.added.list.Load(); old != nil {
		all = slices.DeleteFunc(slices.Clone(*old), func(o registered) bool { return o.Name == h.Name })
	}
	all = append(all, r)
	s.added.list.Store(&all)
	return nil
}

// all are the hooks, those that were added behind the others.
func (s Set) all() []registered {
	if s.added == nil {
		return s.hooks
	}
	more := s.added.list.Load()
	if more == nil {
		return s.hooks
	}
	return slices.Concat(s.hooks, *more)
}

type registered struct {
	Hook
	matcher matcher
}

// New checks hooks and makes them a set. All three functions of the clock are needed:
// durations are measured, timeouts waited for and hooks started through it.
func New(clock tool.Clock, hooks ...Hook) (Set, error) {
	s := Set{clock: clock, hooks: make([]registered, len(hooks))}
	if len(hooks) > 0 && (clock.Now == nil || clock.Sleep == nil || clock.Go == nil) {
		return Set{}, fmt.Errorf("%w: the clock lacks Now, Sleep or Go", ErrHook)
	}
	for i, h := range hooks {
		r, err := register(h)
		if err != nil {
			return Set{}, fmt.Errorf("%w: %s: %w", ErrHook, describe(i, h), err)
		}
		s.hooks[i] = r
	}
	return s, nil
}

func describe(i int, h Hook) string { return cmp.Or(h.Name, fmt.Sprintf("number %d", i+1)) }

func register(h Hook) (registered, error) {
	_, known := table[h.Event]
	switch {
	case h.Name == "":
		return registered{}, errors.New("it has no name")
	case !known:
		return registered{}, fmt.Errorf("there is no event %q; there are PreToolUse, PostToolUse, PostToolUseFailure, PermissionDenied, Elicitation and ElicitationResult", h.Event)
	case h.Run == nil:
		return registered{}, errors.New("it has nothing to run")
	case h.Timeout < 0:
		return registered{}, fmt.Errorf("timeout %s is negative; use 0 for %s", h.Timeout, DefaultTimeout)
	}
	h.Timeout = cmp.Or(h.Timeout, DefaultTimeout)
	if err := h.checkOnFailure(); err != nil {
		return registered{}, err
	}
	m, err := parseMatcher(h.Matcher)
	return registered{h, m}, err
}

// checkOnFailure refuses what could not be done when the hook fails.
func (h Hook) checkOnFailure() error {
	can := table[h.Event]
	switch {
	case h.OnFailure > permission.Deny:
		return fmt.Errorf("there is no decision %d to make when it fails; use Allow, Ask or Deny", h.OnFailure)
	case h.OnFailure == permission.Ask && !can.decision:
		return fmt.Errorf("nobody can be asked at %s when it fails; use Allow or Deny", h.Event)
	case h.OnFailure == permission.Deny && !can.decision && !can.output:
		return fmt.Errorf("there is nothing to deny at %s when it fails; use Allow", h.Event)
	}
	return nil
}

// Len is the number of hooks.
func (s Set) Len() int { return len(s.all()) }

// Matches reports whether any hook would be asked about a tool at event, or with "" at whatever
// event, so that a caller without one need not make an Input; its `if` is not looked at.
func (s Set) Matches(event Event, tool string, aliases []string) bool {
	return slices.ContainsFunc(s.all(), func(h registered) bool { return (event == "" || h.Event == event) && h.matcher.matches(tool, aliases) })
}

// matcher is a Matcher taken apart; empty, it matches every tool.
type matcher []part

// part is the name of a tool, or a glob for some.
type part struct {
	name string
	glob bool
}

// parseMatcher reads "", "*", or names and globs with | between them.
func parseMatcher(text string) (matcher, error) {
	if text == "" || text == "*" {
		return nil, nil
	}
	var m matcher
	for p := range strings.SplitSeq(text, "|") {
		p = strings.TrimSpace(p)
		if p == "" {
			return nil, fmt.Errorf("matcher %q has an empty part; write names with one | between them", text)
		}
		if _, err := path.Match(p, ""); err != nil {
			return nil, fmt.Errorf("matcher %q: bad glob %q", text, p)
		}
		if strings.ContainsFunc(strings.ReplaceAll(p, "[^", "["), inNoName) {
			return nil, fmt.Errorf("matcher %q: %q never matches, as it is no tool's name and no glob for some; write globs, such as mcp__github__* or Notebook*, with | between them", text, p)
		}
		m = append(m, part{p, strings.ContainsAny(p, "*?[")})
	}
	return m, nil
}

// inNoName reports whether a character is in no tool's name and no sign of a glob, as the dot of a
// regular expression: a hook that waits for it would never be asked.
func inNoName(r rune) bool {
	return !(r == '_' || r == '-' || r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' || strings.ContainsRune(`*?[]`, r))
}

func (m matcher) matches(tool string, aliases []string) bool {
	return len(m) == 0 || slices.ContainsFunc(m, func(p part) bool { return p.matches(tool) || slices.ContainsFunc(aliases, p.matches) })
}

// matches reports whether a name is the part's; tool names have no slash, so * means anything.
func (p part) matches(name string) bool {
	if !p.glob {
		return p.name == name
	}
	ok, err := path.Match(p.name, name)
	return err == nil && ok
}
