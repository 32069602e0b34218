package awk

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// reader reads records from one input.
type reader struct {
	m   *machine
	in  *bufio.Reader
	end func()
}

func (m *machine) newReader(in io.Reader, end func()) *reader {
	return &reader{m: m, in: bufio.NewReader(in), end: end}
}

func (r *reader) read() (string, bool) {
	switch rs := r.m.global(slotRS); {
	case rs == "\n" || len(rs) == 1:
		return r.until(rs[0])
	case rs == "":
		return r.paragraph()
	default:
		return r.untilRegex(rs)
	}
}

func (r *reader) until(end byte) (string, bool) {
	s, err := r.in.ReadString(end)
	if err != nil {
		if s == "" {
			return "", false
		}
		if end != '\n' {
			s = strings.TrimSuffix(s, "\n") // the file's own last newline
		}
		return s, s != "" || end == '\n'
	}
	return s[:len(s)-1], true
}

func (r *reader) paragraph() (string, bool) {
	var lines []string
	for {
		line, ok := r.until('\n')
		if !ok || line == "" && len(lines) > 0 {
			return strings.Join(lines, "\n"), len(lines) > 0
		}
		if line != "" {
			lines = append(lines, line)
		}
	}
}

// untilRegex holds the rest of the input in memory: a match may reach over any buffer's end.
func (r *reader) untilRegex(pattern string) (string, bool) {
	all, _ := io.ReadAll(r.in)
	if len(all) == 0 {
		return "", false
	}
	s := string(all)
	loc := r.m.regex(pattern).FindStringIndex(s)
	if loc == nil || loc[0] == loc[1] {
		r.in = bufio.NewReader(strings.NewReader(""))
		return strings.TrimSuffix(s, "\n"), true
	}
	r.in = bufio.NewReader(strings.NewReader(s[loc[1]:]))
	return s[:loc[0]], true
}

// mainInput walks ARGV: files one after the other, assignments on the way, standard input if no file.
type mainInput struct {
	m        *machine
	next     int
	current  *reader
	anyFile  bool
	finished bool
}

func (in *mainInput) read() (string, bool) {
	for {
		if in.current == nil && !in.open() {
			return "", false
		}
		if line, ok := in.current.read(); ok {
			in.m.count(slotNR)
			in.m.count(slotFNR)
			return line, true
		}
		in.skipFile()
	}
}

func (in *mainInput) skipFile() {
	if in.current != nil {
		in.current.end()
		in.current = nil
	}
}

func (in *mainInput) open() bool {
	m := in.m
	argv := m.globals[slotARGV].table()
	for in.next < int(m.globals[slotARGC].v.toNum()) {
		operand, ok := argv[fmt.Sprint(in.next)]
		in.next++
		if !ok || operand.s == "" {
			continue
		}
		if m.assignOperand(operand.s) {
			continue
		}
		in.anyFile = true
		if in.use(operand.s) {
			return true
		}
	}
	if in.anyFile || in.finished {
		return false
	}
	in.finished = true
	return in.use("-")
}

// use opens one operand; one that cannot be opened is reported and passed over, exit code 2.
func (in *mainInput) use(name string) bool {
	m := in.m
	r, err := m.openReader(name)
	if err != nil {
		m.out.Flush()
		fmt.Fprintf(m.o.Stderr, "awk: cannot open %q (%s)\n", name, err)
		m.code = 2
		return false
	}
	in.current = r
	if name == "-" {
		name = ""
	}
	m.globals[slotFILENAME].v = str(name)
	m.globals[slotFNR].v = num(0)
	return true
}

func (m *machine) openReader(name string) (*reader, error) {
	if name == "-" || name == "/dev/stdin" {
		return m.newReader(m.o.Stdin, func() {}), nil
	}
	if m.o.Open == nil {
		return nil, errNoDoor
	}
	f, err := m.o.Open(name)
	if err != nil {
		return nil, err
	}
	return m.newReader(f, func() { f.Close() }), nil
}

// assignOperand does name=value, and reports whether s is one.
func (m *machine) assignOperand(s string) bool {
	name, val, ok := strings.Cut(s, "=")
	if !ok || name == "" || !letter(name[0]) || strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") != "" {
		return false
	}
	if slot, known := m.prog.globals[name]; known {
		m.setGlobal(slot, fromIn(unescape(val)))
	}
	return true
}

func (m *machine) count(slot int) {
	c := m.globals[slot]
	c.v = num(c.v.toNum() + 1)
}

// getline reads a record from where g says, and gives 1, 0 at the end, -1 on failure.
func (m *machine) getline(g getline) value {
	line, state := m.nextLine(g)
	if state != 1 {
		return num(state)
	}
	if g.command {
		m.count(slotNR)
	}
	if g.target == nil {
		m.setRecord(line)
	} else {
		m.assign(g.target, fromIn(line))
	}
	return num(1)
}

func (m *machine) nextLine(g getline) (string, float64) {
	if g.source == nil {
		line, ok := m.main.read()
		return line, map[bool]float64{true: 1}[ok]
	}
	name := m.text(m.eval(g.source))
	r := m.readers[name]
	if r == nil {
		var err error
		if r, err = m.openSource(name, g.command); err != nil {
			return "", -1
		}
		m.readers[name] = r
	}
	line, ok := r.read()
	return line, map[bool]float64{true: 1}[ok]
}

func (m *machine) openSource(name string, command bool) (*reader, error) {
	if !command {
		return m.openReader(name)
	}
	var out strings.Builder
	if _, err := m.command(name, strings.NewReader(""), &out); err != nil {
		return nil, err
	}
	return m.newReader(strings.NewReader(out.String()), func() {}), nil
}
