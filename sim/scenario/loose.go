package scenario

import (
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"

	"toolbench/toolsys/schema"
)

// LooseExpect is what an agent that is not deterministic must call.
type LooseExpect struct {
	// Match is in_order (these calls in this order, others between them), any_order (these
	// calls and no others), subset (these calls, and others may be there) or at_most (no
	// others, each at most once).
	Match string `yaml:"match" names:"looseness"`
	// Calls are those that are expected.
	Calls []LooseCall `yaml:"calls"`
}

// LooseCall is one call, by what it must have.
type LooseCall struct {
	// Tool is the tool's name, or a pattern of it: * stands for anything. Without it any tool fits.
	Tool string `yaml:"tool"`
	// Input are members that must be equal; others may be there.
	Input map[string]any `yaml:"input"`
	// Matches are patterns that members must match; one that is no text is matched as JSON.
	Matches map[string]string `yaml:"matches"`
	// Schema is the JSON Schema that the whole input must fit.
	Schema map[string]any `yaml:"schema"`
}

// looseness are the ways of comparing calls loosely.
var looseness = []string{"in_order", "any_order", "subset", "at_most"}

// Fits is the call's schema, nil where it has none.
func (c LooseCall) Fits() (*schema.Schema, error) {
	if c.Schema == nil {
		return nil, nil
	}
	raw, err := json.Marshal(c.Schema)
	if err != nil {
		return nil, err
	}
	return schema.Compile(raw)
}

func (sc *Scenario) validateLoose() error {
	l := sc.Expect.Loosely
	if l.Match == "" && l.Calls == nil {
		return nil
	}
	if l.Match == "" || l.Calls == nil {
		return sc.ErrorAt("expect.loosely", "calls are compared loosely by match and calls", "write match: in_order, any_order, subset or at_most, and calls")
	}
	for i, c := range l.Calls {
		key := fmt.Sprintf("expect.loosely.calls.%d", i)
		if _, err := path.Match(c.Tool, ""); err != nil {
			return sc.ErrorAt(key+".tool", fmt.Sprintf("%q is no pattern", c.Tool), "close the [")
		}
		for _, name := range slices.Sorted(maps.Keys(c.Matches)) {
			if _, err := regexp.Compile(c.Matches[name]); err != nil {
				return sc.ErrorAt(key+".matches."+name, err.Error(), "write a regular expression")
			}
		}
		if _, err := c.Fits(); err != nil {
			return sc.ErrorAt(key+".schema", err.Error(), "write a JSON Schema of type object")
		}
	}
	return nil
}
