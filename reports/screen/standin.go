package screen

import (
	"regexp"
	"strings"
)

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
