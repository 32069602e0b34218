package file

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/spf13/afero"

	"toolbench/toolsys/permission"
	"toolbench/toolsys/schedule"
	"toolbench/toolsys/tool"
)

// place is a file or folder that a call named.
type place struct {
	abs  string // absolute and cleaned
	real string // abs with its links followed: what is opened, and what is remembered
	// c has the folders the conversation may work in, and its rules; of others, and of what these forbid, an error must
	// not show what there is, since it may be given before permission is.
	c *tool.Context
}

// unc reports whether a name, as written or made absolute, is another machine's
// (L6). Looking at the text alone is the point.
func unc(name string, c *tool.Context) bool {
	return permission.IsUNC(name) || permission.IsUNC(c.Abs(name))
}

// subjectPath is how permission rules see the name.
func subjectPath(name string, c *tool.Context) string {
	if permission.IsUNC(name) {
		return name
	}
	return c.Abs(name)
}

// locate gives the place a name leads to. It is the only way from a name to the
// filesystem, and refuses what must not get there.
func (d Deps) locate(name string, c *tool.Context) (place, *tool.Refusal) {
	abs := c.Abs(name)
	switch {
	case unc(name, c):
		return place{}, refuse(CodePath, "%s is a UNC path. Files on another machine's share are not opened.", name)
	case strings.TrimSpace(name) == "":
		return place{}, refuse(CodePath, "The path is empty.")
	case strings.ContainsRune(name, 0):
		return place{}, refuse(CodePath, "The path contains a NUL character.")
	case !path.IsAbs(abs):
		return place{}, refuse(CodePath, "%s cannot be made an absolute path.", name)
	}
	real, err := follow(d.FS, abs)
	if err != nil {
		return place{}, refuse(CodePath, "%s cannot be followed: %v.", name, err)
	}
	return place{abs: abs, real: real, c: c}, nil
}

// looked makes a Validate of what a call plans. A UNC path passes without a look: the
// call refuses it, after permission (L6).
func looked[In, Plan any](name func(In) string, plan func(In, *tool.Context) (Plan, *tool.Refusal)) func(In, *tool.Context) *tool.Refusal {
	return func(in In, c *tool.Context) *tool.Refusal {
		if unc(name(in), c) {
			return nil
		}
		_, refusal := plan(in, c)
		return refusal
	}
}

// acting makes a Call of what a call plans, which Validate has looked at before, and of the act that
// follows.
func acting[In, Plan, Out any](
	plan func(In, *tool.Context) (Plan, *tool.Refusal), act func(context.Context, In, Plan, *tool.Context) (Out, error),
) func(context.Context, In, *tool.Context) (Out, error) {
	return func(ctx context.Context, in In, c *tool.Context) (out Out, err error) {
		p, refusal := plan(in, c)
		if refusal != nil {
			return out, failure(refusal)
		}
		return act(ctx, in, p, c)
	}
}

// subjectOf makes a Subject of the path that a call names, for which rules about kin count too.
func subjectOf[In any](name func(In) string, kin ...string) func(In, *tool.Context) tool.Subject {
	return func(in In, c *tool.Context) tool.Subject {
		return tool.Subject{Paths: []string{subjectPath(name(in), c)}, Kin: kin}
	}
}

// searching makes a Subject of the file or folder that a call searches.
func searching[In any](d Deps, name func(In) string) func(In, *tool.Context) tool.Subject {
	return func(in In, c *tool.Context) tool.Subject {
		s := subjectOf(name, "Read")(in, c)
		p, refusal := d.locate(name(in), c)
		s.Tree = refusal != nil || d.folder(p) == nil
		return s
	}
}

// onFile completes the definition of a tool that works on one file, which a member of the input
// names: its Subject, and how observers and a screen see it.
func onFile[In, Out any](def tool.Def[In, Out], member string, name func(In) string, verb string, kin ...string) *tool.Tool {
	def.Subject = subjectOf(name, kin...)
	def.Shaping.Backfill = absolute(member)
	def.View.Summary = func(in In) string { return brief(name(in)) }
	def.View.Activity = func(in In) string { return doing(verb, name(in)) }
	return tool.Must(def)
}

