package pool

import (
	"strings"

	"toolbench/toolsys/settings"
)

// Gate says under which settings a built-in exists, as data (C1). The zero Gate is
// always open.
type Gate struct {
	// Any opens the gate when one of these flags is on.
	Any []settings.Flag
	// Not closes it when the flag is on.
	Not []settings.Flag
	// Internal opens only for internal users.
	Internal bool
	// LSP opens with the language-server setting.
	LSP bool
	// Special tools are never in a pool by themselves (C3); the resource tools
	// rejoin when a connected server has resources.
	Special bool
	// Resources marks a special tool that rejoins with a server's resources.
	Resources bool
	// Search is ToolSearch's own gate: the optimistic decision (E3).
	Search bool
}

// Conditions are what gates look at beside the settings.
type Conditions struct {
	// Resources: a connected server has resources.
	Resources bool
	// Search is the optimistic decision on deferral (E3).
	Search bool
}

// Closed gives the reason why the gate is closed, or "" when it is open.
func (g Gate) Closed(s settings.Settings, c Conditions) string {
	for _, f := range g.Not {
		if s.Has(f) {
			return f.String() + " is on"
		}
	}
	switch {
	case g.Special && !(g.Resources && c.Resources):
		return g.specialReason()
	case g.Search && !c.Search:
		return "tool search is off"
	case g.Internal && !s.Internal():
		return "for internal users only (USER_TYPE=ant)"
	case g.LSP && !s.LSP:
		return "ENABLE_LSP_TOOL is not set"
	case len(g.Any) > 0 && !anyOn(s, g.Any):
		return "needs " + names(g.Any)
	}
	return ""
}

func (g Gate) specialReason() string {
	if g.Resources {
		return "no connected server has resources"
	}
	return "special: never offered by itself"
}

func anyOn(s settings.Settings, flags []settings.Flag) bool {
	for _, f := range flags {
		if s.Has(f) {
			return true
		}
	}
	return false
}

func names(flags []settings.Flag) string {
	var out []string
	for _, f := range flags {
		out = append(out, f.String())
	}
	return strings.Join(out, " or ")
}
