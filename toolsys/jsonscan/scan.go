// Package jsonscan reads the grammar of JSON in place. It exists for the paths that
// every call and every event of a stream takes: they know which members they look for,
// and what a general decoder allocates on the way is most of their cost. What a reader
// built on it does not expect it hands to encoding/json, which words the errors. Beside
// that it writes JSON as a person reads it: with no escapes meant for HTML.
package jsonscan

import (
	"bytes"
	"encoding/binary"
)

// MaxDepth is how deep an input may nest; models write a handful of levels, and
// a bound keeps the recursive readers from being driven into the stack's limit.
const MaxDepth = 1000

// Cursor reads the grammar of JSON, strictly and without allocating. Every
// reading method reports false at the first byte that is not JSON.
type Cursor struct {
	JSON []byte
	// At is where the cursor stands.
	At    int
	depth int
}

// Space passes over white space.
func (c *Cursor) Space() {
	for c.At < len(c.JSON) {
		switch c.JSON[c.At] {
		case ' ', '\t', '\n', '\r':
			c.At++
		default:
			return
		}
	}
}

// Peek is the byte at the cursor, or 0 at the end.
func (c *Cursor) Peek() byte {
	if c.At < len(c.JSON) {
		return c.JSON[c.At]
	}
	return 0
}

// Take passes over b, if it stands at the cursor.
func (c *Cursor) Take(b byte) bool {
	if c.Peek() != b {
		return false
	}
	c.At++
	return true
}

// Word passes over w, if it stands at the cursor.
func (c *Cursor) Word(w string) bool {
	if !bytes.HasPrefix(c.JSON[c.At:], []byte(w)) {
		return false
	}
	c.At += len(w)
	return true
}

// Text reads a string and gives what stands between its quotes; plain is set where
// this is also its value, since it has no escape.
func (c *Cursor) Text() (body []byte, plain, ok bool) {
	if !c.Take('"') {
		return nil, false, false
	}
	start, plain := c.At, true
	for {
		c.At += run(c.JSON[c.At:])
		switch c.Peek() {
		case '"':
			c.At++
			return c.JSON[start : c.At-1], plain, true
		case '\\':
			plain = false
			if !c.escape() {
				return nil, false, false
			}
		default: // the end, or a control character
			return nil, false, false
		}
	}
}

// run is how many bytes stand before the first that ends a string, escapes or may not be in one.
// Texts are long: eight bytes are looked at at a time.
func run(text []byte) (n int) {
	for len(text)-n >= 8 && !stops(binary.LittleEndian.Uint64(text[n:])) {
		n += 8
	}
	for n < len(text) && text[n] >= 0x20 && text[n] != '"' && text[n] != '\\' {
		n++
	}
	return n
}

// stops reports whether any of eight bytes is a quote, a backslash or a control character.
func stops(eight uint64) bool {
	const each, top = 0x01_01_01_01_01_01_01_01, 0x80_80_80_80_80_80_80_80
	quote, backslash := eight^each*'"', eight^each*'\\'
	return ((eight-each*0x20)&^eight|(quote-each)&^quote|(backslash-each)&^backslash)&top != 0
}

func (c *Cursor) escape() bool {
	c.At++
	switch c.Peek() {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		c.At++
		return true
	case 'u':
		c.At++
		for range 4 {
			if !c.hex() {
				return false
			}
		}
		return true
	}
	return false
}

func (c *Cursor) hex() bool {
	b := c.Peek()
	if b >= '0' && b <= '9' || b|0x20 >= 'a' && b|0x20 <= 'f' {
		c.At++
		return true
	}
	return false
}

// Number reads a number; digitsOnly is set where it has no fraction and no exponent.
func (c *Cursor) Number() (token []byte, digitsOnly, ok bool) {
	start := c.At
	c.Take('-')
	if !c.Take('0') && !c.digits() {
		return nil, false, false
	}
	digitsOnly = true
	if c.Take('.') {
		if digitsOnly = false; !c.digits() {
			return nil, false, false
		}
	}
	if c.Peek()|0x20 == 'e' {
		digitsOnly = false
		c.At++
		if !c.Take('+') {
			c.Take('-')
		}
		if !c.digits() {
			return nil, false, false
		}
	}
	return c.JSON[start:c.At], digitsOnly, true
}