// changesFile are the traits of a tool that looks at one file and changes it.
func changesFile[In any](d Deps, name func(In) string) tool.Traits[In] {
	return tool.Traits[In]{EditsFiles: true, Effects: func(in In, c *tool.Context) tool.Effects {
		return tool.Effects{Reads: d.lookups(name(in), c), Writes: append(d.keys(name(in), c), schedule.OrderKey)}
	}}
}

// keys are the names under which a call's effects are compared (J8): two names
// that lead to one file must not look like two files.
func (d Deps) keys(name string, c *tool.Context) []string {
	if unc(name, c) {
		return []string{subjectPath(name, c)}
	}
	keys, _ := schedule.Keys(d.FS, c.Abs(name)) // what cannot be followed is refused
	return keys
}

// treeKeys stand for a folder and all below it. They hold what is looked at where
// there is no such folder.
func (d Deps) treeKeys(name string, c *tool.Context) []string {
	return schedule.Tree(d.lookups(name, c))
}

// ignoreKeys are the files above a folder that list what is left out in it.
func (d Deps) ignoreKeys(name string, c *tool.Context) []string {
	var keys []string
	for _, folder := range d.keys(name, c) {
		for dir := folder; dir != "/" && dir != "."; dir = path.Dir(dir) {
			above := path.Dir(dir)
			keys = append(keys, path.Join(above, ".gitignore"), path.Join(above, ".git"))
		}
	}
	return keys
}

// lookups are what a call reads that wants an existing file: where there is none,
// it names others of its folder.
func (d Deps) lookups(name string, c *tool.Context) []string {
	keys := d.keys(name, c)
	p, refusal := d.locate(name, c)
	if refusal != nil {
		return keys
	}
	if ok, err := afero.Exists(d.FS, p.real); err == nil && ok {
		return keys
	}
	return append(keys, strings.TrimSuffix(path.Dir(p.real), "/")+"/**")
}

// shown is a path as the model should write it: relative to the working
// directory where it lies below it, else absolute.
func shown(abs, dir string) string {
	if rest, below := strings.CutPrefix(abs, strings.TrimSuffix(dir, "/")+"/"); below && dir != "" {
		return rest
	}
	return abs
}

// brief is a path for one line on a screen: its end is kept, which means more than its
// start.
func brief(p string) string {
	runes := []rune(p)
	if len(runes) <= tool.SummaryChars {
		return p
	}
	return "…" + string(runes[len(runes)-tool.SummaryChars+1:])
}

// follow gives an absolute path with every link in it resolved.
//
// Errors: too many links, or a link to another machine's share (L6).
func follow(fs afero.Fs, p string) (string, error) {
	return schedule.Follow(fs, p, func(target, _ string) error {
		if permission.IsUNC(target) {
			return fmt.Errorf("a link leads to the UNC path %s", target)
		}
		return nil
	})
}

// Deps is what the family needs from outside.
type Deps struct {
	// FS holds the files: a host's disk or a simulated world. Links are followed
	// where it can read them (afero.LinkReader).
	FS afero.Fs
}

// Codes of the refusals that Validate gives (A1). They are stable: hooks and
// tests distinguish refusals by them and not by their wording.
const (
	CodePath       = 1  // the path is empty, cannot be made absolute, or is not local
	CodeMissing    = 2  // nothing is there
	CodeKind       = 3  // a folder where a file is needed, or the other way round
	CodeRange      = 4  // pages that make no range
	CodeNotRead    = 5  // the file exists and was not read, or only in part (B5)
	CodeChanged    = 6  // the file changed since it was read (B5)
	CodeSame       = 7  // old and new text are equal
	CodeNotFound   = 8  // the text to replace is not in the file
	CodeAmbiguous  = 9  // the text to replace is there more than once
	CodeExists     = 10 // a file is already there and has content
	CodePattern    = 11 // a glob or expression does not parse or leads out
	CodeType       = 12 // an unknown file type
	CodeNotebook   = 13 // not a notebook, or a notebook where another tool is meant
	CodeCell       = 14 // no such cell, or a cell edit that makes no sense
	CodeUnreadable = 15 // the filesystem gave an error
)

func refuse(code int, format string, args ...any) *tool.Refusal {
	return &tool.Refusal{Code: code, Message: fmt.Sprintf(format, args...)}
}

// failure is a refusal found when the call was already running: the world may
// have changed since validation, while a person was asked for permission.
func failure(r *tool.Refusal) error { return errors.New(r.Message) }
