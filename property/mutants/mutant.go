package main

import (
	_ "embed"
	"fmt"
	"path/filepath"

	"github.com/goccy/go-yaml"

	"toolbench/toolsys/builtin"
)

// mutant is one fault to plant: within a function, old becomes new.
type mutant struct {
	Name string
	// pkg is the folder of a package, In the function there: "name" or "Type.method". In
	// which file of the package it stands does not matter.
	pkg string
	In  string
	// Old is Go code that stands once within the function's body. It is compared token by
	// token: comments and layout do not count.
	Old, New string
	// Imports are packages that New needs.
	Imports []string
	// Tests are the arguments of a `go test` that should notice the fault; nil means the
	// tests of the package itself. The fuzzer is run in any case.
	Tests []string
}

// held are the arguments of the `go test` that should notice the fault.
func (m mutant) held() []string {
	if m.Tests != nil {
		return m.Tests
	}
	return []string{"./" + m.pkg}
}

// list holds the faults, package by package.
//
//go:embed faults.yaml
var list []byte

// all are the faults of the list and, for each built-in tool, its body deleted.
func all() ([]mutant, error) {
	var packages []struct {
		Package string
		Faults  []mutant
	}
	if err := yaml.UnmarshalWithOptions(list, &packages, yaml.Strict()); err != nil {
		return nil, fmt.Errorf("faults.yaml: %s", yaml.FormatError(err, false, false))
	}
	var faults []mutant
	for _, p := range packages {
		for _, m := range p.Faults {
			m.pkg = p.Package
			faults = append(faults, m)
		}
	}
	return append(faults, bodies()...), nil
}

// bodies makes every built-in, one after the other, a tool that does nothing.
func bodies() []mutant {
	var out []mutant
	for _, name := range builtin.Names() {
		out = append(out, mutant{
			Name: name + " has no body",
			pkg:  "toolsys/builtin",
			In:   "All",
			Old:  "e.Tool = r.make(d)",
			New: fmt.Sprintf(`e.Tool = r.make(d)
			if r.name == %q {
				empty := *e.Tool
				empty.Call = func(context.Context, tool.Input, *tool.Context) (tool.Output, error) {
					return tool.Output{}, nil
				}
				e.Tool = &empty
			}`, name),
			Imports: []string{"context", "toolbench/toolsys/tool"},
		})
	}
	return out
}

// fault is a mutant and its place in the code.
type fault struct {
	mutant
	declaration
	id int
	// instead is the body of the function with the fault in it.
	instead string
	// before is where the statement begins that the fault is in.
	before int
}

// fit looks for the fault's place below root. An anchor that fits nowhere, or in two places, is
// an error that names it.
func (m mutant) fit(root string, id int) (fault, error) {
	d, err := find(filepath.Join(root, m.pkg), m.In)
	if err != nil {
		return fault{}, fmt.Errorf("fault %q: %w; anchor it anew in property/mutants/faults.yaml", m.Name, err)
	}
	start, end, err := d.span(m.Old)
	if err != nil {
		return fault{}, fmt.Errorf("fault %q: %s of %s has changed: %w; anchor it anew in property/mutants/faults.yaml", m.Name, m.In, d.path, err)
	}
	from, to := d.body()
	return fault{m, d, id, string(d.src[from:start]) + m.New + string(d.src[end:to]), d.before(start, end)}, nil
}
