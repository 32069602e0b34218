package command

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"
)

// cat [-AbeEnsTtuv] [FILE...]
func runCat(p *Proc) int {
	o, ok := p.parse("AbeEnstTuv", "number>n", "number-nonblank>b", "show-ends>E", "show-tabs>T", "squeeze-blank>s", "show-all>A", "show-nonprinting>v")
	if !ok {
		return exitUsage
	}
	c := catStyle{
		number: o.has("n") || o.has("b"), full: o.has("b"), squeeze: o.has("s"),
		ends: o.has("E") || o.has("e") || o.has("A"), tabs: o.has("T") || o.has("t") || o.has("A"),
		visible: o.has("v") || o.has("e") || o.has("t") || o.has("A"),
	}
	if c == (catStyle{}) {
		return p.inputs(o.rest, func(_ string, in *bufio.Reader) error {
			_, err := io.Copy(p.Stdout, in)
			return err
		})
	}
	return p.inputs(o.rest, func(_ string, in *bufio.Reader) error {
		return eachLine(in, func(line string, ended bool) error { return c.print(p, line, ended) })
	})
}

type catStyle struct {
	number, full, squeeze, ends, tabs, visible bool

	n       int
	blanks  int
	partial bool // the last line of the file before had no newline
}

func (c *catStyle) print(p *Proc, line string, ended bool) error {
	if line == "" && ended && !c.partial {
		c.blanks++
		if c.squeeze && c.blanks > 1 {
			return nil
		}
	} else {
		c.blanks = 0
	}
	var b strings.Builder
	if c.number && !c.partial && !(c.full && line == "") {
		c.n++
		fmt.Fprintf(&b, "%6d\t", c.n)
	}
	b.WriteString(c.show(line))
	if ended && c.ends {
		b.WriteByte('$')
	}
	if ended {
		b.WriteByte('\n')
	}
	c.partial = !ended
	return p.print(b.String())
}

func (c *catStyle) show(line string) string {
	if !c.tabs && !c.visible {
		return line
	}
	var b strings.Builder
	for i := range len(line) {
		switch x := line[i]; {
		case x == '\t' && c.tabs:
			b.WriteString("^I")
		case x == '\t' || !c.visible:
			b.WriteByte(x)
		default:
			b.WriteString(caret(x))
		}
	}
	return b.String()
}

// caret writes a byte as cat -v does: ^X for control bytes, M- before the upper half.
func caret(x byte) string {
	switch {
	case x >= 0x80:
		return "M-" + caret(x-0x80)
	case x < 0x20:
		return "^" + string(rune(x+64))
	case x == 0x7f:
		return "^?"
	}
	return string(rune(x))
}

// head [-n [-]N] [-c [-]N] [-q] [-v] [-NUM] [FILE...]
func runHead(p *Proc) int {
	p.Args = dashNumber(p.Args, "-n")
	o, ok := p.parse("n:c:qvz", "lines=>n", "bytes=>c", "quiet>q", "silent>q", "verbose>v", "zero-terminated>z")
	if !ok {
		return exitUsage
	}
	unit := o.last("n", "c")
	amount := o.get(unit, "10")
	allBut := strings.HasPrefix(amount, "-")
	n, ok := count(strings.TrimPrefix(amount, "-"))
	if !ok {
		return p.fail(exitFailure, "invalid number of %s: '%s'", map[bool]string{true: "bytes", false: "lines"}[unit == "c"], amount)
	}
	end := byte('\n')
	if o.has("z") {
		end = 0
	}
	title := titles(o, len(o.rest) > 1)
	return p.inputs(o.rest, func(name string, in *bufio.Reader) error {
		if err := title(p, name); err != nil {
			return err
		}
		switch {
		case unit == "c" && allBut:
			all, err := io.ReadAll(in)
			return firstError(err, p.print(string(all[:max(0, int64(len(all))-n)])))
		case unit == "c":
			_, err := io.CopyN(p.Stdout, in, n)
			return ignoreEOF(err)
		case allBut:
			return headAllBut(p, in, int(n), end)
		}
		return copyLines(p, in, int(n), end)
	})
}

