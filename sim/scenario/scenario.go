// Package scenario is the format of the bench's unit of proof: one file that describes
// the world, what the model streams and what is expected of the run. It reads such files
// and reports what is wrong with one by line, column and remedy. Package run plays them,
// package check compares what a run left with what was expected.
package scenario

import (
	"cmp"
	_ "embed" // the published schema
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"toolbench/sim/cassette"
	"toolbench/toolsys/schedule"
)

// FormatVersion is the version of the file format this program writes.
const FormatVersion = 1

// Scenario is one file, as read. Every member's yaml name is the format's key.
type Scenario struct {
	// Format is the format's version; 0 stands for the current one.
	Format int `yaml:"format"`
	// Name is of small letters, digits, hyphens and dots, and no other scenario has it.
	Name string `yaml:"name"`
	// About is a sentence on what the scenario guards.
	About string `yaml:"about"`
	// Tags choose scenarios with --tag, together with others.
	Tags []string `yaml:"tags"`
	// World is what there is before the run begins.
	World World `yaml:"world"`
	// Prompt is the user's first message; Then are further ones, each sent when the
	// one before is answered.
	Prompt string   `yaml:"prompt"`
	Then   []string `yaml:"then"`
	// Stream is what the model answers.
	Stream Script `yaml:"stream"`
	// Durations are how long calls take, by tool name or by call id.
	Durations map[string]Duration `yaml:"durations"`
	// Policy is how calls are scheduled; streaming if not given.
	Policy string `yaml:"policy" names:"policy"`
	// User is what the person does: answers, and messages of their own.
	User UserScript `yaml:"user"`
	// Hooks are asked and informed at events of the session.
	Hooks []HookScript `yaml:"hooks"`
	// Classifier answers for the safety classifier; the first match counts.
	Classifier []Ruling `yaml:"classifier"`
	// Faults are what goes wrong, in the language of faults or member by member.
	Faults []Fault `yaml:"faults"`
	// Expect is what must come of the run; what is not named is not checked.
	Expect Expect `yaml:"expect"`
	// MustFail are cases in which something is wrong, each with the failure that must come
	// of it. They prove the checks.
	MustFail []FailingCase `yaml:"must_fail"`

	// file and places are where everything stands; fsys is where what it points
	// to is looked for.
	file   string
	dir    string
	fsys   fs.FS
	places places
	// named are the names that stand in it, by sort.
	named map[string][]mention
	// must is set in a case that must fail.
	must *FailingCase
	// recording reads the cassette once, shared with the cases that must fail.
	recording func() (*cassette.Cassette, error)
}

// DefaultPolicy is the policy of a scenario that names none.
const DefaultPolicy = schedule.Streaming

// PolicyName is the policy the scenario is written for.
func (sc *Scenario) PolicyName() string { return cmp.Or(sc.Policy, DefaultPolicy.String()) }

//go:embed scenario.schema.json
var schemaJSON []byte

// Schema is the JSON Schema of the file format, for editors: put
// `# yaml-language-server: $schema=...` on top of a file. It is made from the
// types of this package and their comments; a test holds it up to date.
func Schema() []byte { return schemaJSON }

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
	c := &sc.MustFail[i]
	made := *sc
	made.must, made.MustFail, made.Expect = c, nil, c.Expect
	made.Name = sc.Name + "/" + c.Case
	made.About = fmt.Sprintf("Must fail of %s: %s.", c.Failure, strings.Join(c.Words, ", "))
	made.places.own = fmt.Sprintf("must_fail.%d.", i)
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
