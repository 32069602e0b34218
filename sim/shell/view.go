package shell

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// runCat is cat [-An] [FILE...]
func runCat(p *proc, o options) int {
	if len(o.list) == 0 {
		return p.inputs(o.rest, func(_ string, in *bufio.Reader) error {
			_, err := io.Copy(p.Stdout, in)
			return err
		})
	}
	c := catStyle{options: o}
	return p.inputs(o.rest, func(_ string, in *bufio.Reader) error {
		return eachLine(in, func(line string, ended bool) error { return p.print(c.line(line, ended)) })
	})
}

type catStyle struct {
	options
	n       int
	partial bool // the last line of the file before had no newline
}

func (c *catStyle) line(line string, ended bool) string {
	number, end := "", ""
	if c.has("n") && !c.partial {
		c.n++
		number = fmt.Sprintf("%6d\t", c.n)
	}
	if c.has("A") {
		line, end = visible(line), "$"
	}
	if c.partial = !ended; c.partial {
		return number + line
	}
	return number + line + end + "\n"
}

// visible writes what is not printable as cat -A does: ^X for control bytes, M- before the upper half.
func visible(line string) string {
	var b strings.Builder
	for i := range len(line) {
		x := line[i]
		if x >= 0x80 {
			b.WriteString("M-")
			x -= 0x80
		}
		if x < 0x20 || x == 0x7f {
			b.WriteByte('^')
			x ^= 0x40
		}
		b.WriteByte(x)
	}
	return b.String()
}

// runHead is head [-n [-]N] [-c [-]N] [-q] [-NUM] [FILE...]
func runHead(p *proc, o options) int {
	return p.excerpt(o, func(in *bufio.Reader, unit, sign string, n int) error {
		switch {
		case sign == "-":
			all, err := io.ReadAll(in)
			s := string(all)
			return cmp.Or(err, p.print(s[:offset(s, unit, length(s, unit)-n)]))
		case unit == "c":
			if _, err := io.CopyN(p.Stdout, in, int64(n)); err != io.EOF {
				return err
			}
			return nil
		}
		for range n {
			line, err := in.ReadString('\n')
			if e := p.print(line); e != nil || err != nil {
				return e
			}
		}
		return nil
	})
}

// runTail is tail [-n [+]N] [-c [+]N] [-q] [-NUM] [FILE...]; -f has nothing to wait for here and is refused.
func runTail(p *proc, o options) int {
	return p.excerpt(o, func(in *bufio.Reader, unit, sign string, n int) error {
		all, err := io.ReadAll(in)
		s := string(all)
		begin := length(s, unit) - n
		if sign == "+" {
			begin = n - 1
		}
		return cmp.Or(err, p.print(s[offset(s, unit, begin):]))
	})
}

// length counts a text's bytes or lines.
func length(s, unit string) int {
	if unit == "c" {
		return len(s)
	}
	lines, _ := splitEnded(s, "\n")
	return len(lines)
}

// offset is where the byte or line begins that has n before it, or the text's end.
func offset(s, unit string, n int) int {
	if unit == "c" {
		return max(0, min(n, len(s)))
	}
	at := 0
	for ; n > 0; n-- {
		end := strings.IndexByte(s[at:], '\n')
		if end < 0 {
			return len(s)
		}
		at += end + 1
	}
	return at
}

// excerptOptions are the options of head and tail.
const excerptOptions = "n|lines=# c|bytes= q|quiet|silent"

// excerpt writes a part of every input, below its name if there are several.
func (p *proc) excerpt(o options, part func(in *bufio.Reader, unit, sign string, n int) error) int {
	unit := o.last("n", "c")
	amount := o.get(unit, "10")
	digits := strings.TrimLeft(amount, "+-")
	n, ok := natural(digits)
	if !ok {
		what := map[bool]string{true: "bytes", false: "lines"}[unit == "c"]
		return p.fail(exitFailure, "invalid number of %s: '%s'", what, amount)
	}
	gap := ""
	return p.inputs(o.rest, func(name string, in *bufio.Reader) error {
		if len(o.rest) > 1 && !o.has("q") {
			if name == "-" {
				name = "standard input"
			}
			if err := p.printf("%s==> %s <==\n", gap, name); err != nil {
				return err
			}
			gap = "\n"
		}
		return part(in, unit, strings.TrimSuffix(amount, digits), n)
	})
}

// runWc is wc [-clmw] [FILE...]
func runWc(p *proc, o options) int {
	if len(o.list) == 0 {
		o.list = []option{{name: "l"}, {name: "w"}, {name: "c"}}
	}
	names := o.rest
	var rows []counts
	total := counts{name: "total"}
	code := p.inputs(names, func(name string, in *bufio.Reader) error {
		all, err := io.ReadAll(in)
		s := string(all)
		if len(names) == 0 {
			name = ""
		}
		row := counts{name, strings.Count(s, "\n"), len(strings.Fields(s)), utf8.RuneCountInString(s), len(s)}
		total.lines += row.lines
		total.words += row.words
		total.chars += row.chars
		total.bytes += row.bytes
		rows = append(rows, row)
		return err
	})
	if len(names) > 1 {
		rows = append(rows, total)
	}
	width := wcWidth(o, total, names)
	for _, r := range rows {
		if p.print(r.format(o, width)) != nil {
			return exitFailure
		}
	}
	return code
}

// counts is one row of what wc prints.
type counts struct {
	name                       string
	lines, words, chars, bytes int
}

// wcWidth is the common column width: that of the greatest number, 7 where standard input is read, none
// for a single number.
func wcWidth(o options, total counts, names []string) int {
	several := slices.ContainsFunc(o.list, func(x option) bool { return x != o.list[0] })
	switch {
	case !several && len(names) <= 1:
		return 1
	case len(names) == 0 || slices.Contains(names, "-"):
		return 7
	}
	return len(strconv.Itoa(total.bytes))
}

func (c counts) format(o options, width int) string {
	var line strings.Builder
	gap := ""
	for _, column := range []struct {
		option string
		n      int
	}{{"l", c.lines}, {"w", c.words}, {"m", c.chars}, {"c", c.bytes}} {
		if o.has(column.option) {
			fmt.Fprintf(&line, "%s%*d", gap, width, column.n)
			gap = " "
		}
	}
	return strings.TrimRight(line.String()+" "+c.name, " ") + "\n"
}
