package command

import (
	"strings"
)

// paste [-s] [-d LIST] [FILE...]
func runPaste(p *Proc) int {
	o, ok := p.parse("d:s", "delimiters=>d", "serial>s")
	if !ok {
		return exitUsage
	}
	delimiters := pasteDelimiters(o.get("d", "\t"))
	names := o.rest
	if len(names) == 0 {
		names = []string{"-"}
	}
	columns := make([][]string, len(names))
	for i, name := range names {
		var code int
		if name == "-" && i > 0 && !o.has("s") {
			continue // dealt out below
		}
		if columns[i], code = p.lines([]string{name}, '\n'); code != 0 {
			return code
		}
	}
	if !o.has("s") {
		dealStdin(names, columns)
		columns = transpose(columns)
	}
	for _, row := range columns {
		if p.print(joinWith(row, delimiters)+"\n") != nil {
			return exitFailure
		}
	}
	return 0
}

// dealStdin gives each "-" every n-th line of standard input.
func dealStdin(names []string, columns [][]string) {
	var at []int
	var all []string
	for i, name := range names {
		if name == "-" {
			at = append(at, i)
			all = append(all, columns[i]...)
			columns[i] = nil
		}
	}
	for i, line := range all {
		c := at[i%len(at)]
		columns[c] = append(columns[c], line)
	}
}

func transpose(columns [][]string) [][]string {
	height := 0
	for _, c := range columns {
		height = max(height, len(c))
	}
	rows := make([][]string, height)
	for i := range rows {
		rows[i] = make([]string, len(columns))
		for j, c := range columns {
			if i < len(c) {
				rows[i][j] = c[i]
			}
		}
	}
	return rows
}

func pasteDelimiters(s string) []string {
	var out []string
	for i := 0; i < len(s); {
		if strings.HasPrefix(s[i:], `\0`) {
			out = append(out, "")
			i += 2
			continue
		}
		c, n := trChar(s[i:])
		out = append(out, string([]byte{c}))
		i += n
	}
	if len(out) == 0 {
		return []string{""}
	}
	return out
}

func joinWith(row, delimiters []string) string {
	var b strings.Builder
	for i, cell := range row {
		if i > 0 {
			b.WriteString(delimiters[(i-1)%len(delimiters)])
		}
		b.WriteString(cell)
	}
	return b.String()
}

// comm [-123] FILE1 FILE2
func runComm(p *Proc) int {
	o, ok := p.parse("123", "nocheck-order")
	if !ok {
		return exitUsage
	}
	if len(o.rest) != 2 {
		return p.fail(exitFailure, "missing operand")
	}
	a, code := p.lines(o.rest[:1], '\n')
	b, code2 := p.lines(o.rest[1:], '\n')
	if code+code2 != 0 {
		return exitFailure
	}
	indent := map[string]string{"1": "", "2": "\t", "3": "\t\t"}
	if o.has("1") {
		indent["2"], indent["3"] = "", "\t"
	}
	if o.has("2") {
		indent["3"] = strings.TrimSuffix(indent["3"], "\t")
	}
	for len(a)+len(b) > 0 {
		column, line := "3", ""
		switch {
		case len(b) == 0 || len(a) > 0 && a[0] < b[0]:
			column, line, a = "1", a[0], a[1:]
		case len(a) == 0 || b[0] < a[0]:
			column, line, b = "2", b[0], b[1:]
		default:
			line, a, b = a[0], a[1:], b[1:]
		}
		if !o.has(column) && p.print(indent[column]+line+"\n") != nil {
			return exitFailure
		}
	}
	return 0
}

// fold [-s] [-w N] [FILE...]
func runFold(p *Proc) int {
	o, ok := p.parse("bsw:", "bytes>b", "spaces>s", "width=>w")
	if !ok {
		return exitUsage
	}
	width, ok := natural(o.get("w", "80"))
	if !ok || width == 0 {
		return p.fail(exitFailure, "invalid number of columns: '%s'", o.get("w", ""))
	}
	lines, code := p.lines(o.rest, '\n')
	for _, line := range lines {
		if p.print(foldLine(line, int(width), o.has("s"))+"\n") != nil {
			return exitFailure
		}
	}
	return code
}

func foldLine(line string, width int, atSpaces bool) string {
	var out []string
	for len(line) > width {
		cut := width
		if i := strings.LastIndexByte(line[:width], ' '); atSpaces && i >= 0 {
			cut = i + 1
		}
		out = append(out, line[:cut])
		line = line[cut:]
	}
	return strings.Join(append(out, line), "\n")
}
