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

// tac [FILE...]
func runTac(p *Proc) int {
	o, ok := p.parse("")
	if !ok {
		return exitUsage
	}
	return p.inputs(o.rest, func(_ string, in *bufio.Reader) error {
		var out []string
		err := eachLine(in, func(line string, ended bool) error {
			if ended {
				line += "\n"
			}
			out = append(out, line)
			return nil
		})
		for i := len(out) - 1; i >= 0 && err == nil; i-- {
			err = p.print(out[i])
		}
		return err
	})
}

// rev [FILE...]
func runRev(p *Proc) int {
	o, ok := p.parse("")
	if !ok {
		return exitUsage
	}
	return p.inputs(o.rest, func(_ string, in *bufio.Reader) error {
		return eachLine(in, func(line string, ended bool) error {
			runes := []rune(line)
			for i, j := 0, len(runes)-1; i < j; i, j = i+1, j-1 {
				runes[i], runes[j] = runes[j], runes[i]
			}
			return p.print(string(runes) + map[bool]string{true: "\n"}[ended])
		})
	})
}

// nl [-b a|t|n] [-n ln|rn|rz] [-s SEP] [-v N] [-w N] [-i N] [FILE...]
func runNl(p *Proc) int {
	o, ok := p.parse("b:n:s:v:w:i:", "body-numbering=>b", "number-format=>n", "number-separator=>s", "starting-line-number=>v", "number-width=>w", "line-increment=>i")
	if !ok {
		return exitUsage
	}
	width, ok1 := natural(o.get("w", "6"))
	n, ok2 := natural(o.get("v", "1"))
	step, ok3 := natural(o.get("i", "1"))
	format, ok4 := map[string]string{"ln": "%-*d", "rn": "%*d", "rz": "%0*d"}[o.get("n", "rn")]
	style := o.get("b", "t")
	if !ok1 || !ok2 || !ok3 || !ok4 || style != "a" && style != "t" && style != "n" {
		return p.usage("invalid number, format or numbering style")
	}
	return p.inputs(o.rest, func(_ string, in *bufio.Reader) error {
		return eachLine(in, func(line string, _ bool) error {
			if style == "n" || style == "t" && line == "" {
				return p.print(strings.Repeat(" ", int(width)+len(o.get("s", "\t"))) + line + "\n")
			}
			n += step
			return p.printf(format+"%s%s\n", int(width), n-step, o.get("s", "\t"), line)
		})
	})
}
