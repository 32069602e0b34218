package economics

import (
	"cmp"
	"slices"
	"strings"

	"toolbench/sim/recording"
	"toolbench/toolsys/pool"
)

// resendPlan is a way of sending a recorded session.
type resendPlan struct {
	Ordering
	// marked sets our breakpoints in place of the recording's.
	marked bool
	// sorted has our order; first are the client's own tools of the first request: what
	// comes later stands behind them, as what is discovered does (D4).
	sorted bool
	first  map[string]bool
}

// ways are those that are compared. Where some requests set no breakpoint, order alone
// would show nothing, so the recording's is shown under ours too. A session that defers
// by itself is not deferred again.
func ways(sent []recording.PromptTurn, bare bool) []resendPlan {
	all := []resendPlan{{Ordering: Ordering{Name: "as recorded", About: "order and breakpoints of the recording"}}}
	if bare {
		all = append(all, resendPlan{Ordering: Ordering{Name: "recorded, our marks", About: "the recording's order under our breakpoints: behind the last of the client's own tools, the system prompt and the last message"}, marked: true})
	}
	first := map[string]bool{}
	for _, t := range definitions(sent[0].Prompt) {
		first[t.Name] = t.Builtin
	}
	all = append(all, resendPlan{Ordering: Ordering{Name: "ours", About: "our breakpoints; the client's own tools of the first request by name, then own ones that came later, then served ones (mcp__...)"}, marked: true, sorted: true, first: first})
	if defers(sent) {
		return all
	}
	return append(all,
		resendPlan{Ordering: Ordering{Name: "ours, deferred", About: "the same, with deferrable tools by name until the turn that first calls them; each such turn takes one more request, whose ToolSearch call and result stay in the history", deferring: true}, marked: true},
	)
}

// definitions are the blocks of a request's tools; what is sent with defer_loading
// is not in the prompt.
func definitions(r *recording.Prompt) []Block {
	var out []Block
	for _, t := range r.Tools {
		if !t.Deferred {
			out = append(out, Block{Name: t.Name, Text: t.Text, Builtin: !served(t.Name), Breakpoint: t.Breakpoint})
		}
	}
	return out
}

// served reports whether a tool is a server's, by its name.
func served(name string) bool { return strings.HasPrefix(name, "mcp__") }

// ours lines up definitions as the pool does: the fixed ones, those of the client's
// own that came later, those of servers, by name in each (D1, D4).
func ours(blocks []Block) {
	part := func(b Block) int {
		switch {
		case b.Builtin:
			return 0
		case !served(b.Name):
			return 1
		}
		return 2
	}
	slices.SortStableFunc(blocks, func(a, b Block) int { return cmp.Or(part(a)-part(b), strings.Compare(a.Name, b.Name)) })
}

// prompt lines up a request's blocks: tools, system prompt, messages.
func (w resendPlan) prompt(tools []Block, r *recording.Prompt, messages []Block) []Block {
	tools = slices.Clone(tools)
	if w.sorted {
		for i := range tools {
			tools[i].Builtin = w.first[tools[i].Name]
		}
		ours(tools)
	}
	if w.marked {
		return marked(tools, pieces(r.System), messages)
	}
	return slices.Concat(tools, pieces(r.System), messages)
}

func pieces(from []recording.PromptBlock) []Block {
	return each(from, func(p recording.PromptBlock) Block {
		return Block{Name: p.Name, Text: p.Text, Breakpoint: p.Breakpoint}
	})
}

// play sends the session and counts.
func (w resendPlan) play(sent []recording.PromptTurn, c Counter) OrderingCost {
	if w.deferring {
		return w.deferred(sent, c)
	}
	p := newPlaying(w.Ordering, c)
	for _, t := range sent {
		blocks := w.prompt(definitions(t.Prompt), t.Prompt, pieces(t.Prompt.Messages))
		p.send(t.Number, t.Prompt.Model, blocks, "")
	}
	return p.sum()
}

// deferred plays the session as a pool that defers would have sent it: see
// plan for what is assumed.
func (w resendPlan) deferred(sent []recording.PromptTurn, c Counter) OrderingCost {
	plan, p := newPlan(sent), newPlaying(w.Ordering, c)
	var added history
	var names []string
	for _, step := range plan.Steps {
		now := step.Deferred()
		if delta := pool.Delta(names, now); delta != "" {
			added.put(Block{Name: "what is deferred", Text: delta})
		}
		names = now
		added.messages = len(step.Turn.Prompt.Messages)
		blocks := w.prompt(lined(step, plan), step.Turn.Prompt, added.with(pieces(step.Turn.Prompt.Messages)))
		p.send(step.Turn.Number, step.Turn.Prompt.Model, blocks, "")
		if len(step.Find) > 0 {
			added.put(Block{Name: "ToolSearch call", Text: SearchCall(step.Find)}, Block{Name: "ToolSearch result", Text: SearchResult(step.Found())})
		}
	}
	return p.sum()
}

// lined are a step's definitions as the pool lines them up: the fixed ones with
// ToolSearch by name, then what was found (D1, D4).
func lined(step planStep, plan plan) []Block {
	whole := step.Whole()
	if plan.Defers() {
		whole = append(whole, plan.Searcher)
	}
	fixed := each(whole, func(t recording.PromptTool) Block { return Block{Name: t.Name, Text: t.Text, Builtin: true} })
	found := each(step.Loaded(), func(t recording.PromptTool) Block { return Block{Name: t.Name, Text: t.Text} })
	ours(fixed)
	ours(found)
	return slices.Concat(fixed, found)
}

// history is what deferral adds to a conversation, and where.
type history struct {
	added []addition
	// messages is how many the client's own conversation has.
	messages int
}

type addition struct {
	at     int
	blocks []Block
}

// put adds blocks behind the messages so far.
func (h *history) put(blocks ...Block) { h.added = append(h.added, addition{h.messages, blocks}) }

// with gives the conversation with the additions at their places; where it was
// shortened since, at its end.
func (h *history) with(messages []Block) []Block {
	var out []Block
	from := 0
	for _, a := range h.added {
		to := max(from, min(a.at, len(messages)))
		out = append(append(out, messages[from:to]...), a.blocks...)
		from = to
	}
	return append(out, messages[from:]...)
}
