package tool

import (
	"encoding/json"
	"reflect"

	"toolbench/toolsys/schema"
)

// decoders makes the two ways into a tool's own type. A tool whose In is
// json.RawMessage or a map takes the input as it is.
func decoders[In any](t *Tool) (decode func(json.RawMessage) (Input, error), parse func(json.RawMessage) (Input, schema.Problems)) {
	decode = func(raw json.RawMessage) (Input, error) {
		var v In
		if r, ok := any(&v).(*json.RawMessage); ok {
			*r = raw
			return Input{Raw: raw, Value: v}, nil
		}
		if err := json.Unmarshal(raw, &v); err != nil {
			return Input{}, err
		}
		return Input{Raw: raw, Value: v}, nil
	}
	strict := reflect.TypeFor[In]().Kind() == reflect.Struct
	parse = func(raw json.RawMessage) (Input, schema.Problems) {
		compiled, err := t.Input.Get()
		if err != nil {
			return loose(decode, raw) // a server's schema that does not resolve
		}
		if strict && t.Input.IsDerived() {
			if v, err := schema.Accept[In](compiled, raw); err == nil {
				return Input{Raw: raw, Value: v}, nil
			}
		}
		if problems := compiled.Validate(raw); len(problems) > 0 {
			return Input{}, problems
		}
		return loose(decode, raw)
	}
	return decode, parse
}

func loose(decode func(json.RawMessage) (Input, error), raw json.RawMessage) (Input, schema.Problems) {
	in, err := decode(raw)
	if err != nil {
		return Input{}, schema.Problems{{Message: err.Error()}}
	}
	return in, nil
}
