package sed

import "regexp"

// selects says whether c's addresses choose the current line.
func (m *machine) selects(c *command) bool {
	switch {
	case c.from == nil:
		return true
	case c.to == nil:
		return m.matches(c.from)
	case c.active:
		return m.continues(c)
	case c.from.kind == byZero && m.line == 1:
		c.active = !m.matches(c.to)
		return true
	case c.from.kind == byZero || !m.matches(c.from):
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
			c.until = (m.line + c.to.n - 1) / c.to.n * c.to.n
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
		m.fail("no previous regular expression")
	}
	return m.last
}
