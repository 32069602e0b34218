package shellcmd

import (
	"errors"
	"regexp"
	"strings"
)

// SedProgram is a parsed script.
type SedProgram struct {
	commands []command
	labels   map[string]int
	effects  SedEffects
	written  []string // names of files
}

// SedEffects is what a script does beyond its output (L2).
type SedEffects struct {
	Writes bool // w, or s///w: writes a file
	Runs   bool // e, or s///e: starts a command; refused when run
	Reads  bool // r: reads a file
}

// Effects reports what running p would do beyond printing.
func (p *SedProgram) Effects() SedEffects { return p.effects }

// Substitution reports whether the script is a single s command without effects, the only script that
// can be shown to a person as an edit (H3).
func (p *SedProgram) Substitution() bool {
	return len(p.commands) == 1 && p.commands[0].name == 's' && p.effects == (SedEffects{})
}

type command struct {
	from, to *address
	negate   bool
	name     byte
	text     string // a i c: text; b t T: label; r w: file
	code     int    // q Q: exit code; l: width
	sub      *substitution
	table    map[rune]rune // y
	jump     int           // {: index behind the matching }
	active   bool
	until    int
}

type addressKind int

const (
	byLine addressKind = iota
	byLast
	byPattern
	byStep
	byCount    // +N, second address only
	byMultiple // ~N, second address only
	byZero     // 0,/re/: no line, since the range is open from the start
)

type address struct {
	kind    addressKind
	n, step int
	re      *regexp.Regexp // nil: the last pattern used
}

type substitution struct {
	re     *regexp.Regexp
	with   []piece
	nth    int
	global bool
	print  bool
	file   string
}

// piece is literal text, or a group's text (group >= 0), or a change of case for what follows.
type piece struct {
	text   string
	group  int
	change byte
}

func (p *parser) addresses(c *command) error {
	var err error
	if c.from, err = p.address(false); err != nil || c.from == nil {
		return err
	}
	p.skip(" \t")
	if p.peek() != ',' {
		if c.from.kind == byZero {
			return p.beyond("invalid usage of line address 0")
		}
		return nil
	}
	p.at++
	p.skip(" \t")
	if c.to, err = p.address(true); err != nil {
		return err
	}
	if c.to == nil {
		return p.beyond("unexpected `,'")
	}
	if c.active = c.from.kind == byZero; c.active && c.to.kind != byPattern {
		return p.beyond("invalid usage of line address 0")
	}
	return nil
}

func (p *parser) address(second bool) (*address, error) {
	c := p.peek()
	switch {
	case c >= '0' && c <= '9':
		a := &address{kind: byLine, n: p.number()}
		if p.peek() == '~' {
			p.at++
			a.kind, a.step = byStep, p.number()
		} else if a.n == 0 {
			a.kind = byZero
		}
		return a, nil
	case c == '$':
		p.at++
		return &address{kind: byLast}, nil
	case c == '/':
		p.at++
		return p.patternAddress('/')
	case c == '\\' && p.at+1 < len(p.in):
		p.at += 2
		return p.patternAddress(p.in[p.at-1])
	case second && (c == '+' || c == '~'):
		p.at++
		kind := byCount
		if c == '~' {
			kind = byMultiple
		}
		return &address{kind: kind, n: p.number()}, nil
	}
	return nil, nil
}

func (p *parser) patternAddress(delimiter byte) (*address, error) {
	text, ok := p.delimited(delimiter, true)
	if !ok || delimiter == '\n' {
		return nil, errors.New("unterminated address regex")
	}
	begin := p.at
	p.skip("IM")
	flags := p.in[begin:p.at]
	re, err := p.compile(text, strings.Contains(flags, "I"), strings.Contains(flags, "M"))
	return &address{kind: byPattern, re: re}, err
}

// compile gives nil for the empty pattern, which stands for the last one used.
func (p *parser) compile(text string, ignore, multi bool) (*regexp.Regexp, error) {
	if text == "" {
		return nil, nil
	}
	return CompileSedRegexp(text, p.extended, ignore, multi)
}

// selects reports whether c's addresses choose the current line.
func (m *machine) selects(c *command) bool {
	switch {
	case c.from == nil:
		return true
	case c.to == nil:
		return m.matches(c.from)
	case c.active:
		return m.continues(c)
	case !m.matches(c.from):
		return false
	}
	m.begin(c)
	return true
}

// begin opens a range at the current line; a range whose end lies behind is one line long.
func (m *machine) begin(c *command) {
	switch c.to.kind {
	case byLine:
		c.until = c.to.n
	case byCount:
		c.until = m.line + c.to.n
	case byMultiple:
		c.until = m.line
		if c.to.n > 0 {
			c.until += c.to.n - m.line%c.to.n
		}
	default:
		c.active = !(c.to.kind == byLast && m.isLast())
		return
	}
	c.active = c.until > m.line
}

func (m *machine) continues(c *command) bool {
	switch c.to.kind {
	case byLine, byCount, byMultiple:
		if m.line > c.until { // n or N jumped over the end
			c.active = false
			return m.matches(c.from)
		}
		c.active = m.line < c.until
	default:
		c.active = !m.matches(c.to)
	}
	return true
}

func (m *machine) matches(a *address) bool {
	switch a.kind {
	case byLine:
		return m.line == a.n
	case byLast:
		return m.isLast()
	case byStep:
		if a.step <= 0 {
			return m.line == a.n
		}
		return m.line >= a.n && (m.line-a.n)%a.step == 0
	case byPattern:
		re := m.pattern(a.re)
		return re != nil && re.MatchString(m.space)
	}
	return false
}

// pattern gives re, or for the empty pattern the one used last.
func (m *machine) pattern(re *regexp.Regexp) *regexp.Regexp {
	if re != nil {
		m.last = re
	} else if m.last == nil {
		m.fail("-e expression #1, char 0: no previous regular expression")
	}
	return m.last
}
