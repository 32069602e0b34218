package shellcmd

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

type parser struct {
	in       string
	at       int
	extended bool
	open     []int
	prog     *SedProgram
}

// ParseSed reads a script; extended takes patterns as extended expressions (-E). Several -e scripts are
// joined with newlines by the caller, as sed does.
func ParseSed(script string, extended bool) (*SedProgram, error) {
	p := &parser{in: script, extended: extended, prog: &SedProgram{labels: map[string]int{}}}
	for {
		more, err := p.command()
		if err != nil {
			return nil, fmt.Errorf("-e expression #1, char %d: %w", min(p.at, len(p.in)), err)
		}
		if !more {
			break
		}
	}
	if len(p.open) > 0 {
		return nil, errors.New("-e expression #1, char 0: unmatched `{'")
	}
	return p.prog, p.checkLabels()
}

// checkLabels looks for every label that is jumped to; none at all is the end.
func (p *parser) checkLabels() error {
	p.prog.labels[""] = len(p.prog.commands)
	for _, c := range p.prog.commands {
		if _, known := p.prog.labels[c.text]; strings.IndexByte("btT", c.name) >= 0 && !known {
			return fmt.Errorf("can't find label for jump to `%s'", c.text)
		}
	}
	return nil
}

// beyond is an error about the next character, which GNU has read by then and counts.
func (p *parser) beyond(text string) error {
	p.at++
	return errors.New(text)
}

func (p *parser) peek() byte {
	if p.at < len(p.in) {
		return p.in[p.at]
	}
	return 0
}

func (p *parser) skip(set string) {
	for p.at < len(p.in) && strings.IndexByte(set, p.in[p.at]) >= 0 {
		p.at++
	}
}

// command reads one command; more is false at the end of the script.
func (p *parser) command() (more bool, err error) {
	p.skip(" \t\n;")
	if p.at >= len(p.in) {
		return false, nil
	}
	if p.peek() == '#' {
		p.until("\n")
		return true, nil
	}
	c := command{}
	if err := p.addresses(&c); err != nil {
		return false, err
	}
	p.skip(" \t")
	if p.peek() == '!' {
		c.negate = true
		p.at++
		p.skip(" \t")
	}
	if p.peek() == '!' {
		return false, p.beyond("multiple `!'s")
	}
	if p.at >= len(p.in) {
		return false, errors.New("missing command")
	}
	c.name = p.in[p.at]
	p.at++
	return true, p.arguments(c)
}

func (p *parser) arguments(c command) error {
	var err error
	switch c.name {
	case '{':
		p.open = append(p.open, len(p.prog.commands))
		p.add(c)
		return nil
	case '}':
		return p.closeBlock(c)
	case ':':
		return p.label(c)
	case 's':
		c.sub, err = p.substitution()
	case 'y':
		c.table, err = p.transliteration()
	case 'a', 'i', 'c':
		c.text, err = p.textArgument()
	case 'b', 't', 'T':
		p.skip(" \t")
		c.text = p.word(";}\n")
	case 'r':
		p.prog.effects.Reads = true
		c.text, err = p.fileName()
	case 'w':
		c.text, err = p.writtenFile()
	case 'q', 'Q':
		if c.to != nil {
			return errors.New("command only uses one address")
		}
		c.code = p.optionalNumber(0)
	case 'l':
		c.code = p.optionalNumber(lineWidth)
	case 'e':
		c.text = p.until("\n")
		p.prog.effects.Runs = true
	case '=', 'd', 'D', 'g', 'G', 'h', 'H', 'n', 'N', 'p', 'P', 'x', 'z':
	default:
		return fmt.Errorf("unknown command: `%c'", c.name)
	}
	if err != nil {
		return err
	}
	p.add(c)
	return p.endOfCommand(c.name)
}

func (p *parser) add(c command) { p.prog.commands = append(p.prog.commands, c) }

