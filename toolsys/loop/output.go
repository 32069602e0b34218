package loop

import (
	"errors"

	"toolbench/toolsys/message"
	"toolbench/toolsys/tool"
)

// ErrNoOutput is returned when the model ended without an answer in the form of
// Config.Output, although it was asked for it again.
var ErrNoOutput = errors.New("the model gave no answer in the form that was asked for")

// outputReminders is how often a model that ends without the answer is asked for it.
const outputReminders = 2

const outputReminder = "<system-reminder>The answer is wanted in a given form, and there is none yet. " +
	"Give it by a call of SyntheticOutput.</system-reminder>"

// awaitOutput begins to wait for an answer: that to an earlier message does not count.
func (s *Session) awaitOutput() {
	if s.cfg.Output == nil {
		return
	}
	s.reminded = 0
	_ = s.change(func(st tool.State) tool.State { // it cannot panic
		st.Output = nil
		return st
	})
}

// hasOutput takes the answer in the form that was asked for to out, and reports whether
// the conversation is done: where there is none the model is asked for it.
func (s *Session) hasOutput(out *Completion) (done bool, err error) {
	out.Output = s.State().Output
	switch {
	case s.cfg.Output == nil || out.Output != nil || out.Stop == "hook":
		return true, nil
	case s.reminded == outputReminders:
		return true, ErrNoOutput
	}
	s.reminded++
	s.append(message.UserText(outputReminder))
	return false, nil
}
