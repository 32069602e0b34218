package permission

import "strings"

// textCovered matches plain text: exact, with * for any text. A closing ":*"
// is the old prefix form, the words alone or followed by a blank or a colon; a
// closing " *" also covers the words alone.
func textCovered(pattern, text string) bool {
	if words, is := strings.CutSuffix(pattern, ":*"); is {
		return prefixed(words, text)
	}
	if words, is := strings.CutSuffix(pattern, " *"); is && star(words, text) {
		return true
	}
	return star(pattern, text)
}

// prefixed reports whether text is the words or goes on after a boundary.
func prefixed(words, text string) bool {
	if star(words, text) {
		return true
	}
	for _, boundary := range [...]string{" *", "\t*", "\n*", ":*"} {
		if star(words+boundary, text) {
			return true
		}
	}
	return false
}

// star matches text with a pattern whose only sign is *, any run of bytes.
// Backslash before a star takes it literally. It runs in time proportional to
// the product of the lengths, without recursion.
func star(pattern, text string) bool {
	p, t := 0, 0
	backP, backT := -1, 0
	for t < len(text) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			backP, backT = p, t
			p++
		case p < len(pattern) && width(pattern[p:], text[t]) > 0:
			p += width(pattern[p:], text[t])
			t++
		case backP >= 0:
			backT++
			p, t = backP+1, backT
		default:
			return false
		}
	}
	return strings.Trim(pattern[p:], "*") == ""
}

// width is how many bytes of the pattern the byte c uses up, 0 if it differs.
func width(pattern string, c byte) int {
	if pattern[0] == '\\' && len(pattern) > 1 && pattern[1] == '*' {
		if c == '*' {
			return 2
		}
		return 0
	}
	if pattern[0] == c {
		return 1
	}
	return 0
}

// contentCovered matches what a tool names as its content. Host names know no
// case and may end in a dot.
func contentCovered(pattern, content string) bool {
	if strings.HasPrefix(strings.ToLower(pattern), "domain:") {
		pattern, content = hostname(pattern), hostname(content)
	}
	return textCovered(pattern, content)
}

// hostname is the form in which hosts are compared.
func hostname(s string) string { return strings.TrimSuffix(strings.ToLower(s), ".") }
