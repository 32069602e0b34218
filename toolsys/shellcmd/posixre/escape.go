package posixre

import "strings"

// escape handles what follows a backslash.
func (t *translator) escape() error {
	if t.at >= len(t.in) {
		return errTrailing
	}
	c := t.in[t.at]
	t.at++
	if t.syntax == Basic && strings.IndexByte("(){|+?", c) >= 0 {
		return t.basicOperator(c)
	}
	if c >= '1' && c <= '9' {
		return ErrBackref
	}
	if class, ok := gnuEscape(c); ok {
		t.put(class)
		return nil
	}
	t.literal(c)
	return nil
}

func (t *translator) basicOperator(c byte) error {
	switch c {
	case '(':
		t.open()
	case ')':
		if t.depth == 0 {
			return errEndGroup
		}
		t.close()
	case '{':
		return t.interval(`\}`)
	case '|':
		t.alternate()
	default:
		t.repeat(string(c))
	}
	return nil
}

// gnuEscape gives GNU's letters. Go has no mark for one side of a word alone; \b is its nearest.
func gnuEscape(c byte) (string, bool) {
	switch c {
	case 'w':
		return `[0-9A-Za-z_]`, true
	case 'W':
		return `[^0-9A-Za-z_]`, true
	case 's':
		return `\s`, true
	case 'S':
		return `\S`, true
	case 'b', '<', '>':
		return `\b`, true
	case 'B':
		return `\B`, true
	case '`':
		return `\A`, true
	case '\'':
		return `\z`, true
	case 'n':
		return `\n`, true
	case 't':
		return `\t`, true
	case 'r':
		return `\r`, true
	case 'f':
		return `\f`, true
	case 'v':
		return `\v`, true
	}
	return "", false
}
