package command

import (
	"path"
	"strings"
)

// diff [-abBiNqrsuw] [-U N] [--label L] [-x PATTERN] [--strip-trailing-cr] FILE FILE
func runDiff(p *Proc) int {
	o, ok := p.parse("abBiNqrsuwU:x:L:p", "text>a", "ignore-space-change>b", "ignore-blank-lines>B", "ignore-case>i", "new-file>N", "brief>q", "recursive>r",
		"report-identical-files>s", "unified?", "ignore-all-space>w", "exclude=>x", "label=>L", "color?", "strip-trailing-cr", "no-dereference", "minimal")
	if !ok {
		return exitUsage
	}
	if o.has("B") || o.has("p") {
		return p.usage("option -B or -p is not supported in the in-process shell")
	}
	if len(o.rest) != 2 {
		return p.usage("missing or extra operand")
	}
	d := &differ{p: p, o: o, context: -1}
	if o.has("u") || o.has("U") || o.has("unified") {
		text := o.get("U", "3")
		if o.get("unified", "") != "" {
			text = o.get("unified", "")
		}
		n, ok := natural(text)
		if !ok {
			return p.usage("invalid context length '%s'", text)
		}
		d.context = int(n)
	}
	return d.operands(o.rest[0], o.rest[1])
}

type differ struct {
	p       *Proc
	o       options
	context int // lines around a change; -1: normal format
}

// operands pairs a file with the file of that name in a directory.
func (d *differ) operands(a, b string) int {
	aDir, bDir := a != "-" && d.p.Files.IsDir(a), b != "-" && d.p.Files.IsDir(b)
	switch {
	case aDir && bDir:
		return d.dirs(a, b)
	case aDir:
		a = path.Join(a, path.Base(b))
	case bDir:
		b = path.Join(b, path.Base(a))
	}
	return d.files(a, b, false)
}

func (d *differ) dirs(a, b string) int {
	names := map[string]int{}
	for side, dir := range []string{a, b} {
		list, err := d.p.Files.List(dir)
		if err != nil {
			d.p.failure(dir, err)
			return exitUsage
		}
		for _, e := range list {
			if !matchesGlobs(d.o.all("x"), e.Name()) {
				names[e.Name()] |= 1 << side
			}
		}
	}
	code := 0
	for _, name := range sortedNames(names) {
		code = max(code, d.entry(a, b, name, names[name]))
	}
	return code
}

func (d *differ) entry(a, b, name string, sides int) int {
	left, right := joinName(a, name), joinName(b, name)
	leftDir, rightDir := d.p.Files.IsDir(left), d.p.Files.IsDir(right)
	switch {
	case sides != 3 && !d.o.has("N"):
		dir := a
		if sides == 2 {
			dir = b
		}
		d.p.printf("Only in %s: %s\n", dir, name)
		return 1
	case leftDir && rightDir:
		if d.o.has("r") {
			return d.dirs(left, right)
		}
		d.p.printf("Common subdirectories: %s and %s\n", left, right)
		return 0
	case leftDir || rightDir:
		kind := map[bool]string{true: "directory", false: "regular file"}
		d.p.printf("File %s is a %s while file %s is a %s\n", left, kind[leftDir], right, kind[rightDir])
		return 1
	}
	return d.files(left, right, true)
}

func joinName(dir, name string) string { return strings.TrimSuffix(dir, "/") + "/" + name }

// side is one of the two files.
type side struct {
	name, label string
	data        []byte
	lines, keys []string
	ended       bool
}

func (d *differ) side(name string) (*side, error) {
	data, err := d.p.read(name)
	if err != nil && !(d.o.has("N") && missing(err)) {
		return nil, err
	}
	s := &side{name: name, data: data}
	s.lines, s.ended = splitLines(string(data))
	s.keys = make([]string, len(s.lines))
	for i, line := range s.lines {
		s.keys[i] = d.key(line)
	}
	if !s.ended { // a missing newline is a difference, unless space does not count
		if last := len(s.keys) - 1; !d.o.has("w") && !d.o.has("b") {
			s.keys[last] += "\x00"
		}
	}
	s.label = name + "\t" + d.time(name)
	return s, nil
}

func (d *differ) time(name string) string {
	at := d.p.System.Now()
	if info, err := d.p.Files.Stat(name); err == nil && name != "-" {
		at = info.ModTime()
	}
	return at.UTC().Format("2006-01-02 15:04:05.000000000 -0700")
}

// key is a line with what the options ignore taken out.
func (d *differ) key(line string) string {
	if d.o.has("strip-trailing-cr") {
		line = strings.TrimSuffix(line, "\r")
	}
	switch {
	case d.o.has("w"):
		line = strings.Join(strings.Fields(line), "")
	case d.o.has("b"):
		end := strings.TrimRight(line, " \t\r")
		line = strings.Join(strings.Fields(end), " ")
		if strings.HasPrefix(end, " ") || strings.HasPrefix(end, "\t") {
			line = " " + line
		}
	}
	if d.o.has("i") {
		line = strings.ToLower(line)
	}
	return line
}

func (d *differ) files(left, right string, inTree bool) int {
	a, err := d.side(left)
	if err != nil {
		d.p.failure(left, err)
		return exitUsage
	}
	b, err := d.side(right)
	if err != nil {
		d.p.failure(right, err)
		return exitUsage
	}
	edits := diffLines(a.keys, b.keys)
	switch {
	case len(edits) == 0:
		if d.o.has("s") {
			d.p.printf("Files %s and %s are identical\n", left, right)
		}
		return 0
	case d.o.has("q"):
		d.p.printf("Files %s and %s differ\n", left, right)
		return 1
	case !d.o.has("a") && (binary(a.data) || binary(b.data)):
		d.p.printf("Binary files %s and %s differ\n", left, right)
		return 1
	}
	if inTree {
		d.p.print(d.header(left, right))
	}
	for i, label := range d.o.all("L") {
		if i < 2 {
			[]*side{a, b}[i].label = label
		}
	}
	if d.context >= 0 {
		d.p.print(unified(a, b, edits, d.context))
	} else {
		d.p.print(normal(a, b, edits))
	}
	return 1
}

// header repeats the command above each pair of files in a tree.
func (d *differ) header(left, right string) string {
	words := []string{"diff"}
	for _, a := range d.p.Args {
		if strings.HasPrefix(a, "-") && a != "-" {
			words = append(words, a)
		}
	}
	return strings.Join(append(words, left, right), " ") + "\n"
}
