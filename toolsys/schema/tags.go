package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// tagRule is one struct tag and the keyword it sets.
type tagRule struct {
	name string
	set  func(s *jsonschema.Schema, value string) error
}

// tagRules is the whole vocabulary of tags, in the order they are applied.
func tagRules() []tagRule {
	return []tagRule{
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
}

func applyTags(tag reflect.StructTag, s *jsonschema.Schema) error {
	for _, rule := range tagRules() {
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

// tagValue reads a tag's word as the schema's type demands: a string as it
// stands, anything else as JSON.
func tagValue(s *jsonschema.Schema, word string) (any, error) {
	if s.Type == "string" || slices.Contains(s.Types, "string") {
		return word, nil
	}
	if !json.Valid([]byte(word)) {
		return nil, errors.New("not JSON")
	}
	return json.RawMessage(word), nil
}
