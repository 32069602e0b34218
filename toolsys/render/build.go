package render

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

func place(path string, line int) string {
	if line < 1 {
		return path
	}
	return path + ":" + strconv.Itoa(line)
}

// Folded shows a line where room is short, in place of nodes. Without nodes there is the
// line alone, which then hides nothing.
func Folded(head Line, nodes ...Node) []Node {
	if len(nodes) == 0 {
		return []Node{head}
	}
	return []Node{Fold{Closed: []Node{head}, Open: nodes}}
}

// Listed shows a line where room is short, in place of a list with an item of each thing.
// Without things there is nothing.
func Listed[T any](head string, things []T, item func(T) Item) []Node {
	if len(things) == 0 {
		return nil
	}
	list := List{Items: make([]Item, len(things))}
	for i, t := range things {
		list.Items[i] = item(t)
	}
	return Folded(Words(head, Dim), list)
}

// Brief shows at most so many lines of a text where room is short, none of them long, and
// all of it else.
func Brief(text string, most int, node func(text string) Node) []Node {
	text = strings.TrimRight(text, "\n")
	lines := strings.Split(text, "\n")
	left := len(lines) - most
	brief := make([]string, 0, most)
	for _, l := range lines[:min(most, len(lines))] {
		brief = append(brief, cutLine(l, briefWide))
	}
	closed := []Node{node(strings.Join(brief, "\n"))}
	switch {
	case left > 0:
		closed = append(closed, More(left))
	case strings.Join(brief, "\n") == text:
		return []Node{node(text)}
	}
	return []Node{Fold{Closed: closed, Open: []Node{node(text)}}}
}

// briefWide is how much of a line is shown where room is short, in bytes.
const briefWide = 400

// More is the line that counts what is left out.
func More(n int) Line { return Words("… "+Count(n, "more line"), Dim) }

