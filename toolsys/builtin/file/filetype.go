package file

import (
	_ "embed" // the table beside this file
	"maps"
	"slices"
	"strings"

	"toolbench/toolsys/tool"
)

//go:embed filetypes.txt
var typeTable string

// fileTypes gives the name globs of the file types that Grep takes, under the
// names that ripgrep gives them.
func fileTypes() map[string][]string {
	types := map[string][]string{}
	for line := range strings.Lines(typeTable) {
		words := strings.Fields(line)
		if len(words) > 1 {
			types[words[0]] = words[1:]
		}
	}
	return types
}

// checkType refuses a type that is not in the table.
func checkType(name string) *tool.Refusal {
	types := fileTypes()
	if _, exists := types[name]; exists || name == "" {
		return nil
	}
	names := slices.Sorted(maps.Keys(types))
	if near := nearest(name, names); len(near) > 0 {
		return refuse(CodeType, "There is no file type %q. Did you mean %s? Or use glob.", name, strings.Join(near, " or "))
	}
	return refuse(CodeType, "There is no file type %q. The types are: %s. Or use glob.", name, strings.Join(names, ", "))
}
