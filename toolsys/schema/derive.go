package schema

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"

	"github.com/google/jsonschema-go/jsonschema"
)

// Option adjusts one derivation by [For].
type Option func(*derivation)

type derivation struct {
	types map[reflect.Type]*jsonschema.Schema
	edits []func(*jsonschema.Schema)
}

// WithType says that values of type V have schema s wherever V occurs below the
// derived type, as for a type that writes its own JSON.
func WithType[V any](s *jsonschema.Schema) Option {
	return func(d *derivation) { d.types[reflect.TypeFor[V]()] = s }
}

// With lets edit change the derived schema before it is written: for what
// neither a type nor a tag can say, such as an alternative between two members.
func With(edit func(root *jsonschema.Schema)) Option {
	return func(d *derivation) { d.edits = append(d.edits, edit) }
}

// For derives the schema of a tool's input from the Go type T, a struct, as
// canonical bytes (SPEC A1; see [Canonical]).
//
// It is strict: every struct forbids unknown members. A member is required
// unless its json tag says omitempty or omitzero. Null is allowed only for a
// required pointer, since an optional member is simply left out.
//
// The `jsonschema` tag is the description. These tags, each by its own name,
// give further keywords: enum (values separated by commas; on a slice it speaks
// of the items), default, minimum, maximum, exclusiveMinimum, exclusiveMaximum,
// multipleOf, minLength, maxLength, pattern, format, minItems, maxItems.
//
// Errors: a type that JSON cannot hold, a recursive type, a tag that does not
// parse, or [ErrRootNotObject].
func For[T any](opts ...Option) (json.RawMessage, error) {
	d := derivation{types: baseTypes()}
	for _, o := range opts {
		o(&d)
	}
	t := reflect.TypeFor[T]()
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

// baseTypes mends what the library derives otherwise than encoding/json writes:
// a raw message is any value, bytes are a base64 string.
func baseTypes() map[reflect.Type]*jsonschema.Schema {
	return maps.Clone(map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[json.RawMessage](): {},
		reflect.TypeFor[[]byte]():          {Type: "string", ContentEncoding: "base64"},
	})
}
