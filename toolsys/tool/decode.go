package tool

import (
	"encoding/json"
	"fmt"

	"toolbench/toolsys/schema"
)

// parser makes the way from raw bytes into a tool's own type. Where the schema is
// the type's own, one pass does both; a schema that was given is held against the
// bytes first. A given schema that does not resolve lets every input through that
// the type can hold: such a tool was loaded unvalidated, with a report.
func parser[In any](lazy *schema.Lazy, derived bool) func(json.RawMessage) (Input, schema.Problems) {
	return func(raw json.RawMessage) (Input, schema.Problems) {
		compiled, err := lazy.Schema()
		if err != nil {
			return decode[In](raw)
		}
		if derived {
			v, problems := schema.Decode[In](compiled, raw)
			return Input{Raw: raw, Value: v}, problems
		}
		if problems := compiled.Validate(raw); len(problems) > 0 {
			return Input{}, problems
		}
		return decode[In](raw)
	}
}

func decode[In any](raw json.RawMessage) (Input, schema.Problems) {
	var v In
	if err := json.Unmarshal(raw, &v); err != nil {
		return Input{}, schema.Problems{{Keyword: "decode", Message: fmt.Sprintf("The input cannot be read: %v", err)}}
	}
	return Input{Raw: raw, Value: v}, nil
}
