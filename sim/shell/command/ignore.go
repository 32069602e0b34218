package command

import (
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// ignoreRule is one line of a .gitignore, or one glob of rg's -g.
type ignoreRule struct {
	dir     string // where the file with the rule lies
	pattern string // for doublestar, against a name relative to dir
	negate  bool   // !
	onlyDir bool   // trailing slash
	fold    bool
	git     bool
}

// parseIgnore follows gitignore: a slash anywhere but at the end anchors the pattern to its directory,
// otherwise it matches at any depth.
func parseIgnore(line, dir string, fold bool) ignoreRule {
	r := ignoreRule{dir: dir, fold: fold}
	line, r.negate = strings.CutPrefix(line, "!")
	line = strings.TrimPrefix(line, `\`)
	line, r.onlyDir = strings.CutSuffix(line, "/")
	anchored := strings.Contains(line, "/")
	line = strings.TrimPrefix(line, "/")
	if !anchored {
		line = "**/" + line
	}
	if fold {
		line = strings.ToLower(line)
	}
	r.pattern = line
	return r
}

func (r ignoreRule) matches(name string, dir bool) bool {
	if r.onlyDir && !dir {
		return false
	}
	if r.fold {
		name = strings.ToLower(name)
	}
	ok, err := doublestar.Match(r.pattern, name)
	return err == nil && ok
}
