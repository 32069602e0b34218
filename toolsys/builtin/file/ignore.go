package file

import (
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/spf13/afero"
)

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

// parseIgnore reads a .gitignore. It knows comments, negation, folders-only,
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
		rule.pattern = strings.NewReplacer("{", `\{`, "}", `\}`).Replace(strings.TrimPrefix(line, "/"))
		if !anchored {
			rule.pattern = "**/" + rule.pattern
		}
		if line != "" && doublestar.ValidatePattern(rule.pattern) {
			rules = append(rules, rule)
		}
	}
	return rules
}

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

// ignored tells whether a file or folder is left out.
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
