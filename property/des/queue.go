package des

import "time"

// actor is who waits.
type actor uint8

const (
	timer   actor = iota // a call's time limit: no actor of the gate, it comes first
	reader               // the model's stream
	watcher              // who abandons a silent stream
	user                 // the user's new message
	aborter              // the whole conversation is stopped
	begin                // a call's goroutine
	hooked               // a hook's goroutine
	hookRun              // the hook at its work
	hookEnd              // who waits for the hook
	turns                // who asked for the floor, and has it or was stopped
	permit               // the person who decides
	tool                 // the tool at its work
	toolEnd              // its return
)

// waiter is one that waits until at. It is stale when gen is no longer that of its
// actor.
type waiter struct {
	at    time.Duration
	rank  uint64
	gen   uint32
	index int16 // of the call, or of the message; for streams the attempt
	actor actor
}

// before orders as the gate does: by time, then by rank. A time limit is a timer of
// its own that has fired before the gate lets anybody go.
func (a *waiter) before(b *waiter) bool {
	if a.at != b.at {
		return a.at < b.at
	}
	return a.rank < b.rank
}

// queue is a binary heap of waiters, least first.
type queue []waiter

func (q *queue) push(w waiter) {
	h := append(*q, w)
	i := len(h) - 1
	for i > 0 {
		up := (i - 1) / 2
		if !w.before(&h[up]) {
			break
		}
		h[i] = h[up]
		i = up
	}
	h[i] = w
	*q = h
}

func (q *queue) pop() waiter {
	h := *q
	least := h[0]
	last := h[len(h)-1]
	h = h[:len(h)-1]
	*q = h
	if len(h) == 0 {
		return least
	}
	i := 0
	for {
		down := 2*i + 1
		if down >= len(h) {
			break
		}
		if down+1 < len(h) && h[down+1].before(&h[down]) {
			down++
		}
		if !h[down].before(&last) {
			break
		}
		h[i] = h[down]
		i = down
	}
	h[i] = last
	return least
}
