package scenario

import (
	"fmt"
	"slices"
	"strings"
)

// FailingCase is the scenario once more, with one thing wrong: that its checks notice this
// is what the case proves. A case whose run is green fails, and so does one that fails of
// anything else.
type FailingCase struct {
	// Case is its name, behind the scenario's: "lists/second-text".
	Case string `yaml:"case"`
	// Failure is the expectation that must fail, as reports name it: results.read.contains.
	Failure string `yaml:"failure"`
	// Words stand in what is reported of the failure, each of them.
	Words Texts `yaml:"words"`
	// Expect stands in place of the scenario's; what it leaves out is not checked. Prompt,
	// Then and Faults stand in place of the scenario's where they are given.
	Expect Expect   `yaml:"expect"`
	Prompt string   `yaml:"prompt"`
	Then   []string `yaml:"then"`
	Faults []Fault  `yaml:"faults"`
}

// Cases are the scenario's cases that must fail, each as a scenario of its own.
func (sc *Scenario) Cases() []*Scenario {
	var all []*Scenario
	for i := range sc.MustFail {
		all = append(all, sc.failing(i))
	}
	return all
}

// Failing is what must fail in a scenario that is a case, nil for any other.
func (sc *Scenario) Failing() *FailingCase { return sc.must }

// failing makes a scenario of a case. What is reported of its expectations has their
// places in the case.
func (sc *Scenario) failing(i int) *Scenario {
	c, at := &sc.MustFail[i], fmt.Sprintf("must_fail.%d", i)
	made := *sc
	made.must, made.MustFail, made.Expect = c, nil, c.Expect
	made.Name = sc.Name + "/" + c.Case
	made.About = fmt.Sprintf("Must fail of %s: %s.", c.Failure, strings.Join(c.Words, ", "))
	made.places = places{"must_fail": sc.places[at]}
	for key, pl := range sc.places {
		if !strings.HasPrefix(key, "expect") && !strings.HasPrefix(key, "must_fail") {
			made.places[key] = pl
		}
	}
	for key, pl := range sc.places {
		if own, ok := strings.CutPrefix(key, at+"."); ok {
			made.places[own] = pl
		}
	}
	if c.Prompt != "" {
		made.Prompt = c.Prompt
	}
	if c.Then != nil {
		made.Then = c.Then
	}
	if c.Faults != nil {
		made.Faults = c.Faults
	}
	return &made
}

// RunsAs reports whether a case runs as the scenario does: nothing is given in place of what
// the run depends on, and nothing more of the run is asked for.
func (sc *Scenario) RunsAs(base *Scenario) bool {
	c := sc.must
	for p := range c.Expect.Files {
		if _, known := base.Expect.Files[p]; !known {
			return false
		}
	}
	for _, g := range c.Expect.Gates {
		if !slices.ContainsFunc(base.Expect.Gates, func(b GateExpect) bool { return b.Profile == g.Profile }) {
			return false
		}
	}
	return c.Prompt == "" && c.Then == nil && c.Faults == nil
}

// validateCases looks at the cases that must fail.
func (sc *Scenario) validateCases() error {
	seen := map[string]bool{}
	for i, c := range sc.MustFail {
		at := fmt.Sprintf("must_fail.%d", i)
		switch {
		case !validName.MatchString(c.Case):
			return sc.ErrorAt(at, fmt.Sprintf("%q is no name of a case", c.Case), "write `case:` in small letters, digits, hyphens and dots")
		case seen[c.Case]:
			return sc.ErrorAt(at+".case", fmt.Sprintf("the case %q is there twice", c.Case), "names are unique within a scenario")
		case c.Failure == "":
			return sc.ErrorAt(at, "the case does not name what must fail", "add `failure:` with the expectation, as `toolbench run` reports it")
		}
		seen[c.Case] = true
		if err := sc.failing(i).validateExpect(); err != nil {
			return err
		}
	}
	return nil
}
