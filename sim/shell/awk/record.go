package awk

import (
	"regexp"
	"strings"
)

func (m *machine) setRecord(s string) {
	m.record, m.split, m.stale = s, false, false
}

// whole gives $0, built anew after a field was changed.
func (m *machine) whole() string {
	if m.stale {
		m.record = strings.Join(m.fields, m.global(slotOFS))
		m.stale = false
	}
	return m.record
}

func (m *machine) splitRecord() {
	if m.split {
		return
	}
	m.fields = m.splitFields(m.record, m.global(slotFS))
	m.values()
	m.split = true
}

func (m *machine) values() {
	m.isSet = make([]value, len(m.fields))
	for i, f := range m.fields {
		m.isSet[i] = fromIn(f)
	}
}

func (m *machine) splitFields(s, separator string) []string {
	if separator == " " {
		return strings.FieldsFunc(s, func(r rune) bool { return r == ' ' || r == '\t' || r == '\n' })
	}
	if s == "" {
		return nil
	}
	if m.globals[slotRS].v.s == "" && separator != "\n" { // paragraph mode: a newline separates too
		return m.regex("("+separator+")|\n").Split(s, -1)
	}
	return m.splitBy(s, separator)
}

// splitBy splits by a separator as FS and split() read it: a single character stands for itself.
func (m *machine) splitBy(s, separator string) []string {
	switch {
	case s == "":
		return nil
	case separator == " ":
		return m.splitFields(s, " ")
	case separator == "":
		return strings.Split(s, "")
	case len(separator) == 1 && separator != `\`:
		return strings.Split(s, separator)
	}
	return splitRegexp(m.regex(separator), s)
}

// splitRegexp splits at matches that are not empty.
func splitRegexp(re *regexp.Regexp, s string) []string {
	var out []string
	at := 0
	for _, loc := range re.FindAllStringIndex(s, -1) {
		if loc[0] == loc[1] {
			continue
		}
		out = append(out, s[at:loc[0]])
		at = loc[1]
	}
	return append(out, s[at:])
}

func (m *machine) getField(i int) value {
	if i == 0 {
		return fromIn(m.whole())
	}
	if i < 0 {
		m.fail("attempt to access field %d", i)
	}
	m.splitRecord()
	if i > len(m.fields) {
		return value{kind: input}
	}
	return m.isSet[i-1]
}

const maxFields = 1 << 20

func (m *machine) setField(i int, v value) {
	if i == 0 {
		m.setRecord(m.text(v))
		return
	}
	if i < 0 || i > maxFields {
		m.fail("attempt to access field %d", i)
	}
	m.splitRecord()
	for len(m.fields) < i {
		m.fields = append(m.fields, "")
		m.isSet = append(m.isSet, value{kind: input})
	}
	m.fields[i-1], m.isSet[i-1] = m.text(v), v
	m.stale = true
}

func (m *machine) setNF(n int) {
	if n < 0 || n > maxFields {
		m.fail("NF set to %d", n)
	}
	m.splitRecord()
	for len(m.fields) < n {
		m.fields = append(m.fields, "")
		m.isSet = append(m.isSet, value{kind: input})
	}
	m.fields, m.isSet = m.fields[:n], m.isSet[:n]
	m.stale = true
}
