package command

import (
	"fmt"
	"strings"
)

// od [-A d|o|x|n] [-t x1|c|o1|d1|u1] [-c] [-x1] [-N N] [-v] [FILE...]
func runOd(p *Proc) int {
	o, ok := p.parse("A:t:cN:vbj:", "address-radix=>A", "format=>t", "read-bytes=>N", "output-duplicates>v", "skip-bytes=>j")
	if !ok {
		return exitUsage
	}
	kind := o.get("t", "")
	if o.has("c") {
		kind = "c"
	}
	cell := map[string]func(byte) string{
		"x1": func(c byte) string { return fmt.Sprintf(" %02x", c) }, "o1": func(c byte) string { return fmt.Sprintf(" %03o", c) },
		"d1": func(c byte) string { return fmt.Sprintf(" %4d", int8(c)) }, "u1": func(c byte) string { return fmt.Sprintf(" %3d", c) },
		"c": odChar,
	}[kind]
	radix, known := map[string]string{"o": "%07o", "d": "%07d", "x": "%06x", "n": ""}[o.get("A", "o")]
	if cell == nil || !known {
		return p.usage("this output format is not supported in the in-process shell: use -c or -t x1, o1, d1, u1, c")
	}
	var data []byte
	for _, name := range append(o.rest, []string{"-"}[min(1, len(o.rest)):]...) {
		part, err := p.read(name)
		if err != nil {
			return p.failure(name, err)
		}
		data = append(data, part...)
	}
	skip, _ := natural(o.get("j", "0"))
	data = data[min(int(skip), len(data)):]
	if n, ok := natural(o.get("N", "")); ok {
		data = data[:min(int(n), len(data))]
	}
	p.dump(data, cell, radix, int(skip), o.has("v"))
	return 0
}

func odChar(c byte) string {
	if i := strings.IndexByte("\x00\a\b\f\n\r\t\v", c); i >= 0 {
		return `  \` + string(`0abfnrtv`[i])
	}
	if c < 0x20 || c >= 0x7f {
		return fmt.Sprintf(" %03o", c)
	}
	return "   " + string(rune(c))
}

// dump prints 16 bytes a line; equal lines after the first become a star.
func (p *Proc) dump(data []byte, cell func(byte) string, radix string, at int, all bool) {
	address := func(n int) string {
		if radix == "" {
			return ""
		}
		return fmt.Sprintf(radix, n)
	}
	last, starred := "", false
	for i := 0; i < len(data); i += 16 {
		line := data[i:min(i+16, len(data))]
		if string(line) == last && len(line) == 16 && !all {
			if !starred {
				p.print("*\n")
			}
			starred = true
			continue
		}
		last, starred = string(line), false
		var b strings.Builder
		for _, c := range line {
			b.WriteString(cell(c))
		}
		p.print(address(i+at) + b.String() + "\n")
	}
	if radix != "" {
		p.print(address(len(data)+at) + "\n")
	}
}
