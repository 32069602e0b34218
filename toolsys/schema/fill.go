package schema

import (
	"bytes"
	"encoding"
	"encoding/json"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"toolbench/toolsys/jsonscan"
)

// layout is how a value of a Go type is filled from JSON that the fast path has
// accepted. What has rules of its own is left to encoding/json.
type layout struct {
	// kind is reflect.Invalid where encoding/json fills the value.
	kind    reflect.Kind
	members map[string]slot // of a struct
	elem    *layout         // of a slice or pointer
	// own reports whether no part is left to encoding/json, so that no code but this
	// package's is given a pointer into the value.
	own bool
}

type slot struct {
	field  int
	layout *layout
}

// left is the layout of what encoding/json fills.
func left() *layout { return &layout{} }

// layoutOf gives the layout of t; over are the types that it is inside of.
func layoutOf(t reflect.Type, over []reflect.Type) *layout {
	s := &layout{kind: t.Kind(), own: true}
	for _, o := range over {
		if o == t {
			return left()
		}
	}
	if t == reflect.TypeFor[json.Number]() || decodesItself(t) {
		return left()
	}
	over = append(over[:len(over):len(over)], t)
	switch s.kind {
	case reflect.Bool, reflect.String, reflect.Float32, reflect.Float64,
		reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return s
	case reflect.Slice, reflect.Pointer:
		if s.kind == reflect.Slice && t.Elem().Kind() == reflect.Uint8 {
			return left() // written as base64
		}
		s.elem = layoutOf(t.Elem(), over)
		s.own = s.elem.own
		return s
	case reflect.Struct:
		return s.ofStruct(t, over)
	}
	return left()
}

// decodesItself reports whether a type has a decoding of its own.
func decodesItself(t reflect.Type) bool {
	p := reflect.PointerTo(t)
	return p.Implements(reflect.TypeFor[json.Unmarshaler]()) || p.Implements(reflect.TypeFor[encoding.TextUnmarshaler]())
}

// ofStruct takes the members of a struct that has no embedded ones.
func (s *layout) ofStruct(t reflect.Type, over []reflect.Type) *layout {
	s.members = make(map[string]slot, t.NumField())
	for i := range t.NumField() {
		f := t.Field(i)
		tag := f.Tag.Get("json")
		name, options, _ := strings.Cut(tag, ",")
		switch {
		case f.Anonymous || strings.Contains(options, "string"):
			return left()
		case !f.IsExported() || tag == "-":
			continue
		case name == "":
			name = f.Name
		}
		if _, twice := s.members[name]; twice {
			return left()
		}
		inner := layoutOf(f.Type, over)
		s.own = s.own && inner.own
		s.members[name] = slot{i, inner}
	}
	return s
}

// sharedText bounds an input whose texts are parts of one string: one text that is kept
// keeps all of it.
const sharedText = 512

// filler reads an input that was accepted into a value of a layout.
type filler struct {
	jsonscan.Cursor
	whole string // the input, once a text of it was read; see sharedText
}

// value reports false for what encoding/json has to look at; the value is then partly
// filled.
func (f *filler) value(s *layout, into reflect.Value) bool {
	if s.kind == reflect.Invalid {
		start := f.At
		return f.Skip() && json.Unmarshal(f.JSON[start:f.At], into.Addr().Interface()) == nil
	}
	if f.Peek() == 'n' {
		return f.Word("null") // leaves a value as it is, and this one is zero
	}
	switch s.kind {
	case reflect.Bool:
		return f.bool(into)
	case reflect.String:
		return f.string(into)
	case reflect.Struct:
		return f.object(s, into)
	case reflect.Slice:
		return f.array(s, into)
	case reflect.Pointer:
		p := reflect.New(into.Type().Elem())
		into.Set(p)
		return f.value(s.elem, p.Elem())
	}
	return f.number(into)
}

func (f *filler) bool(into reflect.Value) bool {
	is := f.Peek() == 't'
	into.SetBool(is)
	return is && f.Word("true") || f.Word("false")
}

func (f *filler) string(into reflect.Value) bool {
	body, plain, ok := f.Text()
	switch {
	case !ok:
		return false
	case !plain || !utf8.Valid(body):
		into.SetString(string(jsonscan.AppendText(nil, body)))
	case len(f.JSON) > sharedText:
		into.SetString(string(body))
	default:
		if f.whole == "" {
			f.whole = string(f.JSON)
		}
		into.SetString(f.whole[f.At-1-len(body) : f.At-1])
	}
	return true
}

// number fills a number; an integer of more than 18 digits, or beyond the type, is for
// encoding/json.
func (f *filler) number(into reflect.Value) bool {
	token, digitsOnly, ok := f.Number()
	if !ok {
		return false
	}
	if into.CanFloat() {
		n, err := strconv.ParseFloat(string(token), into.Type().Bits())
		into.SetFloat(n)
		return err == nil
	}
	if !digitsOnly || len(token) > 18 {
		return false
	}
	n := integerOf(token)
	if into.CanUint() {
		into.SetUint(uint64(n))
		return token[0] != '-' && !into.OverflowUint(uint64(n))
	}
	into.SetInt(n)
	return !into.OverflowInt(n)
}

// integerOf is the value of a few digits with a sign.
func integerOf(token []byte) (n int64) {
	for _, digit := range bytes.TrimPrefix(token, []byte("-")) {
		n = n*10 + int64(digit-'0')
	}
	if token[0] == '-' {
		return -n
	}
	return n
}

func (f *filler) object(s *layout, into reflect.Value) bool {
	return f.Members(func(name []byte, plain bool) bool {
		m, known := s.members[string(name)]
		return plain && known && f.value(m.layout, into.Field(m.field))
	})
}

func (f *filler) array(s *layout, into reflect.Value) bool {
	count, ahead := 0, f.Cursor
	if !ahead.Items(func(int) bool { count++; return ahead.Skip() }) {
		return false
	}
	if count == 0 {
		into.Set(reflect.MakeSlice(into.Type(), 0, 0)) // not nil, as encoding/json has it
	}
	into.Grow(count)
	into.SetLen(count)
	return f.Items(func(i int) bool { return f.value(s.elem, into.Index(i)) })
}

// typed is what a schema keeps of a type that its inputs are decoded into.
type typed struct {
	layout *layout
	// spare are values of the type, where nobody else was given a pointer to one.
	spare sync.Pool
}

// typed gives what is kept of t.
func (s *Schema) typed(t reflect.Type) *typed {
	if known, ok := s.types.Load(t); ok {
		return known.(*typed)
	}
	kept, _ := s.types.LoadOrStore(t, &typed{layout: layoutOf(t, nil)})
	return kept.(*typed)
}

// fill decodes raw, which s accepts, without encoding/json as far as that can be; it
// reports false for what is left to it as a whole.
func fill[T any](s *Schema, raw []byte) (v T, ok bool) {
	t := s.typed(reflect.TypeFor[T]())
	into, _ := t.spare.Get().(*T)
	if into == nil {
		into = new(T)
	}
	f := filler{Cursor: jsonscan.Cursor{JSON: raw}}
	f.Space()
	ok = f.value(t.layout, reflect.ValueOf(into).Elem())
	v = *into
	if t.layout.own {
		var zero T
		*into = zero
		t.spare.Put(into)
	}
	return v, ok
}
