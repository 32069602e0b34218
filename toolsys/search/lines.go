package search

import (
	"slices"
	"strings"
)

// lines are many texts behind each other, so that a word is looked for in all of them at
// once.
type lines struct {
	text   strings.Builder
	ends   []int     // of each
	bytes  [256]bool // that occur
	length int       // of the longest
}

func (l *lines) add(text string) {
	l.text.WriteString(text)
	l.ends = append(l.ends, l.text.Len())
	l.length = max(l.length, len(text))
	for i := range len(text) {
		l.bytes[text[i]] = true
	}
}

// with gives each text that has a word, by its place, and whether it begins with it.
func (l *lines) with(word string, each func(line int, begins bool)) {
	if !l.may(word) {
		return
	}
	text := l.text.String()
	from, line := 0, 0
	for line < len(l.ends) {
		at := strings.Index(text[from:], word)
		if at < 0 {
			return
		}
		at += from
		for l.ends[line] <= at && line+1 < len(l.ends) {
			line++
		}
		if at+len(word) > l.ends[line] { // it goes over an end
			from = at + 1
			continue
		}
		each(line, at == beginOf(l.ends, line))
		from = l.ends[line]
		line++
	}
}

// beginOf is where the i-th of several things begins that lie behind each other.
func beginOf[E int | int32](ends []E, i int) E {
	if i == 0 {
		return 0
	}
	return ends[i-1]
}

// may reports whether any text may have a word: sentences have blanks, which names have not.
func (l *lines) may(word string) bool {
	return len(word) <= l.length && !slices.ContainsFunc([]byte(word), func(b byte) bool { return !l.bytes[b] })
}
