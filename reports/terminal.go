package reports

import (
	"cmp"
	"fmt"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"

	"toolbench/toolsys/render"
)

// Terminal writes nodes as lines of a terminal. The zero value folds nothing to a width,
// has no colours and keeps folds closed.
type Terminal struct {
	// Width is that of a line; below 1 lines are as long as they are.
	Width int
	// Colour paints; Links makes places in files hyperlinks (OSC 8) where their paths are whole.
	Colour, ASCII, Links bool
	// Verbose opens folds.
	Verbose bool
}

// segment is a harmless text of one look.
type segment struct {
	text  string
	paint Paint
	link  string
}

// rolePaint are the colours of roles in a terminal.
var rolePaint = map[render.Role]Paint{
	render.Dim: Dim, render.Strong: Bold, render.Good: Green, render.Bad: Red, render.Warn: Yellow,
	render.Accent: Cyan, render.Tag: Dim, render.Agent: "35", render.Plan: "34",
}

// Lines draws nodes.
func (t Terminal) Lines(nodes []render.Node) []string { return slices.Concat(each(nodes, t.node)...) }

// below is the terminal for what stands behind so many columns.
func (t Terminal) below(columns int) Terminal {
	if t.Width > 0 {
		t.Width = max(t.Width-columns, 2)
	}
	return t
}

func (t Terminal) node(n render.Node) []string {
	switch n := n.(type) {
	case render.Line:
		return t.line(n.Spans)
	case render.Text:
		return t.text(n)
	case render.Code:
		return t.code(n)
	case render.Diff:
		return t.diff(n)
	case render.List:
		return t.list(n)
	case render.Group:
		return append(t.line(n.Head), t.Hung("  ", n.Nodes)...)
	case render.Fold:
		if t.Verbose {
			return t.Lines(n.Open)
		}
		return t.Lines(n.Closed)
	case render.Table:
		return t.table(n)
	case render.Image:
		return t.fold([]segment{{text: n.String(), paint: Dim}})
	case render.Progress:
		return t.fold([]segment{{text: t.bar(n) + n.String(), paint: Dim}})
	}
	return nil
}

// Hung draws nodes behind a sign: the first line follows first, the others stand below it.
func (t Terminal) Hung(first string, nodes []render.Node) []string {
	lines, rest := t.below(Width(first)).Lines(nodes), strings.Repeat(" ", Width(first))
	for i := range lines {
		lines[i] = first + lines[i]
		first = rest
	}
	return lines
}

func (t Terminal) line(spans []render.Span) []string {
	return t.fold(each(spans, func(s render.Span) segment {
		return segment{render.ShownLine(s.Text), rolePaint[s.Role], t.target(s.Link)}
	}))
}

func (t Terminal) text(n render.Text) []string {
	line := func(l string) []string { return t.fold([]segment{{text: l, paint: rolePaint[n.Role]}}) }
	return slices.Concat(each(render.Shown(n.Text), line)...)
}

func (t Terminal) code(n render.Code) (lines []string) {
	rows := coloured(n.Language, render.Shown(n.Text), t.Colour)
	wide := len(strconv.Itoa(n.From + len(rows)))
	for i, row := range rows {
		if n.From == 0 {
			lines = append(lines, t.fold(row)...)
			continue
		}
		lines = append(lines, t.gutter(fmt.Sprintf("%*d  ", wide, n.From+i), Dim, row)...)
	}
	return lines
}

// gutter draws a row behind a sign; what does not fit stands below it.
func (t Terminal) gutter(sign string, paint Paint, row []segment) (lines []string) {
	for _, part := range t.below(len(sign)).fold(row) {
		lines = append(lines, paint.On(sign, t.Colour)+part)
		sign = strings.Repeat(" ", len(sign))
	}
	return lines
}

// The paints of a change: its signs, and what is behind the lines where there are colours.
const (
	addedBehind   = "48;5;22"
	removedBehind = "48;5;52"
)

func (t Terminal) diff(n render.Diff) (lines []string) {
	for i, h := range n.Hunks {
		if i > 0 {
			lines = append(lines, t.fold([]segment{{text: cutMark(t.ASCII), paint: Dim}})...)
		}
		lines = append(lines, t.hunk(h, n.Language)...)
	}
	if n.Cut {
		lines = append(lines, t.fold([]segment{{text: render.Onward, paint: Dim}})...)
	}
	return lines
}

func (t Terminal) hunk(h render.Hunk, language string) (lines []string) {
	rows := numbered(h)
	looks := coloured(language, each(rows, func(r numberedLine) string { return r.text }), t.Colour)
	wide := 0
	for _, r := range rows {
		wide = max(wide, len(r.number))
	}
	for i, r := range rows {
		paint, behind := Plain, ""
		switch r.sign {
		case "+":
			paint, behind = Green, addedBehind
		case "-":
			paint, behind = Red, removedBehind
		}
		gutter := fmt.Sprintf("%*s %s ", wide, r.number, r.sign)
		if wide == 0 {
			gutter = r.sign + " "
		}
		lines = append(lines, t.gutter(gutter, paint, over(looks[i], behind))...)
	}
	return lines
}

// over puts a colour behind segments.
func over(row []segment, behind string) []segment {
	if behind == "" {
		return row
	}
	return each(row, func(s segment) segment {
		s.paint = Paint(strings.Trim(string(s.paint)+";"+behind, ";"))
		return s
	})
}

