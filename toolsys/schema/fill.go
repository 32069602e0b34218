package schema

import (
	"bytes"
	"encoding"
	"encoding/json"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"toolbench/toolsys/jsonscan"
)

// layout is how a value of a Go type is filled from the JSON that a node accepts. What has
// rules of its own is left to encoding/json.
type layout struct {
	node *node
	// kind is reflect.Invalid where encoding/json fills the value.
	kind    reflect.Kind
	members []slot  // of a struct, in its order
	elem    *layout // of a slice or pointer
	// own reports whether no part is left to encoding/json, so that no code but this
	// package's is given a pointer into the value.
	own bool
}

// slot is a member of a struct: its field, and which of the node's children it is.
type slot struct {
	name         string
	field, child int
	layout       *layout
}

// layoutOf gives the layout of t, whose schema is n; over are the types that it is inside of.
func layoutOf(t reflect.Type, n *node, over []reflect.Type) *layout {
	left := &layout{node: n}
	if n.opaque || slices.Contains(over, t) || t == reflect.TypeFor[json.Number]() || decodesItself(t) {
		return left
	}
	s := &layout{node: n, kind: t.Kind(), own: true}
	over = append(over[:len(over):len(over)], t)
	switch s.kind {
	case reflect.Bool, reflect.String, reflect.Float32, reflect.Float64,
		reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return s
	case reflect.Slice, reflect.Pointer:
		inner := n
		if s.kind == reflect.Slice {
			inner = n.items
		}
		if inner == nil || s.kind == reflect.Slice && t.Elem().Kind() == reflect.Uint8 {
			return left // bytes are written as base64
		}
		s.elem = layoutOf(t.Elem(), inner, over)
		s.own = s.elem.own
		return s
	case reflect.Struct:
		if s.ofStruct(t, over) {
			return s
		}
	}
	return left
}

// decodesItself reports whether a type has a decoding of its own.
func decodesItself(t reflect.Type) bool {
	p := reflect.PointerTo(t)
	return p.Implements(reflect.TypeFor[json.Unmarshaler]()) || p.Implements(reflect.TypeFor[encoding.TextUnmarshaler]())
}

// ofStruct takes the members of a struct that has no embedded ones, and reports whether the schema names each once.
func (s *layout) ofStruct(t reflect.Type, over []reflect.Type) bool {
	for i := range t.NumField() {
		f := t.Field(i)
		tag := f.Tag.Get("json")
		name, options, _ := strings.Cut(tag, ",")
		switch {
		case f.Anonymous || strings.Contains(options, "string"):
			return false
		case !f.IsExported() || tag == "-":
			continue
		case name == "":
			name = f.Name
		}
		child, named := s.node.members[name]
		if !named || slices.ContainsFunc(s.members, func(m slot) bool { return m.name == name }) {
			return false
		}
		inner := layoutOf(f.Type, s.node.children[child], over)
		s.own = s.own && inner.own
		s.members = append(s.members, slot{name, i, child, inner})
	}
	return true
}

// find gives the place of the member of that name, -1 where there is none. Most inputs have
// theirs in the order of the type's fields, so that it is looked for from there on.
func (s *layout) find(name []byte, from int) int {
	for range s.members {
		if from == len(s.members) {
			from = 0
		}
		if s.members[from].name == string(name) {
			return from
		}
		from++
	}
	return -1
}

// sharedText bounds an input whose texts are parts of one string: one text that is kept keeps all of it.
const sharedText = 512

// filler reads an input into a value of a layout as far as the layout's node accepts it.
type filler struct {
	acceptor
	whole string // the input, once a text of it was read; see sharedText
}

// value reports false for what is not certainly valid, or for encoding/json to look at; the
// value is then partly filled.
func (f *filler) value(s *layout, into reflect.Value) bool {
	if s.kind == reflect.Invalid {
		start := f.At
		return f.acceptor.value(s.node) && json.Unmarshal(f.JSON[start:f.At], into.Addr().Interface()) == nil
	}
	first := f.Peek()
	if s.node.enum != nil && first != '"' {
		return false
	}
	if first == 'n' {
		return f.acceptor.value(s.node) // leaves a value as it is, and this one is zero
	}
	switch s.kind {
	case reflect.Bool:
		into.SetBool(first == 't')
		return (first == 't' || first == 'f') && f.acceptor.value(s.node)
	case reflect.String:
		text, ok := f.text(s.node)
		into.SetString(text)
		return ok
	case reflect.Struct:
		return s.node.types&object != 0 && f.object(s, into)
	case reflect.Slice:
		return s.node.types&array != 0 && f.array(s, into)
	case reflect.Pointer:
		p := reflect.New(into.Type().Elem())
		into.Set(p)
		return f.value(s.elem, p.Elem())
	}
	return f.number(s.node, into)
}

