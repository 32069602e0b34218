package main

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"toolbench/toolsys"
)

// mutant is one fault to plant: in file, old becomes new.
type mutant struct {
	name string
	file string
	old  string
	new  string
	// tests are the arguments of a `go test` that holds the property, where that is
	// not the file's own package; the fuzzer is asked in any case.
	tests []string
}

// held are the tests that are asked whether they notice.
func (m mutant) held() []string {
	if m.tests != nil {
		return m.tests
	}
	return []string{"./" + path.Dir(m.file)}
}

// all are the faults of the lists and, for each built-in tool, its body deleted.
func all() ([]mutant, error) {
	bodies, err := bodies()
	return slices.Concat(first, scheduler, effects, permission, pipeline, hook, budget, loop, pool, search, tools, formats, scenes, bodies), err
}

// bodies makes every built-in, one after the other, a tool that does nothing.
func bodies() ([]mutant, error) {
	sys, err := toolsys.New(toolsys.Config{})
	if err != nil {
		return nil, err
	}
	var out []mutant
	for _, e := range sys.Catalogue.Entries() {
		if e.Tool == nil {
			continue
		}
		out = append(out, mutant{
			name: e.Name + bodiless,
			file: "toolsys/builtin/table.go",
			old:  "e.Tool = r.make(d)\n",
			new: "e.Tool = r.make(d)\n\t\t\tif r.name == " + fmt.Sprintf("%q", e.Name) + " {\n" +
				"\t\t\t\tempty := *e.Tool\n" +
				"\t\t\t\tempty.Call = func(context.Context, tool.Input, *tool.Context) (tool.Outcome, error) {\n" +
				"\t\t\t\t\treturn tool.Outcome{}, nil\n\t\t\t\t}\n\t\t\t\te.Tool = &empty\n\t\t\t}\n",
		})
	}
	return out, nil
}

const bodiless = " has no body"

// planted gives the file's text with the fault in it. An edit that fits nowhere, or
// in two places, is an error.
func (m mutant) planted(root string) (string, error) {
	data, err := os.ReadFile(filepath.Join(root, m.file))
	if err != nil {
		return "", err
	}
	if n := strings.Count(string(data), m.old); n != 1 {
		return "", fmt.Errorf("%s: %q stands %d times in %s, not once", m.name, m.old, n, m.file)
	}
	text := strings.Replace(string(data), m.old, m.new, 1)
	if strings.HasSuffix(m.name, bodiless) {
		text = strings.Replace(text, "import (\n", "import (\n\t\"context\"\n\n", 1)
	}
	return text, nil
}