// numberedLine is a line of a change: removed lines have their old number, others the new.
type numberedLine struct{ number, sign, text string }

func numbered(h render.Hunk) (rows []numberedLine) {
	before, after := h.OldStart, h.NewStart
	for _, l := range h.Lines {
		l = cmp.Or(render.ShownLine(l), " ")
		row := numberedLine{sign: l[:1], text: l[1:]}
		n := after
		switch row.sign {
		case "-":
			n = before
			before++
		case "+":
			after++
		default:
			if row.sign != " " {
				row.sign, row.text = " ", l
			}
			before++
			after++
		}
		if h.NewStart > 0 || h.OldStart > 0 {
			row.number = strconv.Itoa(n)
		}
		rows = append(rows, row)
	}
	return rows
}

// marks are those of items, and where only ASCII can be shown.
var marks = map[render.Mark][2]string{
	render.Bullet: {"• ", "- "}, render.Pending: {"☐ ", "[ ] "}, render.Active: {"▶ ", "[>] "}, render.Done: {"☑ ", "[x] "},
}

func (t Terminal) list(n render.List) (lines []string) {
	look := 0
	if t.ASCII {
		look = 1
	}
	for _, item := range n.Items {
		lines = append(lines, t.Hung(marks[item.Mark][look], []render.Node{render.Line{Spans: item.Spans}})...)
	}
	return lines
}

// table sets columns as wide as their cells, and cuts what passes the width.
func (t Terminal) table(n render.Table) (lines []string) {
	rows := append([][]string{n.Heads}, n.Rows...)
	var wide []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(wide) {
				wide = append(wide, 0)
			}
			wide[i] = max(wide[i], Width(t.cell(cell)))
		}
	}
	for i, row := range rows {
		text := ""
		for k, cell := range row {
			text += Pad(t.cell(cell), wide[k]+2)
		}
		paint := Plain
		if i == 0 {
			paint = Bold
		}
		lines = append(lines, t.fold([]segment{{text: strings.TrimRight(text, " "), paint: paint}})...)
	}
	return lines
}

func (t Terminal) cell(text string) string {
	text = render.ShownLine(text)
	if t.ASCII {
		text = plainSigns.Replace(text)
	}
	return text
}

const barColumns = 20

func (t Terminal) bar(p render.Progress) string {
	if p.Total < 1 {
		return ""
	}
	done := min(max(p.Done, 0), p.Total) * barColumns / p.Total
	full, empty := "█", "░"
	if t.ASCII {
		full, empty = "#", "."
	}
	return strings.Repeat(full, done) + strings.Repeat(empty, barColumns-done) + " "
}

// fold breaks a line of segments into lines of the width and paints them.
func (t Terminal) fold(row []segment) []string {
	if t.ASCII { // before it is measured: what replaces a sign may be longer
		row = slices.Clone(row)
		for i := range row {
			row[i].text = plainSigns.Replace(row[i].text)
		}
	}
	plain := ""
	for _, s := range row {
		plain += s.text
	}
	var lines []string
	for i, part := range Fold(plain, t.Width) {
		if i > 0 && strings.HasPrefix(plain, " ") { // the blank at a break is lost
			plain = plain[1:]
			_, row = t.take(row, 1)
		}
		var line string
		line, row = t.take(row, len(part))
		lines, plain = append(lines, line), plain[len(part):]
	}
	return lines
}

// take paints so many bytes of segments and gives those that are left.
func (t Terminal) take(row []segment, left int) (string, []segment) {
	var b strings.Builder
	for left > 0 && len(row) > 0 {
		n := min(left, len(row[0].text))
		b.WriteString(t.painted(row[0], row[0].text[:n]))
		left -= n
		rest := row[0]
		if rest.text = rest.text[n:]; rest.text == "" {
			row = row[1:]
		} else {
			row = append([]segment{rest}, row[1:]...)
		}
	}
	return b.String(), row
}

func (t Terminal) painted(s segment, text string) string {
	text = s.paint.On(text, t.Colour)
	if s.link == "" {
		return text
	}
	return "\x1b]8;;" + s.link + "\x1b\\" + text + "\x1b]8;;\x1b\\"
}

// plainSigns replace the signs of our own lines where only ASCII can be shown.
var plainSigns = strings.NewReplacer("…", "...", "×", "x")

// target is where a link leads in a terminal, "" where links are not asked for. It is
// escaped, so that it ends no sequence.
func (t Terminal) target(l render.Link) string {
	if !t.Links {
		return ""
	}
	return linkTo(l)
}

// linkTo is the address of a link: a file's or a page's of the web, and no other. A file
// whose folder is not known has none.
func linkTo(l render.Link) string {
	if l.Path != "" {
		if !path.IsAbs(l.Path) {
			return ""
		}
		u := url.URL{Scheme: "file", Path: l.Path}
		if l.Line > 0 {
			u.Fragment = "L" + strconv.Itoa(l.Line)
		}
		return u.String()
	}
	u, err := url.Parse(l.URL)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" {
		return ""
	}
	return u.String()
}

// hung is Hung with a paint for the sign.
func (t Terminal) hung(sign string, paint Paint, nodes []render.Node) []string {
	lines := t.Hung(sign, nodes)
	if len(lines) > 0 && sign != "" {
		lines[0] = paint.On(sign, t.Colour) + lines[0][len(sign):]
	}
	return lines
}
