package builtin

import (
	"slices"

	"toolbench/toolsys/pool"
	"toolbench/toolsys/settings"
)

var internal = pool.Gate{Internal: true}

// planned are the built-ins that have no code yet, with the gates they will have (C1).
// They keep their places in the catalogue, so that its counts for the named profiles
// stand, and never enter a pool.
var planned = []pool.Entry{
	{Name: "PowerShell", Gate: flags(settings.PowerShellTool)},
}

// Planned gives the catalogue's entries of the built-ins that have no code yet.
func Planned() []pool.Entry { return slices.Clone(planned) }
