package reports

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"toolbench/sim/scenario/check"
	"toolbench/toolsys/render"
	"toolbench/toolsys/trace"
)

// Show writes what each call of an outcome was given, what was decided about it and why,
// what it did and what it answered, and then the trace, an event a line (O4).
func Show(w io.Writer, outcome check.Result, o Options) error {
	p := newPage(w, o)
	s := story{page: p, numbers: map[string]int{}, calls: &Transcript{Blank: o.Blank()}}
	for _, e := range outcome.Trace {
		s.event(e)
	}
	if len(outcome.Trace) > 0 {
		p.printf("\ntrace, in microseconds:\n")
	}
	for _, e := range outcome.Trace {
		p.fold("  ", string(e.AppendLine(nil)))
	}
	p.printf("\n")
	return p.end()
}

// story writes the events of a run that a person wants to know of.
type story struct {
	*page
	numbers map[string]int // of calls, in the order in which they were ready
	calls   *Transcript    // draws them
}

// mostLines is how many lines of an input or a result are shown; the trace has all.
const mostLines = 12

func (s *story) event(e trace.Event) {
	s.calls.Take(trace.Seen{Event: e})
	switch data := e.Data.(type) {
	case trace.TurnStart:
		s.line(e, "turn %d", e.Turn)
	case trace.Ready:
		s.numbers[e.Agent+"\x00"+e.Call] = len(s.numbers) + 1
		s.shows(e, "", (*part).given)
	case trace.Hook:
		s.call(e, "hook %s (%s): %s", data.Hook, data.Event, cmp.Or(data.Trouble, data.Did, "nothing"))
	case trace.Ask:
		s.call(e, "a person is asked: %s", data.Reason)
	case trace.Answer:
		s.call(e, "the person answers: %s", map[bool]string{true: "yes", false: "no"}[data.Allow])
	case trace.Decision:
		s.call(e, "permission: %s: %s", data.Behaviour, data.Reason)
	case trace.Cancel:
		s.call(e, "asked to stop: %s", data.Cause)
	case trace.Persisted:
		s.call(e, "result %s: %s %s", data.Verdict, data.Why, data.Path)
	case trace.Discarded:
		s.call(e, "discarded with its stream")
	case trace.Emitted:
		s.shows(e, data.Status+": ", (*part).gave)
	case trace.Ended:
		if data.Answer != nil {
			s.shows(e, data.Status+": ", (*part).gave)
		}
	case trace.StreamCut:
		s.line(e, "cut off: %s %s %s", data.Name, data.Input, data.Reason)
	case trace.Fallback:
		s.line(e, "the stream was given up: %s", data.Error)
	case trace.Interrupt:
		s.line(e, "the user: %s", data.Text)
	case trace.Notice:
		s.line(e, "%s", data.Text)
	case trace.RunEnd:
		s.line(e, "the end: %s%s", data.Stop, data.Error)
	}
}

// line writes what concerns no call.
func (s *story) line(e trace.Event, format string, args ...any) {
	s.write(e, "", fmt.Sprintf(format, args...))
}

// call writes what concerns a call, behind its number.
func (s *story) call(e trace.Event, format string, args ...any) {
	s.write(e, fmt.Sprintf("  #%d ", s.numbers[e.Agent+"\x00"+e.Call]), fmt.Sprintf(format, args...))
}

// shows writes what a tool draws of a call, all of it, behind a word.
func (s *story) shows(e trace.Event, word string, nodes func(*part) []render.Node) {
	head := s.head(e, fmt.Sprintf("  #%d ", s.numbers[e.Agent+"\x00"+e.Call])) + word
	deep := Width(head)
	screen := s.Terminal()
	screen.Verbose = true
	if s.Width > 0 {
		screen.Width = max(s.Width-deep, narrowest)
	}
	all := []signedPart{{nodes: nodes(s.calls.calls[e.Agent+"\x00"+e.Call])}}
	lines := screen.Lines(s.calls.blanked(all)[0].nodes)
	for i, l := range lines[:min(len(lines), mostLines)] {
		if i > 0 {
			head = strings.Repeat(" ", deep)
		}
		s.printf("%s\n", strings.TrimRight(head+l, " "))
	}
	s.left(strings.Repeat(" ", deep), len(lines)-mostLines)
}

// narrowest is the room that a drawing has on a screen however narrow.
const narrowest = 20

func (s *story) head(e trace.Event, indent string) string {
	if e.Agent != "" {
		indent = "  " + Cut(Safe(e.Agent), 16, s.ASCII) + " " + strings.TrimLeft(indent, " ")
	}
	return Pad(s.short(e.At), 8) + indent
}

func (s *story) write(e trace.Event, indent, text string) {
	head := s.head(e, indent)
	deep := Width(head) + 2
	lines := SafeLines(strings.TrimRight(text, "\n "))
	for i, line := range lines[:min(len(lines), mostLines)] {
		if i == 0 {
			s.hang(deep, head+line)
			continue
		}
		s.put(strings.Repeat(" ", deep), line)
	}
	s.left(strings.Repeat(" ", deep), len(lines)-mostLines)
}
