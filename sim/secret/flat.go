package secret

import "strings"

// joined and mailed are what flat takes out.
const (
	joined = "\r\n"
	mailed = "\r\n="
)

// flat reads a text with its lines joined, as of a value that YAML or a shell has
// broken over several, or mailed: with mail's own escapes (=41) taken off as well.
// It gives nil where there is neither.
func flat(s, out string) *view { return replaced(s, out, folded) }

// folded reads a line's end with the next one's indentation, or an escape of mail:
// what it stands for, and its length, 0 for none.
func folded(s string, i int) (string, int) {
	switch s[i] {
	case '\r', '\n':
		n := i
		for n < len(s) && (s[n] == '\r' || s[n] == '\n' || s[n] == ' ' || s[n] == '\t') {
			n++
		}
		return "", n - i
	case '=':
		if rest := s[i+1:]; strings.HasPrefix(rest, "\n") || strings.HasPrefix(rest, "\r\n") {
			return "", 1 + strings.IndexByte(rest, '\n') + 1
		}
		if c, ok := hexByte(s, i+1); ok {
			return string([]byte{c}), 3
		}
	}
	return "", 0
}
