package schema

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// Option adjusts one derivation by [For].
type Option func(*derivation)

type derivation struct {
	types map[reflect.Type]*jsonschema.Schema
	edits []func(*jsonschema.Schema)
}

// WithType gives values of type V the schema s wherever V occurs below the
// derived type, as for a type that writes its own JSON.
func WithType[V any](s *jsonschema.Schema) Option {
	return func(d *derivation) { d.types[reflect.TypeFor[V]()] = s }
}

// With lets edit change the derived schema before it is written: for what
// neither a type nor a tag can express, such as an alternative between two members.
func With(edit func(root *jsonschema.Schema)) Option {
	return func(d *derivation) { d.edits = append(d.edits, edit) }
}

// For derives the schema of a tool's input from the Go type T, a struct, as
// canonical bytes (SPEC A1; see [Canonical]).
//
// It is strict: every struct forbids unknown members. A member is required unless its json tag says omitempty or
// omitzero. Null is allowed only for a required pointer, since an optional member is simply left out.
//
// The `jsonschema` tag is the description. These tags, each by its own name, give further keywords: enum (values
// separated by commas; on a slice they are of the items), default, minimum, maximum, exclusiveMinimum,
// exclusiveMaximum, multipleOf, minLength, maxLength, pattern, format, minItems, maxItems.
//
// Errors: a type that JSON cannot hold, a recursive type, a tag that does not parse, or [ErrRootNotObject].
func For[T any](opts ...Option) (json.RawMessage, error) {
	return derive(reflect.TypeFor[T](), opts...)
}

func derive(t reflect.Type, opts ...Option) (json.RawMessage, error) {
	d := derivation{types: map[reflect.Type]*jsonschema.Schema{ // which the library derives otherwise than encoding/json writes them
		reflect.TypeFor[json.RawMessage](): {},
		reflect.TypeFor[[]byte]():          {Type: "string", ContentEncoding: "base64"},
	}}
	for _, o := range opts {
		o(&d)
	}
	root, err := jsonschema.ForType(t, &jsonschema.ForOptions{TypeSchemas: d.types})
	if err != nil {
		return nil, fmt.Errorf("derive schema of %s: %w", t, err)
	}
	if err := refine(t, root); err != nil {
		return nil, fmt.Errorf("derive schema of %s: %w", t, err)
	}
	return d.finish(root)
}

func (d *derivation) finish(root *jsonschema.Schema) (json.RawMessage, error) {
	dropNull(root)
	for _, edit := range d.edits {
		edit(root)
	}
	if root.Type != "object" {
		return nil, ErrRootNotObject
	}
	if root.Properties == nil {
		root.Properties = map[string]*jsonschema.Schema{}
	}
	raw, err := json.Marshal(root)
	if err != nil {
		return nil, fmt.Errorf("write schema: %w", err)
	}
	return Canonical(raw)
}

// refine walks a Go type and its derived schema side by side, applying the tags
// the library does not support and taking out the nulls it is too generous with.
func refine(t reflect.Type, s *jsonschema.Schema) error {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case s == nil:
		return nil
	case t.Kind() == reflect.Struct && s.Properties != nil:
		return refineFields(t, s)
	case t.Kind() == reflect.Slice || t.Kind() == reflect.Array:
		dropNull(s)
		return refineElem(t, s.Items)
	case t.Kind() == reflect.Map:
		return refineElem(t, s.AdditionalProperties)
	}
	return nil
}

func refineElem(t reflect.Type, s *jsonschema.Schema) error {
	if s != nil {
		dropNull(s)
	}
	return refine(t.Elem(), s)
}

