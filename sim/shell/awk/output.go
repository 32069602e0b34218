package awk

import (
	"bytes"
	"io"
	"slices"
)

// sink is an open output: a file, or a command that gets its input when it is closed.
type sink struct {
	w     io.Writer
	close func() int
}

func (m *machine) print(s printStmt) {
	w := m.target(s)
	if s.format {
		args := m.evalAll(s.args)
		m.write(w, sprintf(m.text(args[0]), args[1:], m.convfmt()))
		return
	}
	if len(s.args) == 0 {
		m.write(w, m.whole()+m.global(slotORS))
		return
	}
	line := []byte(nil)
	for i, x := range s.args {
		if i > 0 {
			line = append(line, m.global(slotOFS)...)
		}
		line = append(line, m.eval(x).toStr(m.globals[slotOFMT].v.s)...)
	}
	m.write(w, string(append(line, m.global(slotORS)...)))
}

func (m *machine) target(s printStmt) io.Writer {
	if s.redirect == "" {
		return m.out
	}
	name := m.text(m.eval(s.to))
	if out, ok := m.writers[name]; ok {
		return out.w
	}
	out := m.openSink(name, s.redirect)
	m.writers[name] = out
	return out.w
}

func (m *machine) openSink(name, redirect string) *sink {
	switch {
	case redirect == "|":
		return m.pipe(name)
	case name == "/dev/stdout" || name == "-":
		return &sink{m.out, func() int { return 0 }}
	case name == "/dev/stderr":
		m.out.Flush()
		return &sink{m.o.Stderr, func() int { return 0 }}
	case m.o.Create == nil:
		m.fail("cannot write to %s: %w", name, errNoDoor)
	}
	f, err := m.o.Create(name, redirect == ">>")
	if err != nil {
		m.fail("cannot open %q for output (%s)", name, err)
	}
	return &sink{f, func() int {
		if f.Close() != nil {
			return -1
		}
		return 0
	}}
}

// pipe collects what is printed and runs the command when the pipe is closed or the program ends.
func (m *machine) pipe(line string) *sink {
	var buffer bytes.Buffer
	return &sink{&buffer, func() int {
		code, err := m.command(line, &buffer, m.out)
		if err != nil {
			return -1
		}
		return code
	}}
}

func (m *machine) command(line string, stdin io.Reader, stdout io.Writer) (int, error) {
	if m.o.Command == nil {
		return -1, errNoDoor
	}
	m.out.Flush()
	return m.o.Command(line, stdin, stdout), nil
}

func (m *machine) close(name string) float64 {
	code := -1
	if w, ok := m.writers[name]; ok {
		code = w.close()
		delete(m.writers, name)
	}
	if r, ok := m.readers[name]; ok {
		r.end()
		code = 0
		delete(m.readers, name)
	}
	return float64(code)
}

// closeAll closes in name order, so that commands run in a fixed order.
func (m *machine) closeAll() {
	names := make([]string, 0, len(m.writers)+len(m.readers))
	for name := range m.writers {
		names = append(names, name)
	}
	for name := range m.readers {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		m.close(name)
	}
	m.main.close()
	m.out.Flush()
}

func (in *mainInput) close() {
	if in != nil {
		in.skipFile()
	}
}
