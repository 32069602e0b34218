package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// operated is a package whose operators are changed, one at a time, and its tests.
type operated struct {
	program
	changes []change
}

// operators changes each operator of a package in turn, runs the tests of the package that are not
// left out with -short, and prints the changes that none of them notices. What no test reaches is
// counted alone. Running out of time, ten times that of all the tests, counts as noticed. It fails
// where less than the least share, in percent, of what is reached is noticed.
func operators(ctx context.Context, root, temp, pkg string, least float64) error {
	o, err := operate(ctx, root, temp, pkg)
	if err != nil {
		return err
	}
	all, err := o.reach(ctx, temp)
	if err != nil {
		return err
	}
	killed, alive := 0, 0
	for _, c := range o.changes {
		if !all.reached[c.id] {
			continue
		}
		noticed, err := all.notices(ctx, c.id)
		if err != nil {
			return err
		}
		if noticed {
			killed++
			continue
		}
		alive++
		fmt.Println(c)
	}
	share := 100 * float64(killed) / float64(max(killed+alive, 1))
	fmt.Printf("%s: %d changes, %d that no test reaches, %d noticed, %d not: %.1f %%\n",
		pkg, len(o.changes), len(o.changes)-killed-alive, killed, alive, share)
	if share < least {
		return fmt.Errorf("less than %g %% of the changes of %s were noticed", least, pkg)
	}
	return nil
}

var passed = regexp.MustCompile(`(?m)^--- PASS: (\S+) \(([0-9.]+s)\)$`)

// notices reports whether tests notice a change: first those that are quick, and only when they do not
// those that take a tenth of the whole time or more.
func (b baseline) notices(ctx context.Context, id int) (bool, error) {
	var slow []string
	for _, hit := range passed.FindAllSubmatch(b.out, -1) {
		if took, err := time.ParseDuration(string(hit[2])); err == nil && took > b.took/10 {
			slow = append(slow, string(hit[1]))
		}
	}
	quick, rest := b.program, b.program
	quick.skip = append(slices.Clone(b.skip), slow...)
	rest.args = append(slices.Clone(b.args), "-test.run", "^("+strings.Join(slow, "|")+")$")
	for _, part := range [...]program{quick, rest} {
		if end, err := part.with(ctx, id, b.limit()); err != nil || end.failed {
			return end.failed, err
		}
	}
	return false, nil
}

// listed is what `go list` says of a package.
type listed struct {
	ImportPath, Export, Dir string
	GoFiles                 []string
}

// listPackages lists a package behind all that it imports, each with the file of its types.
func listPackages(ctx context.Context, root, pkg string) ([]listed, error) {
	cmd := exec.CommandContext(ctx, "go", "list", "-export", "-deps", "-json=ImportPath,Export,Dir,GoFiles", pkg)
	cmd.Dir, cmd.Stderr = root, os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list %s: %w", pkg, err)
	}
	var all []listed
	for dec := json.NewDecoder(bytes.NewReader(out)); dec.More(); {
		var p listed
		if err := dec.Decode(&p); err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	return all, nil
}

// checked parses and checks the last of packages.
func checked(all []listed) (fset *token.FileSet, files []*ast.File, pkg *types.Package, info *types.Info, err error) {
	p, exports := all[len(all)-1], map[string]string{}
	for _, q := range all {
		exports[q.ImportPath] = q.Export
	}
	fset = token.NewFileSet()
	for _, name := range p.GoFiles {
		f, err := parser.ParseFile(fset, filepath.Join(p.Dir, name), nil, 0)
		if err != nil {
			return nil, nil, nil, nil, err
		}
		files = append(files, f)
	}
	info = &types.Info{Types: map[ast.Expr]types.TypeAndValue{}}
	conf := types.Config{Importer: importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })}
	pkg, err = conf.Check(p.ImportPath, fset, files, info)
	return fset, files, pkg, info, err
}

// operate builds the tests of a package over its files with every change in them.
func operate(ctx context.Context, root, temp, name string) (*operated, error) {
	all, err := listPackages(ctx, root, name)
	if err != nil {
		return nil, err
	}
	p := all[len(all)-1]
	fset, files, pkg, info, err := checked(all)
	if err != nil {
		return nil, err
	}
	o := &operated{}
	texts := map[string]string{filepath.Join(p.Dir, "changeison.go"): fmt.Sprintf(switchboard, pkg.Name())}
	for i, f := range files {
		source, err := os.ReadFile(filepath.Join(p.Dir, p.GoFiles[i]))
		if err != nil {
			return nil, err
		}
		at := fset.File(f.Pos())
		s := &schema{fset: fset, file: at, source: source, pkg: pkg, types: info.Types, imports: importsOf(f, pkg), changes: &o.changes}
		s.find(f)
		texts[filepath.Join(p.Dir, p.GoFiles[i])] = s.text(token.Pos(at.Base()), token.Pos(at.Base()+at.Size()), s.nodes)
	}
	overlay, err := laid(temp, texts)
	if err != nil {
		return nil, err
	}
	o.program, err = tests(ctx, root, temp, overlay, name)
	o.args = append(o.args, "-test.failfast", "-test.short", "-test.v")
	return o, err
}

// laid writes texts into temp, and an overlay that puts each in the place of a file.
func laid(temp string, texts map[string]string) (overlay string, err error) {
	replace := map[string]string{}
	for i, path := range slices.Sorted(maps.Keys(texts)) {
		file := filepath.Join(temp, strconv.Itoa(i)+".go")
		if err := os.WriteFile(file, []byte(texts[path]), 0o600); err != nil {
			return "", err
		}
		replace[path] = file
	}
	data, _ := json.Marshal(map[string]any{"Replace": replace}) // texts have a form
	overlay = filepath.Join(temp, "overlay.json")
	return overlay, os.WriteFile(overlay, data, 0o600)
}
