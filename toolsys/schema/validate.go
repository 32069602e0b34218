package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"reflect"
	"strconv"
	"unicode/utf8"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"toolbench/toolsys/jsonscan"
)

// Validate gives everything that is wrong with raw, in a fixed order; nothing
// means that it is valid (SPEC H1, the pipeline's schema stage).
//
// Input that is not JSON gets one problem. A member named twice, and a number beyond a float64, are problems whatever
// the schema allows. Neither nothing at all nor null is taken for {}.
func (s *Schema) Validate(raw json.RawMessage) Problems {
	if s.accepts(raw) {
		return nil
	}
	_, problems := s.examine(raw)
	return problems
}

// examine is the slow, wording path; it also gives the value it read.
func (s *Schema) examine(raw []byte) (any, Problems) {
	doc, r, err := read(raw)
	if err != nil {
		return nil, Problems{newProblem(nil, "json", fmt.Sprintf("The input is not valid JSON: %v", err))}
	}
	if r.unfit {
		return nil, r.found.arranged()
	}
	if s.tooCostly(doc, len(raw)) {
		return nil, Problems{newProblem(nil, "schema", "The input cannot be checked: the tool's schema has too many rules for it. Send less of it, or use another tool.")}
	}
	return doc, append(r.found, s.broken(doc)...).arranged()
}

func (s *Schema) broken(doc any) Problems {
	broken, is := errors.AsType[*jsonschema.ValidationError](s.full.Validate(doc))
	if !is {
		return nil
	}
	w := wording{doc: doc}
	return w.of(broken)
}

// Decode validates raw by s and decodes it into a value of the type t. With problems, the value is t's zero.
//
// The schema must be t's own ([For]) or be as strict: encoding/json matches names without regard to case, which an
// unknown member that s allows could abuse. An integer may be written as 2.0 or 1e3. What a schema cannot express - a
// number beyond the Go type, a type's own UnmarshalJSON - is a problem too, with keyword "decode".
func (s *Schema) Decode(t reflect.Type, raw json.RawMessage) (any, Problems) {
	if v, ok := s.fill(t, raw); ok {
		return v, nil
	}
	into := reflect.New(t)
	if s.accepts(raw) && json.Unmarshal(raw, into.Interface()) == nil {
		return into.Elem().Interface(), nil
	}
	problems := s.examined(into, raw)
	return into.Elem().Interface(), problems
}

// examined is Decode by the validator and encoding/json.
func (s *Schema) examined(into reflect.Value, raw json.RawMessage) Problems {
	into.Elem().SetZero()
	doc, problems := s.examine(raw)
	if len(problems) > 0 {
		return problems
	}
	err := json.Unmarshal(raw, into.Interface())
	if _, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		into.Elem().SetZero()
		err = decodeIntegers(doc, into.Interface())
	}
	if err != nil {
		into.Elem().SetZero()
		return Problems{undecodable(err)}
	}
	return nil
}

// decodeIntegers decodes doc with its integers written as digits only, since
// encoding/json takes neither 2.0 nor 1e3 for an integer and JSON Schema does.
func decodeIntegers(doc any, into any) error {
	raw, err := json.Marshal(integersAsDigits(doc))
	if err != nil {
		return err
	}
	return json.Unmarshal(raw, into)
}

func integersAsDigits(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name, member := range v {
			v[name] = integersAsDigits(member)
		}
	case []any:
		for i, item := range v {
			v[i] = integersAsDigits(item)
		}
	case json.Number:
		if r, ok := new(big.Rat).SetString(string(v)); ok && r.IsInt() {
			return json.Number(r.Num().String())
		}
	}
	return v
}

func undecodable(err error) Problem {
	mismatch, is := errors.AsType[*json.UnmarshalTypeError](err)
	if !is {
		return newProblem(nil, "decode", fmt.Sprintf("The input cannot be read: %v", err))
	}
	text := fmt.Sprintf(`The parameter "%s" cannot hold %s`, mismatch.Field, mismatch.Value)
	return Problem{Path: mismatch.Field, Keyword: "decode", Message: text, at: path{}.member(mismatch.Field)}
}

// Numbers beyond these are refused before exact arithmetic meets them: a few
// bytes such as 1e999999 would cost the validator a megabyte.
const (
	maxNumberBytes = 400
	maxExponent    = 400
)

// reader builds the value of an input as the validator wants it (numbers kept
// as written), and notes on the way what a plain decode passes over.
type reader struct {
	jsonscan.Cursor
	at    path
	found Problems
	// unfit is set where some number must not reach the validator.
	unfit bool
}

// read reads all of raw. A non-nil error means that raw is not JSON.
func read(raw []byte) (any, *reader, error) {
	r := &reader{Cursor: jsonscan.Cursor{JSON: raw}}
	r.Space()
	v, ok := r.value()
	if !ok || !r.End() {
		return nil, r, r.syntaxError()
	}
	return v, r, nil
}

// syntaxError words what is wrong with encoding/json's help, which has more
// to report than the cursor; what it accepts was too deep.
func (r *reader) syntaxError() error {
	var v any
	err := json.Unmarshal(r.JSON, &v)
	if err == nil {
		return fmt.Errorf("it nests deeper than %d levels", jsonscan.MaxDepth)
	}
	if at, ok := err.(*json.SyntaxError); ok {
		return fmt.Errorf("%w (at byte %d of %d)", err, at.Offset, len(r.JSON))
	}
	return err
}

func (r *reader) value() (any, bool) {
	switch r.Peek() {
	case '{':
		return r.object()
	case '[':
		return r.array()
	case '"':
		body, plain, ok := r.Text()
		return unquote(body, plain), ok
	case 't':
		return true, r.Word("true")
	case 'f':
		return false, r.Word("false")
	case 'n':
		return nil, r.Word("null")
	}
	token, _, ok := r.Number()
	if ok && !fits(token) {
		r.unfit = true
		r.note("number", fmt.Sprintf("%s is a number out of range", r.at.subject()))
	}
	return json.Number(token), ok
}

func (r *reader) object() (any, bool) {
	m := map[string]any{}
	ok := r.Members(func(body []byte, plain bool) bool {
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
	ok := r.Items(func(i int) bool {
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
