package measure

import (
	"context"
	"errors"
	"runtime"
	"sync/atomic"
	"time"
)

// FaultOutcome is what is left of a message in which something went wrong.
type FaultOutcome struct {
	// Calls were made, Answered are those with a result in the conversation.
	Calls    int `json:"calls"`
	Answered int `json:"answered"`
	// Ordered: the results stand in the order of their calls.
	Ordered bool `json:"in_call_order"`
	// Running counts tools that still ran when the library had returned, Left the
	// goroutines that are still there 100 ms later.
	Running int `json:"running_after_return"`
	Left    int `json:"goroutines_left"`
	// Returned is how long it took, in ms; for a cancelled message from the
	// cancellation.
	Returned float64 `json:"returned_ms"`
	// Error is what the library returned.
	Error string `json:"error,omitempty"`
	// Died: the process did not survive; Error has its last words.
	Died bool `json:"process_died,omitempty"`
}

// Troubles are the names of the cases, in the order of the table.
func Troubles() []string { return []string{"order", "failure", "panic", "cancel"} }

// settle is when goroutines are counted, after the library has returned.
const settle = 100 * time.Millisecond

// faultCase is a message and what happens to it.
type faultCase struct {
	calls  int
	cancel time.Duration
	// do is what call i does.
	do func(ctx context.Context, i int) error
}

var troubles = map[string]faultCase{
	// The later a call, the sooner it ends.
	"order": {calls: 6, do: func(ctx context.Context, i int) error { return pause(ctx, time.Duration(6-i)*3*time.Millisecond) }},
	// The second call fails while the others work.
	"failure": {calls: 5, do: func(ctx context.Context, i int) error {
		if i == 1 {
			return errors.New("no such file")
		}
		return pause(ctx, 10*time.Millisecond)
	}},
	"panic": {calls: 5, do: func(ctx context.Context, i int) error {
		if i == 1 {
			panic("the tool broke")
		}
		return pause(ctx, 10*time.Millisecond)
	}},
	// The caller gives up while every call works; each needs 5 ms to stop.
	"cancel": {calls: 5, cancel: 20 * time.Millisecond, do: func(ctx context.Context, i int) error {
		if i == 0 {
			return pause(ctx, 5*time.Millisecond)
		}
		err := pause(ctx, 500*time.Millisecond)
		if err != nil {
			time.Sleep(5 * time.Millisecond)
		}
		return err
	}},
}

func pause(ctx context.Context, d time.Duration) error { return until(ctx, time.Now().Add(d)) }

// TroubleOf plays a case to p. It does not return when p lets a panic through.
func TroubleOf(p Peer, name string) (FaultOutcome, error) {
	t := troubles[name]
	var running atomic.Int64
	m := Message{}
	for i := range t.calls {
		m.Calls = append(m.Calls, call(i, "read"))
	}
	index := map[string]int{}
	for i := range t.calls {
		index["/repo/"+NumberedID(i)+".go"] = i
	}
	read := Tool{Name: "read", Do: func(ctx context.Context, path string) (string, error) {
		running.Add(1)
		defer running.Add(-1)
		return "ok", t.do(ctx, index[path])
	}}
	bout, err := p.Open([]Tool{read}, m)
	if err != nil {
		return FaultOutcome{}, err
	}
	before := runtime.NumGoroutine()
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	began := time.Now()
	if t.cancel > 0 {
		time.AfterFunc(t.cancel, stop)
		began = began.Add(t.cancel)
	}
	err = bout.Run(ctx)
	out := FaultOutcome{Calls: t.calls, Returned: millis(time.Since(began)), Running: int(running.Load())}
	if err != nil {
		out.Error = err.Error()
	}
	time.Sleep(settle)
	out.Left = max(0, runtime.NumGoroutine()-before)
	out.Answered, out.Ordered = judged(m, bout.Answers())
	return out, nil
}

// judged counts the calls that have an answer, and tells whether the answers stand
// in call order.
func judged(m Message, answers []Answer) (answered int, ordered bool) {
	at := map[string]int{}
	for i, c := range m.Calls {
		at[c.ID] = i
	}
	ordered = true
	last := -1
	seen := map[string]bool{}
	for _, a := range answers {
		i, known := at[a.ID]
		if !known || seen[a.ID] {
			continue
		}
		seen[a.ID] = true
		ordered = ordered && i > last
		last = i
	}
	return len(seen), ordered
}
