package fuzz

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/goccy/go-yaml"

	"toolbench/property/des"
	"toolbench/property/generate"
	"toolbench/property/oracle"
)

// Saved is a case in a file, to be run again.
type Saved struct {
	// About is what the case showed.
	About string `yaml:"about"`
	// Engine runs it; "" is both.
	Engine Engine `yaml:"engine,omitempty"`
	// One of the two is the case; Former is where older files have a system case.
	Scheduler *des.Case            `yaml:"case,omitempty"`
	System    *generate.SystemCase `yaml:"system_case,omitempty"`
	Former    *generate.SystemCase `yaml:"scene,omitempty"`
}

// Parse reads a file of a case.
func Parse(data []byte) (*Saved, error) {
	var s Saved
	if err := yaml.UnmarshalWithOptions(data, &s, yaml.Strict()); err != nil {
		return nil, fmt.Errorf("no case: %s", yaml.FormatError(err, false, false))
	}
	if s.System == nil {
		s.System, s.Former = s.Former, nil
	}
	s.Engine = cmp.Or(s.Engine, Both)
	if s.Engine != DES && s.Engine != Full && s.Engine != Both {
		return nil, fmt.Errorf("engine is %q; write des, full or both", s.Engine)
	}
	switch {
	case (s.Scheduler == nil) == (s.System == nil) || s.Former != nil:
		return nil, errors.New("no case: write one under case or under system_case, and not both")
	case s.System != nil:
		return &s, s.System.Check()
	}
	return &s, s.Scheduler.Check()
}

// YAML writes a case as Parse reads it.
func (s *Saved) YAML() ([]byte, error) { return yaml.Marshal(s) }

// Replay runs a saved case, in the whole system both in process and end to end; nil means
// that every invariant holds.
func (s *Saved) Replay(ctx context.Context) *oracle.Violation {
	t := NewChecker(s.Engine)
	t.EndToEnd = true
	return t.Check(ctx, generate.Case{Scheduler: s.Scheduler, System: s.System})
}

// NewSaved makes the content of a file of a case.
func NewSaved(about string, e Engine, c generate.Case) *Saved {
	return &Saved{About: about, Engine: e, Scheduler: c.Scheduler, System: c.System}
}

// Scenario writes a case as a scenario's file that expects what the oracle predicts: the
// definition of the scheduler for a scheduler case, the reference for a system case.
func Scenario(c generate.Case, name, about string) string {
	if s := c.System; s != nil {
		x := oracle.ExpectSystem(s)
		if s.BreaksStreams() || s.Lively() {
			x.Error = endsInError(s)
		}
		return generate.SystemScenario(s, name, about, generate.InOrder, x)
	}
	e := des.Engine{New: oracle.NewScheduler}
	want, err := e.Run(c.Scheduler)
	if err != nil {
		want = nil
	}
	return generate.SchedulerScenario(c.Scheduler, name, about, want)
}
