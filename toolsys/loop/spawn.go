package loop

import (
	"context"
	"fmt"

	"toolbench/toolsys/message"
	"toolbench/toolsys/permission"
	"toolbench/toolsys/tool"
)

// spawn runs a sub-agent to its end (B4): a conversation of its own, with a copy
// of the state that nothing flows back from, a denial count of its own, and an end
// when the parent's call ends. Files and background tasks are shared.
func (s *Session) spawn(ctx context.Context, job tool.Job) (tool.Report, error) {
	child, err := New(s.childConfig(job))
	if err != nil {
		return tool.Report{}, err
	}
	out, err := child.Send(ctx, message.UserText(job.Prompt))
	if err != nil {
		return tool.Report{}, fmt.Errorf("the sub-agent could not finish: %w", err)
	}
	return tool.Report{Text: message.PlainText(out.Final.Content), Turns: out.Turns, Calls: out.Calls}, nil
}

func (s *Session) childConfig(job tool.Job) Config {
	cfg := s.cfg
	cfg.State = s.State()
	cfg.State.Denials = permission.Denials{}
	cfg.State.Todos, cfg.State.Plan = nil, ""
	if job.Isolate != nil {
		cfg.State = job.Isolate(cfg.State)
	}
	cfg.History, cfg.Journal = nil, nil // to the parent's journal this is one call
	cfg.Depth++
	cfg.Agent = s.nextAgent()
	if job.Model != "" {
		cfg.ModelName = job.Model
	}
	if ledger := cfg.Doors.Budget; ledger != nil {
		cfg.Doors.Budget = ledger.Clone()
	}
	return cfg
}

func (s *Session) nextAgent() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.agents++
	if s.cfg.Agent == "" {
		return fmt.Sprintf("agent_%d", s.agents)
	}
	return fmt.Sprintf("%s.%d", s.cfg.Agent, s.agents)
}
