package render

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Safe makes a text one harmless line: what would move the cursor, change
// colours, reorder or hide text is spelled out as an escape (\n, \x1b, \u202e),
// and bytes that are no UTF-8 become U+FFFD. Safe text is unchanged.
func Safe(s string) string {
	if !suspicious(s) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		b.WriteString(spelled(r))
	}
	return b.String()
}

// SafeLines is Safe line by line: line feeds stay, so that a text of several
// lines remains readable. A carriage return is spelled out, for on a terminal
// what follows it would overwrite the line.
func SafeLines(s string) []string {
	lines := strings.Split(strings.TrimSuffix(s, "\n"), "\n")
	for i, line := range lines {
		lines[i] = Safe(line)
	}
	return lines
}

func suspicious(s string) bool {
	return !utf8.ValidString(s) || strings.ContainsFunc(s, func(r rune) bool { return !Harmless(r) })
}

// Harmless reports whether a character can be shown as it is: no control, no
// line or paragraph separator, no invisible format character. Joiners are
// harmless, since emoji and several scripts are spelled with them.
func Harmless(r rune) bool {
	if r == '\u200c' || r == '\u200d' {
		return true
	}
	return !unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp)
}

func spelled(r rune) string {
	switch {
	case Harmless(r):
		return string(r)
	case r == '\n':
		return `\n`
	case r == '\r':
		return `\r`
	case r == '\t':
		return `\t`
	case r < 0x100:
		return fmt.Sprintf(`\x%02x`, r)
	case r > 0xffff:
		return fmt.Sprintf(`\U%08x`, r)
	}
	return fmt.Sprintf(`\u%04x`, r)
}

// Shown gives the lines of a text as a screen has them: harmless, with tabs as blanks and
// without the carriage returns that end lines elsewhere.
func Shown(s string) []string {
	s = strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\t", "    ")
	return SafeLines(s)
}

// ShownLine is Shown for a text that has one line only.
func ShownLine(s string) string { return Safe(strings.ReplaceAll(s, "\t", "    ")) }
