package command

import (
	"regexp"
	"strings"

	"toolbench/toolsys/shellcmd/posixre"
)

// matcher finds patterns in lines, for grep and rg.
type matcher struct {
	re    *regexp.Regexp
	word  bool // -w: no word character on either side
	whole bool // -x: the whole line
}

// grepMatcher joins patterns, each of which may hold several lines.
func grepMatcher(patterns []string, syntax posixre.Syntax, fixed, ignoreCase, word, whole bool) (*matcher, error) {
	var parts []string
	for _, p := range patterns {
		for line := range strings.SplitSeq(p, "\n") {
			if fixed {
				parts = append(parts, regexp.QuoteMeta(line))
				continue
			}
			text, err := posixre.Translate(line, syntax)
			if err != nil {
				return nil, err
			}
			parts = append(parts, text)
		}
	}
	return newMatcher(parts, ignoreCase, word, whole)
}

// newMatcher takes patterns in Go's syntax.
func newMatcher(parts []string, ignoreCase, word, whole bool) (*matcher, error) {
	text := "(?:" + strings.Join(parts, ")|(?:") + ")"
	if whole {
		text = "^(?:" + text + ")$"
	}
	if ignoreCase {
		text = "(?i)" + text
	}
	re, err := regexp.Compile(text)
	if err != nil {
		return nil, err
	}
	re.Longest()
	return &matcher{re: re, word: word, whole: whole}, nil
}

func (m *matcher) match(line string) bool {
	if !m.word {
		return m.re.MatchString(line)
	}
	return m.find(line, 0) != nil
}

// find gives the first match at or behind from.
func (m *matcher) find(line string, from int) []int {
	for from <= len(line) {
		loc := m.re.FindStringIndex(line[from:])
		if loc == nil {
			return nil
		}
		begin, end := from+loc[0], from+loc[1]
		if !m.word || !wordAt(line, begin-1) && !wordAt(line, end) {
			if from == 0 || m.re.String()[0] != '^' {
				return []int{begin, end}
			}
			return nil
		}
		from = begin + 1
	}
	return nil
}

func wordAt(s string, i int) bool {
	if i < 0 || i >= len(s) {
		return false
	}
	c := s[i]
	return c == '_' || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' || c >= 0x80
}

// all gives the matches that are not empty.
func (m *matcher) all(line string) [][]int {
	if !m.word {
		var out [][]int
		for _, loc := range m.re.FindAllStringIndex(line, -1) {
			if loc[0] < loc[1] {
				out = append(out, loc)
			}
		}
		return out
	}
	var out [][]int
	for from := 0; ; {
		loc := m.find(line, from)
		if loc == nil {
			return out
		}
		if loc[0] < loc[1] {
			out = append(out, loc)
		}
		from = max(loc[1], loc[0]+1)
	}
}
