package sed

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
)

// ErrRuns is returned by Run for a script that would start commands.
var ErrRuns = errors.New("e: starting commands from a sed script is not available in the in-process shell")

// Options are sed's switches and its doors to the world.
type Options struct {
	Quiet bool // -n
	Null  bool // -z: lines end in NUL
	Out   io.Writer
	// ReadFile serves r; a missing file reads as nothing, as in sed. Nil reads nothing.
	ReadFile func(name string) ([]byte, error)
	// Create serves w; it is called once for a name. Nil refuses writing.
	Create func(name string) (io.Writer, error)
}

// Run runs the script over one input, and gives the exit code that q or Q asked for (else 0) and whether
// one of them ended the run. A program keeps its open ranges only for the length of one Run.
func (p *Program) Run(in io.Reader, o Options) (code int, quit bool, err error) {
	if p.effects.Runs {
		return 4, true, ErrRuns
	}
	m := machine{prog: p, o: o, files: map[string]io.Writer{}, in: bufio.NewReader(in), newline: '\n'}
	if o.Null {
		m.newline = 0
	}
	m.commands = append([]command(nil), p.commands...)
	return m.run()
}

type machine struct {
	prog     *Program
	commands []command
	o        Options
	in       *bufio.Reader
	newline  byte
	files    map[string]io.Writer

	space, hold string
	line        int
	ended       bool // the line had its newline
	substituted bool
	after       []string // text to print at the cycle's end
	last        *regexp.Regexp

	code int
	quit bool
	err  error
}

// verdict says how a cycle goes on after one command.
type verdict int

const (
	next verdict = iota
	endCycle
	deleteCycle // without printing
	restart     // D: again, without reading
	stop        // q
	stopSilent  // Q, or n without input
)

func (m *machine) run() (int, bool, error) {
	again := false
	for {
		if !again && !m.read() {
			break
		}
		v := m.cycle()
		again = v == restart
		if v == next || v == endCycle || v == stop {
			if !m.o.Quiet {
				m.print(m.space)
			}
		}
		m.flushAfter()
		if m.err != nil || v == stop || v == stopSilent {
			break
		}
	}
	return m.code, m.quit, m.err
}

// read takes the next line into the pattern space.
func (m *machine) read() bool {
	text, ok := m.readLine()
	if ok {
		m.space = text
	}
	return ok
}

func (m *machine) readLine() (string, bool) {
	text, err := m.in.ReadString(m.newline)
	if text == "" && err != nil {
		return "", false
	}
	m.ended = strings.HasSuffix(text, string(rune(m.newline)))
	m.line++
	return strings.TrimSuffix(text, string(rune(m.newline))), true
}

func (m *machine) isLast() bool {
	_, err := m.in.Peek(1)
	return err != nil
}

func (m *machine) print(s string) {
	if m.ended || !m.isLast() {
		s += string(rune(m.newline))
	}
	m.write(s)
}

func (m *machine) write(s string) {
	if _, err := io.WriteString(m.o.Out, s); err != nil && m.err == nil {
		m.err = err
	}
}

func (m *machine) flushAfter() {
	for _, s := range m.after {
		m.write(s)
	}
	m.after = nil
}

func (m *machine) cycle() verdict {
	m.substituted = false
	for pc := 0; pc < len(m.commands); {
		c := &m.commands[pc]
		if c.name != '}' && m.selects(c) == c.negate {
			if c.name == '{' {
				pc = c.jump
			} else {
				pc++
			}
			continue
		}
		v, jump := m.step(c)
		if v != next {
			return v
		}
		if m.err != nil {
			return stopSilent
		}
		pc++
		if jump >= 0 {
			pc = jump
		}
	}
	return next
}

func (m *machine) fail(format string, a ...any) {
	if m.err == nil {
		m.err = fmt.Errorf(format, a...)
	}
}
