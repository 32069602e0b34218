package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// ErrRootNotObject says that a tool's schema does not have `"type": "object"`
// at its root, which the API demands of every tool (SPEC A1, A2).
var ErrRootNotObject = errors.New("the root of a tool's schema must have type object")

// ErrRemoteReference says that a schema refers to another document. Nothing is
// ever fetched, so such a schema cannot be resolved.
var ErrRemoteReference = errors.New("a schema may not refer to another document")

// here is the address that references inside a schema are resolved against; it
// is absolute, or the validator would ask the disk for the working directory.
const here = "schema:///root"

// Schema is a resolved JSON Schema. It never changes and may be used by many
// goroutines at once.
type Schema struct {
	raw  json.RawMessage
	full *jsonschema.Schema
	fast *node
}

// Compile resolves a tool's input schema of any draft (4 to 2020-12, by its
// `$schema`; the latest without one). The bytes are kept as they are.
//
// Errors: not JSON, not a valid schema, [ErrRootNotObject],
// [ErrRemoteReference]. For a server's tool the caller reports the error and
// loads the tool unvalidated; for a built-in it is an error at build (A2).
func Compile(raw json.RawMessage) (*Schema, error) {
	doc, r, err := read(raw)
	switch {
	case err != nil:
		return nil, fmt.Errorf("schema is not JSON: %w", err)
	case r.unfit:
		return nil, fmt.Errorf("schema: %s", r.found[0].Message)
	}
	root, ok := doc.(map[string]any)
	if !ok || root["type"] != "object" {
		return nil, ErrRootNotObject
	}
	full, err := resolve(doc)
	if err != nil {
		return nil, err
	}
	return &Schema{raw: raw, full: full, fast: plan(doc)}, nil
}

// Raw is the schema as it was given to [Compile]; it must not be changed.
func (s *Schema) Raw() json.RawMessage { return s.raw }

func resolve(doc any) (*jsonschema.Schema, error) {
	s, err := resolveAt(doc, here)
	if err != nil {
		return nil, blame(doc, err)
	}
	return s, nil
}

func resolveAt(doc any, place string) (*jsonschema.Schema, error) {
	c := jsonschema.NewCompiler()
	c.UseLoader(refuse{})
	c.UseRegexpEngine(pattern)
	if err := c.AddResource(here, doc); err != nil {
		return nil, err
	}
	return c.Compile(place)
}

// refuse is the loader of a compiler that must not load.
type refuse struct{}

func (refuse) Load(string) (any, error) { return nil, ErrRemoteReference }

// ecmaUnicode matches an ECMAScript \uXXXX escape, with the backslashes before
// it, since only an odd number of them makes it one.
var ecmaUnicode = regexp.MustCompile(`(\\+)u([0-9a-fA-F]{4})`)

// pattern compiles a schema's ECMAScript pattern as RE2, which cannot be driven
// into exponential time by a server's schema. Escapes of code points are
// rewritten; what RE2 lacks is an error.
func pattern(s string) (jsonschema.Regexp, error) {
	rewritten := ecmaUnicode.ReplaceAllStringFunc(s, func(m string) string {
		slashes := strings.LastIndexByte(m, '\\') + 1
		if slashes%2 == 0 {
			return m
		}
		return m[:slashes] + "x{" + m[slashes+1:] + "}"
	})
	return regexp.Compile(rewritten)
}
