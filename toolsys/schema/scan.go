package schema

import (
	"bytes"
	"unicode/utf8"
)

// maxDepth is how deep an input may nest; models write a handful of levels, and
// a bound keeps the recursive readers from being driven into the stack's limit.
const maxDepth = 1000

// cursor reads JSON grammar from b, strictly and without allocating. Every
// reading method reports false at the first byte that is not JSON.
type cursor struct {
	b     []byte
	i     int
	depth int
}

func (c *cursor) space() {
	for c.i < len(c.b) {
		switch c.b[c.i] {
		case ' ', '\t', '\n', '\r':
			c.i++
		default:
			return
		}
	}
}

// peek is the byte at the cursor, or 0 at the end.
func (c *cursor) peek() byte {
	if c.i < len(c.b) {
		return c.b[c.i]
	}
	return 0
}

func (c *cursor) take(b byte) bool {
	if c.peek() != b {
		return false
	}
	c.i++
	return true
}

func (c *cursor) word(w string) bool {
	if !bytes.HasPrefix(c.b[c.i:], []byte(w)) {
		return false
	}
	c.i += len(w)
	return true
}

// text reads a string and gives what stands between its quotes; plain is set where
// this is also its value, since it has no escape.
func (c *cursor) text() (body []byte, plain, ok bool) {
	if !c.take('"') {
		return nil, false, false
	}
	start, plain := c.i, true
	for c.i < len(c.b) {
		switch b := c.b[c.i]; {
		case b == '"':
			c.i++
			return c.b[start : c.i-1], plain, true
		case b == '\\':
			plain = false
			if !c.escape() {
				return nil, false, false
			}
		case b < 0x20:
			return nil, false, false
		default:
			c.i++
		}
	}
	return nil, false, false
}

func (c *cursor) escape() bool {
	c.i++
	switch c.peek() {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		c.i++
		return true
	case 'u':
		c.i++
		for range 4 {
			if !c.hex() {
				return false
			}
		}
		return true
	}
	return false
}

func (c *cursor) hex() bool {
	b := c.peek()
	if b >= '0' && b <= '9' || b|0x20 >= 'a' && b|0x20 <= 'f' {
		c.i++
		return true
	}
	return false
}

// number reads a number; digitsOnly is set where it has no fraction and no exponent.
func (c *cursor) number() (token []byte, digitsOnly, ok bool) {
	start := c.i
	c.take('-')
	if !c.take('0') && !c.digits() {
		return nil, false, false
	}
	digitsOnly = true
	if c.take('.') {
		if digitsOnly = false; !c.digits() {
			return nil, false, false
		}
	}
	if c.peek()|0x20 == 'e' {
		digitsOnly = false
		c.i++
		if !c.take('+') {
			c.take('-')
		}
		if !c.digits() {
			return nil, false, false
		}
	}
	return c.b[start:c.i], digitsOnly, true
}

func (c *cursor) digits() bool {
	start := c.i
	for c.peek() >= '0' && c.peek() <= '9' {
		c.i++
	}
	return c.i > start
}

// members reads the object at the cursor; visit must read each member's value.
func (c *cursor) members(visit func(name []byte, plain bool) bool) bool {
	if !c.enter('{') {
		return false
	}
	if c.leave('}') {
		return true
	}
	for {
		c.space()
		name, plain, ok := c.text()
		if !ok {
			return false
		}
		c.space()
		if !c.take(':') {
			return false
		}
		c.space()
		if !visit(name, plain) {
			return false
		}
		if c.leave('}') {
			return true
		}
		if !c.take(',') {
			return false
		}
	}
}

// items reads the array at the cursor; visit must read each item.
func (c *cursor) items(visit func(i int) bool) bool {
	if !c.enter('[') {
		return false
	}
	if c.leave(']') {
		return true
	}
	for i := 0; ; i++ {
		c.space()
		if !visit(i) {
			return false
		}
		if c.leave(']') {
			return true
		}
		if !c.take(',') {
			return false
		}
	}
}

func (c *cursor) enter(open byte) bool {
	c.depth++
	return c.depth <= maxDepth && c.take(open)
}

func (c *cursor) leave(end byte) bool {
	c.space()
	if !c.take(end) {
		return false
	}
	c.depth--
	return true
}

// skip reads any value.
func (c *cursor) skip() bool {
	switch c.peek() {
	case '{':
		return c.members(func([]byte, bool) bool { return c.skip() })
	case '[':
		return c.items(func(int) bool { return c.skip() })
	case '"':
		_, _, ok := c.text()
		return ok
	case 't':
		return c.word("true")
	case 'f':
		return c.word("false")
	case 'n':
		return c.word("null")
	}
	_, _, ok := c.number()
	return ok
}

// end reports whether nothing but space is left.
func (c *cursor) end() bool {
	c.space()
	return c.i == len(c.b)
}

// runes counts code points as encoding/json would after replacing bytes that
// are not UTF-8, one by one.
func runes(body []byte) int { return utf8.RuneCount(body) }