func (f *filler) text(n *node) (string, bool) {
	body, plain, ok := f.acceptor.string(n)
	switch {
	case !ok:
		return "", false
	case !plain || !utf8.Valid(body):
		return string(jsonscan.AppendText(nil, body)), true
	case len(f.JSON) > sharedText:
		return string(body), true
	}
	if f.whole == "" {
		f.whole = string(f.JSON)
	}
	return f.whole[f.At-1-len(body) : f.At-1], true
}

// number fills a number; an integer of more than 18 digits, or beyond the type, is for encoding/json.
func (f *filler) number(n *node, into reflect.Value) bool {
	token, digitsOnly, ok := f.acceptor.number(n)
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
	i := integerOf(token)
	if into.CanUint() {
		into.SetUint(uint64(i))
		return token[0] != '-' && !into.OverflowUint(uint64(i))
	}
	into.SetInt(i)
	return !into.OverflowInt(i)
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
	var seen uint64
	next := 0
	return f.Members(func(name []byte, plain bool) bool {
		at := s.find(name, next)
		if at < 0 || !plain {
			return false
		}
		next = at + 1
		m := &s.members[at]
		twice := seen&(1<<m.child) != 0
		seen |= 1 << m.child
		return !twice && f.value(m.layout, into.Field(m.field))
	}) && seen&s.node.required == s.node.required
}

func (f *filler) array(s *layout, into reflect.Value) bool {
	if texts, ok := into.Addr().Interface().(*[]string); ok {
		return f.texts(s, texts)
	}
	count, ahead := 0, f.Cursor
	if !ahead.Items(func(int) bool { count++; return ahead.Skip() }) || !s.holds(count) {
		return false
	}
	if count == 0 {
		into.Set(reflect.MakeSlice(into.Type(), 0, 0)) // not nil, as encoding/json has it
	}
	into.Grow(count)
	into.SetLen(count)
	return f.Items(func(i int) bool { return f.value(s.elem, into.Index(i)) })
}

// holds reports whether the layout's schema accepts so many items.
func (s *layout) holds(count int) bool {
	return int64(count) >= s.node.minItems && int64(count) <= s.node.maxItems
}

// texts is array for the commonest type of items.
func (f *filler) texts(s *layout, into *[]string) bool {
	var few [8]string
	all := few[:0]
	if s.elem.kind != reflect.String || !f.Items(func(int) bool {
		text, ok := f.text(s.elem.node)
		all = append(all, text)
		return ok
	}) {
		return false
	}
	*into = append(make([]string, 0, len(all)), all...)
	return s.holds(len(all))
}

// typed is what a schema keeps of a type that its inputs are decoded into.
type typed struct {
	layout *layout
	// spare are pointers to zero values of the type, which nobody else was given.
	spare sync.Pool
}

// typed gives what is kept of t.
func (s *Schema) typed(t reflect.Type) *typed {
	if known, ok := s.types.Load(t); ok {
		return known.(*typed)
	}
	kept, _ := s.types.LoadOrStore(t, &typed{layout: layoutOf(t, s.fast, nil)})
	return kept.(*typed)
}

// fill decodes raw, if s certainly accepts it, without encoding/json as far as that can be; it
// reports false for what is left to it and to the validator as a whole.
func (s *Schema) fill(t reflect.Type, raw []byte) (v any, ok bool) {
	kept := s.typed(t)
	spare := kept.spare.Get()
	if spare == nil {
		spare = reflect.New(t).Interface()
	}
	into := reflect.ValueOf(spare).Elem()
	f := filler{acceptor: acceptor{Cursor: jsonscan.Cursor{JSON: raw}}}
	f.Space()
	if ok = f.value(kept.layout, into) && f.End(); ok {
		v = into.Interface()
	}
	if kept.layout.own {
		into.SetZero()
		kept.spare.Put(spare)
	}
	return v, ok
}
