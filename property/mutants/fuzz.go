package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// fuzz plays random cases by discrete events and in the whole system beside each
// other, and makes what fails small.
func (s site) fuzz(ctx context.Context, p planting, n *notices) error {
	out, late, err := s.output(ctx, p.program, "fuzz", "--engine", "both", "--runs", strconv.Itoa(s.cases), "--seed", "1", "--format", "json", "--out", s.dir)
	if err != nil {
		return err
	}
	if late {
		n.Properties = append(n.Properties, fmt.Sprintf("(the fuzzer did not end within %s)", s.patience))
		return nil
	}
	var report struct {
		Cases   int `json:"cases"`
		Failure *struct {
			Broke    string `json:"broke"`
			Found    string `json:"found"`
			Calls    int    `json:"calls"`
			Left     int    `json:"calls_left"`
			Scenario string `json:"scenario"`
		} `json:"failure"`
	}
	if err := json.Unmarshal(out, &report); err != nil {
		return fmt.Errorf("the fuzzer did not come to a report: %w: %s", err, out)
	}
	if f := report.Failure; f != nil {
		found, _, _ := strings.Cut(f.Found, "\n")
		n.Properties = append(n.Properties, f.Broke)
		n.Smallest = fmt.Sprintf("%d of %d calls: %s", f.Left, f.Calls, found)
		n.Scenario = f.Scenario
	}
	return nil
}
