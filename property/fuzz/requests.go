package fuzz

import (
	"fmt"
	"slices"

	"toolbench/property/invariant"
	"toolbench/sim/scenario/check"
	"toolbench/toolsys/message"
)

// look holds a request against what every request must be, as the checks of the long
// way hold its bytes.
func (m *scriptedModel) checkRequest(req message.Request) {
	now := make([]invariant.Message, len(req.Messages))
	for i := range req.Messages {
		now[i] = messageOf(&req.Messages[i])
	}
	number := m.requests + 1
	if err := invariant.WellFormed(now); err != nil {
		m.note("transcript", fmt.Errorf("request %d: %w", number, err))
	}
	if err := invariant.FitTogether(now[max(0, len(m.before)-1):]); err != nil { // those before it were looked at
		m.note("message-size", fmt.Errorf("request %d: %w", number, err))
	}
	if len(m.c.Interrupts) == 0 && !extends(m.before, now) { // a message that nothing was answered to joins the one before
		m.note("history-grows", fmt.Errorf("request %d does not begin with all that was said before", number))
	}
	m.before = now
}

// broke notes the first of what requests broke.
func (m *scriptedModel) note(name string, err error) {
	if len(m.failures) == 0 {
		m.failures = append(m.failures, check.Failure{Expectation: name, Found: err.Error()})
	}
}

// Broken gives the first check that a lean run breaks, or nil.
func (l *InProcess) Broken(out check.Result) *invariant.RunViolation {
	for _, f := range out.Failures {
		return &invariant.RunViolation{Name: f.Expectation, Found: f.Found}
	}
	return invariant.CheckRun(l.run.c, out)
}

// grows: what was said before is the beginning.
func extends(before, now []invariant.Message) bool {
	return len(before) <= len(now) && slices.EqualFunc(before, now[:len(before)], func(a, b invariant.Message) bool {
		return a.Role == b.Role && slices.EqualFunc(a.Content, b.Content, func(x, y invariant.Block) bool {
			return x.Type == y.Type && x.ID == y.ID && x.For == y.For && slices.Equal(x.Content, y.Content)
		})
	})
}

func messageOf(m *message.Message) invariant.Message {
	s := invariant.Message{Role: m.Role, Content: make([]invariant.Block, len(m.Content))}
	for i := range m.Content {
		b := &m.Content[i]
		s.Content[i] = invariant.Block{Type: b.Type, ID: b.ID, For: b.ToolUseID}
		for j := range b.Content {
			s.Content[i].Content = append(s.Content[i].Content, invariant.Part{Text: b.Content[j].Text})
		}
	}
	return s
}
