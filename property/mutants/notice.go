package main

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// site is where faults are planted: the repository's root, a folder for what is built, and the
// programs that were built there.
type site struct {
	root, dir, overlay string
	// cases is how many cases the fuzzer makes, patience how long each checker may take.
	cases    int
	patience time.Duration
	// first: what one checker noticed, the others are not asked about.
	first bool
	// broken is what the compiler says of faults that are no Go.
	broken map[int]string

	groups    func() ([]group, error)
	mu        sync.Mutex
	built     map[string]func() (program, error)
	baselines map[string]func() (baseline, error)
}

func newSite(ctx context.Context, root, dir string) *site {
	s := &site{root: root, dir: dir, broken: map[int]string{}, built: map[string]func() (program, error){}, baselines: map[string]func() (baseline, error){}}
	s.groups = sync.OnceValues(func() ([]group, error) { return s.listGroups(ctx) })
	return s
}

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
	// By are the checkers that noticed it.
	By []string `json:"by"`
}

func (n notices) noticed() bool { return len(n.By) > 0 && n.Error == "" }

// checkers are asked about a fault one after the other, the quickest first.
var checkers = []struct {
	name  string
	check func(*site, context.Context, fault, *notices) error
}{
	{"the suite", (*site).suite}, {"the fuzzer", (*site).fuzz}, {"tests", (*site).test},
}

// notice turns a fault on and runs every checker.
func (s *site) notice(ctx context.Context, f fault) notices {
	began := time.Now()
	n := notices{Fault: f.Name, In: f.pkg + "." + f.In, Scenarios: []string{}, Properties: []string{}, Error: s.broken[f.id]}
	for _, c := range checkers {
		if n.Error != "" || s.first && n.noticed() {
			break
		}
		before := len(n.Scenarios) + len(n.Properties)
		if err := c.check(s, ctx, f, &n); err != nil {
			n.Error = err.Error()
		}
		if len(n.Scenarios)+len(n.Properties) > before {
			n.By = append(n.By, c.name)
		}
	}
	n.Millis = time.Since(began).Milliseconds()
	return n
}

// turnOn runs a program with a fault on, when it asks about it at all: asked is false for one that
// never comes to where the fault is.
func (s *site) turnOn(ctx context.Context, p program, f fault) (end ending, asked bool, err error) {
	base, err := once(s, s.baselines, strings.Join(append(p.args, p.path), " "), func() (baseline, error) { return p.reach(ctx, s.dir) })
	if err != nil || !base.reached[f.id] {
		return ending{}, false, err
	}
	end, err = base.with(ctx, f.id, min(base.limit(), s.patience))
	return end, true, err
}

// once makes what is called name, unless it was made before.
func once[T any](s *site, made map[string]func() (T, error), name string, do func() (T, error)) (T, error) {
	s.mu.Lock()
	if made[name] == nil {
		made[name] = sync.OnceValues(do)
	}
	get := made[name]
	s.mu.Unlock()
	return get()
}

// group is some scenarios of the suite that are run together.
type group struct {
	names []string
	baseline
}

// suite runs the embedded scenarios of the groups that come to where the fault is.
func (s *site) suite(ctx context.Context, f fault, n *notices) error {
	groups, err := s.groups()
	if err != nil {
		return err
	}
	p, all := s.toolbench("run", "--format", "json"), baseline{}
	if s.first {
		p.args = append(p.args, "--fail-fast")
	}
	for _, g := range groups {
		if g.reached[f.id] {
			p.args, all.took = append(p.args, g.names...), all.took+g.took
		}
	}
	if all.took == 0 {
		return nil
	}
	end, err := p.with(ctx, f.id, min(all.limit(), s.patience))
	if err != nil {
		return err
	}
	var report struct {
		Outcomes []struct{ Name, Status string } `json:"outcomes"`
	}
	switch {
	case end.late:
		n.Scenarios = append(n.Scenarios, "(the suite did not end in time)")
	case json.Unmarshal(end.out, &report) != nil || len(report.Outcomes) == 0:
		n.Scenarios = append(n.Scenarios, "(the suite did not come to a report)")
	}
	for _, sc := range report.Outcomes {
		if sc.Status != "passed" {
			n.Scenarios = append(n.Scenarios, sc.Name)
		}
	}
	return nil
}

// listGroups takes the suite apart, so that of a fault few scenarios need to be run, and runs each group
// with no fault on.
func (s *site) listGroups(ctx context.Context) ([]group, error) {
	end, err := s.toolbench("list", "--format", "json").with(ctx, -1, s.patience)
	if err != nil {
		return nil, err
	}
	var suite struct{ Scenarios []struct{ Name string } }
	if err := json.Unmarshal(end.out, &suite); err != nil {
		return nil, fmt.Errorf("toolbench list: %w: %s", err, end.errs)
	}
	var groups []group
	for some := range slices.Chunk(suite.Scenarios, 4) {
		g := group{}
		for _, one := range some {
			g.names = append(g.names, one.Name)
		}
		p := s.toolbench("run")
		p.args = append(p.args, g.names...)
		if g.baseline, err = p.reach(ctx, s.dir); err != nil {
			return nil, err
		}
		groups = append(groups, g)
	}
	return groups, nil
}

// toolbench is the program itself.
func (s *site) toolbench(args ...string) program {
	return program{path: filepath.Join(s.dir, "toolbench"), dir: s.root, args: args}
}

// fuzz runs random cases in both engines, and makes a failing case small.
func (s *site) fuzz(ctx context.Context, f fault, n *notices) error {
	end, asked, err := s.turnOn(ctx, s.toolbench("fuzz", "--engine", "both", "--runs", strconv.Itoa(s.cases), "--seed", "1", "--format", "json", "--out", s.dir), f)
	if err != nil || !asked {
		return err
	}
	if end.late {
		n.Properties = append(n.Properties, "(the fuzzer did not end in time)")
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
	if err := json.Unmarshal(end.out, &report); err != nil {
		n.Properties = append(n.Properties, "(the fuzzer did not come to a report)")
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

// test runs the tests that hold the property.
func (s *site) test(ctx context.Context, f fault, n *notices) error {
	packages, flags := f.held(), []string(nil)
	if i := slices.IndexFunc(packages, func(arg string) bool { return strings.HasPrefix(arg, "-") }); i >= 0 {
		packages, flags = packages[:i], slices.Clone(packages[i:])
	}
	for i := range flags {
		flags[i] = strings.Replace(flags[i], "-run", "-test.run", 1)
	}
	if s.first {
		flags = append(flags, "-test.failfast")
	}
	for _, name := range packages {
		p, err := once(s, s.built, name, func() (program, error) { return tests(ctx, s.root, s.dir, s.overlay, name) })
		if err != nil {
			return err
		}
		p.args = append(slices.Clone(p.args), flags...)
		end, asked, err := s.turnOn(ctx, p, f)
		switch hits := failed.FindAllStringSubmatch(string(end.out), -1); {
		case err != nil:
			return err
		case end.late:
			n.Properties = append(n.Properties, "(the tests of "+name+" did not end in time)")
		case asked && end.failed && len(hits) == 0:
			n.Properties = append(n.Properties, "(the tests of "+name+" did not come to an end)")
		default:
			for _, hit := range hits {
				n.Properties = append(n.Properties, hit[1])
			}
		}
		if s.first && len(n.Properties) > 0 {
			return nil
		}
	}
	return nil
}
