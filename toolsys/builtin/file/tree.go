package file

import (
	"context"
	"io/fs"
	"path"
	"strings"

	"github.com/spf13/afero"
)

// tree lists the files below a folder. Links are never followed, so that a walk
// stays where it began and ends (L6); .git is never entered.
type tree struct {
	fs   afero.Fs
	root string // with its links resolved
	// enter says whether a folder, named relative to root, may hold what is
	// sought; nil enters all.
	enter func(rel string) bool
	// ignore leaves out what .gitignore files name.
	ignore bool

	unreadable int
}

// found is a file below the root, or a link whatever it leads to.
type found struct {
	rel  string
	info fs.FileInfo
}

// files gives them folder by folder. A folder that cannot be read is counted and
// left out.
//
// Errors: that of ctx, or of the root.
func (t *tree) files(ctx context.Context) ([]found, error) {
	var all []found
	var rules ignoreRules
	if t.ignore {
		rules = t.rulesAbove()
	}
	err := t.list(ctx, "", rules, &all)
	return all, err
}

func (t *tree) list(ctx context.Context, rel string, rules ignoreRules, all *[]found) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	infos, err := afero.ReadDir(t.fs, path.Join(t.root, rel))
	if err != nil {
		if rel == "" {
			return err
		}
		t.unreadable++
		return nil
	}
	if t.ignore {
		rules = rules.with(t.fs, path.Join(t.root, rel))
	}
	for _, info := range infos {
		if err := t.visit(ctx, path.Join(rel, info.Name()), info, rules, all); err != nil {
			return err
		}
	}
	return nil
}

func (t *tree) visit(ctx context.Context, rel string, info fs.FileInfo, rules ignoreRules, all *[]found) error {
	switch {
	case info.Name() == ".git" || rules.ignored(path.Join(t.root, rel), info.IsDir()):
		return nil
	case !info.IsDir():
		*all = append(*all, found{rel, info})
		return nil
	case t.enter != nil && !t.enter(rel):
		return nil
	}
	return t.list(ctx, rel, rules, all)
}

// rulesAbove are those of the folders between the root and the top of the
// repository that it lies in, if it does.
func (t *tree) rulesAbove() ignoreRules {
	var dirs []string
	for dir := t.root; ; dir = path.Dir(dir) {
		if ok, _ := afero.Exists(t.fs, path.Join(dir, ".git")); ok {
			break
		}
		if dir == "/" {
			return nil
		}
		dirs = append([]string{path.Dir(dir)}, dirs...)
	}
	var rules ignoreRules
	for _, dir := range dirs {
		rules = rules.with(t.fs, dir)
	}
	return rules
}

// inside gives the file a link leads to, where that is a regular file within the
// root.
func (t *tree) inside(link found) (fs.FileInfo, bool) {
	target, err := follow(t.fs, path.Join(t.root, link.rel))
	if err != nil || !strings.HasPrefix(target, strings.TrimSuffix(t.root, "/")+"/") {
		return nil, false
	}
	info, err := t.fs.Stat(target)
	return info, err == nil && info.Mode().IsRegular()
}
