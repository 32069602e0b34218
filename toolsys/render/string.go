package render

import (
	"fmt"
	"strings"
)

// String is what nodes show, as harmless text without colours or a width: what a search
// finds. With open, folds are open.
func String(nodes []Node, open bool) string {
	return strings.Join(plainLines(nodes, open), "\n")
}

func plainLines(nodes []Node, open bool) (lines []string) {
	for _, n := range nodes {
		lines = append(lines, plain(n, open)...)
	}
	return lines
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
		lines := make([]string, len(n.Items))
		for i, item := range n.Items {
			lines[i] = SpanText(item.Spans)
		}
		return lines
	case Group:
		return append([]string{SpanText(n.Head)}, plainLines(n.Nodes, open)...)
	case Fold:
		if open {
			return plainLines(n.Open, true)
		}
		return plainLines(n.Closed, false)
	case Table:
		lines := []string{shownRow(n.Heads)}
		for _, row := range n.Rows {
			lines = append(lines, shownRow(row))
		}
		return lines
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

func shownRow(cells []string) string {
	return strings.Join(eachText(cells, ShownLine), "  ")
}

func (d Diff) plain() (lines []string) {
	for _, h := range d.Hunks {
		for _, l := range h.Lines {
			lines = append(lines, ShownLine(l))
		}
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
