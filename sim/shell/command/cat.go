package command

import (
	"bufio"
	"fmt"
	"io"
	"strings"
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
