package loop

import (
	"context"
	"fmt"
	"slices"

	"toolbench/toolsys/message"
	"toolbench/toolsys/pool"
	"toolbench/toolsys/trace"
)

// Summary stands for the messages that are cut away from a conversation that has
// grown too long (E6).
type Summary struct {
	// Text is what the model is told in their place.
	Text string
	// Keep is how many of the last messages stay as they are; more stay where a call
	// would be parted from its result.
	Keep int
}

// compact cuts the history before a request, when the configuration says so. What
// was discovered stands in the history as an attachment and is carried over: a
// later session reads it back from there (E6).
func (s *Session) compact(ctx context.Context) error {
	if s.cfg.Compact == nil {
		return nil
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
	if err := s.record(Entry{Kind: HistorySet, Messages: s.history}); err != nil {
		return err
	}
	s.announced = nil // the reminders went too: delta mode names all again
	s.trace(trace.Compacted{Cut: cut, Kept: len(s.history) - 1})
	return nil
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
		if slices.ContainsFunc(m.Content, func(b message.Block) bool { return b.Type == message.TypeToolUse && b.ID == id }) {
			return i
		}
	}
	return -1
}
