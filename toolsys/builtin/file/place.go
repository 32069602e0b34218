package file

import (
	"fmt"
	"path"
	"strings"

	"github.com/spf13/afero"

	"toolbench/toolsys/footprint"
	"toolbench/toolsys/permission"
	"toolbench/toolsys/tool"
)

// place is a file or folder that a call named.
type place struct {
	abs  string // absolute and cleaned
	real string // abs with its links followed: what is opened, and what is remembered
	// roots are the folders the conversation may work in; elsewhere an error must
	// not tell what there is, since it may be given before permission is.
	roots []string
}

// unc tells whether a name, as written or made absolute, is another machine's
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

// locate says where a name leads. It is the only way from a name to the
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
	return place{abs: abs, real: real, roots: c.Roots}, nil
}

// keys are the names under which a call's effects are compared (J8): two names
// that lead to one file must not look like two files.
func (d Deps) keys(name string, c *tool.Context) []string {
	if unc(name, c) {
		return []string{subjectPath(name, c)}
	}
	keys, _ := footprint.Keys(d.FS, c.Abs(name)) // what cannot be followed is refused
	return keys
}

// treeKeys stand for a folder and all below it. They hold what is looked at where
// there is no such folder.
func (d Deps) treeKeys(name string, c *tool.Context) []string {
	return footprint.Tree(d.lookups(name, c))
}

// ignoreKeys are the files above a folder that say what is left out in it.
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

// changes are the effects of a call that looks at a file and changes it.
func (d Deps) changes(name string, c *tool.Context) tool.Effects {
	return tool.Effects{Reads: d.lookups(name, c), Writes: append(d.keys(name, c), footprint.Order)}
}

// shown is a path as the model should write it: relative to the working
// directory where it lies below it, else absolute.
func shown(abs, dir string) string {
	if rest, below := strings.CutPrefix(abs, strings.TrimSuffix(dir, "/")+"/"); below && dir != "" {
		return rest
	}
	return abs
}

// brief is a path for one line on a screen: its end says more than its start.
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
	return footprint.Follow(fs, p, func(target, _ string) error {
		if permission.IsUNC(target) {
			return fmt.Errorf("a link leads to the UNC path %s", target)
		}
		return nil
	})
}
