package shell

import (
	"bytes"
	"path"
	"strconv"
	"strings"
)

// runBasename is basename NAME [SUFFIX], basename -a [-s SUFFIX] NAME...
func runBasename(p *proc, o options) int {
	names, suffix := o.rest, o.get("s", "")
	switch several := o.has("a", "s"); {
	case len(names) == 0:
		return p.fail(exitFailure, "missing operand")
	case !several && len(names) > 2:
		return p.fail(exitFailure, "extra operand '%s'", names[2])
	case !several && len(names) == 2:
		names, suffix = names[:1], names[1]
	}
	for _, name := range names {
		base := baseName(name)
		if name == "" {
			base = ""
		}
		if base != suffix {
			base = strings.TrimSuffix(base, suffix)
		}
		p.print(base + "\n")
	}
	return 0
}

// baseName is the last part of a name; the root is itself.
func baseName(name string) string {
	if trimmed := strings.TrimRight(name, "/"); trimmed != "" {
		return path.Base(trimmed)
	}
	return "/"
}

// runDirname is dirname NAME...
func runDirname(p *proc, o options) int {
	if len(o.rest) == 0 {
		return p.fail(exitFailure, "missing operand")
	}
	for _, name := range o.rest {
		p.print(dirName(name) + "\n")
	}
	return 0
}

// dirName keeps a/./b and a/../b as they are, which path.Dir does not.
func dirName(name string) string {
	trimmed := strings.TrimRight(name, "/")
	i := strings.LastIndexByte(trimmed, '/')
	switch {
	case trimmed == "" && name != "":
		return "/"
	case i < 0:
		return "."
	}
	if dir := strings.TrimRight(trimmed[:i], "/"); dir != "" {
		return dir
	}
	return "/"
}

// below gives the name of an entry of a directory.
func below(dir, name string) string { return strings.TrimRight(dir, "/") + "/" + name }

// runPwd is pwd [-LP]
func runPwd(p *proc, o options) int {
	dir := p.Files.Dir
	if o.last("L", "P") == "P" {
		if resolved, err := p.Files.Realpath(dir); err == nil {
			dir = resolved
		}
	}
	return p.printed(dir + "\n")
}

// runSeq is seq [-w] [-s SEPARATOR] [FIRST [STEP]] LAST
func runSeq(p *proc) int {
	p.Args = protectNegative(p.Args)
	o, ok := p.parse("+w|equal-width s|separator=")
	if !ok {
		return exitUsage
	}
	if len(o.rest) == 0 || len(o.rest) > 3 {
		return p.fail(exitFailure, "missing or extra operand")
	}
	bounds := []float64{1, 1, 1} // first, step, last
	places := 0
	for i, a := range o.rest {
		n, err := strconv.ParseFloat(a, 64)
		if err != nil {
			return p.fail(exitFailure, "invalid floating point argument: '%s'", a)
		}
		at := [][]int{{2}, {0, 2}, {0, 1, 2}}[len(o.rest)-1][i]
		bounds[at] = n
		if _, fraction, ok := strings.Cut(a, "."); ok && at != 2 {
			places = max(places, len(fraction))
		}
	}
	if bounds[1] == 0 {
		return p.fail(exitFailure, "invalid Zero increment value: '%s'", o.rest[1])
	}
	return p.sequence(o, bounds[0], bounds[1], bounds[2], places)
}

// protectNegative keeps a first operand such as -5 from being read as options.
func protectNegative(args []string) []string {
	if len(args) > 0 {
		if _, err := strconv.ParseFloat(args[0], 64); err == nil {
			return append([]string{"--"}, args...)
		}
	}
	return args
}

func (p *proc) sequence(o options, first, step, last float64, places int) int {
	width := 0
	if o.has("w") {
		width = max(len(appendNumber(nil, first, places)), len(appendNumber(nil, last, places)))
	}
	gap, apart := "", o.get("s", "\n")
	var number, line []byte
	for i := 0; p.Ctx.Err() == nil; i++ {
		n := first + float64(i)*step
		if step > 0 && n > last+1e-10 || step < 0 && n < last-1e-10 {
			break
		}
		number = appendNumber(number[:0], n, places)
		line = appendPadded(append(line[:0], gap...), number, width)
		if _, err := p.Stdout.Write(line); err != nil {
			return exitFailure
		}
		gap = apart
	}
	if gap != "" {
		p.print("\n")
	}
	return 0
}

// appendNumber writes a number with so many places. Whole ones, which most are, take the short way.
func appendNumber(to []byte, n float64, places int) []byte {
	if whole := int64(n); places == 0 && float64(whole) == n && whole != 0 {
		return strconv.AppendInt(to, whole, 10)
	}
	return strconv.AppendFloat(to, n, 'f', places, 64)
}

// appendPadded fills with zeros behind the sign.
func appendPadded(to, number []byte, width int) []byte {
	rest, negative := bytes.CutPrefix(number, []byte("-"))
	if negative {
		to = append(to, '-')
	}
	return append(append(to, bytes.Repeat([]byte("0"), max(0, width-len(number)))...), rest...)
}
