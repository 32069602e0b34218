package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// operated is a package whose operators are changed, one at a time.
type operated struct {
	dir, test string // the folder of its source, its tests as one program
	args      []string
	changes   []change
	limit     time.Duration
}

// operators changes each operator of a package in turn, runs the tests of the package, and
// prints the changes that no test notices. What no test reaches is counted alone. Running out
// of time, ten times that of all the tests, counts as noticed. It fails where less than the
// least share, in percent, of what is reached is noticed.
func operators(ctx context.Context, root, temp, pkg string, least float64) error {
	o, err := operate(ctx, root, temp, pkg)
	if err != nil {
		return err
	}
	reached, err := o.reached(ctx, temp)
	if err != nil {
		return err
	}
	killed, alive := 0, 0
	for _, c := range o.changes {
		if !reached[c.id] {
			continue
		}
		noticed := o.run(ctx, "MUTANTS_CHANGE="+strconv.Itoa(c.id)) != nil
		if ctx.Err() != nil {
			return ctx.Err()
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

// run runs the tests once.
func (o *operated) run(ctx context.Context, env string) error {
	ctx, cancel := context.WithTimeout(ctx, o.limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, o.test, o.args...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = o.dir, append(os.Environ(), env), time.Second
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}

// reached runs the tests with no change on. It sets how long each later run may take.
func (o *operated) reached(ctx context.Context, temp string) (map[int]bool, error) {
	began, log := time.Now(), filepath.Join(temp, "reached")
	o.limit = time.Hour
	if err := o.run(ctx, "MUTANTS_LOG="+log); err != nil {
		return nil, fmt.Errorf("the tests fail with no change: %w", err)
	}
	o.limit = max(10*time.Since(began), 4*time.Second)
	data, err := os.ReadFile(log)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	ids := map[int]bool{}
	for _, line := range strings.Fields(string(data)) {
		id, err := strconv.Atoi(line)
		if err != nil {
			return nil, err
		}
		ids[id] = true
	}
	return ids, nil
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
	o := &operated{dir: p.Dir, test: filepath.Join(temp, "changed.test"), args: []string{"-test.failfast"}}
	texts := map[string]string{"changeison.go": fmt.Sprintf(switchboard, pkg.Name())}
	for i, f := range files {
		source, err := os.ReadFile(filepath.Join(p.Dir, p.GoFiles[i]))
		if err != nil {
			return nil, err
		}
		at := fset.File(f.Pos())
		s := &schema{fset: fset, file: at, source: source, pkg: pkg, types: info.Types, imports: importsOf(f, pkg), changes: &o.changes}
		s.find(f)
		texts[p.GoFiles[i]] = s.text(token.Pos(at.Base()), token.Pos(at.Base()+at.Size()), s.nodes)
	}
	overlay, err := laid(temp, p.Dir, texts)
	if err != nil {
		return nil, err
	}
	return o, o.compile(ctx, root, overlay, name)
}

// laid writes texts into temp, and an overlay that puts them into dir.
func laid(temp, dir string, texts map[string]string) (overlay string, err error) {
	replace := map[string]string{}
	for name, text := range texts {
		file := filepath.Join(temp, name)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			return "", err
		}
		replace[filepath.Join(dir, name)] = file
	}
	data, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	overlay = filepath.Join(temp, "overlay.json")
	return overlay, os.WriteFile(overlay, data, 0o600)
}

// compile makes the tests one program. Those of rapid keep no failing case, and take no time
// to make one small.
func (o *operated) compile(ctx context.Context, root, overlay, name string) error {
	cmd := exec.CommandContext(ctx, "go", "test", "-c", "-vet=off", "-overlay", overlay, "-o", o.test, name)
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s does not build with its changes: %w\n%s", name, err, out)
	}
	if _, err := os.Stat(o.test); err != nil {
		return fmt.Errorf("%s has no tests", name)
	}
	cmd = exec.CommandContext(ctx, "go", "list", "-test", "-deps", name)
	cmd.Dir = root
	deps, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("go list -test %s: %w", name, err)
	}
	if bytes.Contains(deps, []byte("pgregory.net/rapid\n")) {
		o.args = append(o.args, "-rapid.nofailfile", "-rapid.shrinktime=100ms")
	}
	return nil
}
