package file

import (
	"regexp"
	"strings"

	"toolbench/toolsys/tool"
)

// scanner finds the lines of a text that match.
type scanner struct {
	re        *regexp.Regexp
	prefix    string // every match begins with it
	multiline bool
}

// scannerOf compiles an expression. In multiline mode a dot matches line feeds
// too and a match may span lines; ^ and $ are a line's ends in both.
func scannerOf(in GrepIn) (scanner, *tool.Refusal) {
	flags := ""
	if in.IgnoreCase {
		flags += "i"
	}
	if in.Multiline {
		flags += "ms"
	}
	pattern := in.Pattern
	if flags != "" {
		pattern = "(?" + flags + ")" + pattern
	}
	re, err := regexp.Compile(pattern)
	if err != nil {
		return scanner{}, refuse(CodePattern, "The pattern is not a regular expression that can be used: %v. "+
			"The syntax is RE2: no look-around and no back-references; a literal brace or bracket needs a backslash.", err)
	}
	prefix, _ := re.LiteralPrefix()
	if strings.Contains(prefix, "\n") { // the file may have CRLF there
		prefix = ""
	}
	return scanner{re: re, prefix: prefix, multiline: in.Multiline}, nil
}

// hits are what was found in one file.
type hits struct {
	lines   []string // of the whole file
	matched []int    // indices of the lines that match, sorted
	count   int      // matching lines, or matches in multiline mode
}

// scan searches a text; false means that nothing matches.
func (s scanner) scan(t text) (hits, bool) {
	if !strings.Contains(t.body, s.prefix) {
		return hits{}, false
	}
	h := hits{lines: t.lines()}
	if s.multiline {
		s.scanWhole(&h)
	} else {
		s.scanLines(&h)
	}
	return h, h.count > 0
}

func (s scanner) scanLines(h *hits) {
	for i, line := range h.lines {
		if s.re.MatchString(line) {
			h.matched = append(h.matched, i)
		}
	}
	h.count = len(h.matched)
}

// scanWhole marks every line that a match touches. A match that is empty and
// lies behind the last line touches none.
func (s scanner) scanWhole(h *hits) {
	whole := strings.Join(h.lines, "\n")
	line, at := 0, 0 // the line that at lies in
	for _, m := range s.re.FindAllStringIndex(whole, -1) {
		line += strings.Count(whole[at:m[0]], "\n")
		at = m[0]
		last := line + strings.Count(whole[m[0]:max(m[0], m[1]-1)], "\n")
		for i := line; i <= last && i < len(h.lines); i++ {
			if n := len(h.matched); n == 0 || h.matched[n-1] < i {
				h.matched = append(h.matched, i)
			}
		}
		h.count++
	}
}
