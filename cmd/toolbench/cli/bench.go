package cli

import (
	"context"
	"io/fs"

	"toolbench/scenarios"
	"toolbench/sim/scenario"
	"toolbench/sim/scenario/check"
	"toolbench/sim/scenario/run"
)

// Bench is what the command line drives. The functions are given to it, so that
// its behaviour can be proved with scenarios that crash, hang or differ, which the
// bench itself must never produce.
type Bench struct {
	// Suite holds the embedded scenarios.
	Suite fs.FS
	// Find gives the scenarios of files and folders, in the order of their paths,
	// and what is wrong with those that cannot be read.
	Find func(fsys fs.FS, paths ...string) ([]Case, []error)
	// Update gives a scenario's file with the expectations that failed brought up to
	// date, and the failures that only a person can settle.
	Update func(data []byte, failures []check.Failure) (updated []byte, left []check.Failure, err error)
}

// Case is one scenario that can be run.
type Case struct {
	Name, About string
	Tags        []string
	// File is where it stands, below the file system it was found in.
	File string
	Run  func(ctx context.Context, o RunOptions) check.Result
	// Scenario is what can be served to other programs; nil for a case that must fail.
	Scenario *scenario.Scenario
}

// RunOptions change how a case is run.
type RunOptions struct {
	Seed uint64
	// Policy replaces the scenario's own; "" keeps it.
	Policy string
	// Own are the project's tools and checks; nil is none.
	Own *run.Own
	// Watched, when set, is filled with what a person at the conversation sees.
	Watched *run.Watched
}

// Scenarios is the bench with its embedded suite.
func Scenarios() Bench {
	return Bench{Suite: scenarios.Files, Find: find, Update: check.Update}
}

func find(fsys fs.FS, paths ...string) ([]Case, []error) {
	found, errs := scenario.Find(fsys, paths...)
	var cases []Case
	for _, base := range found {
		for _, c := range run.Cases(base) {
			served := c.Scenario
			if c.Failing() != nil {
				served = nil
			}
			cases = append(cases, Case{
				Name: c.Name, About: c.About, Tags: c.Tags, File: c.File(), Scenario: served,
				Run: func(ctx context.Context, o RunOptions) check.Result {
					return c.Run(ctx, run.Options{Seed: o.Seed, Policy: o.Policy, Own: o.Own, Watched: o.Watched})
				},
			})
		}
	}
	return cases, errs
}
