package shellcmd

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
)

// ErrSedRuns is returned by Run for a script that would start commands.
var ErrSedRuns = errors.New("e: starting commands from a sed script is not available in the in-process shell")

// SedOptions are sed's switches and its ways to the outside.
type SedOptions struct {
	Quiet bool // -n
	Out   io.Writer
	// ReadFile serves r; a missing file reads as nothing, as in sed. Nil reads nothing.
	ReadFile func(name string) ([]byte, error)
	// Create serves w; it is called before anything is read, whether or not something is written. Nil refuses writing.
	Create func(name string) (io.Writer, error)
}

// Run runs the script over one input, and gives the exit code that q or Q asked for (else 0) and whether
// one of them ended the run. A program keeps its open ranges only for the length of one Run.
func (p *SedProgram) Run(in io.Reader, o SedOptions) (code int, quit bool, err error) {
	if p.effects.Runs {
		return 4, true, ErrSedRuns
	}
	m := machine{prog: p, o: o, files: map[string]io.Writer{}, in: bufio.NewReader(in)}
	m.commands = append([]command(nil), p.commands...)
	for _, name := range p.written {
		err := errNoWrite
		if o.Create != nil {
			m.files[name], err = o.Create(name)
		}
		if err != nil {
			return 0, false, fmt.Errorf("couldn't open file %s: %w", name, err)
		}
	}
	return m.run()
}

type machine struct {
	prog     *SedProgram
	commands []command
	o        SedOptions
	in       *bufio.Reader
	files    map[string]io.Writer

	space, hold string
	line        int
	ended       bool // the line had its newline
	owed        bool // what was printed last had none
	substituted bool
	after       []string // text to print at the cycle's end
	last        *regexp.Regexp
	jumps       int // since a line was read

	code int
	quit bool
	err  error
}

// verdict is how a cycle goes on after one command.
type verdict int

const (
	next        verdict = iota
	deleteCycle         // without printing
	restart             // D: again, without reading
	stop                // q
	stopSilent          // Q, or a failure
)

func (m *machine) run() (int, bool, error) {
	for again := false; again || m.read(""); {
		v := m.cycle()
		again = v == restart
		if m.err == nil && !m.o.Quiet && (v == next || v == stop) {
			m.print(m.space)
		}
		m.flushAfter()
		if m.err != nil || v == stop || v == stopSilent {
			break
		}
	}
	return m.code, m.quit, m.err
}

// read takes the next line into the pattern space, behind what stays there.
func (m *machine) read(stays string) bool {
	text, err := m.in.ReadString('\n')
	if text == "" && err != nil {
		return false
	}
	m.ended = strings.HasSuffix(text, "\n")
	m.line++
	m.jumps = 0
	m.space = stays + strings.TrimSuffix(text, "\n")
	return true
}

func (m *machine) isLast() bool {
	_, err := m.in.Peek(1)
	return err != nil
}

// print prints a line, the last one of an input that ends without a newline without one too.
func (m *machine) print(s string) {
	owed := !m.ended && m.isLast()
	if !owed {
		s += "\n"
	}
	m.write(s)
	m.owed = owed
}

// write prints s, behind the newline that is owed.
func (m *machine) write(s string) {
	if m.owed {
		m.owed, s = false, "\n"+s
	}
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
		pc++
		if c.name != '}' && m.selects(c) == c.negate {
			if c.name == '{' {
				pc = c.jump
			}
			continue
		}
		v, jump := m.step(c)
		if v == restart || jump >= 0 {
			if m.jumps += 1 + len(m.space)/longer; m.jumps > maxJumps {
				m.fail("line %d: the script never ends", m.line)
			}
		}
		if len(m.space)+len(m.hold) > maxSpace {
			m.fail("line %d: the pattern and hold spaces grow beyond %d bytes", m.line, maxSpace)
		}
		if m.err != nil {
			return stopSilent
		}
		if v != next {
			return v
		}
		if jump >= 0 {
			pc = jump
		}
	}
	return next
}

// Bounds of a script that would never end, or fill the memory: of both spaces in bytes, and
// of the jumps on one line, which count for more where the pattern space is long.
const (
	maxSpace = 16 << 20
	maxJumps = 200_000
	longer   = 4096
)

func (m *machine) fail(format string, a ...any) {
	if m.err == nil {
		m.err = fmt.Errorf(format, a...)
	}
}

// step runs one command. jump is the index to go on at, or -1.
func (m *machine) step(c *command) (v verdict, jump int) {
	switch c.name {
	case 't', 'T':
		jumps := m.substituted == (c.name == 't')
		if m.substituted = false; !jumps {
			return next, -1
		}
		fallthrough
	case 'b':
		return next, m.prog.labels[c.text]
	case 'D':
		if _, rest, more := strings.Cut(m.space, "\n"); more {
			m.space = rest
			return restart, -1
		}
		fallthrough
	case 'd':
		return deleteCycle, -1
	case 'c':
		return m.change(c), -1
	case 'n', 'N':
		return m.advance(c), -1
	case 'q', 'Q':
		if m.code, m.quit = c.code, true; c.name == 'Q' {
			return stopSilent, -1
		}
		return stop, -1
	}
	m.edit(c)
	return next, -1
}

// change replaces a line, or all of a range at its end.
func (m *machine) change(c *command) verdict {
	if c.to == nil || c.negate || !c.active {
		m.write(c.text)
	}
	return deleteCycle
}

func (m *machine) advance(c *command) verdict {
	if m.isLast() {
		return stop // GNU prints the pattern space
	}
	stays := m.space + "\n"
	if c.name == 'n' {
		stays = ""
		if !m.o.Quiet {
			m.print(m.space)
		}
	}
	m.flushAfter()
	m.read(stays)
	return next
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
		m.write(first + "\n")
	case 'l':
		m.write(visible(m.space, c.code))
	case 'y':
		m.space = strings.Map(func(r rune) rune {
			if to, ok := c.table[r]; ok {
				return to
			}
			return r
		}, m.space)
	case 's':
		m.substitute(c.sub)
	case 'r':
		if m.o.ReadFile != nil {
			if data, err := m.o.ReadFile(c.text); err == nil {
				m.after = append(m.after, string(data))
			}
		}
	case 'w':
		m.writeFile(c.text)
	}
}

func (m *machine) writeFile(name string) {
	if _, err := io.WriteString(m.files[name], m.space+"\n"); err != nil {
		m.fail("couldn't write to %s: %w", name, err)
	}
}
