package shell

import (
	"maps"
	"slices"
)

// Names gives the names of all commands, sorted.
func Names() []string { return slices.Sorted(maps.Keys(commands)) }
