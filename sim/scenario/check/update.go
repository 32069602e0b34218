package check

import (
	"slices"

	"toolbench/sim/scenario"
)

// Update gives a scenario's file with the expectations that failed brought up to date,
// and the failures that only a person can resolve.
func Update(data []byte, failures []Failure) (updated []byte, left []Failure, err error) {
	values := map[string]string{}
	for _, f := range failures {
		if f.instead != "" {
			values["expect."+f.Expectation] = f.instead
		}
	}
	updated, unplaced, err := scenario.Update(data, values)
	if err != nil {
		return nil, nil, err
	}
	for _, f := range failures {
		if f.instead == "" || slices.Contains(unplaced, "expect."+f.Expectation) {
			left = append(left, f)
		}
	}
	return updated, left, nil
}
