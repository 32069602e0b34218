package hook

import (
	"errors"
	"fmt"

	"toolbench/toolsys/permission"
	"toolbench/toolsys/tool"
)

// ErrHook is wrapped by every error of New.
var ErrHook = errors.New("invalid hook")

// Set is the hooks of a session, in order of registration. It never changes; the
// zero Set has none.
type Set struct {
	clock tool.Clock
	hooks []registered
}

type registered struct {
	Hook
	matcher matcher
}

// New checks hooks and makes them a set. All three doors of the clock are needed:
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

func describe(i int, h Hook) string {
	if h.Name == "" {
		return fmt.Sprintf("number %d", i+1)
	}
	return h.Name
}

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
	if h.Timeout == 0 {
		h.Timeout = DefaultTimeout
	}
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
func (s Set) Len() int { return len(s.hooks) }

// Hears says whether any hook would be asked about a tool at event, so that a caller
// without one need not make an Input; its `if` is not looked at.
func (s Set) Hears(event Event, tool string, aliases []string) bool {
	for _, h := range s.hooks {
		if h.Event == event && h.matcher.matches(tool, aliases) {
			return true
		}
	}
	return false
}

// Listens says whether any hook would be asked about a tool, at whatever event: its
// `if` is not looked at.
func (s Set) Listens(tool string, aliases []string) bool {
	for _, h := range s.hooks {
		if h.matcher.matches(tool, aliases) {
			return true
		}
	}
	return false
}
