package campaign

import (
	"context"
	"errors"
	"fmt"

	"github.com/goccy/go-yaml"

	"toolbench/property/mix"
	"toolbench/property/model"
	"toolbench/property/scene"
	"toolbench/sim/des"
)

// Saved is a case in a file, to be played again.
type Saved struct {
	// About says what it showed.
	About string `yaml:"about"`
	// Engine plays it; "" is both.
	Engine Engine `yaml:"engine,omitempty"`
	// Case and Scene: one of the two is what is played.
	Case  *des.Case    `yaml:"case,omitempty"`
	Scene *scene.Scene `yaml:"scene,omitempty"`
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
	case (s.Case == nil) == (s.Scene == nil):
		return nil, errors.New("no case: write one under case or under scene, and not both")
	case s.Scene != nil:
		return &s, s.Scene.Check()
	}
	return &s, s.Case.Check()
}

// YAML writes a case as Parse reads it.
func (s *Saved) YAML() ([]byte, error) { return yaml.Marshal(s) }

// Replay plays a saved case, in the whole system both ways; nil is well.
func (s *Saved) Replay(ctx context.Context) *Broken {
	t := NewTester(s.Engine)
	t.Long = true
	return t.Try(ctx, Drawn{Mix: s.Case, Scene: s.Scene})
}

// Save makes a file's content of a case.
func Save(about string, e Engine, d Drawn) *Saved {
	return &Saved{About: about, Engine: e, Case: d.Mix, Scene: d.Scene}
}

// Scenario writes a case as a scenario's file that expects what the definition of the
// scheduler says must come of it.
func Scenario(c *des.Case, name, about string) string {
	e := des.Engine{New: model.New}
	want, err := e.Run(c)
	if err != nil {
		want = nil
	}
	return mix.Scenario(c, name, about, want)
}
