package permission

import (
	"fmt"
	"strings"
)

// Behaviour is what a rule, a hook or a tool wants done with a call. The zero
// value leaves it to the others.
type Behaviour uint8

// The behaviours, from silence to the strictest.
const (
	Passthrough Behaviour = iota // the general rules decide
	Allow
	Ask
	Deny
)

// String is the behaviour in a word.
func (b Behaviour) String() string {
	return [...]string{"passthrough", "allow", "ask", "deny"}[min(b, Deny)]
}

// ParseBehaviour reads allow, ask, deny or passthrough.
func ParseBehaviour(text string) (Behaviour, error) {
	for b := Passthrough; b <= Deny; b++ {
		if b.String() == text {
			return b, nil
		}
	}
	return Passthrough, fmt.Errorf("permission: no behaviour %q; there are allow, ask, deny and passthrough", text)
}

// Source is where a rule comes from. Among rules that want the same, that of
// the first source is the one that decides (SPEC F1).
type Source uint8

// The sources, first wins.
const (
	Policy Source = iota
	CommandLine
	Session
	LocalProject
	Project
	User
)

// String is the source in a word or two.
func (s Source) String() string {
	return [...]string{"policy", "command line", "session", "local project", "project", "user"}[min(s, User)]
}

// Mode decides by class of call where no rule matches (SPEC F1, F2).
type Mode uint8

// The modes. From Default by AcceptEdits and Auto to Bypass each lets run what
// the one before does, and more, but for the edits that a classifier blocks in Auto.
const (
	Default     Mode = iota // reading within the roots runs, else ask
	Plan                    // reading runs, all else is refused
	Auto                    // also what the classifier clears
	AcceptEdits             // also file edits within the roots
	Bypass                  // all but what a rule denies or asks for
)

// String is the mode as settings spell it.
func (m Mode) String() string {
	return [...]string{"default", "plan", "auto", "acceptEdits", "bypass"}[min(m, Bypass)]
}

// Within reports whether a mode lets nothing run that another does not.
func (m Mode) Within(other Mode) bool {
	widths := [...]int{Default: 1, Plan: 0, Auto: 3, AcceptEdits: 2, Bypass: 4}
	return widths[min(m, Bypass)] <= widths[min(other, Bypass)] && (m != AcceptEdits || other != Auto)
}

// MarshalText gives the mode as settings spell it.
func (m Mode) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// ParseMode reads a mode in any case, with or without hyphens; bypassPermissions
// is bypass.
func ParseMode(text string) (Mode, error) {
	plain := strings.ToLower(strings.NewReplacer("-", "", "_", "").Replace(strings.TrimSpace(text)))
	if plain == "bypasspermissions" {
		return Bypass, nil
	}
	for m := Default; m <= Bypass; m++ {
		if strings.ToLower(m.String()) == plain {
			return m, nil
		}
	}
	return Default, fmt.Errorf("permission: no mode %q; write default, plan, auto, acceptEdits or bypass", text)
}