func ignoreEOF(err error) error {
	if err == io.EOF {
		return nil
	}
	return err
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// titles gives a function that writes ==> NAME <== above each file, if there are several, or with -v.
func titles(o options, many bool) func(*Proc, string) error {
	first := true
	return func(p *Proc, name string) error {
		if o.last("q", "v") == "q" || !many && !o.has("v") {
			return nil
		}
		if name == "-" {
			name = "standard input"
		}
		gap := "\n"
		if first {
			gap, first = "", false
		}
		return p.printf("%s==> %s <==\n", gap, name)
	}
}

func copyLines(p *Proc, in *bufio.Reader, n int, end byte) error {
	for range n {
		line, err := in.ReadString(end)
		if e := p.print(line); e != nil || err != nil {
			return e
		}
	}
	return nil
}

func headAllBut(p *Proc, in *bufio.Reader, n int, end byte) error {
	var held []string
	for {
		line, err := in.ReadString(end)
		if line != "" {
			held = append(held, line)
		}
		if len(held) > n {
			if err := p.print(held[0]); err != nil {
				return err
			}
			held = held[1:]
		}
		if err != nil {
			return nil
		}
	}
}

// tail [-n [+]N] [-c [+]N] [-q] [-v] [-NUM] [FILE...]; -f has nothing to wait for here and is refused.
func runTail(p *Proc) int {
	p.Args = dashNumber(p.Args, "-n")
	if len(p.Args) > 0 && len(p.Args[0]) > 1 && p.Args[0][0] == '+' {
		p.Args = append([]string{"-n"}, p.Args...)
	}
	o, ok := p.parse("n:c:qvz", "lines=>n", "bytes=>c", "quiet>q", "silent>q", "verbose>v", "zero-terminated>z")
	if !ok {
		return exitUsage
	}
	unit := o.last("n", "c")
	amount := o.get(unit, "10")
	from := strings.HasPrefix(amount, "+")
	n, ok := count(strings.TrimLeft(amount, "+-"))
	if !ok {
		return p.fail(exitFailure, "invalid number of %s: '%s'", map[bool]string{true: "bytes", false: "lines"}[unit == "c"], amount)
	}
	end := "\n"
	if o.has("z") {
		end = "\x00"
	}
	title := titles(o, len(o.rest) > 1)
	return p.inputs(o.rest, func(name string, in *bufio.Reader) error {
		if err := title(p, name); err != nil {
			return err
		}
		all, err := io.ReadAll(in)
		if err != nil {
			return err
		}
		if unit == "c" {
			return p.print(tailBytes(string(all), n, from))
		}
		return p.print(tailLines(string(all), int(n), from, end))
	})
}

func tailBytes(s string, n int64, from bool) string {
	if from {
		return s[min(max(n-1, 0), int64(len(s))):]
	}
	return s[max(0, int64(len(s))-n):]
}

func tailLines(s string, n int, from bool, end string) string {
	lines := strings.SplitAfter(s, end)
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	if from {
		return strings.Join(lines[min(max(n-1, 0), len(lines)):], "")
	}
	return strings.Join(lines[max(0, len(lines)-n):], "")
}

// tee copies standard input to standard output and to each file.
func (p *Proc) tee(o options) int {
	in, err := io.ReadAll(p.Stdin)
	if err != nil {
		return p.failure("-", err)
	}
	code := 0
	for _, name := range o.rest {
		if err := p.store(name, in, o.has("a")); err != nil {
			code = p.failure(name, err)
		}
	}
	if _, err := io.Copy(p.Stdout, bytes.NewReader(in)); err != nil {
		return exitFailure
	}
	return code
}

func (p *Proc) store(name string, data []byte, appending bool) error {
	w, err := p.Files.Create(name, appending)
	if err != nil {
		return err
	}
	_, err = w.Write(data)
	return firstError(err, w.Close())
}

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