func refineFields(t reflect.Type, s *jsonschema.Schema) error {
	for _, f := range reflect.VisibleFields(t) {
		p := s.Properties[jsonName(f)]
		if f.Anonymous || p == nil {
			continue
		}
		if f.Type.Kind() != reflect.Pointer || !slices.Contains(s.Required, jsonName(f)) {
			dropNull(p)
		}
		if err := refine(f.Type, p); err != nil {
			return err
		}
		if err := applyTags(f.Tag, p); err != nil {
			return fmt.Errorf("field %s: %w", f.Name, err)
		}
	}
	return nil
}

func jsonName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return cmp.Or(name, f.Name)
}

func dropNull(s *jsonschema.Schema) {
	if len(s.Types) == 2 && s.Types[0] == "null" {
		s.Type, s.Types = s.Types[1], nil
	}
}

// tagRule is one struct tag and the keyword it sets.
type tagRule struct {
	name string
	set  func(s *jsonschema.Schema, value string) error
}

// tagRules are all tags, in the order they are applied. It is read only.
var tagRules = []tagRule{
	{"enum", setEnum},
	{"default", setDefault},
	{"minimum", number(func(s *jsonschema.Schema) **float64 { return &s.Minimum })},
	{"maximum", number(func(s *jsonschema.Schema) **float64 { return &s.Maximum })},
	{"exclusiveMinimum", number(func(s *jsonschema.Schema) **float64 { return &s.ExclusiveMinimum })},
	{"exclusiveMaximum", number(func(s *jsonschema.Schema) **float64 { return &s.ExclusiveMaximum })},
	{"multipleOf", number(func(s *jsonschema.Schema) **float64 { return &s.MultipleOf })},
	{"minLength", count(func(s *jsonschema.Schema) **int { return &s.MinLength })},
	{"maxLength", count(func(s *jsonschema.Schema) **int { return &s.MaxLength })},
	{"minItems", count(func(s *jsonschema.Schema) **int { return &s.MinItems })},
	{"maxItems", count(func(s *jsonschema.Schema) **int { return &s.MaxItems })},
	{"pattern", func(s *jsonschema.Schema, v string) error { s.Pattern = v; return nil }},
	{"format", func(s *jsonschema.Schema, v string) error { s.Format = v; return nil }},
}

func applyTags(tag reflect.StructTag, s *jsonschema.Schema) error {
	for _, rule := range tagRules {
		value, ok := tag.Lookup(rule.name)
		if !ok {
			continue
		}
		if err := rule.set(s, value); err != nil {
			return fmt.Errorf("tag %s:%q: %w", rule.name, value, err)
		}
	}
	return nil
}

func number(field func(*jsonschema.Schema) **float64) func(*jsonschema.Schema, string) error {
	return func(s *jsonschema.Schema, value string) error {
		f, err := strconv.ParseFloat(value, 64)
		if err != nil {
			return errors.New("not a number")
		}
		*field(s) = &f
		return nil
	}
}

func count(field func(*jsonschema.Schema) **int) func(*jsonschema.Schema, string) error {
	return func(s *jsonschema.Schema, value string) error {
		n, err := strconv.Atoi(value)
		if err != nil || n < 0 {
			return errors.New("not a count")
		}
		*field(s) = &n
		return nil
	}
}

func setEnum(s *jsonschema.Schema, value string) error {
	if s.Items != nil {
		s = s.Items
	}
	for word := range strings.SplitSeq(value, ",") {
		v, err := tagValue(s, word)
		if err != nil {
			return err
		}
		s.Enum = append(s.Enum, v)
	}
	return nil
}

func setDefault(s *jsonschema.Schema, value string) error {
	v, err := tagValue(s, value)
	if err != nil {
		return err
	}
	s.Default, err = json.Marshal(v)
	return err
}

// tagValue reads a tag's word as the schema's type demands: a string as it stands, anything else as JSON.
func tagValue(s *jsonschema.Schema, word string) (any, error) {
	if s.Type == "string" || slices.Contains(s.Types, "string") {
		return word, nil
	}
	if !json.Valid([]byte(word)) {
		return nil, errors.New("not JSON")
	}
	return json.RawMessage(word), nil
}
