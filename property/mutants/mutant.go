package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"go/ast"
	"maps"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

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
				empty.Call = func(context.Context, tool.Input, *tool.Context) (tool.Output, error) { return tool.Output{}, nil }
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

// plant builds the program with all faults in it, each behind a question whether it is on: what
// takes long, compiling and linking, is done once. A fault that is no Go proves nothing; it is
// left out, and said when its turn comes.
func (s *site) plant(ctx context.Context, faults []fault) error {
	for {
		kept := slices.DeleteFunc(slices.Clone(faults), func(f fault) bool { return s.broken[f.id] != "" })
		if len(kept) == 0 {
			return nil
		}
		var err error
		if s.overlay, err = laid(s.dir, planted(kept)); err != nil {
			return err
		}
		args := []string{"build", "-overlay", s.overlay, "-o", s.dir + "/", "./cmd/toolbench"}
		for _, f := range kept {
			if dir := "./" + f.pkg; !slices.Contains(args, dir) {
				args = append(args, dir)
			}
		}
		cmd := exec.CommandContext(ctx, "go", args...)
		cmd.Dir = s.root
		out, err := cmd.CombinedOutput()
		if err == nil {
			return nil
		}
		if !noteBroken(string(out), s.broken) {
			return errors.Join(fmt.Errorf("the program does not build with the faults in it: %w\n%s", err, out), ctx.Err())
		}
	}
}

var named = regexp.MustCompile(`fault-(\d+)\.go:\d+(?::\d+)?: (.*)`)

// noteBroken notes what the compiler says of single faults, and reports whether it says anything of one.
func noteBroken(out string, broken map[int]string) bool {
	for _, hit := range named.FindAllStringSubmatch(out, -1) {
		if id, err := strconv.Atoi(hit[1]); err == nil && broken[id] == "" {
			broken[id] = hit[2]
		}
	}
	return named.MatchString(out)
}

// planted gives the text of each file that holds faults, with all of them in it, and a switchboard
// for each package.
func planted(faults []fault) map[string]string {
	files, texts := map[string][]fault{}, map[string]string{}
	for _, f := range faults {
		files[f.path] = append(files[f.path], f)
	}
	for path, within := range files {
		texts[path] = within[0].text(within)
		texts[filepath.Join(filepath.Dir(path), "changeison.go")] = fmt.Sprintf(switchboard, within[0].ast.Name.Name)
	}
	return texts
}

// text is the declaration's file with faults in it.
func (d declaration) text(faults []fault) string {
	imports, added := map[string]bool{}, map[int]string{}
	for _, f := range faults {
		from, _ := f.body()
		added[from] += f.alternative()
		for _, path := range f.Imports {
			imports[path] = !slices.ContainsFunc(d.ast.Imports, func(s *ast.ImportSpec) bool { return s.Path.Value == strconv.Quote(path) })
		}
	}
	for from := range added {
		at := d.file.Position(d.file.Pos(from))
		added[from] += fmt.Sprintf("\n//line %s:%d:%d\n", d.path, at.Line, at.Column)
	}
	for _, f := range faults {
		added[f.before] += fmt.Sprintf(" changeIsOn(%d); ", f.id)
	}
	var b strings.Builder
	done := d.file.Offset(d.ast.Name.End())
	b.Write(d.src[:done])
	for _, path := range slices.Sorted(maps.Keys(imports)) {
		if imports[path] {
			fmt.Fprintf(&b, "; import %q", path)
		}
	}
	for _, at := range slices.Sorted(maps.Keys(added)) {
		b.Write(d.src[done:at])
		b.WriteString(added[at])
		done = at
	}
	b.Write(d.src[done:])
	return b.String()
}

// alternative is what stands at the beginning of the function: with the fault on, its body is
// another one. Messages of the compiler about it name the fault by the line's file.
func (f fault) alternative() string {
	end := ""
	if f.node.Type.Results == nil {
		end = "return\n"
	}
	return fmt.Sprintf("\nif changeOn == %d {\n//line fault-%d.go:1\n%s\n%s}", f.id, f.id, f.instead, end)
}
