package shellcmd

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

var errNoWrite = errors.New("writing is not allowed here")

// substitute runs one s command on the pattern space.
func (m *machine) substitute(s *substitution) {
	re := m.pattern(s.re)
	if re == nil {
		return
	}
	changed, ok := s.apply(m.space, re.FindAllStringSubmatchIndex(m.space, -1))
	if !ok {
		return
	}
	m.space, m.substituted = changed, true
	if s.print {
		m.print(m.space)
	}
	if s.file != "" {
		m.writeFile(s.file)
	}
}

// apply replaces the chosen matches; ok is false where none was.
func (s *substitution) apply(text string, matches [][]int) (out string, ok bool) {
	var b strings.Builder
	at, count := 0, 0
	for _, loc := range matches {
		count++
		if count < s.nth {
			continue
		}
		b.WriteString(text[at:loc[0]])
		b.WriteString(s.expand(text, loc))
		at, ok = loc[1], true
		if !s.global {
			break
		}
	}
	b.WriteString(text[at:])
	return b.String(), ok
}

// expand writes the right-hand side for one match, with GNU's \U \L \u \l \E.
func (s *substitution) expand(text string, loc []int) string {
	var b strings.Builder
	var state, once byte
	for _, p := range s.with {
		switch p.change {
		case 'U', 'L', 'E':
			state, once = p.change, 0
			continue
		case 'u', 'l':
			once = p.change
			continue
		}
		part := p.text
		if p.group >= 0 && 2*p.group+1 < len(loc) && loc[2*p.group] >= 0 {
			part = text[loc[2*p.group]:loc[2*p.group+1]]
		}
		b.WriteString(recase(part, state, once))
		if part != "" {
			once = 0
		}
	}
	return b.String()
}

func recase(s string, state, once byte) string {
	switch state {
	case 'U':
		s = strings.ToUpper(s)
	case 'L':
		s = strings.ToLower(s)
	}
	if once == 0 || s == "" {
		return s
	}
	r, n := utf8.DecodeRuneInString(s)
	if once == 'u' {
		return string(unicode.ToUpper(r)) + s[n:]
	}
	return string(unicode.ToLower(r)) + s[n:]
}

// delimited reads up to an unescaped delimiter. An escaped delimiter loses its backslash and means what it means
// without one; a character given by its number stands for itself, \n becomes a newline. In a pattern a delimiter inside
// brackets does not count.
func (p *parser) delimited(delimiter byte, pattern bool) (string, bool) {
	var out strings.Builder
	for p.at < len(p.in) {
		c := p.in[p.at]
		switch {
		case c == delimiter:
			p.at++
			return out.String(), true
		case c == '\\' && p.at+1 < len(p.in):
			n := p.escape(&out, delimiter, pattern)
			p.at += 1 + n
		case c == '\n' && pattern:
			return "", false
		case c == '[' && pattern:
			p.bracket(&out)
		default:
			out.WriteByte(c)
			p.at++
		}
	}
	return "", false
}

