package fuzz

import (
	"context"
	"errors"
	"fmt"

	"github.com/goccy/go-yaml"

	"toolbench/property/des"
	"toolbench/property/generate"
	"toolbench/property/oracle"
)

// Saved is a case in a file, to be played again.
type Saved struct {
	// About says what it showed.
	About string `yaml:"about"`
	// Engine plays it; "" is both.
	Engine Engine `yaml:"engine,omitempty"`
	// Case and Scene: one of the two is what is played.
	Scheduler *des.Case            `yaml:"case,omitempty"`
	System    *generate.SystemCase `yaml:"scene,omitempty"`
}

// Parse reads a file of a case.
func Parse(data []byte) (*Saved, error) {
	var s Saved
	if err := yaml.UnmarshalWithOptions(data, &s, yaml.Strict()); err != nil {
		return nil, fmt.Errorf("no case: %s", yaml.FormatError(err, false, false))
	}
	if s.Engine == "" {
		s.Engine = Both
	}
	if s.Engine != DES && s.Engine != Full && s.Engine != Both {
		return nil, fmt.Errorf("engine is %q; write des, full or both", s.Engine)
	}
	switch {
	case (s.Scheduler == nil) == (s.System == nil):
		return nil, errors.New("no case: write one under case or under scene, and not both")
	case s.System != nil:
		return &s, s.System.Check()
	}
	return &s, s.Scheduler.Check()
}

// YAML writes a case as Parse reads it.
func (s *Saved) YAML() ([]byte, error) { return yaml.Marshal(s) }

// Replay plays a saved case, in the whole system both ways; nil is well.
func (s *Saved) Replay(ctx context.Context) *Violation {
	t := NewChecker(s.Engine)
	t.EndToEnd = true
	return t.Check(ctx, generate.Case{Scheduler: s.Scheduler, System: s.System})
}

// Save makes a file's content of a case.
func NewSaved(about string, e Engine, d generate.Case) *Saved {
	return &Saved{About: about, Engine: e, Scheduler: d.Scheduler, System: d.System}
}

// Scenario writes a case as a scenario's file that expects what the definition of the
// scheduler says must come of it.
func schedulerScenario(c *des.Case, name, about string) string {
	e := des.Engine{New: oracle.NewScheduler}
	want, err := e.Run(c)
	if err != nil {
		want = nil
	}
	return generate.SchedulerScenario(c, name, about, want)
}
