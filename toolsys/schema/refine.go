package schema

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// refine walks a Go type and its derived schema side by side, applying the tags
// the library does not know and taking out the nulls it is too generous with.
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
	if name == "" {
		return f.Name
	}
	return name
}

func dropNull(s *jsonschema.Schema) {
	if len(s.Types) == 2 && s.Types[0] == "null" {
		s.Type, s.Types = s.Types[1], nil
	}
}
