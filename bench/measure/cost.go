package measure

import (
	"context"
	"fmt"
	"runtime"
	"time"
)

// Cost is what a call that does nothing costs.
type Cost struct {
	// Micros, Allocs and Bytes are per call, the message's own share included.
	Micros float64 `json:"us_per_call"`
	// CPU is processor time, of all threads and the collector; 0 where it is not
	// known.
	CPU    float64 `json:"cpu_us_per_call"`
	Allocs float64 `json:"allocs_per_call"`
	Bytes  float64 `json:"bytes_per_call"`
	// More is what one call more costs in a long message: the conversation's fixed
	// part falls out.
	More float64 `json:"us_per_further_call"`
}

// Calls is how many calls the message of Cost has, More how many the long one has.
const (
	Calls     = 8
	ManyCalls = 64
)

// Noops is a message of n calls that do nothing, and its tool.
func Noops(n int, small bool) ([]Tool, Message) {
	nothing := Tool{Name: "noop", Small: small, Do: func(context.Context, string) (string, error) { return "ok", nil }}
	m := Message{Calls: make([]Call, n)}
	for i := range m.Calls {
		input := FiveInput("/repo/a.go")
		if small {
			input = OneInput("/repo/a.go")
		}
		m.Calls[i] = Call{ID: NumberedID(i), Tool: nothing.Name, Input: input}
	}
	return []Tool{nothing}, m
}

// CostOf measures p for about the time given, twice: a message of Calls, and one of
// ManyCalls.
func CostOf(p Peer, small bool, budget time.Duration) (Cost, error) {
	few, err := perRun(p, Calls, small, budget/2)
	if err != nil {
		return Cost{}, err
	}
	many, err := perRun(p, ManyCalls, small, budget/2)
	if err != nil {
		return Cost{}, err
	}
	return Cost{
		Micros: few.micros / Calls, CPU: few.cpu / Calls, Allocs: few.allocs / Calls, Bytes: few.bytes / Calls,
		More: (many.micros - few.micros) / (ManyCalls - Calls),
	}, nil
}

// spent is what one run took.
type spent struct{ micros, cpu, allocs, bytes float64 }

func perRun(p Peer, calls int, small bool, budget time.Duration) (spent, error) {
	bout, err := p.Open(Noops(calls, small))
	if err != nil {
		return spent{}, err
	}
	run := func() error { return bout.Run(context.Background()) }
	if err := run(); err != nil {
		return spent{}, err
	}
	if got := len(bout.Answers()); got != calls {
		return spent{}, fmt.Errorf("%d of %d calls were answered", got, calls)
	}
	return timed(run, budget)
}

// timed runs f over and over for about the time given, after a fifth of it to warm
// up.
func timed(f func() error, budget time.Duration) (s spent, err error) {
	for end := time.Now().Add(budget / 5); time.Now().Before(end); {
		if err := f(); err != nil {
			return s, err
		}
	}
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	began, cpu, n := time.Now(), used(), 0
	for time.Since(began) < budget*4/5 {
		for range 8 {
			if err := f(); err != nil {
				return s, err
			}
		}
		n += 8
	}
	took, worked := time.Since(began), used()-cpu
	runtime.ReadMemStats(&after)
	runs := float64(n)
	return spent{
		micros: float64(took.Nanoseconds()) / 1000 / runs,
		cpu:    float64(worked.Nanoseconds()) / 1000 / runs,
		allocs: float64(after.Mallocs-before.Mallocs) / runs,
		bytes:  float64(after.TotalAlloc-before.TotalAlloc) / runs,
	}, nil
}

// Once is the cost of a single step, without a message around it.
func Once(f func() error, budget time.Duration) (Cost, error) {
	s, err := timed(f, budget)
	return Cost{Micros: s.micros, CPU: s.cpu, Allocs: s.allocs, Bytes: s.bytes, More: s.micros}, err
}
