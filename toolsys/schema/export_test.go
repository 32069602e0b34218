package schema

import "encoding/json"

// Accepts is the fast path alone.
func (s *Schema) Accepts(raw json.RawMessage) bool { return s.accepts(raw) }

// Examine is the validator's path alone.
func (s *Schema) Examine(raw json.RawMessage) Problems {
	_, ps := s.examine(raw)
	return ps
}

// ReadsAsJSON is the grammar of the package's own reader.
func ReadsAsJSON(raw []byte) (any, bool) {
	v, _, err := read(raw)
	return v, err == nil
}
