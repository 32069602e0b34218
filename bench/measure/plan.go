package measure

import (
	"cmp"
	"context"
	"math/rand/v2"
	"slices"
	"sync"
	"time"
)

// Plan is how the peers are measured.
type Plan struct {
	Programs []Program
	// Repeats is how often each peer is measured, Seed decides in which order within
	// each repeat, so that what else the machine does hits all alike.
	Repeats int
	Seed    uint64
	// Budget is about how long one cost is measured.
	Budget time.Duration
	// AtOnce is how many workers run beside each other; above 1 the times say
	// nothing.
	AtOnce int
	// Progress hears of each sample; it may be nil.
	Progress func(repeat int, peer, name string)
}

// entry is one peer of the plan and what came of it.
type entry struct {
	program Program
	place   int
	row     Row
	five    []Cost
	one     []Cost
	spans   []Span
	mu      sync.Mutex
}

// Run measures all peers of all programs. A peer that fails a case has a problem in
// its row; an error means that nothing could be measured.
func (p Plan) Run(ctx context.Context) ([]Row, error) {
	var all []*entry
	for _, program := range p.Programs {
		peers, err := program.List(ctx)
		if err != nil {
			return nil, err
		}
		for _, d := range peers {
			all = append(all, &entry{program: program, place: len(all), row: Row{Described: d, Troubles: map[string][]FaultOutcome{}}})
		}
	}
	order := rand.New(rand.NewPCG(p.Seed, 0))
	for repeat := range p.Repeats {
		order.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		p.repeat(ctx, repeat, all)
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(all, func(a, b *entry) int { return cmp.Compare(a.place, b.place) })
	rows := make([]Row, len(all))
	for i, e := range all {
		e.row.Five, e.row.One, e.row.Span = costFigures(e.five), costFigures(e.one), spanFigures(e.spans)
		rows[i] = e.row
	}
	return rows, nil
}

func (p Plan) repeat(ctx context.Context, repeat int, all []*entry) {
	var wg sync.WaitGroup
	slots := make(chan struct{}, max(1, p.AtOnce))
	for _, name := range Cases() {
		for _, e := range all {
			slots <- struct{}{}
			wg.Go(func() {
				defer func() { <-slots }()
				if p.Progress != nil {
					p.Progress(repeat, e.row.Name, name)
				}
				e.sample(ctx, name, p.Budget)
			})
		}
		wg.Wait()
	}
}

func (e *entry) sample(ctx context.Context, name string, budget time.Duration) {
	ask := func(into any) error { return e.program.ask(ctx, into, e.row.Name, name, budget.String()) }
	e.mu.Lock()
	defer e.mu.Unlock()
	switch name {
	case "cost":
		var c Costs
		if err := ask(&c); e.fine(name, err) {
			e.five, e.one = append(e.five, c.Five), append(e.one, c.One)
		}
	case "span":
		var s Span
		if err := ask(&s); e.fine(name, err) {
			e.spans = append(e.spans, s)
		}
	default:
		var t FaultOutcome
		if err := ask(&t); err != nil {
			t = FaultOutcome{Died: true, Error: err.Error()}
		}
		e.row.Troubles[name] = append(e.row.Troubles[name], t)
	}
}

// fine notes a case that could not be measured, once.
func (e *entry) fine(name string, err error) bool {
	if err == nil {
		return true
	}
	if problem := name + ": " + err.Error(); !slices.Contains(e.row.Problems, problem) {
		e.row.Problems = append(e.row.Problems, problem)
	}
	return false
}