// Count words a number of things.
func Count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	if strings.HasSuffix(what, "ch") {
		return fmt.Sprintf("%d %ses", n, what)
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// Plainly makes prose of a text.
func Plainly(role Role) func(string) Node {
	return func(text string) Node { return Text{Text: text, Role: role} }
}

// Hides reports whether some of the nodes show more when all is wanted.
func Hides(nodes []Node) bool {
	for _, n := range nodes {
		switch n := n.(type) {
		case Fold:
			if String(n.Closed, true) != String(n.Open, true) {
				return true
			}
		case Group:
			if Hides(n.Nodes) {
				return true
			}
		}
	}
	return false
}

// HasDiff reports whether a change is among the nodes.
func HasDiff(nodes []Node) bool {
	for _, n := range nodes {
		switch n := n.(type) {
		case Diff:
			return true
		case Fold:
			if HasDiff(n.Open) {
				return true
			}
		case Group:
			if HasDiff(n.Nodes) {
				return true
			}
		}
	}
	return false
}

// Bounds of what a tool may have drawn of one call: a result may be a whole file, and a
// line of it a megabyte.
const (
	mostLines = 2000
	mostWide  = 4000
	mostNodes = 400
)

// Bounded shortens what would take a screen for ever; each place that was cut is marked.
func Bounded(nodes []Node) []Node {
	if len(nodes) == 0 {
		return nil
	}
	return Each(fewer(nodes), boundText)
}

// fewer bounds how many nodes there are, and what they hold but for their texts: those are in all nodes shortened
// once, or a mark of what was left out would be.
func fewer(nodes []Node) []Node {
	if left := len(nodes) - mostNodes; left > 0 {
		nodes = append(nodes[:mostNodes:mostNodes], Words("… "+Count(left, "more part"), Dim))
	}
	bounded := make([]Node, len(nodes))
	for i, n := range nodes {
		bounded[i] = bound(n)
	}
	return bounded
}

func bound(n Node) Node {
	switch n := n.(type) {
	case List:
		if left := len(n.Items) - mostLines; left > 0 {
			n.Items = append(n.Items[:mostLines:mostLines], Item{Spans: More(left).Spans})
		}
		return n
	case Table:
		if left := len(n.Rows) - mostLines; left > 0 {
			n.Rows = append(n.Rows[:mostLines:mostLines], More(left).texts())
		}
		return n
	case Diff:
		n.Hunks, n.Cut = boundHunks(n)
		return n
	case Group:
		n.Nodes = fewer(n.Nodes)
		return n
	case Fold:
		n.Closed, n.Open = fewer(n.Closed), fewer(n.Open)
		return n
	}
	return n
}

func (l Line) texts() (texts []string) {
	for _, s := range l.Spans {
		texts = append(texts, s.Text)
	}
	return texts
}

func boundHunks(d Diff) (kept []Hunk, cut bool) {
	room := mostLines
	for _, h := range d.Hunks {
		if room <= 0 {
			return kept, true
		}
		if len(h.Lines) > room {
			h.Lines, d.Cut = h.Lines[:room], true
		}
		room -= len(h.Lines)
		kept = append(kept, h)
	}
	return kept, d.Cut
}

// boundText shortens a text to lines that can be looked at.
func boundText(text string) string {
	if len(text) <= mostWide && strings.Count(text, "\n") <= mostLines {
		return text
	}
	lines := strings.Split(text, "\n")
	left := len(lines) - mostLines
	if left > 0 {
		lines = lines[:mostLines]
	}
	for i, l := range lines {
		lines[i] = cutLine(l, mostWide)
	}
	if left > 0 {
		lines = append(lines, "… "+Count(left, "more line"))
	}
	return strings.Join(lines, "\n")
}

// cutLine shortens a line to so many bytes, and counts those that are left out.
func cutLine(line string, most int) string {
	if len(line) <= most {
		return line
	}
	cut := most
	for cut > 0 && !utf8.RuneStart(line[cut]) {
		cut--
	}
	return fmt.Sprintf("%s… (%s)", line[:cut], Count(len(line)-cut, "more byte"))
}

// Each gives the nodes with f applied to every text in them.
func Each(nodes []Node, f func(string) string) []Node {
	out := make([]Node, len(nodes))
	for i, n := range nodes {
		out[i] = each(n, f)
	}
	return out
}

func each(n Node, f func(string) string) Node {
	switch n := n.(type) {
	case Line:
		return Line{eachSpan(n.Spans, f)}
	case Text:
		n.Text = f(n.Text)
		return n
	case Code:
		n.Text, n.Language = f(n.Text), f(n.Language)
		return n
	case Diff:
		n.Language, n.Hunks = f(n.Language), eachHunk(n.Hunks, f)
		return n
	case List:
		items := make([]Item, len(n.Items))
		for i, item := range n.Items {
			items[i] = Item{item.Mark, eachSpan(item.Spans, f)}
		}
		return List{items}
	case Group:
		return Group{eachSpan(n.Head, f), Each(n.Nodes, f)}
	case Fold:
		return Fold{Each(n.Closed, f), Each(n.Open, f)}
	case Table:
		rows := make([][]string, len(n.Rows))
		for i, row := range n.Rows {
			rows[i] = eachText(row, f)
		}
		return Table{eachText(n.Heads, f), rows}
	case Image:
		n.Media = f(n.Media)
		return n
	case Progress:
		n.Text = f(n.Text)
		return n
	}
	return n
}

func eachText(texts []string, f func(string) string) []string {
	out := make([]string, len(texts))
	for i, t := range texts {
		out[i] = f(t)
	}
	return out
}

func eachSpan(spans []Span, f func(string) string) []Span {
	out := make([]Span, len(spans))
	for i, s := range spans {
		s.Text, s.Link.Path, s.Link.URL = f(s.Text), f(s.Link.Path), f(s.Link.URL)
		out[i] = s
	}
	return out
}

func eachHunk(hunks []Hunk, f func(string) string) []Hunk {
	out := make([]Hunk, len(hunks))
	for i, h := range hunks {
		h.Lines = eachText(h.Lines, f)
		out[i] = h
	}
	return out
}
