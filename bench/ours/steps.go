package ours

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"toolbench/bench/measure"
	"toolbench/toolsys/schema"
)

// Steps are what a call cannot do without, each by itself: decoding its input once
// and holding it against the schema once, and the two as our tools do them. Each is
// the median of some rounds.
func Steps(rounds int, budget time.Duration) ([]measure.Step, error) {
	five, err := rounded(rounds, func() ([]float64, error) { return steps[measure.Five](measure.FiveInput("/repo/a.go"), budget) })
	if err != nil {
		return nil, err
	}
	one, err := rounded(rounds, func() ([]float64, error) { return steps[measure.One](measure.OneInput("/repo/a.go"), budget) })
	if err != nil {
		return nil, err
	}
	out := make([]measure.Step, len(five))
	for i, name := range []string{DecodeStep, ValidateStep, LibraryStep, ParseStep} {
		out[i] = measure.Step{Name: name, Five: five[i], One: one[i]}
	}
	return out, nil
}

// rounded gives the median of each value over some rounds.
func rounded(rounds int, measured func() ([]float64, error)) ([]float64, error) {
	var columns [][]float64
	for range rounds {
		values, err := measured()
		if err != nil {
			return nil, err
		}
		for i, v := range values {
			if i == len(columns) {
				columns = append(columns, nil)
			}
			columns[i] = append(columns[i], v)
		}
	}
	medians := make([]float64, len(columns))
	for i, c := range columns {
		slices.Sort(c)
		medians[i] = c[len(c)/2]
	}
	return medians, nil
}

// The names of the steps.
const (
	DecodeStep   = "one decode (encoding/json)"
	ValidateStep = "one validation (ours, of the bytes)"
	LibraryStep  = "one validation (library, of a decoded value)"
	ParseStep    = "ours: validate and decode"
)

func steps[In measure.Input](input string, budget time.Duration) ([]float64, error) {
	raw := json.RawMessage(input)
	derived, err := schema.For[In]()
	if err != nil {
		return nil, err
	}
	compiled, err := schema.Compile(derived)
	if err != nil {
		return nil, err
	}
	document, err := jsonschema.UnmarshalJSON(strings.NewReader(string(derived)))
	if err != nil {
		return nil, err
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("input.json", document); err != nil {
		return nil, err
	}
	library, err := compiler.Compile("input.json")
	if err != nil {
		return nil, err
	}
	decoded, err := jsonschema.UnmarshalJSON(strings.NewReader(input))
	if err != nil {
		return nil, err
	}
	var out []float64
	for _, f := range []func() error{
		func() error { var in In; return json.Unmarshal(raw, &in) },
		func() error { return refused(compiled.Validate(raw)) },
		func() error { return library.Validate(decoded) },
		func() error { _, problems := compiled.Decode(reflect.TypeFor[In](), raw); return refused(problems) },
	} {
		cost, err := measure.Once(f, budget)
		if err != nil {
			return nil, err
		}
		if cost.CPU == 0 {
			cost.CPU = cost.Micros
		}
		out = append(out, cost.CPU)
	}
	return out, nil
}

func refused(problems schema.Problems) error {
	if len(problems) > 0 {
		return fmt.Errorf("a right input was refused: %v", problems)
	}
	return nil
}
