package message

import "strings"

// Excerpt is the beginning of a text, of most characters at most, the mark of the cut
// included. A text that is cut is read no further than that, however long it is.
func Excerpt(text string, most int) string {
	count, keep := 0, 0
	for i := range text {
		if count++; count > most {
			return text[:keep] + "…"
		}
		if count == most {
			keep = i
		}
	}
	return text
}

// Line is Excerpt of a text whose lines and blanks are drawn together into one line.
func Line(text string, most int) string {
	return Excerpt(strings.Join(strings.Fields(text), " "), most)
}
