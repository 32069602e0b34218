package main

import (
	"fmt"
	"path/filepath"
	"slices"

	"toolbench/toolsys/builtin"
)

// mutant is one fault to plant: within a declaration, old becomes new.
type mutant struct {
	name string
	// pkg is the folder of a package, in the declaration there: "name" or
	// "Type.method". In which file of the package it stands does not matter.
	pkg, in string
	// old is Go code that stands once within the declaration. It is compared token by
	// token: comments and layout do not count.
	old, new string
	// imports are packages that new needs.
	imports []string
	// tests are the arguments of a `go test` that holds the property, where that is
	// not the package's own; the fuzzer is run in any case.
	tests []string
}

// held are the tests that should notice the fault.
func (m mutant) held() []string {
	if m.tests != nil {
		return m.tests
	}
	return []string{"./" + m.pkg}
}

// all are the faults of the lists and, for each built-in tool, its body deleted.
func all() []mutant {
	return slices.Concat(scheduleFaults, pipelineFaults, loopFaults, toolsFaults, bodies())
}

// bodies makes every built-in, one after the other, a tool that does nothing.
func bodies() []mutant {
	var out []mutant
	for _, name := range builtin.Names() {
		out = append(out, mutant{
			name: name + " has no body",
			pkg:  "toolsys/builtin",
			in:   "All",
			old:  "e.Tool = r.make(d)",
			new: fmt.Sprintf(`e.Tool = r.make(d)
			if r.name == %q {
				empty := *e.Tool
				empty.Call = func(context.Context, tool.Input, *tool.Context) (tool.Outcome, error) {
					return tool.Outcome{}, nil
				}
				e.Tool = &empty
			}`, name),
			imports: []string{"context", "toolbench/toolsys/tool"},
		})
	}
	return out
}

// planted gives the file that holds the declaration, and its text with the fault in
// it. An anchor that fits nowhere, or in two places, is an error that names it.
func (m mutant) planted(root string) (file, text string, err error) {
	d, err := find(filepath.Join(root, m.pkg), m.in)
	if err != nil {
		return "", "", fmt.Errorf("fault %q: %w; anchor it anew in property/mutants/list_*.go", m.name, err)
	}
	start, end, err := d.span(m.old)
	if err != nil {
		return "", "", fmt.Errorf("fault %q: %s of %s has changed: %w; anchor it anew in property/mutants/list_*.go", m.name, m.in, d.path, err)
	}
	return d.path, d.with(start, end, m.new, m.imports), nil
}
