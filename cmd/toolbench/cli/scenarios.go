package cli

import (
	"context"
	"io/fs"

	"toolbench/scenarios"
	"toolbench/sim/scenario"
	"toolbench/toolsys/schedule"
)

// Scenarios is the bench with its embedded suite.
func Scenarios() Bench {
	return Bench{
		Suite: scenarios.Files, Find: find, Update: scenario.Update,
		ScenarioSchema: scenario.Schema, ScenarioVersion: scenario.FormatVersion,
		Policies: policies(),
	}
}

func find(fsys fs.FS, paths ...string) ([]Case, []error) {
	found, errs := scenario.Find(fsys, paths...)
	cases := make([]Case, len(found))
	for i, sc := range found {
		cases[i] = Case{
			Name: sc.Name, About: sc.About, Tags: sc.Tags, File: sc.File(),
			Run: func(ctx context.Context, o RunOptions) scenario.Outcome {
				return scenario.Run(ctx, sc, scenario.Options{Seed: o.Seed, Policy: o.Policy})
			},
		}
	}
	return cases, errs
}

// policies are the names that the scheduler knows, in its order.
func policies() []string {
	var names []string
	for p := schedule.Policy(0); ; p++ {
		if _, err := schedule.ParsePolicy(p.String()); err != nil {
			return names
		}
		names = append(names, p.String())
	}
}
