package cli

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"toolbench/reports"
	"toolbench/scenarios"
	"toolbench/sim/scenario"
	"toolbench/sim/scenario/check"
	"toolbench/sim/scenario/run"
	"toolbench/toolsys/host"
	"toolbench/toolsys/search"
	"toolbench/toolsys/tool"
)

// entry is a case with where it came from.
type entry struct {
	Case
	// target is what names it on a command line: its name when embedded, else a path.
	// It also identifies the scenario from one run to the next.
	target   string
	embedded bool
	// broken is why it cannot be run, or nil.
	broken error
}

// suite are the embedded scenarios.
func (a *app) suite() []entry { return a.embedded(".") }

// embedded are the scenarios of some files of the suite.
func (a *app) embedded(files ...string) []entry {
	cases, broken := a.bench.Find(a.bench.Suite, files...)
	var entries []entry
	for _, c := range cases {
		c.File = "scenarios/" + c.File
		entries = append(entries, entry{Case: c, target: c.Name, embedded: true})
	}
	return append(entries, broke(broken, "scenarios")...)
}

// named are the embedded scenario of a name, with its cases that must fail, or one of them.
// Only files that have the name in a line of its own are read as scenarios, as all files of
// the suite have: to read the whole suite takes longer than most runs.
func (a *app) named(name string) []entry {
	base, _, _ := strings.Cut(name, "/")
	line := []byte("\nname: " + base + "\n")
	var files []string
	err := fs.WalkDir(a.bench.Suite, ".", func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := fs.ReadFile(a.bench.Suite, file)
		if bytes.Contains(text, line) {
			files = append(files, file)
		}
		return err
	})
	if err != nil || len(files) == 0 {
		return nil
	}
	return ofName(a.embedded(files...), name)
}

// ofName are the entries of a name.
func ofName(entries []entry, name string) []entry {
	return slices.DeleteFunc(entries, func(e entry) bool { return e.broken != nil || e.Name != name && !strings.HasPrefix(e.Name, name+"/") })
}

// find gives the entries of the arguments, each once, in the order of arguments.
func (a *app) find(args []string) ([]entry, error) {
	if len(args) == 0 {
		return a.suite(), nil
	}
	var found []entry
	type identity struct {
		target, name string
		broken       bool // a file may be sound and still clash with another
	}
	seen := map[identity]bool{}
	for _, arg := range args {
		entries, err := a.resolve(arg)
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			id := identity{e.target, e.Name, e.broken != nil}
			if !e.embedded {
				id.target = a.absolute(e.File)
			}
			if !seen[id] {
				seen[id] = true
				found = append(found, e)
			}
		}
	}
	return found, nil
}

// resolve gives what one argument names: an embedded scenario with its cases that must
// fail, or one of them, else a path.
func (a *app) resolve(arg string) ([]entry, error) {
	if named := a.named(arg); len(named) > 0 {
		return named, nil
	}
	info, err := os.Stat(a.path(arg))
	if err != nil {
		suite := a.suite()
		if named := ofName(slices.Clone(suite), arg); len(named) > 0 {
			return named, nil
		}
		return nil, a.unknown(arg, err, suite)
	}
	root, name := rooted(arg, info.IsDir())
	cases, broken := a.bench.Find(host.DirFS(a.path(root)), name)
	var entries []entry
	for _, c := range cases {
		c.File = filepath.Join(root, filepath.FromSlash(c.File))
		if play := c.Run; a.own != nil {
			c.Run = func(ctx context.Context, o run.Options) check.Result {
				o.Own = a.own
				return play(ctx, o)
			}
		}
		entries = append(entries, entry{Case: c, target: reports.AsPath(c.File)})
	}
	return append(entries, broke(broken, root)...), nil
}

// rooted splits a path into a folder to look from and a path below it. What is in the working directory is looked at
// from there, so that scenarios can point to files beside their folder.
func rooted(arg string, isDir bool) (root, name string) {
	clean := filepath.Clean(arg)
	switch {
	case filepath.IsLocal(clean):
		return ".", filepath.ToSlash(clean)
	case isDir:
		return clean, "."
	}
	return filepath.Dir(clean), filepath.Base(clean)
}

