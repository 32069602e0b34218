package file

import (
	"context"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/spf13/afero"
)

// tree lists the files below a folder. Links are never followed, so that a walk
// stays where it began and ends (L6); .git is never entered.
type tree struct {
	fs   afero.Fs
	root string // with its links resolved
	// enter reports whether a folder, named relative to root, may hold what is
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

// ignoreRule is one line of a .gitignore.
type ignoreRule struct {
	base    string // the folder of the .gitignore
	pattern string // relative to base
	again   bool   // !pattern: not ignored after all
	folders bool   // pattern/: folders only
}

// ignoreRules are those in force in a folder; of those that match, the last one
// decides.
type ignoreRules []ignoreRule

// with adds the rules of a folder's own .gitignore, if it has one.
func (rs ignoreRules) with(fs afero.Fs, dir string) ignoreRules {
	content, err := afero.ReadFile(fs, path.Join(dir, ".gitignore"))
	if err != nil {
		return rs
	}
	return append(slices.Clip(rs), parseIgnore(dir, string(content))...)
}

// parseIgnore reads a .gitignore. It supports comments, negation, folders-only,
// anchored patterns and **; a pattern that does not parse is passed over, as git
// does.
func parseIgnore(dir, content string) []ignoreRule {
	var rules []ignoreRule
	for line := range strings.Lines(content) {
		line = trimIgnore(line)
		if line == "" || line[0] == '#' {
			continue
		}
		rule := ignoreRule{base: dir}
		line, rule.again = strings.CutPrefix(line, "!")
		line, rule.folders = strings.CutSuffix(line, "/")
		anchored := strings.Contains(line, "/")
		rule.pattern = asDoublestar.Replace(strings.TrimPrefix(line, "/"))
		if !anchored {
			rule.pattern = "**/" + rule.pattern
		}
		if strings.HasSuffix(rule.pattern, "/**") {
			rule.pattern += "/*" // what is in a folder, and not the folder
		}
		if line != "" && doublestar.ValidatePattern(rule.pattern) {
			rules = append(rules, rule)
		}
	}
	return rules
}

// asDoublestar writes git's signs for a library that has alternatives, no classes by name, and a slash in [!a].
var asDoublestar = strings.NewReplacer(`\\`, `\\`, `\[`, `\[`, `\{`, `\{`, `\}`, `\}`, "[!", "[!/", "[^", "[^/", "{", `\{`, "}", `\}`, "[:alnum:]", "0-9A-Za-z", "[:alpha:]", "A-Za-z", "[:digit:]", "0-9",
	"[:lower:]", "a-z", "[:upper:]", "A-Z", "[:xdigit:]", "0-9A-Fa-f", "[:blank:]", " \t", "[:space:]", " \t\n\v\f\r")

// trimIgnore takes the line's ending and trailing spaces off, but not a space
// that is escaped.
func trimIgnore(line string) string {
	line = strings.TrimRight(line, "\r\n")
	bare := strings.TrimRight(line, " ")
	if strings.HasSuffix(bare, `\`) && bare != line {
		return bare + " "
	}
	return bare
}

// ignored reports whether a file or folder is left out.
func (rs ignoreRules) ignored(abs string, folder bool) bool {
	for _, r := range slices.Backward(rs) {
		if r.folders && !folder {
			continue
		}
		rel, below := strings.CutPrefix(abs, strings.TrimSuffix(r.base, "/")+"/")
		if below && doublestar.MatchUnvalidated(r.pattern, rel) {
			return !r.again
		}
	}
	return false
}
