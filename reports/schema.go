package reports

import (
	"embed"
	"fmt"
	"strings"
)

// The files are derived from the types of the JSON reports and their tags: run
// `go test ./reports -update`.
//
//go:embed *.schema.json
var schemas embed.FS

// SchemaNames are the names of the published schemas, sorted: each is the command
// whose --format json it describes.
func SchemaNames() []string {
	entries, err := schemas.ReadDir(".")
	if err != nil {
		panic(fmt.Sprintf("the embedded schemas cannot be listed: %s", err))
	}
	var names []string
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), ".schema.json"))
	}
	return names
}

// Schema is the JSON Schema (2020-12) of what a command writes with --format json. A
// name that is not in SchemaNames is a programmer's mistake and panics.
func Schema(name string) []byte {
	data, err := schemas.ReadFile(name + ".schema.json")
	if err != nil {
		panic(fmt.Sprintf("there is no schema %q", name))
	}
	return data
}