// path is an argument as the process sees it.
func (a *app) path(arg string) string {
	arg = cmp.Or(arg, ".")
	if filepath.IsAbs(arg) || a.Dir == "" {
		return arg
	}
	return filepath.Join(a.Dir, arg)
}

// absolute is the path of a file that is the same however an argument names it.
func (a *app) absolute(file string) string {
	path, _ := filepath.Abs(a.path(file)) // "" where there is no working directory any more
	return cmp.Or(path, file)
}

// unknown is the error of an argument that names nothing.
func (a *app) unknown(arg string, err error, suite []entry) error {
	if strings.ContainsAny(arg, `/\`) || strings.HasSuffix(arg, ".yaml") || strings.HasSuffix(arg, ".yml") || !errors.Is(err, fs.ErrNotExist) {
		return usage("%s: %s", arg, reason(err))
	}
	names := each(suite, func(e entry) string { return e.Name })
	return usage("unknown scenario %q%s; see `toolbench list`", arg, meant(alike(arg, names)))
}

// alike are names spelt much like a word, else a few that contain it.
func alike(word string, names []string) []string {
	if near := search.Nearest(word, names, nil, 1); len(near) > 0 {
		return near
	}
	var containing []string
	for _, name := range names {
		if word != "" && strings.Contains(name, word) && len(containing) < 3 {
			containing = append(containing, name)
		}
	}
	return containing
}

// broke makes entries of files that cannot be run: each becomes an outcome, so that every report has it.
func broke(problems []error, root string) []entry {
	var entries []entry
	for _, problem := range problems {
		file, problem := relocated(problem, root)
		name := strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))
		entries = append(entries, entry{Case: Case{Name: name, File: file}, target: reports.AsPath(file), broken: problem})
	}
	return entries
}

// relocated gives the file of an error as the user can open it, and the error with it.
// Errors that name no file stay as they are.
func relocated(err error, root string) (string, error) {
	at, ok := errors.AsType[*scenario.FileError](err)
	if !ok {
		return "", err
	}
	moved := *at
	moved.File = filepath.Join(root, filepath.FromSlash(at.File))
	moved.Remedy = strings.ReplaceAll(at.Remedy, " "+at.File+"`", " "+moved.File+"`") // a command to be copied
	return moved.File, &moved
}

// Bench is what the command line drives. The functions are given to it, so that its behaviour can be proved with
// scenarios that crash, hang or differ, which the bench itself must never produce.
type Bench struct {
	// Suite holds the embedded scenarios.
	Suite fs.FS
	// Find gives the scenarios of files and folders, in the order of their paths,
	// and what is wrong with those that cannot be read.
	Find func(fsys fs.FS, paths ...string) ([]Case, []error)
	// Update gives a scenario's file with the expectations that failed brought up to
	// date, and the failures that only a person can settle.
	Update func(data []byte, failures []check.Failure) (updated []byte, left []check.Failure, err error)
}

// Case is one scenario that can be run.
type Case struct {
	Name, About string
	Tags        []string
	// File is where it stands, below the file system it was found in.
	File string
	Run  func(ctx context.Context, o run.Options) check.Result
	// Scenario is what can be served to other programs; nil for a case that must fail.
	Scenario *scenario.Scenario
}

// Scenarios is the bench with its embedded suite.
func Scenarios() Bench { return Bench{Suite: scenarios.Files, Find: find, Update: check.Update} }

func find(fsys fs.FS, paths ...string) ([]Case, []error) {
	found, errs := scenario.Find(fsys, paths...)
	var cases []Case
	for _, base := range found {
		for _, c := range run.Cases(base) {
			served := c.Scenario
			if c.Failing() != nil {
				served = nil
			}
			cases = append(cases, Case{Name: c.Name, About: c.About, Tags: c.Tags, File: c.File(), Run: c.Run, Scenario: served})
		}
	}
	return cases, errs
}

// each gives what f makes of each thing.
func each[T, U any](all []T, f func(T) U) []U { return tool.Each(all, f) }

// tryEach gives what f makes of each thing, or the first error.
func tryEach[T, U any](all []T, f func(T) (U, error)) ([]U, error) {
	made := make([]U, len(all))
	for i, one := range all {
		var err error
		if made[i], err = f(one); err != nil {
			return nil, err
		}
	}
	return made, nil
}
