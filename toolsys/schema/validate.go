package schema

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Validate gives everything that is wrong with raw, in a fixed order; nothing
// means that it is valid (SPEC H1, the pipeline's schema stage).
//
// Input that is not JSON gets one problem. A member named twice, and a number
// beyond a float64, are problems whatever the schema says. Neither nothing at
// all nor null is taken for {}.
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
	return doc, append(r.found, s.broken(doc)...).arranged()
}

func (s *Schema) broken(doc any) Problems {
	err := s.full.Validate(doc)
	var broken *jsonschema.ValidationError
	if !errors.As(err, &broken) {
		return nil
	}
	w := wording{doc: doc}
	return w.of(broken)
}
