package schema

import (
	"encoding/json"
	"fmt"
	"strconv"
	"unicode/utf8"
)

// Numbers beyond these are refused before exact arithmetic meets them: a few
// bytes such as 1e999999 would cost the validator a megabyte.
const (
	maxNumberBytes = 400
	maxExponent    = 400
)

// reader builds the value of an input as the validator wants it (numbers kept
// as written), and notes on the way what a plain decode passes over.
type reader struct {
	cursor
	at    path
	found Problems
	// unfit says that some number must not reach the validator.
	unfit bool
}

// read reads raw whole. A non-nil error means that raw is not JSON.
func read(raw []byte) (any, *reader, error) {
	r := &reader{cursor: cursor{b: raw}}
	r.space()
	v, ok := r.value()
	if !ok || !r.end() {
		return nil, r, r.syntaxError()
	}
	return v, r, nil
}

// syntaxError words what is wrong with encoding/json's help, which knows more
// about it than the cursor; what it accepts was too deep.
func (r *reader) syntaxError() error {
	var v any
	err := json.Unmarshal(r.b, &v)
	if err == nil {
		return fmt.Errorf("it nests deeper than %d levels", maxDepth)
	}
	if at, ok := err.(*json.SyntaxError); ok {
		return fmt.Errorf("%w (at byte %d of %d)", err, at.Offset, len(r.b))
	}
	return err
}

func (r *reader) value() (any, bool) {
	switch r.peek() {
	case '{':
		return r.object()
	case '[':
		return r.array()
	case '"':
		body, plain, ok := r.text()
		return unquote(body, plain), ok
	case 't':
		return true, r.word("true")
	case 'f':
		return false, r.word("false")
	case 'n':
		return nil, r.word("null")
	}
	token, _, ok := r.number()
	if ok && !fits(token) {
		r.unfit = true
		r.note("number", fmt.Sprintf("%s is a number out of range", r.at.subject()))
	}
	return json.Number(token), ok
}

func (r *reader) object() (any, bool) {
	m := map[string]any{}
	ok := r.members(func(body []byte, plain bool) bool {
		name := unquote(body, plain)
		r.at = append(r.at, step{name: name, index: -1})
		if _, twice := m[name]; twice {
			r.note("duplicate", fmt.Sprintf("%s was provided more than once", r.at.subject()))
		}
		v, ok := r.value()
		m[name] = v
		r.at = r.at[:len(r.at)-1]
		return ok
	})
	return m, ok
}

func (r *reader) array() (any, bool) {
	list := []any{}
	ok := r.items(func(i int) bool {
		r.at = append(r.at, step{index: i})
		v, ok := r.value()
		list = append(list, v)
		r.at = r.at[:len(r.at)-1]
		return ok
	})
	return list, ok
}

func (r *reader) note(keyword, message string) {
	r.found = append(r.found, newProblem(r.at, keyword, message))
}

func unquote(body []byte, plain bool) string {
	if plain && utf8.Valid(body) {
		return string(body)
	}
	var s string
	if json.Unmarshal([]byte(`"`+string(body)+`"`), &s) != nil {
		return "" // only for text that the cursor refuses as well
	}
	return s
}

func fits(token []byte) bool {
	if len(token) > maxNumberBytes {
		return false
	}
	for i, b := range token {
		if b|0x20 == 'e' {
			exp, err := strconv.Atoi(string(token[i+1:]))
			if err != nil || exp > maxExponent || exp < -maxExponent {
				return false
			}
		}
	}
	_, err := strconv.ParseFloat(string(token), 64)
	return err == nil
}
