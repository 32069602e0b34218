package sed

import (
	"io"
	"strconv"
	"strings"
)

// step runs one command. jump is the index to go on at, or -1.
func (m *machine) step(c *command) (v verdict, jump int) {
	switch c.name {
	case 'b':
		return m.branch(c)
	case 't', 'T':
		if m.substituted == (c.name == 'T') {
			m.substituted = false
			return next, -1
		}
		m.substituted = false
		return m.branch(c)
	case 'D':
		return m.deleteFirst()
	case 'd':
		return deleteCycle, -1
	case 'c':
		return m.change(c), -1
	case 'n', 'N':
		return m.advance(c), -1
	case 'q', 'Q':
		return m.exit(c), -1
	}
	m.edit(c)
	return next, -1
}

func (m *machine) branch(c *command) (verdict, int) {
	if c.text == "" {
		return endCycle, -1
	}
	return next, m.prog.labels[c.text]
}

func (m *machine) deleteFirst() (verdict, int) {
	_, rest, more := strings.Cut(m.space, "\n")
	if !more {
		return deleteCycle, -1
	}
	m.space = rest
	return restart, -1
}

// change replaces a line, or a whole range at its end.
func (m *machine) change(c *command) verdict {
	if c.to == nil || c.negate || !c.active {
		m.write(c.text)
	}
	return deleteCycle
}

func (m *machine) advance(c *command) verdict {
	if m.isLast() {
		if c.name == 'N' && !m.o.Quiet {
			return stop // GNU prints the pattern space
		}
		if c.name == 'n' {
			return stop
		}
		return stopSilent
	}
	if c.name == 'n' {
		if !m.o.Quiet {
			m.print(m.space)
		}
		m.flushAfter()
		m.read()
		return next
	}
	m.flushAfter()
	text, _ := m.readLine()
	m.space += "\n" + text
	return next
}

func (m *machine) exit(c *command) verdict {
	m.code, m.quit = c.code, true
	if c.name == 'Q' {
		return stopSilent
	}
	return stop
}

// edit runs the commands that always go on to the next one.
func (m *machine) edit(c *command) {
	switch c.name {
	case '=':
		m.write(strconv.Itoa(m.line) + "\n")
	case 'a':
		m.after = append(m.after, c.text)
	case 'i':
		m.write(c.text)
	case 'g':
		m.space = m.hold
	case 'G':
		m.space += "\n" + m.hold
	case 'h':
		m.hold = m.space
	case 'H':
		m.hold += "\n" + m.space
	case 'x':
		m.space, m.hold = m.hold, m.space
	case 'z':
		m.space = ""
	case 'p':
		m.print(m.space)
	case 'P':
		first, _, _ := strings.Cut(m.space, "\n")
		m.write(first + string(rune(m.newline)))
	case 'l':
		m.write(visible(m.space, c.code))
	case 'y':
		m.space = strings.Map(c.transliterate, m.space)
	case 's':
		m.substitute(c.sub)
	case 'r':
		m.readFile(c.text)
	case 'w':
		m.writeFile(c.text)
	}
}

func (c *command) transliterate(r rune) rune {
	if to, ok := c.table[r]; ok {
		return to
	}
	return r
}

func (m *machine) readFile(name string) {
	if m.o.ReadFile == nil {
		return
	}
	if data, err := m.o.ReadFile(name); err == nil {
		m.after = append(m.after, string(data))
	}
}

func (m *machine) writeFile(name string) {
	w, err := m.file(name)
	if err != nil {
		m.fail("couldn't open file %s: %w", name, err)
		return
	}
	if _, err := io.WriteString(w, m.space+"\n"); err != nil {
		m.fail("couldn't write to %s: %w", name, err)
	}
}

func (m *machine) file(name string) (io.Writer, error) {
	if w, ok := m.files[name]; ok {
		return w, nil
	}
	if m.o.Create == nil {
		return nil, errNoWrite
	}
	w, err := m.o.Create(name)
	if err == nil {
		m.files[name] = w
	}
	return w, err
}
