package screen

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"

	"github.com/olekukonko/tablewriter"
	"github.com/olekukonko/tablewriter/renderer"
	"github.com/olekukonko/tablewriter/tw"
)

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
}

// Draw gives the lines of the grid as a table when the table fits into width
// columns, else as a list: each row's first cell on a line of its own, the
// others folded below. No line is wider than width, unless width is below 1,
// which means that there is no limit. An error is one of the table library.
func (g Grid) Draw(width int, ascii bool) (string, error) {
	table, err := g.table(ascii)
	if err != nil {
		return "", fmt.Errorf("drawing a table: %w", err)
	}
	if width < 1 || widest(table) <= width {
		return table, nil
	}
	return g.list(width), nil
}

func widest(text string) int {
	most := 0
	for line := range strings.Lines(text) {
		most = max(most, Width(strings.TrimSuffix(line, "\n")))
	}
	return most
}

func (g Grid) table(ascii bool) (string, error) {
	var out bytes.Buffer
	t := tablewriter.NewTable(&out,
		tablewriter.WithRenderer(renderer.NewBlueprint(rendition(ascii))),
		tablewriter.WithConfig(g.config()),
		tablewriter.WithEastAsian(tw.Off), // else taken from the environment
	)
	t.Header(standInsFor(g.titles()))
	for _, row := range g.Rows {
		if err := t.Append(standInsFor(row)); err != nil {
			return "", err
		}
	}
	if g.Footer != nil {
		t.Footer(standInsFor(g.Footer))
	}
	if err := t.Render(); err != nil {
		return "", err
	}
	rows := append([][]string{g.titles()}, g.Rows...)
	return trimmed(unstand(out.String(), append(rows, g.Footer)...)), nil
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

func (g Grid) titles() []string {
	titles := make([]string, len(g.Columns))
	for i, c := range g.Columns {
		titles[i] = c.Title
	}
	return titles
}

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
	return foldAll(Pack(items, 2, width-2), width-2)
}

func foldAll(lines []string, width int) []string {
	var folded []string
	for _, line := range lines {
		folded = append(folded, Fold(line, width)...)
	}
	return folded
}

// The table library measures text by rules of its own: it takes a woman at a
// computer (three code points, two columns) for four columns, and pads
// accordingly. So it gets, for each cell, a stand-in of private characters that
// is as wide as the cell; the cells take their places in what was drawn.
const standIn = "\ue000"

var standIns = regexp.MustCompile(standIn + "+")

func standInsFor(cells []string) []string {
	out := make([]string, len(cells))
	for i, cell := range cells {
		if cell != "" {
			out[i] = strings.Repeat(standIn, max(1, Width(cell)))
		}
	}
	return out
}

// unstand puts the cells, in the order in which they are drawn, where their
// stand-ins are.
func unstand(table string, rows ...[]string) string {
	var cells []string
	for _, row := range rows {
		for _, cell := range row {
			if cell != "" {
				cells = append(cells, cell)
			}
		}
	}
	return standIns.ReplaceAllStringFunc(table, func(string) string {
		cell := cells[0]
		cells = cells[1:]
		return cell
	})
}
