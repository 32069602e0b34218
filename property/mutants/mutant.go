package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/goccy/go-yaml"

	"toolbench/toolsys/builtin"
)

// mutant is one fault to plant: within a declaration, old becomes new.
type mutant struct {
	Name string
	// pkg is the folder of a package, In the declaration there: "name" or
	// "Type.method". In which file of the package it stands does not matter.
	pkg string
	In  string
	// Old is Go code that stands once within the declaration. It is compared token by
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

// planted gives the file that holds the declaration, and its text with the fault in
// it. An anchor that fits nowhere, or in two places, is an error that names it.
func (m mutant) planted(root string) (file, text string, err error) {
	d, err := find(filepath.Join(root, m.pkg), m.In)
	if err != nil {
		return "", "", fmt.Errorf("fault %q: %w; anchor it anew in property/mutants/faults.yaml", m.Name, err)
	}
	start, end, err := d.span(m.Old)
	if err != nil {
		return "", "", fmt.Errorf("fault %q: %s of %s has changed: %w; anchor it anew in property/mutants/faults.yaml", m.Name, m.In, d.path, err)
	}
	return d.path, d.with(start, end, m.New, m.Imports), nil
}

// site is where faults are planted: the repository's root and a folder for what is
// built.
type site struct {
	root, dir string
	// cases is how many cases the fuzzer makes, patience how long each checker may take.
	cases    int
	patience time.Duration
	// first: what one checker noticed, the others are not asked about.
	first bool
}

// planting is one fault laid over the build.
type planting struct {
	mutant
	overlay string
	program string
}

// plant writes the overlay and builds the program with the fault in it. A fault that
// does not build proves nothing and is an error.
func (s site) plant(ctx context.Context, m mutant) (planting, error) {
	source, text, err := m.planted(s.root)
	if err != nil {
		return planting{}, err
	}
	target, err := filepath.Abs(source)
	if err != nil {
		return planting{}, err
	}
	p := planting{mutant: m, overlay: filepath.Join(s.dir, "overlay.json"), program: filepath.Join(s.dir, "toolbench")}
	file := filepath.Join(s.dir, "mutant.go")
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": {target: file}})
	if err != nil {
		return p, err
	}
	for name, data := range map[string]string{file: text, p.overlay: string(overlay)} {
		if err := os.WriteFile(name, []byte(data), 0o600); err != nil {
			return p, err
		}
	}
	cmd := exec.CommandContext(ctx, "go", "build", "-overlay", p.overlay, "-o", p.program, "./cmd/toolbench")
	cmd.Dir = s.root
	if out, err := cmd.CombinedOutput(); err != nil {
		return p, fmt.Errorf("%s does not build: %w\n%s", m.Name, err, out)
	}
	return p, nil
}

// root is the folder of the module that the command is run in.
func root(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", "toolbench").Output()
	if err != nil {
		return "", fmt.Errorf("run this within the repository: %w", err)
	}
	return string(out[:len(out)-1]), nil
}
