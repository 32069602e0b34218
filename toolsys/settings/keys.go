package settings

import (
	"slices"
	"strings"
)

// Key is one variable this program reads, for help texts and docs.
type Key struct {
	// Name is the variable: ENABLE_TOOL_SEARCH.
	Name string
	// About says in a phrase what it does.
	About string
	// Default is the value it has where it is unset.
	Default string

	read func(*Settings, string) error
}

// plainKeys are the variables that are no feature flags, by name.
var plainKeys = []Key{
	{"ANTHROPIC_BASE_URL", "address of the API; another party's switches ToolSearch off unless ENABLE_TOOL_SEARCH is set", "",
		func(s *Settings, v string) (err error) { s.BaseURL, err = parseBaseURL(v); return }},
	{"CLAUDE_CODE_DISABLE_EXPERIMENTAL_BETAS", "forbids experimental API features, and with them deferral", "false",
		func(s *Settings, v string) (err error) { s.BetasDisabled, err = parseBool(v); return }},
	{"CLAUDE_CODE_MAX_TOOL_USE_CONCURRENCY", "how many safe calls run at once, at least 1", "10",
		func(s *Settings, v string) (err error) { s.MaxConcurrency, err = parseConcurrency(v); return }},
	{"CLAUDE_CODE_SIMPLE", "offers only Bash, Read and Edit", "false",
		func(s *Settings, v string) (err error) { s.Simple, err = parseBool(v); return }},
	{"ENABLE_LSP_TOOL", "offers the language-server tool", "false",
		func(s *Settings, v string) (err error) { s.LSP, err = parseBool(v); return }},
	{"ENABLE_TOOL_SEARCH", "when deferrable tools go by name only: true, false, auto (10 % of the window), auto:0 to auto:100", "true",
		func(s *Settings, v string) (err error) { s.ToolSearch, err = ParseToolSearch(v); return }},
	{"TOOL_SEARCH_RANKER", "how ToolSearch scores what it finds: " + strings.Join(Rankers(), ", ") + "; without, lexicon", "",
		func(s *Settings, v string) (err error) { s.Ranker, err = parseRanker(v); return }},
	{"USER_TYPE", "ant unlocks the tools for internal users", "external",
		func(s *Settings, v string) (err error) { s.UserType, err = parseUserType(v); return }},
}

// Keys lists every variable this program reads, by name (SPEC C2).
func Keys() []Key {
	keys := slices.Clone(plainKeys)
	for _, f := range Flags() {
		keys = append(keys, f.key())
	}
	slices.SortFunc(keys, func(a, b Key) int { return strings.Compare(a.Name, b.Name) })
	return keys
}

// key describes the flag's variable.
func (f Flag) key() Key {
	return Key{f.Variable(), f.About(), "false", func(s *Settings, v string) error {
		on, err := parseFlag(f, v)
		if on {
			*s = s.With(f)
		}
		return err
	}}
}
