package file

import (
	"path"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"toolbench/toolsys/tool"
)

// filter says which files Grep looks into, by name.
type filter struct {
	types []string // globs on the file's own name; none means any
	globs []nameGlob
}

type nameGlob struct {
	pattern string
	not     bool
}

// filterOf reads the glob and type members. Globs are separated by spaces; one
// without a slash speaks of the name at any depth, one with "!" in front leaves
// files out.
func filterOf(globs, kind string) (filter, *tool.Refusal) {
	if refusal := checkType(kind); refusal != nil {
		return filter{}, refusal
	}
	f := filter{types: fileTypes()[kind]}
	for word := range strings.FieldsSeq(globs) {
		word, not := strings.CutPrefix(word, "!")
		if refusal := checkPattern(word); refusal != nil {
			return filter{}, refusal
		}
		if !strings.Contains(word, "/") {
			word = "**/" + word
		}
		f.globs = append(f.globs, nameGlob{strings.TrimPrefix(word, "/"), not})
	}
	return f, nil
}

func (f filter) wants(rel string) bool { return f.wantsType(path.Base(rel)) && f.wantsGlob(rel) }

func (f filter) wantsType(name string) bool {
	for _, glob := range f.types {
		if doublestar.MatchUnvalidated(glob, name) {
			return true
		}
	}
	return len(f.types) == 0
}

// wantsGlob: the last glob that matches decides; where none does, a file is
// wanted unless some glob says what is.
func (f filter) wantsGlob(rel string) bool {
	wanted := true
	for _, g := range f.globs {
		if !g.not {
			wanted = false
		}
	}
	for _, g := range f.globs {
		if doublestar.MatchUnvalidated(g.pattern, rel) {
			wanted = !g.not
		}
	}
	return wanted
}
