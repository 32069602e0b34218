package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

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
	// tests are the arguments of a `go test` that should notice the fault; nil means the
	// tests of the package itself. The fuzzer is run in any case.
	tests []string
}

// in gives the faults of one package.
func in(pkg string, faults ...mutant) []mutant {
	for i := range faults {
		faults[i].pkg = pkg
	}
	return faults
}

// fault is an entry of the lists.
func fault(name, in, old, new string, tests ...string) mutant {
	return mutant{name: name, in: in, old: old, new: new, tests: tests}
}

// held are the arguments of the `go test` that should notice the fault.
func (m mutant) held() []string {
	if m.tests != nil {
		return m.tests
	}
	return []string{"./" + m.pkg}
}

// all are the faults of the lists and, for each built-in tool, its body deleted.
func all() []mutant {
	return slices.Concat(scheduleFaults, pipelineFaults, loopFaults, toolsFaults, ruleFaults, bodies())
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
				empty.Call = func(context.Context, tool.Input, *tool.Context) (tool.Output, error) {
					return tool.Output{}, nil
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

// site is where faults are planted: the repository's root and a folder for what is
// built.
type site struct {
	root, dir string
	// cases is how many cases the fuzzer makes, patience how long each checker may take.
	cases    int
	patience time.Duration
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
		return p, fmt.Errorf("%s does not build: %w\n%s", m.name, err, out)
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
