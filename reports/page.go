package reports

import (
	"bufio"
	"bytes"
	"cmp"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/olekukonko/tablewriter"
	"github.com/olekukonko/tablewriter/renderer"
	"github.com/olekukonko/tablewriter/tw"
)

// page is a text for people on its way.
type page struct {
	Options
	out *bufio.Writer
}

func newPage(w io.Writer, o Options) *page { return &page{Options: o, out: bufio.NewWriter(w)} }

// end writes what is left. The error is the first there was.
func (p *page) end() error { return p.out.Flush() }

// printf writes text as it is.
func (p *page) printf(format string, args ...any) { fmt.Fprintf(p.out, format, args...) }

// folded breaks a line to the width without so many columns.
func (p *page) folded(line string, less int) []string {
	if p.Width < 1 {
		return []string{line}
	}
	return Fold(line, max(1, p.Width-less))
}

// put writes lines of safe text, indented and folded to the width.
func (p *page) put(indent string, lines ...string) {
	for _, line := range lines {
		for _, part := range p.folded(line, len(indent)) {
			p.printf("%s\n", strings.TrimRight(indent+part, " "))
		}
	}
}

// left writes how many lines were left out.
func (p *page) left(indent string, lines int) {
	if lines > 0 {
		p.put(indent, cutMark(p.ASCII)+" "+plural(lines, "line", "lines")+" more")
	}
}

// hang writes a line of safe text, what does not fit below it and indented.
func (p *page) hang(indent int, line string) {
	for i, part := range p.folded(line, indent) {
		if i > 0 {
			part = strings.Repeat(" ", indent) + part
		}
		p.printf("%s\n", strings.TrimRight(part, " "))
	}
}

// lines writes lines of safe text.
func (p *page) lines(lines ...string) { p.put("", lines...) }

// fold writes lines of unsafe text, the continuation of each further in.
func (p *page) fold(indent string, lines ...string) {
	for _, line := range lines {
		for i, part := range p.folded(Safe(line), len(indent)+2) {
			if i > 0 {
				part = "  " + part
			}
			p.printf("%s\n", indent+part)
		}
	}
}

// section writes a title and, indented below it, unsafe lines; nothing without lines.
func (p *page) section(title string, lines ...string) {
	if len(lines) > 0 {
		p.fold("", title)
		p.fold("  ", lines...)
	}
}

// skipped names files that were passed over.
func (p *page) skipped(files []Skipped) {
	for _, s := range files {
		p.section(s.File, "skipped: "+s.Reason)
	}
}

// grid draws a table.
func (p *page) grid(g Grid) { p.printf("%s", g.Draw(p.Width, p.ASCII)) }

// tables draws tables, a blank line behind each; those without rows are left out.
func (p *page) tables(grids ...Grid) {
	for _, g := range grids {
		if len(g.Rows) > 0 {
			p.grid(g)
			p.printf("\n")
		}
	}
}

// Column heads one column of a grid.
type Column struct {
	Title string
	// Right aligns numbers.
	Right bool
}

// Grid is a table of one-line cells, which a narrow screen shows as a list. The
// first column names the row. Cells must be safe; they may be painted.
type Grid struct {
	Columns []Column
	Rows    [][]string
	// Footer is a last row set apart, or nil.
	Footer []string
	// Names, if any, stand for the rows' first cells in the list, which has room for
	// what a table has to shorten.
	Names []string
	// Optional are columns that are left out, the first first, where the table would not fit.
	Optional []int
}

// Draw gives the lines of the grid as a table when the table fits into width
// columns, else as a list: each row's first cell on a line of its own, the
// others folded below. No line is wider than width, unless width is below 1,
// which means that there is no limit.
func (g Grid) Draw(width int, ascii bool) string {
	table := g.table(ascii)
	if width < 1 || widest(table) <= width {
		return table
	}
	if short, ok := g.shortened(widest(table)-width, ascii); ok {
		return short.Draw(width, ascii)
	}
	if len(g.Optional) > 0 {
		return g.without(g.Optional[0]).Draw(width, ascii)
	}
	return g.list(width)
}

// without is the grid without a column.
func (g Grid) without(column int) Grid {
	shorter := func(row []string) []string { return slices.Delete(slices.Clone(row), column, column+1) }
	less := Grid{Columns: slices.Delete(slices.Clone(g.Columns), column, column+1), Rows: each(g.Rows, shorter), Names: g.Names}
	if g.Footer != nil {
		less.Footer = shorter(g.Footer)
	}
	for _, c := range g.Optional[1:] {
		if c > column {
			c--
		}
		less.Optional = append(less.Optional, c)
	}
	return less
}

// shortestName is how far the names of rows may be shortened for a table to fit, and
// tellingName how far while there are columns to leave out.
const (
	shortestName = 16
	tellingName  = 26
)

// shortened cuts the middles of the first cells, so that the table is narrower by so many
// columns; it reports whether they have as much to spare.
func (g Grid) shortened(by int, ascii bool) (Grid, bool) {
	longest := 0
	for _, row := range g.Rows {
		longest = max(longest, Width(row[0]))
	}
	room, least := longest-by, shortestName
	if len(g.Optional) > 0 {
		least = tellingName
	}
	if room < least || len(g.Names) > 0 {
		return g, false
	}
	rows, names := make([][]string, len(g.Rows)), make([]string, len(g.Rows))
	for i, row := range g.Rows {
		if unpainted(row[0]) != row[0] || strings.Contains(row[0], " ") { // a sentence is no name
			return g, false
		}
		rows[i], names[i] = slices.Clone(row), row[0]
	}
	for i, name := range Shorten(names, room, ascii) {
		rows[i][0] = name
	}
	g.Rows = rows
	if g.Footer != nil {
		g.Footer = slices.Clone(g.Footer)
		g.Footer[0] = cutMiddle(g.Footer[0], room, ascii)
	}
	return g, Width(g.Columns[0].Title) <= room
}

