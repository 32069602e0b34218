package tree

import (
	"path"
	"regexp"
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
// files, in whatever order; dir is what relative paths are below. Where one searched a
// single file and leaves out its name, it is left out of the other too.
func SameNames(a, b, dir string) bool {
	p, q := search(a, dir), search(b, dir)
	return slices.Equal(p, q) || slices.Equal(p, nameless(q)) || slices.Equal(nameless(p), q)
}

// nameless takes the name of a file from its lines, if all are of the same one.
func nameless(lines []string) []string {
	var all []string
	for _, line := range lines {
		if line == "--" {
			all = append(all, line)
			continue
		}
		m := single.FindStringSubmatch(line)
		if m == nil || len(all) > 0 && !strings.HasPrefix(line, one(lines)) {
			return nil
		}
		all = append(all, m[2])
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// single is a line with a file's name and a number in front.
var single = regexp.MustCompile(`^([^:]*?)[:-](\d{1,7}[:-].*)$`)

// one is the name in front of the first line that has one.
func one(lines []string) string {
	for _, line := range lines {
		if m := single.FindStringSubmatch(line); m != nil {
			return m[1]
		}
	}
	return ""
}

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