func (p *parser) closeBlock(c command) error {
	if len(p.open) == 0 {
		return errors.New("unexpected `}'")
	}
	if c.from != nil {
		return errors.New("} doesn't want any addresses")
	}
	p.add(c)
	begin := p.open[len(p.open)-1]
	p.open = p.open[:len(p.open)-1]
	p.prog.commands[begin].jump = len(p.prog.commands)
	return p.endOfCommand('}')
}

func (p *parser) label(c command) error {
	if c.from != nil {
		return errors.New(": doesn't want any addresses")
	}
	p.skip(" \t")
	name := p.word(";\n")
	if name == "" {
		return errors.New("\":\" lacks a label")
	}
	p.prog.labels[name] = len(p.prog.commands)
	return nil
}

// endOfCommand accepts what may follow a command.
func (p *parser) endOfCommand(name byte) error {
	if strings.IndexByte("aicrwe", name) >= 0 {
		return nil
	}
	p.skip(" \t")
	switch p.peek() {
	case 0, '\n', ';', '}', '#':
		return nil
	}
	return p.beyond("extra characters after command")
}

func (p *parser) word(stop string) string { return strings.TrimRight(p.until(stop), " \t") }

// until reads up to one of some characters.
func (p *parser) until(stop string) string {
	begin := p.at
	for p.at < len(p.in) && strings.IndexByte(stop, p.in[p.at]) < 0 {
		p.at++
	}
	return p.in[begin:p.at]
}

func (p *parser) writtenFile() (string, error) {
	name, err := p.fileName()
	p.prog.effects.Writes, p.prog.written = true, append(p.prog.written, name)
	return name, err
}

func (p *parser) fileName() (string, error) {
	p.skip(" \t")
	name := p.until("\n")
	if name == "" {
		return "", errors.New("missing filename in r/R/w/W commands")
	}
	return name, nil
}

func (p *parser) number() int {
	begin := p.at
	p.skip("0123456789")
	n, _ := strconv.Atoi(p.in[begin:p.at])
	return n
}

func (p *parser) optionalNumber(absent int) int {
	p.skip(" \t")
	if c := p.peek(); c < '0' || c > '9' {
		return absent
	}
	return p.number()
}

// textArgument reads the text of a, i and c: on the next line after a backslash, or GNU's one-line form, in which a
// backslash keeps the blanks behind it.
func (p *parser) textArgument() (string, error) {
	p.skip(" \t")
	if p.at >= len(p.in) {
		return "", errors.New("expected \\ after `a', `c' or `i'")
	}
	if p.peek() == '\\' {
		if p.at++; p.at == len(p.in) {
			return "", nil // so that $a\ only ends a last line that has no end
		}
		if p.peek() == '\n' {
			p.at++
		}
	}
	var out strings.Builder
	for p.at < len(p.in) && p.in[p.at] != '\n' {
		c := p.in[p.at]
		p.at++
		if c == '\\' && p.at < len(p.in) {
			var n int
			c, n = escaped(p.in[p.at:])
			p.at += n
		}
		out.WriteByte(c)
	}
	return out.String() + "\n", nil
}

// lineWidth is where the l command breaks lines unless it is told; 0 is never.
const lineWidth = 70

// visible is the l command: escapes, and lines broken at width.
func visible(s string, width int) string {
	var b strings.Builder
	column := 0
	for i := range len(s) {
		part := s[i : i+1]
		if at := strings.Index("\a\b\f\n\r\t\v\\", part); at >= 0 {
			part = `\` + `abfnrtv\`[at:at+1]
		} else if s[i] < 0x20 || s[i] >= 0x7f {
			part = fmt.Sprintf(`\%03o`, s[i])
		}
		if width > 0 && column+len(part) > width-1 {
			b.WriteString("\\\n")
			column = 0
		}
		b.WriteString(part)
		column += len(part)
	}
	return b.String() + "$\n"
}
