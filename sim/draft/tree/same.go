package tree

import (
	"path"
	"slices"
	"strings"
)

// SameText says whether two results show the same lines of a file, however they number
// them. Whether there is a line behind the last line feed does not count.
func SameText(a, b string) bool {
	p, q := text(a, 1), text(b, 1)
	return p.from == q.from && slices.EqualFunc(p.lines, q.lines, func(x, y string) bool { return strings.TrimSuffix(x, "\r") == strings.TrimSuffix(y, "\r") })
}

// SameNames says whether two results of a search list the same files, or lines of
// files, in whatever order; dir is what relative paths are below.
func SameNames(a, b, dir string) bool { return slices.Equal(search(a, dir), search(b, dir)) }

func search(result, dir string) []string {
	var all []string
	for line := range strings.SplitSeq(strings.TrimSpace(result), "\n") {
		line = strings.TrimSuffix(line, "\r")
		if found.MatchString(line) || line == "" {
			continue
		}
		if !hit.MatchString(line) && isPath(line) {
			line = path.Clean(line)
		}
		all = append(all, strings.TrimPrefix(strings.TrimPrefix(line, dir+"/"), "./"))
	}
	slices.Sort(all)
	return slices.Compact(all)
}
