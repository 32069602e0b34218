package loop

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"toolbench/toolsys/message"
	"toolbench/toolsys/pool"
	"toolbench/toolsys/schedule"
	"toolbench/toolsys/trace"
)

// runTurn makes one request, as often as the stream has to be retried, and
// commits what came of it. It reports whether the conversation is done.
func (s *Session) runTurn(ctx context.Context, out *Completion) (done bool, err error) {
	s.trace(trace.TurnStart{Began: s.cfg.began})
	if err := s.compact(ctx); err != nil {
		return true, err
	}
	snap := s.look(ctx)
	s.announceDelta(snap)
	req := s.request(snap)
	for attempt := 0; ; attempt++ {
		before := s.State()
		ex, err := s.attempt(ctx, snap, req)
		if err == nil {
			return s.commit(ctx, ex, out)
		}
		ex.abandon()
		_ = s.record(Entry{Kind: AnswerAbandoned})
		// Stopped, perhaps while the last calls ended: nothing is tried again.
		if ctx.Err() != nil {
			return true, context.Cause(ctx)
		}
		// What ran is on the disk, but the model never saw it: the state goes back,
		// so that an edit of a file that changed meanwhile is refused (J5, B5).
		s.mu.Lock()
		s.state = before
		s.mu.Unlock()
		if attempt == s.cfg.Retries {
			return true, fmt.Errorf("turn %d: %w", s.turnNow(), err)
		}
		s.trace(trace.Fallback{Error: err.Error(), Attempt: attempt + 1})
	}
}

// request is what is sent: the history, and before it the names of deferred
// tools unless they are announced in reminders (E4, E6).
func (s *Session) request(snap *pool.Snapshot) message.Request {
	messages := s.State().Snipped.Cut(s.first).Of(slices.Clip(s.history))
	messages = message.Dereference(messages, s.references.In(messages), s.unreferable(snap))
	before := s.leftOut
	if messages, s.leftOut = message.WithRoom(messages, s.media.In(messages)); s.leftOut > before {
		s.trace(trace.Notice{Text: fmt.Sprintf("a request has no room for all images and documents: the %d oldest are left out", s.leftOut)})
	}
	if !s.deltaMode() {
		messages = s.lead.Of(messages, snap.Announcement())
	}
	return message.Request{
		Model: s.model(), MaxTokens: s.cfg.MaxTokens, System: s.cfg.System, Betas: s.cfg.Betas,
		Tools: snap.Definitions(s.cfg.Definitions), Messages: messages, Renderer: &s.rendered,
		Thinking: s.thinking(), Editing: s.cfg.Editing, Container: s.container, Diagnose: s.cfg.Diagnose, Previous: s.previous,
	}
}

// unreferable gives the text that stands in a request for a tool reference it may not carry, or "" for one that may
// stay: the tool left the pool, or this request does not have tools found by reference at all (E5).
func (s *Session) unreferable(snap *pool.Snapshot) func(tool string) string {
	offered := sync.OnceValue(func() map[string]bool {
		all := map[string]bool{}
		for _, t := range slices.Concat(snap.Loaded(), snap.Deferred()) {
			all[t.Name] = true
		}
		return all
	})
	refers := snap.Refers()
	return func(tool string) string {
		switch {
		case !offered()[tool]:
			return fmt.Sprintf("The tool %s is not available any more.", tool)
		case !refers:
			return fmt.Sprintf("The tool %s is available.", tool)
		}
		return ""
	}
}

// attempt sends the request and takes its stream to the end: calls are queued as their blocks complete (J1).
func (s *Session) attempt(ctx context.Context, snap *pool.Snapshot, req message.Request) (*execution, error) {
	ex, err := s.execute(ctx, snap)
	if err != nil {
		return ex, err
	}
	stream, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	s.setActive(ex, stop)
	defer s.setIdle()
	s.traceRequest(req)
	first, progressed := true, s.watch(stream, stop)
	err = s.cfg.Model(stream, req, func(data []byte) error {
		if first {
			first = false
			s.trace(trace.FirstByte{})
		}
		if s.cfg.Watch != nil {
			s.cfg.Watch(s.cfg.Agent, data)
		}
		err := ex.take(data)
		if ex.blocks.Moved() {
			progressed()
		}
		return err
	})
	ex.reply, err = s.endOfStream(stream, ex, err)
	if err != nil {
		return ex, err
	}
	ex.driver.EndStream()
	ex.wait(ctx)
	return ex, nil
}

// endOfStream decides whether what came is a message that may be committed.
func (s *Session) endOfStream(stream context.Context, ex *execution, err error) (message.Reply, error) {
	reply, incomplete := ex.blocks.End()
	if ex.repeats {
		reply.Message.Content = withoutRepeats(reply.Message.Content)
	}
	if errors.Is(context.Cause(stream), schedule.UserInterrupt) {
		// The user sent a message: what was complete counts, the rest is dropped (J4).
		reply.StopReason = "interrupted"
		s.traceCut(ex)
		return reply, nil
	}
	switch {
	case errors.Is(context.Cause(stream), ErrSilent):
		return reply, ErrSilent
	case err != nil:
		return reply, err
	case incomplete != nil:
		return reply, incomplete
	}
	s.traceCut(ex)
	for _, c := range reply.Cleared {
		s.trace(trace.Cleared{Uses: c.Uses, Tokens: c.Tokens})
	}
	s.trace(trace.StreamEnd{Stop: reply.StopReason})
	return reply, nil
}

// traceCut names the calls that were cut off: they are not committed and never run (H2).
func (s *Session) traceCut(ex *execution) {
	for _, b := range ex.blocks.Open() {
		s.trace(trace.StreamCut{ID: b.ID, Name: b.Name, Input: b.Invalid})
	}
}

func (s *Session) traceRequest(req message.Request) {
	if !s.traces() {
		return
	}
	body, err := req.Body()
	if err != nil {
		return // the model's client will report it
	}
	s.trace(trace.Request{Bytes: body.Len(), Messages: len(req.Messages), Tools: len(req.Tools), Model: req.Model})
}

// ErrSilent is why a stream was abandoned that made no progress for Config.Idle.
var ErrSilent = errors.New("the stream fell silent")

// watch abandons a stream that makes no progress for too long (J5, O7): a connection
// that is dead without having broken, or that a gateway keeps alive with pings, would
// hold the conversation for ever. It gives back what is to be called at each progress.
func (s *Session) watch(stream context.Context, stop context.CancelCauseFunc) (progressed func()) {
	if s.cfg.Idle <= 0 {
		return func() {}
	}
	clock, actor := s.cfg.Handlers.Clock, "watch/"+s.cfg.Agent
	var mu sync.Mutex
	last := clock.Now()
	clock.Go(actor, func() {
		for {
			mu.Lock()
			left := s.cfg.Idle - clock.Now().Sub(last)
			mu.Unlock()
			if left <= 0 {
				stop(ErrSilent)
				return
			}
			if clock.Sleep(stream, actor, left) != nil {
				return
			}
		}
	})
	return func() {
		mu.Lock()
		last = clock.Now()
		mu.Unlock()
	}
}