// escape writes what stands behind a backslash, and gives its length. A number ends before the delimiter.
func (p *parser) escape(out *strings.Builder, delimiter byte, pattern bool) int {
	c := p.in[p.at+1]
	digits, _, _ := strings.Cut(p.in[p.at+2:min(p.at+5, len(p.in))], string([]byte{delimiter}))
	switch number, n := numbered(string([]byte{c}) + digits); {
	case c == delimiter && (pattern || c != '&'):
		out.WriteByte(c)
	case n > 0 && (number == '\\' || !pattern && number == '&'):
		out.WriteString(`\` + string(rune(number)))
		return n
	case n > 0:
		out.WriteByte(number)
		return n
	case pattern && c == 'n':
		out.WriteByte('\n')
	default:
		out.WriteString(`\` + string([]byte{c}))
	}
	return 1
}

// bracket copies a complete bracket expression.
func (p *parser) bracket(out *strings.Builder) {
	body, end, err := bracketEnd(p.in, p.at+1)
	if err != nil || strings.Contains(body, "\n") {
		p.at = len(p.in) // the pattern has no end either
		return
	}
	p.at = bracketEscapes(out, p.in[:end], p.at)
}

// bracketEscapes writes in from at on. In brackets a backslash is a backslash, unless GNU has a letter or number for
// what stands behind it.
func bracketEscapes(out *strings.Builder, in string, at int) int {
	for ; at < len(in); at++ {
		if in[at] == '\\' {
			number, n := numbered(in[at+1:])
			switch next := in[at+1]; {
			case n > 0:
				out.WriteByte(number)
				at += n
				continue
			case strings.IndexByte("afnrtv", next) >= 0:
				out.WriteByte(escapedByte(next))
				at++
				continue
			case next == '\\':
				out.WriteByte(next)
				at++
			}
		}
		out.WriteByte(in[at])
	}
	return at
}

func (p *parser) substitution() (*substitution, error) {
	pattern, with, err := p.pair('s')
	if err != nil {
		return nil, err
	}
	s := &substitution{with: replacement(with)}
	ignore, multi, err := p.flags(s)
	if err != nil {
		return nil, err
	}
	if s.re, err = p.compile(pattern, ignore, multi); err != nil {
		return nil, err
	}
	return s, s.checkGroups()
}

// pair reads the two texts of s or y, which the character in front ends.
func (p *parser) pair(name byte) (from, to string, err error) {
	delimiter := p.peek()
	ok := delimiter != 0 && delimiter != '\n' && delimiter != '\\'
	if ok {
		p.at++
		from, ok = p.delimited(delimiter, name == 's')
	}
	if ok {
		to, ok = p.delimited(delimiter, false)
	}
	if !ok {
		err = fmt.Errorf("unterminated `%c' command", name)
	}
	return from, to, err
}

func (s *substitution) checkGroups() error {
	for _, piece := range s.with {
		if s.re != nil && piece.group > s.re.NumSubexp() {
			return fmt.Errorf("invalid reference \\%d on `s' command's RHS", piece.group)
		}
	}
	return nil
}

func (p *parser) flags(s *substitution) (ignore, multi bool, err error) {
	for {
		c := p.peek()
		switch {
		case c == 'g':
			s.global = true
		case c == 'p':
			s.print = true
		case c == 'i' || c == 'I':
			ignore = true
		case c == 'm' || c == 'M':
			multi = true
		case c == 'e':
			p.prog.effects.Runs = true
		case c >= '1' && c <= '9':
			s.nth = p.number()
			continue
		case c == 'w':
			p.at++
			s.file, err = p.writtenFile()
			return ignore, multi, err
		case c == '0':
			return false, false, p.beyond("number option to `s' command may not be zero")
		case c == 0 || strings.IndexByte(" \t\n;}#", c) >= 0:
			return ignore, multi, nil
		default:
			return false, false, p.beyond("unknown option to `s'")
		}
		p.at++
	}
}

// replacement splits the right-hand side into literal text, groups and changes of case.
func replacement(s string) []piece {
	var out []piece
	var lit strings.Builder
	flush := func() {
		if lit.Len() > 0 {
			out = append(out, piece{text: lit.String(), group: -1})
			lit.Reset()
		}
	}
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '&':
			flush()
			out = append(out, piece{group: 0})
		case s[i] == '\\' && i+1 < len(s):
			i++
			if special, ok := escapedPiece(s[i]); ok {
				flush()
				out = append(out, special)
				continue
			}
			lit.WriteByte(escapedByte(s[i]))
		default:
			lit.WriteByte(s[i])
		}
	}
	flush()
	return out
}

func escapedPiece(c byte) (piece, bool) {
	if c >= '0' && c <= '9' {
		return piece{group: int(c - '0')}, true
	}
	if strings.IndexByte("LUEul", c) >= 0 {
		return piece{group: -1, change: c}, true
	}
	return piece{}, false
}

// escaped gives the character that the text behind a backslash stands for, and the text's length.
func escaped(s string) (c byte, n int) {
	if c, n = numbered(s); n > 0 {
		return c, n
	}
	return escapedByte(s[0]), 1
}

func escapedByte(c byte) byte {
	if i := strings.IndexByte("afnrtv", c); i >= 0 {
		return "\a\f\n\r\t\v"[i]
	}
	return c
}

// numbered reads a character that is given by its number: dNNN, oNNN or xNN. n is 0 where there is none.
func numbered(s string) (c byte, n int) {
	base, most := 0, 4
	switch s[0] {
	case 'd':
		base = 10
	case 'o':
		base = 8
	case 'x':
		base, most = 16, 3
	default:
		return 0, 0
	}
	value := 0
	for n = 1; n < min(most, len(s)); n++ {
		digit, err := strconv.ParseUint(s[n:n+1], base, 8)
		if err != nil {
			break
		}
		value = value*base + int(digit)
	}
	if n == 1 {
		return 0, 0
	}
	return byte(value), n
}

func (p *parser) transliteration() (map[rune]rune, error) {
	from, to, err := p.pair('y')
	if err != nil {
		return nil, err
	}
	a, b := unescapeSet(from), unescapeSet(to)
	if len(a) != len(b) {
		return nil, errors.New("strings for `y' command are different lengths")
	}
	table := make(map[rune]rune, len(a))
	for i, r := range a {
		if _, twice := table[r]; !twice {
			table[r] = b[i]
		}
	}
	return table, nil
}

func unescapeSet(s string) []rune {
	var out []rune
	for in := []rune(s); len(in) > 0; in = in[1:] {
		if in[0] == '\\' && len(in) > 1 {
			in = in[1:]
			out = append(out, rune(escapedByte(byte(in[0]))))
			continue
		}
		out = append(out, in[0])
	}
	return out
}
