package recording

import (
	"slices"
	"sync"

	"github.com/tidwall/gjson"
)

// find gives the thread that a request goes on with, its last turn answered, or a new one.
func (c *chains) find(x *exchange, req *request) (*thread, error) {
	t, from := x.follows, 0
	if t == nil {
		t, from = c.match(req)
		c.strays(x, req, from, t != nil)
	}
	if t == nil {
		t = &thread{}
		t.place = c.order.PushFront(t)
	} else {
		c.order.MoveToFront(t.place)
		if err := c.results(t, req, from); err != nil {
			return nil, err
		}
	}
	c.forget(t)
	t.n = len(req.messages)
	t.sent = req.prefix[t.n]
	if t.n > 0 {
		c.at[t.sent] = append(c.at[t.sent], t)
	}
	return t, c.evict()
}

// strays names results that answer no call, be it one of the request or of an answer before. Where that answer is not known,
// results that stand behind no calls may have lost theirs with the begin of a history that was shortened.
func (c *chains) strays(x *exchange, req *request, from int, known bool) {
	called, sent := known, sync.OnceValue(func() []string { return slices.Sorted(slices.Values(req.calls())) })
	for _, m := range req.messages[max(0, from):] {
		results := resultsIn([]gjson.Result{m})
		for _, r := range results {
			if !called || r.Call == "" || c.made[r.Call] || c.calls[r.Call] != nil {
				continue
			}
			if _, repeated := slices.BinarySearch(sent(), r.Call); !repeated {
				c.s.problem(Problem{Kind: Stray, Text: "a result for " + quoted(r.Call) + ", which no call waits for", Line: x.line, Interaction: x.number})
			}
		}
		called = known || called && len(results) > 0 || len(callIDs(m.Get("content"))) > 0
	}
}

// match finds the thread of a request and the number of messages before the model's last answer.
func (c *chains) match(req *request) (*thread, int) {
	for _, id := range []string{req.previous, req.conversation} {
		if t := c.answers[id]; id != "" && t != nil {
			return t, -1 // what went before is not repeated
		}
	}
	n := len(req.messages)
	for _, t := range c.at[req.prefix[n]] {
		if t.failed && t.n == n {
			return t, n // sent again
		}
	}
	for k := n - 1; k > 0; k-- {
		var best *thread
		for _, t := range c.at[req.prefix[k]] {
			if t.n == k && t.fits(req.messages[k]) && (best == nil || best.turn == nil || t.turn != nil) {
				best = t
			}
		}
		if best != nil {
			return best, k
		}
	}
	if t, from := c.byCalls(req); t != nil {
		return t, from
	}
	return c.rewritten(req)
}

// rewritten finds the thread whose last answer, a call, was sent back under another id,
// or as a text: some clients have a tool called for the form of its input alone.
func (c *chains) rewritten(req *request) (*thread, int) {
	for k := len(req.messages) - 1; k > 0; k-- {
		m := req.messages[k]
		if m.Get("role").String() != "assistant" {
			continue
		}
		asText := len(callIDs(m.Get("content"))) == 0
		for _, t := range slices.Backward(c.at[req.prefix[k]]) {
			if t.n == k && len(t.ids) > 0 && (asText || t.renamed(m) != nil) {
				return t, k
			}
		}
	}
	return nil, 0
}

// byCalls finds the thread whose calls a request answers, for clients that shorten or rewrite the history.
func (c *chains) byCalls(req *request) (*thread, int) {
	for k := len(req.messages) - 1; k >= 0; k-- {
		for _, r := range resultsIn(req.messages[k : k+1]) {
			if t := c.calls[r.Call]; t != nil && t.turn != nil {
				for k > 0 && slices.ContainsFunc(resultsIn(req.messages[k-1:k]), func(r Result) bool { return c.calls[r.Call] == t }) {
					k-- // each result may have a message to itself
				}
				return t, k - 1
			}
		}
	}
	return nil, 0
}

// fits reports whether a message that is sent back is the thread's last answer.
func (t *thread) fits(m gjson.Result) bool {
	if m.Get("role").String() != "assistant" {
		return t.failed || len(t.ids) == 0 && t.empty // an empty answer is not sent back
	}
	ids := callIDs(m.Get("content"))
	return len(ids) == 0 && len(t.ids) == 0 || slices.ContainsFunc(ids, func(id string) bool { return slices.Contains(t.ids, id) })
}

// renamed has the waiting turn's ids by those of a message that is sent back: some clients give calls ids of their
// own, and some mend their names. It is nil unless the message has as many calls.
func (t *thread) renamed(m gjson.Result) map[string]string {
	calls := m.Get(`content.#(type=="tool_use")#`).Array()
	if t.turn == nil || len(calls) != len(t.turn.Calls) {
		return nil
	}
	ids := map[string]string{}
	for i, call := range t.turn.Calls {
		ids[calls[i].Get("id").String()] = call.ID
	}
	return ids
}

func (c *chains) forget(t *thread) {
	rest := slices.DeleteFunc(c.at[t.sent], func(o *thread) bool { return o == t })
	if c.at[t.sent] = rest; len(rest) == 0 {
		delete(c.at, t.sent)
	}
}

// evict lets go of the thread that has been silent longest.
func (c *chains) evict() error {
	if c.order.Len() <= maxThreads {
		return nil
	}
	oldest := c.order.Remove(c.order.Back()).(*thread)
	c.forget(oldest)
	delete(c.answers, oldest.answer)
	delete(c.answers, oldest.conversation)
	return c.settle(oldest, atTheEnd)
}
