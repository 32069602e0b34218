package render

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// String is what nodes show, as harmless text without colours or a width: what a search
// finds. With open, folds are open.
func String(nodes []Node, open bool) string { return strings.Join(plainLines(nodes, open), "\n") }

func plainLines(nodes []Node, open bool) (lines []string) {
	return slices.Concat(mapped(nodes, func(n Node) []string { return plain(n, open) })...)
}

func plain(n Node, open bool) []string {
	switch n := n.(type) {
	case Line:
		return []string{SpanText(n.Spans)}
	case Text:
		return Shown(n.Text)
	case Code:
		return Shown(n.Text)
	case Diff:
		return n.plain()
	case List:
		return mapped(n.Items, func(i Item) string { return SpanText(i.Spans) })
	case Group:
		return append([]string{SpanText(n.Head)}, plainLines(n.Nodes, open)...)
	case Fold:
		if open {
			return plainLines(n.Open, true)
		}
		return plainLines(n.Closed, false)
	case Table:
		return append([]string{shownRow(n.Heads)}, mapped(n.Rows, shownRow)...)
	case Image:
		return []string{n.String()}
	case Progress:
		return []string{n.String()}
	}
	return nil
}

// SpanText is a line's text.
func SpanText(spans []Span) string {
	var b strings.Builder
	for _, s := range spans {
		b.WriteString(ShownLine(s.Text))
	}
	return b.String()
}

func shownRow(cells []string) string { return strings.Join(mapped(cells, ShownLine), "  ") }

func (d Diff) plain() (lines []string) {
	for _, h := range d.Hunks {
		lines = append(lines, mapped(h.Lines, ShownLine)...)
	}
	if d.Cut {
		lines = append(lines, Onward)
	}
	return lines
}

// Onward stands where a change goes on.
const Onward = "… and more changes"

// String words what stands for an image.
func (i Image) String() string {
	return fmt.Sprintf("[%s, %s]", ShownLine(i.Media), Count(i.Bytes, "byte"))
}

// String words how far something is.
func (p Progress) String() string {
	text := strings.Join(Shown(p.Text), " ")
	if p.Total > 0 {
		return fmt.Sprintf("%d of %d %s", p.Done, p.Total, text)
	}
	return text
}

// Safe makes a text one harmless line: what would move the cursor, change
// colours, reorder or hide text is spelled out as an escape (\n, \x1b, \u202e),
// and bytes that are no UTF-8 become U+FFFD. Safe text is unchanged.
func Safe(s string) string {
	if utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return !Harmless(r) }) {
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
	return mapped(strings.Split(strings.TrimSuffix(s, "\n"), "\n"), Safe)
}

// Harmless reports whether a character can be shown as it is: no control, no
// line or paragraph separator, no invisible format character. Joiners are
// harmless, since emoji and several scripts are spelled with them.
func Harmless(r rune) bool {
	return r == '\u200c' || r == '\u200d' || !unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp)
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
