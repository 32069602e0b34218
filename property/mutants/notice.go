package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// notices is what noticed a fault.
type notices struct {
	Fault string `json:"fault"`
	In    string `json:"in"`
	// Scenarios of the suite that no longer hold.
	Scenarios []string `json:"scenarios"`
	// Properties that no longer hold: invariants of the fuzzer, tests.
	Properties []string `json:"properties"`
	// Smallest is the smallest case the fuzzer came to.
	Smallest string `json:"smallest,omitempty"`
	// Inevitable is the first moment after which nothing averts the failure of that case.
	Inevitable string `json:"inevitable,omitempty"`
	// Scenario is that case as a scenario's file.
	Scenario string `json:"scenario,omitempty"`
	Millis   int64  `json:"took_ms"`
	Error    string `json:"error,omitempty"`
}

func (n notices) noticed() bool { return len(n.Scenarios)+len(n.Properties) > 0 }

// notice plants a fault and runs every checker.
func (s site) notice(ctx context.Context, m mutant) notices {
	began := time.Now()
	n := notices{Fault: m.Name, In: m.pkg + "." + m.In, Scenarios: []string{}, Properties: []string{}}
	p, err := s.plant(ctx, m)
	for _, check := range []func(context.Context, planting, *notices) error{s.suite, s.fuzz, s.test} {
		if err == nil && !(s.first && n.noticed()) {
			err = check(ctx, p, &n)
		}
	}
	if err != nil {
		n.Error = err.Error()
	}
	n.Millis = time.Since(began).Milliseconds()
	return n
}

// output runs a command and gives what it printed, whatever its exit code: a checker
// that noticed something ends with one. Running out of time counts as noticed.
func (s site) output(ctx context.Context, name string, args ...string) (out []byte, late bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, s.patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.WaitDelay = s.root, time.Second
	out, err = cmd.Output()
	if ctx.Err() != nil {
		return out, true, nil
	}
	if exit := new(exec.ExitError); errors.As(err, &exit) {
		return out, false, nil
	}
	return out, false, err
}

// suite runs the embedded scenarios.
func (s site) suite(ctx context.Context, p planting, n *notices) error {
	out, late, err := s.output(ctx, p.program, "run", "--format", "json")
	if err != nil {
		return err
	}
	var report struct {
		Outcomes []struct{ Name, Status string } `json:"outcomes"`
	}
	switch {
	case late:
		n.Scenarios = append(n.Scenarios, fmt.Sprintf("(the suite did not end within %s)", s.patience))
	case json.Unmarshal(out, &report) != nil || len(report.Outcomes) == 0:
		n.Scenarios = append(n.Scenarios, "(the suite did not come to a report)")
	}
	for _, sc := range report.Outcomes {
		if sc.Status != "passed" {
			n.Scenarios = append(n.Scenarios, sc.Name)
		}
	}
	return nil
}

var failed = regexp.MustCompile(`(?m)^\s*--- FAIL: (\S+)`)

// test runs the tests that hold the property.
func (s site) test(ctx context.Context, p planting, n *notices) error {
	args := append([]string{"test", "-overlay", p.overlay, "-vet=off", "-timeout", s.patience.String()}, p.held()...)
	out, late, err := s.output(ctx, "go", args...)
	if err != nil {
		return err
	}
	if strings.Contains(string(out), "[build failed]") {
		return fmt.Errorf("%s: the test does not build: %s", p.Name, out)
	}
	if late {
		n.Properties = append(n.Properties, fmt.Sprintf("(the test did not end within %s)", s.patience))
	}
	for _, hit := range failed.FindAllStringSubmatch(string(out), -1) {
		if !strings.Contains(hit[1], "/") {
			n.Properties = append(n.Properties, hit[1])
		}
	}
	return nil
}

// fuzz runs random cases in both engines, and makes a failing case small.
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
			Broke      string `json:"broke"`
			Found      string `json:"found"`
			Calls      int    `json:"calls"`
			Left       int    `json:"calls_left"`
			Scenario   string `json:"scenario"`
			Inevitable *struct {
				What, Averted               string
				Entry, Entries, Same, Tried int
			} `json:"inevitable"`
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
		if m := f.Inevitable; m != nil {
			n.Inevitable = fmt.Sprintf("%s (entry %d of %d), averted until then by %s; %d of %d courses fail", m.What, m.Entry, m.Entries, m.Averted, m.Same, m.Tried)
		}
	}
	return nil
}