func widest(text string) int {
	most := 0
	for line := range strings.Lines(text) {
		most = max(most, Width(strings.TrimSuffix(line, "\n")))
	}
	return most
}

// table draws with the table library, which fails where it cannot write, and a buffer takes all.
func (g Grid) table(ascii bool) string {
	var out bytes.Buffer
	t := tablewriter.NewTable(&out,
		tablewriter.WithRenderer(renderer.NewBlueprint(rendition(ascii))),
		tablewriter.WithConfig(g.config()),
		tablewriter.WithEastAsian(tw.Off), // else taken from the environment
	)
	t.Header(standInsFor(g.titles()))
	var err error
	for _, row := range g.Rows {
		err = cmp.Or(err, t.Append(standInsFor(row)))
	}
	if g.Footer != nil {
		t.Footer(standInsFor(g.Footer))
	}
	if err = cmp.Or(err, t.Render()); err != nil {
		panic(err)
	}
	rows := append([][]string{g.titles()}, g.Rows...)
	return trimmed(unstand(out.String(), append(rows, g.Footer)...))
}

// trimmed takes the blanks off the ends of lines: the last column is padded, and
// without a border that only widens the table.
func trimmed(table string) string {
	var b strings.Builder
	for line := range strings.Lines(table) {
		b.WriteString(strings.TrimRight(line, " \n"))
		b.WriteByte('\n')
	}
	return b.String()
}

func rendition(ascii bool) tw.Rendition {
	style := tw.StyleLight
	if ascii {
		style = tw.StyleASCII
	}
	return tw.Rendition{
		Borders: tw.Border{Left: tw.Off, Right: tw.Off, Top: tw.Off, Bottom: tw.Off},
		Symbols: tw.NewSymbols(style),
		Settings: tw.Settings{
			Separators: tw.Separators{BetweenColumns: tw.Off, BetweenRows: tw.Off},
			Lines:      tw.Lines{ShowTop: tw.Off, ShowBottom: tw.Off},
		},
	}
}

func (g Grid) config() tablewriter.Config {
	aligns := make([]tw.Align, len(g.Columns))
	gaps := make([]tw.Padding, len(g.Columns))
	for i, c := range g.Columns {
		aligns[i], gaps[i] = tw.AlignLeft, tw.Padding{Right: "  ", Overwrite: true}
		if c.Right {
			aligns[i] = tw.AlignRight
		}
	}
	gaps[len(gaps)-1].Right = ""
	cell := tw.CellConfig{
		Formatting: tw.CellFormatting{AutoWrap: tw.WrapNone, AutoFormat: tw.Off},
		Alignment:  tw.CellAlignment{PerColumn: aligns},
		Padding:    tw.CellPadding{PerColumn: gaps},
	}
	return tablewriter.Config{Header: cell, Row: cell, Footer: cell}
}

// columns heads columns; a title after > is that of numbers, which are aligned right.
func columns(titles ...string) []Column {
	return each(titles, func(title string) (c Column) {
		c.Title, c.Right = strings.CutPrefix(title, ">")
		return c
	})
}

// add adds a row: cells are safe text, or numbers.
func (g *Grid) add(cells ...any) { g.Rows = append(g.Rows, rowOf(cells)) }

func rowOf(cells []any) []string {
	return each(cells, func(cell any) string { return fmt.Sprint(cell) })
}

func (g Grid) titles() []string { return each(g.Columns, func(c Column) string { return c.Title }) }

func (g Grid) list(width int) string {
	var b strings.Builder
	rows := g.Rows
	if g.Footer != nil {
		rows = append(rows[:len(rows):len(rows)], g.Footer)
	}
	for i, row := range rows {
		name := row[0]
		if i < len(g.Names) {
			name = g.Names[i]
		}
		for _, line := range Fold(name, width) {
			b.WriteString(line + "\n")
		}
		for _, line := range g.details(row, width) {
			b.WriteString("  " + line + "\n")
		}
	}
	return b.String()
}

// details are the cells beside the first, "title value" each. Cells without a
// value are left out.
func (g Grid) details(row []string, width int) []string {
	var items []string
	for i, cell := range row[1:] {
		if unpainted(cell) != "" {
			items = append(items, g.Columns[i+1].Title+" "+cell)
		}
	}
	return slices.Concat(each(pack(items, 2, width-2), func(line string) []string { return Fold(line, width-2) })...)
}

// The table library measures text by rules of its own: it takes a woman at a
// computer (three code points, two columns) for four columns, and pads
// accordingly. So it gets, for each cell, a stand-in of private characters that
// is as wide as the cell; the cells take their places in what was drawn.
const standIn = "\ue000"

var standIns = regexp.MustCompile(standIn + "+")

func standInsFor(cells []string) []string {
	return each(cells, func(cell string) string {
		if cell == "" {
			return ""
		}
		return strings.Repeat(standIn, max(1, Width(cell)))
	})
}

// unstand puts the cells, in the order in which they are drawn, where their
// stand-ins are.
func unstand(table string, rows ...[]string) string {
	cells := slices.DeleteFunc(slices.Concat(rows...), func(cell string) bool { return cell == "" })
	return standIns.ReplaceAllStringFunc(table, func(string) string {
		cell := cells[0]
		cells = cells[1:]
		return cell
	})
}