func (c *Cursor) digits() bool {
	start := c.At
	for c.Peek() >= '0' && c.Peek() <= '9' {
		c.At++
	}
	return c.At > start
}

// Members reads the object at the cursor; visit must read each member's value.
func (c *Cursor) Members(visit func(name []byte, plain bool) bool) bool {
	if !c.enter('{') {
		return false
	}
	if c.leave('}') {
		return true
	}
	for {
		c.Space()
		name, plain, ok := c.Text()
		if !ok {
			return false
		}
		c.Space()
		if !c.Take(':') {
			return false
		}
		c.Space()
		if !visit(name, plain) {
			return false
		}
		if c.leave('}') {
			return true
		}
		if !c.Take(',') {
			return false
		}
	}
}

// Items reads the array at the cursor; visit must read each item.
func (c *Cursor) Items(visit func(i int) bool) bool {
	if !c.enter('[') {
		return false
	}
	if c.leave(']') {
		return true
	}
	for i := 0; ; i++ {
		c.Space()
		if !visit(i) {
			return false
		}
		if c.leave(']') {
			return true
		}
		if !c.Take(',') {
			return false
		}
	}
}

func (c *Cursor) enter(open byte) bool {
	c.depth++
	return c.depth <= MaxDepth && c.Take(open)
}

func (c *Cursor) leave(end byte) bool {
	c.Space()
	if !c.Take(end) {
		return false
	}
	c.depth--
	return true
}

// Skip reads any value.
func (c *Cursor) Skip() bool {
	switch c.Peek() {
	case '{':
		return c.Members(func([]byte, bool) bool { return c.Skip() })
	case '[':
		return c.Items(func(int) bool { return c.Skip() })
	case '"':
		_, _, ok := c.Text()
		return ok
	case 't':
		return c.Word("true")
	case 'f':
		return c.Word("false")
	case 'n':
		return c.Word("null")
	}
	_, _, ok := c.Number()
	return ok
}

// End reports whether nothing but space is left.
func (c *Cursor) End() bool {
	c.Space()
	return c.At == len(c.JSON)
}

// Complete makes the beginning of a JSON value a whole one, as well as that can be done:
// what is open is closed, and a member whose value has not begun is left out. It is for
// showing an input while it streams, and for nothing that decides.
func Complete(begun []byte) []byte {
	var open []byte // the closing brackets that are owed
	inText, escaped := false, false
	whole := 0 // the last place after which closing gives a value; what is open does not change behind it
	for i, b := range begun {
		switch {
		case inText:
			inText, escaped = escaped || b != '"', !escaped && b == '\\'
		case b == '"':
			inText = true
		case b == '{' || b == '[':
			open = append(open, b+2)
			whole = i + 1
		case (b == '}' || b == ']') && len(open) > 0:
			open = open[:len(open)-1]
			whole = i + 1
		case b == ',':
			whole = i
		}
	}
	for _, try := range [][]byte{closed(begun, open, inText), closed(withoutEscape(begun), open, inText)} {
		c := Cursor{JSON: try}
		if c.Space(); c.Skip() && c.End() {
			return try
		}
	}
	return closed(begun[:whole], open, false)
}

// withoutEscape drops an escape that has not come to its end.
func withoutEscape(begun []byte) []byte {
	if at := bytes.LastIndexByte(begun, '\\'); at >= 0 && len(begun)-at < 6 {
		return begun[:at]
	}
	return begun
}

// closed ends a text that is open, and then the brackets, the last first.
func closed(begun, open []byte, inText bool) []byte {
	out := bytes.Clone(begun)
	if inText {
		out = append(out, '"')
	}
	for i := len(open) - 1; i >= 0; i-- {
		out = append(out, open[i])
	}
	return out
}
