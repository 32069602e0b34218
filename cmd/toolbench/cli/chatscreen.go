package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"toolbench/reports"
	"toolbench/toolsys/message"
	"toolbench/toolsys/permission"
	"toolbench/toolsys/pipeline"
	"toolbench/toolsys/tool"
	"toolbench/toolsys/trace"
)

// chatScreen draws a conversation, as play does. Where both outputs are one terminal, all of
// it is there in the order of things, and what goes on is drawn over and over; else the
// model's words go to the standard output as they come, and what its tools do to the error
// output when it is done. The session calls it from several goroutines.
type chatScreen struct {
	reports.Terminal
	out printed // the model's words, which a program that reads them must not take for whole when they are not
	err io.Writer
	// one reports that both outputs are the same terminal, together that the model's words are
	// drawn with all else.
	one, together, quiet bool

	mu   sync.Mutex
	live reports.Live
	// midline: words stand on a line that has not ended; waiting: the prompt stands there;
	// asking: a question does, below which nothing is drawn.
	midline, waiting, asking bool
	// last is when the terminal was drawn, soon what draws it again.
	last time.Time
	soon *time.Timer
}

func (a *app) chatScreen(f chatFlags) *chatScreen {
	s := &chatScreen{
		Terminal: a.drawing(f.displayFlags).Terminal(), out: printed{Writer: a.Stdout}, err: a.Stderr, one: isTerminal(a.Stdout) && isTerminal(a.Stderr), quiet: f.quiet,
	}
	s.together = s.one && !f.quiet && a.env("TERM") != "dumb"
	s.live = reports.Live{W: a.Stderr, Screen: s.Terminal, Transcript: &reports.Transcript{Wordless: !s.together}}
	if s.together {
		s.live.Height = terminalHeight(a.Stdout)
	}
	return s
}

// line prints a line about what happens, behind the words that stand there.
func (s *chatScreen) line(paint reports.Paint, text string) {
	s.live.Clear()
	s.newline()
	if s.Width > 0 {
		text = reports.Cut(text, s.Width, s.ASCII)
	}
	fmt.Fprintln(s.err, paint.On(text, s.Colour))
}

// newline ends the model's words, or the prompt, where a line would go into them.
func (s *chatScreen) newline() {
	switch {
	case s.midline && s.one:
		fmt.Fprintln(&s.out)
		s.midline = false
	case s.waiting || s.asking:
		fmt.Fprintln(s.err)
		s.waiting = false
	}
}

// notice prints what a person has to know, also where tools are not shown.
func (s *chatScreen) notice(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.again(s.waiting)
	s.live.Clear()
	s.newline()
	sign := "· "
	if s.ASCII {
		sign = "- "
	}
	for _, l := range reports.SafeLines(text) {
		for _, folded := range reports.Fold(sign+l, s.Width) {
			fmt.Fprintln(s.err, reports.Yellow.On(folded, s.Colour))
		}
	}
	s.draw()
}

// welcome is the first lines at a terminal.
func (s *chatScreen) welcome(c *chat) {
	if !c.a.Interactive {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.line(reports.Bold, fmt.Sprintf("%s in %s, mode %s", c.flags.model, c.root, c.mode))
	s.line(reports.Dim, "/help has the commands; Ctrl-D ends")
	if past := c.session.History(); len(past) > 0 {
		s.line(reports.Dim, fmt.Sprintf("going on after %d messages; the last: %s", len(past), reports.Safe(message.Line(message.PlainText(past[len(past)-1].Content), 200))))
	}
}

// prompt shows that a line is waited for.
func (s *chatScreen) prompt(interactive bool) {
	if !interactive {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.newline()
	s.prompted()
}

// typed notes that the person ended a line: of the prompt, an answer, or one for the model
// at work, which stands below what is drawn.
func (s *chatScreen) typed(line string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.waiting && !s.asking {
		s.live.Entered(max(1, len(reports.Fold(line, s.Width))))
	}
	s.waiting, s.asking = false, false
}

func (s *chatScreen) prompted() {
	fmt.Fprint(s.err, reports.Bold.On("> ", s.Colour))
	s.waiting = true
}

// again shows the prompt once more where lines came in between.
func (s *chatScreen) again(waited bool) {
	if waited && !s.waiting {
		s.prompted()
	}
}

// end is the last line at a terminal.
func (s *chatScreen) end(newline bool, where string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if newline {
		fmt.Fprintln(s.err)
	}
	if where = strings.TrimPrefix(where, "; "); where != "" {
		s.line(reports.Dim, where)
	}
}

// idle ends the words of a turn.
func (s *chatScreen) idle() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.soon != nil {
		s.soon.Stop()
	}
	s.soon, s.asking, s.live.Status = nil, false, ""
	s.live.Forget()
	if s.midline {
		fmt.Fprintln(&s.out)
		s.midline = false
	}
}

// ask prints a question, behind which the answer is typed.
func (s *chatScreen) ask(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.live.Status = ""
	s.draw() // what is settled stands above the question
	s.live.Clear()
	s.newline()
	s.asking = true
	fmt.Fprint(s.err, text)
}

// questionLines bound what is shown of a call that is asked about.
const questionLines = 60

// permissionText is the question whether a call may run, with what it would do and why it
// is asked about.
func (s *chatScreen) permissionText(q pipeline.Question, always []permission.Rule) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", reports.Yellow.On(reports.Safe(q.Tool)+" asks to run:", s.Colour))
	screen := s.Terminal
	screen.Width = max(s.Width-2, 0)
	shown := s.live.Transcript.Question(screen, q.Tool, q.Input)
	for i, l := range shown {
		if i == questionLines {
			fmt.Fprintf(&b, "  and %d more lines\n", len(shown)-i)
			break
		}
		fmt.Fprintf(&b, "  %s\n", strings.TrimRight(l, " "))
	}
	fmt.Fprintf(&b, "%s\n", reports.Dim.On("because: "+reports.Safe(q.Reason.String()), s.Colour))
	if len(always) > 0 {
		rules := each(always, func(r permission.Rule) string { return reports.Safe(r.String()) })
		fmt.Fprintf(&b, "always would allow, in this session: %s\n", strings.Join(rules, ", "))
		return b.String() + "allow it? [y]es once, [a]lways, [n]o and why: "
	}
	return b.String() + "allow it? [y]es once, [n]o and why: "
}

