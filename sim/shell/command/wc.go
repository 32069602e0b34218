package command

import (
	"bufio"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"
)

// wc [-clmwL] [FILE...]
func runWc(p *Proc) int {
	o, ok := p.parse("clmwL", "bytes>c", "lines>l", "chars>m", "words>w", "max-line-length>L")
	if !ok {
		return exitUsage
	}
	if len(o.list) == 0 {
		o.list = []option{{name: "l"}, {name: "w"}, {name: "c"}}
	}
	var total counts
	type row struct {
		counts
		name string
	}
	var rows []row
	names := o.rest
	code := p.inputs(names, func(name string, in *bufio.Reader) error {
		c, err := countAll(in)
		if len(names) == 0 {
			name = ""
		}
		rows = append(rows, row{c, name})
		total.add(c)
		return err
	})
	if len(names) > 1 {
		rows = append(rows, row{total, "total"})
	}
	width := wcWidth(o, total, len(names))
	for _, r := range rows {
		if p.print(strings.TrimRight(r.format(o, width)+" "+r.name, " ")+"\n") != nil {
			return exitFailure
		}
	}
	return code
}

type counts struct{ lines, words, chars, bytes, longest int }

func (c *counts) add(d counts) {
	c.lines += d.lines
	c.words += d.words
	c.chars += d.chars
	c.bytes += d.bytes
	c.longest = max(c.longest, d.longest)
}

func countAll(in *bufio.Reader) (counts, error) {
	all, err := io.ReadAll(in)
	s := string(all)
	c := counts{lines: strings.Count(s, "\n"), words: len(strings.Fields(s)), chars: utf8.RuneCountInString(s), bytes: len(s)}
	for line := range strings.SplitSeq(s, "\n") {
		c.longest = max(c.longest, utf8.RuneCountInString(line))
	}
	return c, err
}

// wcWidth is the common column width: that of the greatest number, 7 where standard input is read, none
// for a single number.
func wcWidth(o options, total counts, files int) int {
	single := true
	for _, x := range o.list {
		single = single && x == o.list[0]
	}
	switch {
	case single && files <= 1:
		return 1
	case files == 0:
		return 7
	}
	return len(strconv.Itoa(total.bytes))
}

func (c counts) format(o options, width int) string {
	var cols []string
	for _, col := range []struct {
		opt string
		n   int
	}{{"l", c.lines}, {"w", c.words}, {"m", c.chars}, {"c", c.bytes}, {"L", c.longest}} {
		if o.has(col.opt) {
			text := strconv.Itoa(col.n)
			cols = append(cols, strings.Repeat(" ", max(0, width-len(text)))+text)
		}
	}
	return strings.Join(cols, " ")
}
