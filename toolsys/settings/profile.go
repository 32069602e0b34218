package settings

import (
	"fmt"
	"strings"
)

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
func External() Settings {
	return Settings{MaxConcurrency: DefaultConcurrency, UserType: Outside}
}

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
