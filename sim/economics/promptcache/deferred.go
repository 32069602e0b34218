package promptcache

import (
	"slices"

	"toolbench/sim/economics/tokens"
	"toolbench/sim/recording"
	"toolbench/toolsys/pool"
)

// deferred plays the session as a pool that defers would have sent it: see
// tokens.Plan for what is assumed.
func (w way) deferred(sent []recording.PromptTurn, c tokens.Counter) (Result, error) {
	plan, err := tokens.NewPlan(sent)
	if err != nil {
		return Result{}, err
	}
	p := newPlaying(w.Ordering, c)
	var said history
	var names []string
	for _, step := range plan.Steps {
		now := step.Deferred()
		if delta := pool.Delta(names, now); delta != "" {
			said.put(Block{Name: "what is deferred", Text: delta})
		}
		names = now
		said.hear(len(step.Turn.Prompt.Messages))
		blocks := w.prompt(lined(step, plan), step.Turn.Prompt, said.with(pieces(step.Turn.Prompt.Messages)))
		if err := p.send(step.Turn.Number, step.Turn.Prompt.Model, blocks, ""); err != nil {
			return Result{}, err
		}
		if len(step.Find) > 0 {
			said.put(Block{Name: "ToolSearch call", Text: tokens.SearchCall(step.Find)}, Block{Name: "ToolSearch result", Text: tokens.SearchResult(step.Found())})
		}
	}
	p.sum()
	return p.Result, nil
}

// lined are a step's definitions as the pool lines them up: the fixed ones with
// ToolSearch by name, then what was found (D1, D4).
func lined(step tokens.Step, plan tokens.Plan) []Block {
	var fixed, found []Block
	for _, t := range step.Whole() {
		fixed = append(fixed, Block{Name: t.Name, Text: t.Text, Builtin: true})
	}
	if plan.Defers() {
		fixed = append(fixed, Block{Name: plan.Searcher.Name, Text: plan.Searcher.Text, Builtin: true})
	}
	for _, t := range step.Loaded() {
		found = append(found, Block{Name: t.Name, Text: t.Text})
	}
	ours(fixed)
	ours(found)
	return slices.Concat(fixed, found)
}

// history is what deferral adds to a conversation, and where.
type history struct {
	added []addition
	heard int
}

type addition struct {
	at     int
	blocks []Block
}

// put adds blocks behind what was said so far.
func (h *history) put(blocks ...Block) { h.added = append(h.added, addition{h.heard, blocks}) }

// hear notes how much the client's own conversation has said.
func (h *history) hear(messages int) { h.heard = messages }

// with gives the conversation with the additions at their places; where it was
// shortened since, at its end.
func (h *history) with(messages []Block) []Block {
	var out []Block
	next := 0
	for i := 0; i <= len(messages); i++ {
		for next < len(h.added) && (h.added[next].at <= i || i == len(messages)) {
			out = append(out, h.added[next].blocks...)
			next++
		}
		if i < len(messages) {
			out = append(out, messages[i])
		}
	}
	return out
}
