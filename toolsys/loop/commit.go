package loop

import (
	"context"
	"slices"

	"toolbench/toolsys/budget"
	"toolbench/toolsys/message"
	"toolbench/toolsys/pipeline"
	"toolbench/toolsys/pool"
	"toolbench/toolsys/trace"
)

// commit writes the turn into the history: the model's message, then one user
// message with every result in call order, with what follows results after them
// (H5).
func (s *Session) commit(ctx context.Context, ex *execution, out *Outcome) (done bool, err error) {
	reply := ex.reply
	out.Stop, out.Final, out.Usage = reply.StopReason, reply.Message, reply.Usage
	out.Calls += len(ex.emitted)
	var added []message.Message
	if len(reply.Message.Content) > 0 {
		added = append(added, reply.Message)
	}
	inCallOrder(ex.emitted, reply.Message)
	user := message.Message{Role: message.User, Content: s.budgeted(ex.emitted)}
	for _, r := range ex.emitted {
		for _, m := range r.Messages {
			user.Content = slices.Concat(user.Content, m.Content)
		}
	}
	if names := discoveredBy(ex.emitted); len(names) > 0 {
		user.Content = append(user.Content, pool.Discovery(names))
	}
	spoken := s.takePending()
	for _, m := range spoken {
		user.Content = slices.Concat(user.Content, m.Content)
	}
	if len(user.Content) > 0 {
		added = append(added, user)
	}
	s.append(added...)
	s.trace(trace.TurnEnd{Results: len(ex.emitted), Denied: denied(ex.emitted)})
	if err := context.Cause(ctx); err != nil {
		return true, err
	}
	if r := stopped(ex.emitted); r != nil {
		out.Stop, out.Reason = "hook", r.Reason
		return true, nil
	}
	again := len(ex.emitted) > 0 || len(spoken) > 0 || reply.StopReason == "pause_turn"
	return !again, nil
}

// inCallOrder sorts results as their calls stand in the message. Blocks that are complete
// in another order, as a broken gateway sends them, ran and were answered in that (H5, O7).
func inCallOrder(results []pipeline.Result, m message.Message) {
	if ordered(results, m) {
		return
	}
	place := map[string]int{}
	for i := range m.Content {
		if b := &m.Content[i]; b.Type == message.TypeToolUse {
			place[b.ID] = i
		}
	}
	slices.SortStableFunc(results, func(a, b pipeline.Result) int { return place[a.Block.ToolUseID] - place[b.Block.ToolUseID] })
}

func ordered(results []pipeline.Result, m message.Message) bool {
	n := 0
	for i := range m.Content {
		if n < len(results) && m.Content[i].Type == message.TypeToolUse && m.Content[i].ID == results[n].Block.ToolUseID {
			n++
		}
	}
	return n == len(results)
}

// budgeted holds the results of the message together to their size (K2).
func (s *Session) budgeted(results []pipeline.Result) []message.Block {
	blocks := make([]message.Block, len(results))
	for i, r := range results {
		blocks[i] = r.Block
	}
	ledger := s.cfg.Doors.Budget
	if ledger == nil || len(results) == 0 {
		return blocks
	}
	sized := make([]budget.Sized, len(results))
	for i, r := range results {
		sized[i] = budget.Sized{Result: r.Block, Limit: r.Limit}
	}
	blocks, decisions := ledger.Message(sized)
	for i, d := range decisions {
		if message.PlainText(blocks[i].Content) != message.PlainText(results[i].Block.Content) {
			s.pipe.Persisted(s.turnNow(), results[i].Tool, d)
		}
	}
	return blocks
}

func discoveredBy(results []pipeline.Result) []string {
	var names []string
	for _, r := range results {
		for _, o := range r.Observed {
			names = append(names, o.Discovered...)
		}
	}
	return names
}

func stopped(results []pipeline.Result) *pipeline.Result {
	for i := range results {
		if results[i].StopTurn {
			return &results[i]
		}
	}
	return nil
}

func denied(results []pipeline.Result) int {
	n := 0
	for _, r := range results {
		if r.Denied {
			n++
		}
	}
	return n
}
