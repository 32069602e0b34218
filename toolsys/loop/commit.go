package loop

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"toolbench/toolsys/message"
	"toolbench/toolsys/pipeline"
	"toolbench/toolsys/pool"
	"toolbench/toolsys/tool"
	"toolbench/toolsys/trace"
)

// commit writes the turn into the history: the model's message, then one user message with every result in call
// order, with what follows results after them (H5).
func (s *Session) commit(ctx context.Context, ex *execution, out *Completion) (done bool, err error) {
	reply := ex.reply
	if reply.StopReason != "pause_turn" && reply.StopReason != "tool_use" {
		reply.Message.Content = message.Finished(reply.Message.Content)
	}
	out.Stop, out.Final, out.Usage = reply.StopReason, reply.Message, reply.Usage
	out.Calls += len(ex.emitted)
	var added []message.Message
	if len(reply.Message.Content) > 0 {
		added = append(added, reply.Message)
	}
	s.container = cmp.Or(reply.Container, s.container)
	s.previous = cmp.Or(reply.ID, s.previous)
	s.learnFound(reply.Message)
	inCallOrder(ex.emitted, reply.Message)
	s.keep(ex.emitted)
	fresh := s.takePending()
	beside, held := s.beside(reply.Message, s.besides(ex.emitted, fresh))
	user := message.Message{Role: message.User, Content: append(s.budgeted(ex.emitted), beside...)}
	if len(user.Content) > 0 {
		added = append(added, user)
	}
	s.append(added...)
	denied := slices.DeleteFunc(slices.Clone(ex.emitted), func(r *pipeline.Result) bool { return !r.Denied })
	s.trace(trace.TurnEnd{Results: len(ex.emitted), Denied: len(denied)})
	if err := context.Cause(ctx); err != nil {
		return true, err
	}
	if i := slices.IndexFunc(ex.emitted, func(r *pipeline.Result) bool { return r.StopTurn }); i >= 0 {
		out.Stop, out.Reason = "hook", ex.emitted[i].Reason
		return true, nil
	}
	again := len(ex.emitted) > 0 || len(fresh) > 0 || held || reply.StopReason == "pause_turn"
	return !again, nil
}

// besides is what follows the results of a message: what they bring with them, and what the user said meanwhile (H5).
func (s *Session) besides(results []*pipeline.Result, fresh []message.Message) (blocks []message.Block) {
	var discovered []string
	for _, r := range results {
		blocks = append(blocks, message.ContentOf(r.Messages)...)
		for _, o := range r.Observed {
			discovered = append(discovered, o.Discovered...)
		}
	}
	if len(discovered) > 0 {
		blocks = append(blocks, pool.Discovery(discovered))
	}
	blocks = append(blocks, message.ContentOf(fresh)...)
	if len(results)+len(fresh) > 0 {
		blocks = append(blocks, s.reminder()...)
	}
	return blocks
}

// reminder is what the model is told anew with each message.
func (s *Session) reminder() []message.Block {
	if s.cfg.Reminder == "" {
		return nil
	}
	return []message.Block{message.Text("<system-reminder>" + s.cfg.Reminder + "</system-reminder>")}
}

// keep keeps the results of an agent's calls for its parent, where its kind wants that.
func (s *Session) keep(results []*pipeline.Result) {
	if !s.cfg.preserve {
		return
	}
	for _, r := range results {
		s.results = append(s.results, tool.CallResult{Call: r.CallID, Tool: r.Tool, Status: string(r.Status), Text: message.PlainText(r.Content)})
	}
}

// beside gives the blocks that go out beside the results of m's calls, and reports whether some of them were held
// back before. Calls that a program of the model's made are answered with their results and nothing else, or the API
// refuses the message: what else there is waits for the next (E10).
func (s *Session) beside(m message.Message, blocks []message.Block) (_ []message.Block, held bool) {
	all := slices.Concat(s.later, blocks)
	if slices.ContainsFunc(m.Content, func(b message.Block) bool { return b.Type == message.TypeToolUse && b.Caller() != message.Direct }) {
		s.later = all
		return nil, false
	}
	held = len(s.later) > 0
	s.later = nil
	return all, held
}

