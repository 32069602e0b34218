package whole

import (
	"fmt"
	"slices"

	"toolbench/sim/scenario/check"
	"toolbench/toolsys/message"
)

// look holds a request against what every request must be, as the checks of the long
// way hold its bytes.
func (m *model) look(req message.Request) {
	now := make([]said, len(req.Messages))
	for i := range req.Messages {
		now[i] = saidBy(&req.Messages[i])
	}
	number := m.requests + 1
	if err := wellFormed(now); err != nil {
		m.broke("transcript", fmt.Errorf("request %d: %w", number, err))
	}
	if err := sized(now[max(0, len(m.before)-1):]); err != nil { // those before it were looked at
		m.broke("message-size", fmt.Errorf("request %d: %w", number, err))
	}
	if len(m.c.Says) == 0 && !grows(m.before, now) { // a message that nothing was answered to joins the one before
		m.broke("history-grows", fmt.Errorf("request %d does not begin with all that was said before", number))
	}
	m.before = now
}

// broke notes the first of what requests broke.
func (m *model) broke(name string, err error) {
	if len(m.failures) == 0 {
		m.failures = append(m.failures, check.Failure{Expectation: name, Found: err.Error()})
	}
}

// Broken gives the first check that a lean run breaks, or nil.
func (l *Lean) Broken(out check.Result) *BrokenCheck {
	for _, f := range out.Failures {
		return &BrokenCheck{f.Expectation, f.Found}
	}
	return Broken(l.stage.c, out)
}

// grows: what was said before is the beginning.
func grows(before, now []said) bool {
	return len(before) <= len(now) && slices.EqualFunc(before, now[:len(before)], func(a, b said) bool {
		return a.Role == b.Role && slices.EqualFunc(a.Content, b.Content, func(x, y block) bool {
			return x.Type == y.Type && x.ID == y.ID && x.For == y.For && slices.Equal(x.Content, y.Content)
		})
	})
}

func saidBy(m *message.Message) said {
	s := said{Role: m.Role, Content: make([]block, len(m.Content))}
	for i := range m.Content {
		b := &m.Content[i]
		s.Content[i] = block{Type: b.Type, ID: b.ID, For: b.ToolUseID}
		for j := range b.Content {
			s.Content[i].Content = append(s.Content[i].Content, part{b.Content[j].Text})
		}
	}
	return s
}
