package settings

import (
	"fmt"
	"slices"
	"strings"
)

// DefaultConcurrency is how many safe calls run at once by default (SPEC I2).
const DefaultConcurrency = 10

// UserType is the kind of user the program was built for (USER_TYPE, SPEC C1).
type UserType string

// The user types. Ant unlocks REPL, Tungsten, Config and SuggestBackgroundPR.
const (
	Outside UserType = "external"
	Ant     UserType = "ant"
)

// Settings is everything that can be switched from outside, as one comparable
// value (SPEC C2). The zero value is not a usable one: start from [External],
// another profile or [FromEnv], and derive with [Settings.With].
type Settings struct {
	// Simple keeps only Bash, Read and Edit, or the REPL (CLAUDE_CODE_SIMPLE, SPEC C3).
	Simple bool
	// MaxConcurrency is how many safe calls run at once, at least 1
	// (CLAUDE_CODE_MAX_TOOL_USE_CONCURRENCY, SPEC I2).
	MaxConcurrency int
	// ToolSearch is the deferral mode with BetasDisabled already taken into
	// account (ENABLE_TOOL_SEARCH, SPEC E2).
	ToolSearch ToolSearch
	// Ranker is how ToolSearch scores what it finds, one of [Rankers]
	// (TOOL_SEARCH_RANKER, SPEC E9); empty for the default.
	Ranker string
	// BetasDisabled forbids experimental API features
	// (CLAUDE_CODE_DISABLE_EXPERIMENTAL_BETAS, SPEC E2).
	BetasDisabled bool
	// BaseURL is the API's address, empty for the first party's own
	// (ANTHROPIC_BASE_URL, SPEC E3).
	BaseURL string
	// UserType is who uses the program (USER_TYPE, SPEC C1).
	UserType UserType
	// LSP offers the language-server tool (ENABLE_LSP_TOOL, SPEC C1).
	LSP bool
	// TriggerURL is where remote triggers are kept, empty where nowhere, and TriggerToken
	// what is shown there (REMOTE_TRIGGER_URL, REMOTE_TRIGGER_TOKEN).
	TriggerURL   string
	TriggerToken Secret
	// PullRequestURL is where pull requests are looked up, empty for the usual service, and
	// PullRequestToken what is shown there (PULL_REQUEST_URL, PULL_REQUEST_TOKEN).
	PullRequestURL   string
	PullRequestToken Secret

	flags uint64 // bit n is Flag n; a set and not a map, so that Settings compare with ==
}

// Secret is a text that is handed on but never printed.
type Secret struct{ text string }

// Reveal gives the text.
func (s Secret) Reveal() string { return s.text }

// String reports only whether there is one.
func (s Secret) String() string {
	if s.text == "" {
		return ""
	}
	return "[set]"
}

// GoString is String, for the verb that shows what a value is made of.
func (s Secret) GoString() string { return s.String() }

// MarshalText is String, for what is written as JSON.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// Has reports whether a feature is on: set, and compiled in (SPEC C1).
func (s Settings) Has(f Flag) bool { return f.Compiled() && s.flags&(1<<f) != 0 }

// With returns the settings with these features on. A feature that the build
// left out stays off.
func (s Settings) With(flags ...Flag) Settings {
	for _, f := range flags {
		s.flags |= 1 << f
	}
	return s
}

// Without returns the settings with these features off.
func (s Settings) Without(flags ...Flag) Settings {
	for _, f := range flags {
		s.flags &^= 1 << f
	}
	return s
}

// On lists the features that are on, by name.
func (s Settings) On() []Flag {
	return slices.DeleteFunc(Flags(), func(f Flag) bool { return !s.Has(f) })
}

// Internal reports whether the tools for internal users are offered (SPEC C1).
func (s Settings) Internal() bool { return s.UserType == Ant }

// Profile is a named set of settings for which the catalogue's exact size is
// stated (SPEC C1).
type Profile struct {
	Name, About string
	Settings    Settings
}

// Profiles lists the named profiles, the default first.
func Profiles() []Profile {
	return []Profile{
		{"external", "what an empty environment gives", External()},
		{"internal", "the tools for internal users beside the default ones", Internal()},
		{"simple", "Bash, Read and Edit only", Simple()},
		{"every-flag", "all that this build holds: every flag, internal user, language server", EveryFlag()},
	}
}

// FindProfile finds a profile by name; the error for an unknown one lists them.
func FindProfile(name string) (Settings, error) {
	var names []string
	for _, p := range Profiles() {
		if p.Name == name {
			return p.Settings, nil
		}
		names = append(names, p.Name)
	}
	return Settings{}, fmt.Errorf("settings: no profile %q; there are %s", name, strings.Join(names, ", "))
}

// External is the default: what an empty environment gives (SPEC C1).
func External() Settings { return Settings{MaxConcurrency: DefaultConcurrency, UserType: Outside} }

// Internal is the default for internal users (SPEC C1).
func Internal() Settings {
	s := External()
	s.UserType = Ant
	return s
}

// Simple is simple mode (SPEC C3).
func Simple() Settings {
	s := External()
	s.Simple = true
	return s
}

// EveryFlag switches on all there is: every flag that was compiled in, the
// internal tools, the language server. Flags that take tools away
// (EMBEDDED_SEARCH, REPL_MODE) are on as well; see [Settings.Without].
func EveryFlag() Settings {
	s := Internal().With(Flags()...)
	s.LSP = true
	return s
}