// learnFound notes what searches on the API's side found (E10).
func (s *Session) learnFound(m message.Message) {
	for _, b := range m.Content {
		if names := b.ServerFound(); len(names) > 0 {
			_ = s.Change(func(st tool.State) tool.State { return st.Discover(names...) }) // it cannot panic
		}
	}
}

// inCallOrder sorts results as their calls stand in the message. Blocks that are complete
// in another order, as a broken gateway sends them, ran and were answered in that (H5, O7).
func inCallOrder(results []*pipeline.Result, m message.Message) {
	place := map[string]int{}
	for i := range m.Content {
		if b := &m.Content[i]; b.Type == message.TypeToolUse {
			place[b.ID] = i
		}
	}
	slices.SortStableFunc(results, func(a, b *pipeline.Result) int { return place[a.CallID] - place[b.CallID] })
}

// budgeted holds the results of the message together to their size (K2).
func (s *Session) budgeted(results []*pipeline.Result) []message.Block {
	ledger := s.cfg.Handlers.Budget
	if ledger == nil {
		return tool.Each(results, (*pipeline.Result).Block)
	}
	sized := tool.Each(results, func(r *pipeline.Result) pipeline.SizedResult {
		return pipeline.SizedResult{Result: r.Block(), Limit: r.Limit}
	})
	blocks, decisions := ledger.Message(s.turnNow(), sized)
	for i, d := range decisions {
		if message.PlainText(blocks[i].Content) != message.PlainText(results[i].Content) {
			s.pipe.Persisted(s.turnNow(), results[i].Tool, d)
		}
	}
	return blocks
}

// Summary stands for the messages that are cut away from a conversation that has grown too long (E6).
type Summary struct {
	// Text is what the model reads in their place.
	Text string
	// Keep is how many of the last messages stay as they are; more stay where a call would be parted from its result.
	Keep int
}

// compact cuts the history before a request, when the configuration asks for it. What was discovered stands in the
// history as an attachment and is carried over: a later session reads it back from there (E6).
func (s *Session) compact(ctx context.Context) error {
	if err := s.switched(); err != nil || s.cfg.Compact == nil {
		return err
	}
	sum, due, err := s.cfg.Compact(ctx, s.History())
	switch {
	case err != nil:
		return fmt.Errorf("compaction: %w", err)
	case !due:
		return nil
	}
	cut := boundary(s.history, sum.Keep)
	if cut == 0 {
		return nil
	}
	first := message.UserText(sum.Text)
	if kept, some := pool.Compact(s.history[:cut]); some {
		first.Content = append(first.Content, kept.Content...)
	}
	s.history = append([]message.Message{first}, s.history[cut:]...)
	s.first += cut - 1 // the summary takes the number of the last message that it stands for
	_ = s.Change(func(st tool.State) tool.State {
		st.Snipped = st.Snipped.From(s.first + 1)
		return st
	})
	if err := s.record(Entry{Kind: HistorySet, Messages: s.history, Model: s.reader}); err != nil {
		return err
	}
	s.announced = nil // the reminders went too: delta mode names all again
	s.trace(trace.Compacted{Cut: cut, Kept: len(s.history) - 1})
	return nil
}

// switched makes the history such as another model takes it, when one is to read it.
func (s *Session) switched() error {
	before, now := s.reader, s.model()
	if s.reader = now; before == now || before == "" {
		return nil
	}
	s.history = message.ForAnother(s.history)
	return s.record(Entry{Kind: HistorySet, Messages: s.history, Model: s.reader})
}

// boundary is where the kept messages begin: with as many as asked for, and as many
// more as it takes to have the call of each result among them.
func boundary(history []message.Message, keep int) int {
	cut := max(0, len(history)-max(0, keep))
	for i := len(history) - 1; i >= cut && cut > 0; i-- {
		for _, b := range history[i].Results() {
			if at := callOf(history[:i], b.ToolUseID); at >= 0 {
				cut = min(cut, at)
			}
		}
	}
	return cut
}

// callOf is the place of the message with a call, the last of that id, or -1.
func callOf(history []message.Message, id string) int {
	for i, m := range slices.Backward(history) {
		if hasCall(m.Content, id) {
			return i
		}
	}
	return -1
}

func hasCall(blocks []message.Block, id string) bool {
	return slices.ContainsFunc(blocks, func(b message.Block) bool { return b.Type == message.TypeToolUse && b.ID == id })
}
