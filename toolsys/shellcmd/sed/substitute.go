package sed

import (
	"errors"
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
