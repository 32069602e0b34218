package fuzz

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"toolbench/property/generate"
	"toolbench/property/oracle"
)

// Config is a fuzzing run.
type Config struct {
	Engine Engine
	// Shard and Shards take every Shards-th case, from Shard (counted from 0).
	Shard, Shards uint64
	// First is the number of the first case, of a run without shards.
	First uint64
	// Through goes on behind a case that failed, so that what came of some cases is what
	// came of each, however they are dealt out.
	Through bool
	// Cases is how many cases to run; 0 goes on until the context ends.
	Cases uint64
	// Batch is how many cases a runner gets at a time, Jobs how many runners there are.
	Batch uint64
	Jobs  int
}

// Batch is some cases of a plan: N of them from First, each Step on.
type Batch struct {
	First uint64 `json:"first"`
	N     uint64 `json:"n"`
	Step  uint64 `json:"step"`
}

// Case is the number of the batch's k-th case.
func (b Batch) Case(k uint64) uint64 { return b.First + k*b.Step }

// Result is what came of cases.
type Result struct {
	Cases uint64 `json:"cases"`
	Calls uint64 `json:"calls"`
	// Seen counts the goals, by their place in oracle.Goals.
	Seen   []int    `json:"seen"`
	Failed *Failure `json:"failed,omitempty"`
}

// Failure is a case that violates an invariant.
type Failure struct {
	// Case is its number in the plan.
	Case uint64 `json:"case"`
	// Broke names the invariant that it violates, Found is how. Log is what happened,
	// where there is one.
	Broke string `json:"broke"`
	Found string `json:"found"`
	Log   string `json:"log,omitempty"`
}

func (r *Result) add(other Result) {
	r.Cases += other.Cases
	r.Calls += other.Calls
	if r.Seen == nil {
		r.Seen = make([]int, len(oracle.Goals()))
	}
	for i := range min(len(r.Seen), len(other.Seen)) {
		r.Seen[i] += other.Seen[i]
	}
	if f := other.Failed; f != nil && (r.Failed == nil || f.Case < r.Failed.Case) {
		r.Failed = f
	}
}

// Runner runs a batch: in this process, or in one of its own.
type Runner func(ctx context.Context, b Batch) (Result, error)

// Play is the Runner of this process. At is called with each case before it runs; it may
// be nil.
func Play(ctx context.Context, plan generate.Plan, e Engine, b Batch, at func(n uint64)) Result {
	m, t := NewMaker(plan, e), NewChecker(e)
	r := Result{Seen: t.Seen}
	for k := range b.N {
		if ctx.Err() != nil {
			return r
		}
		n := b.Case(k)
		if at != nil {
			at(n)
		}
		c := m.Case(n)
		broken := t.Check(ctx, c)
		if ctx.Err() != nil {
			return r // what was cut off proves nothing
		}
		r.Cases++
		r.Calls += uint64(c.Calls())
		if broken != nil {
			r.Failed = &Failure{Case: n, Broke: broken.Name, Found: broken.Found, Log: broken.Log}
			return r
		}
	}
	return r
}

// Run runs the cases of a plan with runners beside each other, until all are done, one
// fails (but see Config.Through), or ctx ends, which is no error. Progress is called with the results so far, one
// call at a time; it may be nil. Of several failures the one with the lowest number
// counts: batches in front of one that failed are run to their end.
func Run(ctx context.Context, cfg Config, run Runner, progress func(Result)) (Result, error) {
	r := &workers{cfg: cfg, run: run, progress: progress, running: map[uint64]context.CancelFunc{}}
	r.total.add(Result{})
	var all sync.WaitGroup
	for range max(1, cfg.Jobs) {
		all.Go(func() {
			for r.one(ctx) {
			}
		})
	}
	all.Wait()
	return r.total, r.found
}

// workers run the batches of a plan beside each other.
type workers struct {
	cfg      Config
	run      Runner
	progress func(Result)

	mu      sync.Mutex
	next    uint64
	running map[uint64]context.CancelFunc // by the first case of the batch
	total   Result
	found   error
}

// one runs the next batch and reports whether there may be another.
func (r *workers) one(ctx context.Context) bool {
	b, ctx, ok := r.take(ctx)
	if !ok {
		return false
	}
	result, err := r.play(ctx, b)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.running[b.First]()
	delete(r.running, b.First)
	r.total.add(result)
	if err != nil && ctx.Err() == nil && r.found == nil {
		r.found = fmt.Errorf("cases from %d: %w", b.First, err)
	}
	if r.over() {
		for other, stop := range r.running { // those that come after it
			if other > b.First {
				stop()
			}
		}
	}
	if r.progress != nil {
		r.progress(r.total)
	}
	return true
}

// play runs a batch; under Through, what is behind a case that failed too. A runner that
// lost count of the cases in front of one, because that killed it, plays those again.
func (r *workers) play(ctx context.Context, b Batch) (Result, error) {
	var all Result
	for {
		result, err := r.run(ctx, b)
		f := result.Failed
		if err != nil || f == nil || !r.cfg.Through {
			all.add(result)
			return all, err
		}
		before := (f.Case - b.First) / b.Step
		if result.Cases <= before {
			result = Result{Cases: 1, Failed: f}
			if before > 0 {
				counted, err := r.play(ctx, Batch{First: b.First, N: before, Step: b.Step})
				all.add(counted)
				if err != nil {
					return all, err
				}
			}
		}
		all.add(result)
		b = Batch{First: b.Case(before + 1), N: b.N - before - 1, Step: b.Step}
		if b.N == 0 {
			return all, nil
		}
	}
}

func (r *workers) over() bool { return r.total.Failed != nil && !r.cfg.Through || r.found != nil }

// take gives the next batch and what it runs under.
func (r *workers) take(ctx context.Context) (Batch, context.Context, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	b, ok := r.cfg.batch(r.next)
	if !ok || r.over() || ctx.Err() != nil {
		return Batch{}, nil, false
	}
	r.next++
	ctx, r.running[b.First] = context.WithCancel(ctx)
	return b, ctx, true
}

// batch is the k-th batch of a run.
func (cfg *Config) batch(k uint64) (Batch, bool) {
	from, n := k*cfg.Batch, cfg.Batch
	if cfg.Cases > 0 {
		if from >= cfg.Cases {
			return Batch{}, false
		}
		n = min(n, cfg.Cases-from)
	}
	shards := max(1, cfg.Shards)
	return Batch{First: cfg.First + cfg.Shard + from*shards, N: n, Step: shards}, true
}

// Policies are those that cases are made for: those that the oracle defines.
func Policies() []string { return slices.Clone(policies[:]) }

var policies = [...]string{"serial", "batch", "streaming", "effects"}
