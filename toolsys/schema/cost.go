package schema

import (
	"maps"
	"reflect"
	"slices"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// The bounds of what the validator may do for one input: applications of a schema to a value. Both
// grow with what a sound schema takes, a few tens for each value.
const (
	freeWork    = 100_000
	workOfAByte = 32
	mostWork    = 5_000_000
	mostCircles = 16
)

// cost finds how often the validator would apply a schema to a value. It follows each reference anew,
// so that a schema of forty that refer to the next one twice keeps it at work for ever; here each
// pair of a schema and a value is counted once.
type cost struct {
	limit   int
	circles int
	known   map[application]int
}

// application is a schema and a list or an object that it is applied to; all other values are one.
type application struct {
	schema *jsonschema.Schema
	value  uintptr
}

// tooCostly reports whether an input of so many bytes would take more than it may.
func (s *Schema) tooCostly(doc any, size int) bool {
	if !s.refers {
		return false
	}
	c := cost{limit: min(freeWork+workOfAByte*size, mostWork), known: map[application]int{}}
	return c.of(s.full, doc) > c.limit
}

func (c *cost) of(s *jsonschema.Schema, v any) int {
	if len(c.known) > c.limit || c.circles > mostCircles {
		return c.limit + 1
	}
	this := application{schema: s}
	if kind := reflect.ValueOf(v); kind.Kind() == reflect.Map || kind.Kind() == reflect.Slice {
		this.value = kind.Pointer()
	}
	n, known := c.known[this]
	if known {
		if n == 0 {
			c.circles++ // the validator goes every way there is before it meets a schema again
		}
		return n
	}
	c.known[this] = 0
	n = 1
	add := func(v any, schemas ...any) {
		for _, inner := range schemas {
			if inner, is := inner.(*jsonschema.Schema); is && inner != nil {
				n = min(n+c.of(inner, v), c.limit+1)
			}
		}
	}
	applied(s, v, add)
	c.known[this] = n
	return n
}

// applied gives the schemas that a schema applies to a value itself and to what is in it, be it under a condition.
func applied(s *jsonschema.Schema, v any, add func(v any, schemas ...any)) {
	add(v, s.Ref, s.RecursiveRef, s.Not, s.If, s.Then, s.Else)
	if s.DynamicRef != nil {
		add(v, s.DynamicRef.Ref)
	}
	for _, inner := range slices.Concat(s.AllOf, s.AnyOf, s.OneOf) {
		add(v, inner)
	}
	switch v := v.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			member := v[name]
			add(v, s.DependentSchemas[name], s.Dependencies[name])
			add(member, s.Properties[name], s.AdditionalProperties, s.UnevaluatedProperties)
			add(name, s.PropertyNames)
			for _, inner := range s.PatternProperties {
				add(member, inner)
			}
		}
	case []any:
		for i, element := range v {
			add(element, s.Items, s.Items2020, s.AdditionalItems, s.Contains, s.UnevaluatedItems)
			if list, _ := s.Items.([]*jsonschema.Schema); i < len(list) {
				add(element, list[i])
			}
			if i < len(s.PrefixItems) {
				add(element, s.PrefixItems[i])
			}
		}
	}
}