// questionText is a question of the model with the answers on offer.
func (s *chatScreen) questionText(q tool.Question) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", reports.Yellow.On(reports.Safe(q.Text), s.Colour))
	for i, o := range q.Options {
		fmt.Fprintf(&b, "  %d  %s: %s\n", i+1, reports.Safe(o.Label), reports.Safe(o.Description))
	}
	if q.Multiple {
		return b.String() + "numbers, or an answer of your own: "
	}
	return b.String() + "a number, or an answer of your own: "
}

// stream takes what a model says; the words of the main conversation are printed as they
// come where they are not drawn.
func (s *chatScreen) stream(agent string, data []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.live.Status = ""
	if !s.quiet {
		s.live.Transcript.Take(trace.Seen{Event: trace.Event{Agent: agent}, Streamed: data})
		s.changed()
	}
	if agent != "" || s.together || !bytes.Contains(data, []byte(`"text`)) && !bytes.Contains(data, []byte("content_block_stop")) {
		return
	}
	var event struct {
		Type  string
		Delta struct{ Type, Text string }
		Block struct{ Type, Text string } `json:"content_block"`
	}
	if json.Unmarshal(data, &event) != nil {
		return // the session reports it
	}
	if event.Type == "content_block_stop" && s.midline {
		fmt.Fprintln(&s.out)
		s.midline = false
		return
	}
	s.words(event.Block.Text + event.Delta.Text)
}

// words prints a piece of text; its line feeds stay.
func (s *chatScreen) words(text string) {
	if text == "" {
		return
	}
	lines := strings.Split(strings.ReplaceAll(text, "\t", "    "), "\n")
	for i, l := range lines {
		lines[i] = reports.Safe(l)
	}
	fmt.Fprint(&s.out, strings.Join(lines, "\n"))
	s.midline = lines[len(lines)-1] != "" || len(lines) == 1 && s.midline
}

// event takes what happens to calls.
func (s *chatScreen) event(e trace.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch d := e.Data.(type) {
	case trace.TurnStart:
		s.live.Status = "waiting for the model"
	case trace.Fallback:
		if s.quiet {
			s.line(reports.Yellow, "the stream broke off and is tried again: "+reports.Safe(d.Error))
		}
	}
	if !s.quiet {
		s.live.Transcript.Take(trace.Seen{Event: e})
		s.changed()
	}
}

// chatFrame is how often a terminal is drawn anew.
const chatFrame = 50 * time.Millisecond

// changed draws what is new: at once, or soon where the terminal was drawn a moment ago.
func (s *chatScreen) changed() {
	if !s.together || s.waiting || time.Since(s.last) >= chatFrame {
		s.draw()
		return
	}
	if s.soon == nil {
		s.soon = time.AfterFunc(chatFrame, func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			if s.soon != nil {
				s.soon = nil
				s.draw()
			}
		})
	}
}

// draw draws, but not below a question. What happens while the prompt stands there is
// printed above it when it is over.
func (s *chatScreen) draw() {
	s.last = time.Now()
	switch {
	case s.quiet || s.asking:
	case s.waiting || !s.together:
		if s.live.Waits() {
			defer s.again(s.waiting)
			s.newline()
			height := s.live.Height
			s.live.Height = 0
			s.live.Draw()
			s.live.Height = height
		}
	default:
		s.live.Draw()
	}
}
