package settings

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// FromEnv reads every variable of [Keys] through lookup, which answers as
// os.LookupEnv does (SPEC C2). All that is wrong is reported at once, by
// variable. An empty value counts as unset.
//
// lookup is asked for known names only, so a misspelt FEATURE_ variable goes
// unseen; use [FromEnviron] or [FromMap] where the whole list is at hand.
func FromEnv(lookup func(string) (string, bool)) (Settings, error) {
	s := External()
	var problems []error
	for _, key := range Keys() {
		value, set := lookup(key.Name)
		if !set {
			continue
		}
		if err := key.read(&s, value); err != nil {
			problems = append(problems, fmt.Errorf("settings: %s: %w", key.Name, err))
		}
	}
	if err := errors.Join(problems...); err != nil {
		return Settings{}, err
	}
	if s.BetasDisabled { // beats whatever ENABLE_TOOL_SEARCH says (SPEC E2)
		s.ToolSearch = ToolSearch{Kind: Off, Explicit: s.ToolSearch.Explicit}
	}
	return s, nil
}

// FromEnviron reads a whole environment, in the form of os.Environ. Variables
// of others are none of its business, but a FEATURE_ variable that is no flag
// is an error that names the nearest one.
func FromEnviron(environ []string) (Settings, error) {
	values := make(map[string]string, len(environ))
	for _, entry := range environ {
		name, value, _ := strings.Cut(entry, "=")
		values[name] = value
	}
	return fromMap(values, func(name string) bool { return strings.HasPrefix(name, FlagPrefix) })
}

// FromMap reads settings somebody wrote down for this program, as in a
// scenario: every name that is not one of [Keys] is an error that names the
// nearest one.
func FromMap(values map[string]string) (Settings, error) {
	return fromMap(values, func(string) bool { return true })
}

// fromMap reads values after refusing the unknown names that ours claims.
func fromMap(values map[string]string, ours func(string) bool) (Settings, error) {
	s, err := FromEnv(func(name string) (string, bool) {
		value, set := values[name]
		return value, set
	})
	problems := []error{err}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if ours(name) && !known(name) {
			problems = append(problems, fmt.Errorf("settings: unknown variable %s%s", name, suggestion(name)))
		}
	}
	if err := errors.Join(problems...); err != nil {
		return Settings{}, err
	}
	return s, nil
}

// known tells whether a variable is one of ours.
func known(name string) bool {
	return slices.ContainsFunc(Keys(), func(k Key) bool { return k.Name == name })
}
