package schema

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// blame says why a schema does not resolve. The library stops at whatever its
// walk over maps meets first and its texts run over pages; a report of a tool
// that is loaded unvalidated must be the same each time, so this looks for the
// causes itself and lists them in order.
func blame(doc any, err error) error {
	var invalid *jsonschema.SchemaValidationError
	if errors.As(err, &invalid) {
		return invalidAt(doc, invalid)
	}
	b := culprits{doc: doc}
	b.walk(doc)
	switch {
	case len(b.remote) > 0:
		return fmt.Errorf("%w: %s", ErrRemoteReference, inOrder(b.remote))
	case len(b.broken) > 0:
		return fmt.Errorf("schema does not resolve: %s", inOrder(b.broken))
	}
	return fmt.Errorf("schema does not resolve: %w", err)
}

// invalidAt names the places where a schema breaks its own draft's rules.
func invalidAt(doc any, e *jsonschema.SchemaValidationError) error {
	var broken *jsonschema.ValidationError
	if !errors.As(e.Err, &broken) {
		return fmt.Errorf("schema does not resolve: %w", e)
	}
	w := wording{doc: doc}
	var places []string
	for _, p := range w.of(broken).arranged() {
		places = append(places, cmp.Or(p.Path, "its root"))
	}
	return fmt.Errorf("schema does not resolve: it is not valid at %s", strings.Join(slices.Compact(places), ", "))
}

// culprits collects the references of a schema that fail by themselves.
type culprits struct {
	doc            any
	remote, broken []string
}

func (c *culprits) walk(v any) {
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			c.walk(item)
		}
	case map[string]any:
		for _, keyword := range slices.Sorted(maps.Keys(v)) {
			if s, ok := v[keyword].(string); ok {
				c.check(keyword, s)
			}
			c.walk(v[keyword])
		}
	}
}

func (c *culprits) check(keyword, s string) {
	switch keyword {
	case "$ref", "$dynamicRef", "$schema":
		c.checkReference(s)
	}
}

func (c *culprits) checkReference(ref string) {
	local := strings.HasPrefix(ref, "#")
	target := ref
	if local {
		target = here + ref
	} else if !strings.Contains(ref, ":") {
		target = strings.TrimSuffix(here, "root") + ref
	}
	_, err := resolveAt(c.doc, target)
	var load *jsonschema.LoadURLError
	switch {
	case err == nil:
	case !local && errors.As(err, &load):
		c.remote = append(c.remote, ref)
	default:
		c.broken = append(c.broken, "the reference "+ref+" leads nowhere")
	}
}

func inOrder(list []string) string {
	slices.Sort(list)
	return strings.Join(slices.Compact(list), ", ")
}
