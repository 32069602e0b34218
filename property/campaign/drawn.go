package campaign

import (
	"context"

	"toolbench/property/mix"
	"toolbench/property/promise"
	"toolbench/property/scene"
	"toolbench/sim/des"
)

// Drawn is one case of a plan: a mix, which both engines can play, or a scene, which
// is of the whole system alone. One of the two is there.
type Drawn struct {
	Mix   *des.Case
	Scene *scene.Scene
}

// sceneEvery says which cases are scenes, where the whole system plays: the last of so
// many.
const sceneEvery = 8

// Maker makes the cases of a plan. A case holds until the next is made; one goroutine
// may use it at a time.
type Maker struct {
	engine Engine
	mixes  *mix.Maker
	scenes *scene.Maker
}

// NewMaker makes a maker of a plan's cases for an engine.
func NewMaker(p mix.Plan, e Engine) *Maker {
	return &Maker{engine: e, mixes: mix.NewMaker(p), scenes: scene.NewMaker(p)}
}

// Case makes case number n.
func (m *Maker) Case(n uint64) Drawn {
	if m.engine != DES && n%sceneEvery == sceneEvery-1 {
		return Drawn{Scene: m.scenes.Scene(n)}
	}
	return Drawn{Mix: m.mixes.Case(n)}
}

// Calls counts the calls of a case.
func (d Drawn) Calls() int {
	if d.Scene != nil {
		return d.Scene.Calls()
	}
	return d.Mix.Calls()
}

// Clone copies a case whole: the copy outlives the next case of its maker.
func (d Drawn) Clone() Drawn {
	if d.Scene != nil {
		return Drawn{Scene: scene.Clone(d.Scene)}
	}
	return Drawn{Mix: mix.Clone(d.Mix)}
}

// Seed breaks the ties of what happens in one instant of the case.
func (d Drawn) Seed() uint64 {
	if d.Scene != nil {
		return d.Scene.Seed
	}
	return d.Mix.Seed
}

// Scenario writes a case as a scenario's file that expects what is known to come of it:
// of a mix what the definition of the scheduler says, of a scene what its reference
// foretells.
func (d Drawn) Scenario(name, about string) string {
	if d.Scene != nil {
		return d.Scene.Scenario(name, about)
	}
	return Scenario(d.Mix, name, about)
}

// Shrink makes a case small that fails; see mix.Shrink.
func (d Drawn) Shrink(fails func(Drawn) bool) Drawn {
	if d.Scene != nil {
		return Drawn{Scene: scene.Shrink(d.Scene, func(s *scene.Scene) bool { return fails(Drawn{Scene: s}) })}
	}
	return Drawn{Mix: mix.Shrink(d.Mix, func(c *des.Case) bool { return fails(Drawn{Mix: c}) })}
}

// Try gives the first thing a case breaks, or nil, whatever it is.
func (t *Tester) Try(ctx context.Context, d Drawn) *Broken {
	if d.Scene == nil {
		return t.Test(ctx, d.Mix)
	}
	var seen []int
	if t.Counting {
		seen = t.Seen[len(promise.Situations()):]
	}
	if b := scene.Run(ctx, d.Scene, seen); b != nil {
		return &Broken{Name: b.Name, Found: b.Found, Log: b.Log}
	}
	return nil
}

// Small makes a failing case small: it breaks the same thing, and also, where given,
// fails as the caller wants it to.
func (t *Tester) Small(ctx context.Context, d Drawn, name string, also func(Drawn) bool) Drawn {
	counting := t.Counting
	t.Counting = false
	defer func() { t.Counting = counting }()
	return d.Shrink(func(smaller Drawn) bool {
		if ctx.Err() != nil {
			return false
		}
		b := t.Try(ctx, smaller)
		return ctx.Err() == nil && b != nil && b.Name == name && (also == nil || also(smaller))
	})
}

// Situation is something rare worth having seen.
type Situation struct {
	Name string
	// Policy is the only one under which it can come up; "" for any. Scene says that
	// only scenes have it.
	Policy string
	Scene  bool
}

// Situations are all of them, in the order in which a Result counts them.
func Situations() []Situation {
	var all []Situation
	for _, s := range promise.Situations() {
		all = append(all, Situation{Name: s.Name, Policy: s.Policy})
	}
	for _, s := range scene.Situations() {
		all = append(all, Situation{Name: s.Name, Scene: true})
	}
	return all
}
