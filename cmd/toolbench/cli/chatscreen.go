package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"

	"toolbench/reports"
	"toolbench/toolsys/message"
	"toolbench/toolsys/permission"
	"toolbench/toolsys/pipeline"
	toolpool "toolbench/toolsys/pool"
	"toolbench/toolsys/tool"
	"toolbench/toolsys/trace"
)

// chatScreen draws a conversation: the model's words on the standard output, what its tools
// do on the error output, where both are one terminal in the order of things. The session
// calls it from several goroutines.
type chatScreen struct {
	out, err io.Writer
	// one reports that both outputs are the same terminal.
	one, colour, ascii, quiet bool
	width                     int
	tools                     *toolpool.Catalogue
	status                    statusLine

	mu sync.Mutex
	// midline: words stand on a line that has not ended; waiting: the prompt stands there.
	midline, waiting bool
	numbers          map[string]int // of calls, by agent and id
	names            map[string]string
}

func (a *app) chatScreen(f chatFlags) *chatScreen {
	draw := a.drawing(f.looks)
	s := &chatScreen{
		out: a.Stdout, err: a.Stderr, one: isTerminal(a.Stdout) && isTerminal(a.Stderr), colour: draw.Color, ascii: draw.ASCII, quiet: f.quiet,
		width: draw.Width, numbers: map[string]int{}, names: map[string]string{},
	}
	s.status = statusLine{w: a.Stderr, enabled: s.one && draw.Color}
	return s
}

// line prints a line about what happens, behind the words that stand there.
func (s *chatScreen) line(paint reports.Paint, text string) {
	s.status.clear()
	s.newline()
	if s.width > 0 {
		text = reports.Cut(text, s.width, s.ascii)
	}
	fmt.Fprintln(s.err, paint.On(text, s.colour))
}

// newline ends the model's words, or the prompt, where a line would go into them.
func (s *chatScreen) newline() {
	switch {
	case s.midline && s.one:
		fmt.Fprintln(s.out)
		s.midline = false
	case s.waiting:
		fmt.Fprintln(s.err)
		s.waiting = false
	}
}

// notice prints what a person has to know, also where tools are not shown.
func (s *chatScreen) notice(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.again(s.waiting)
	s.status.clear()
	s.newline()
	for _, l := range reports.SafeLines(text) {
		for _, folded := range reports.Fold(s.sign("· ", "- ")+l, s.width) {
			fmt.Fprintln(s.err, reports.Yellow.On(folded, s.colour))
		}
	}
}

func (s *chatScreen) sign(unicode, ascii string) string {
	if s.ascii {
		return ascii
	}
	return unicode
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
	s.status.clear()
	s.newline()
	s.prompted()
}

// typed notes that the person ended the line of the prompt.
func (s *chatScreen) typed() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waiting = false
}

func (s *chatScreen) prompted() {
	fmt.Fprint(s.err, reports.Bold.On("> ", s.colour))
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
	s.status.clear()
	if s.midline {
		fmt.Fprintln(s.out)
		s.midline = false
	}
}

// ask prints a question, behind which the answer is typed.
func (s *chatScreen) ask(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.status.clear()
	s.newline()
	fmt.Fprint(s.err, text)
}

// questionLines bound what is shown of a call that is asked about.
const questionLines = 20

// permissionText is the question whether a call may run, with what it would do and why it
// is asked about.
func (s *chatScreen) permissionText(q pipeline.Question, always []permission.Rule) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", reports.Yellow.On(reports.Safe(q.Tool)+" asks to run with", s.colour))
	shown := members(q.Input)
	for i, l := range shown {
		if i == questionLines {
			fmt.Fprintf(&b, "  and %d more lines\n", len(shown)-i)
			break
		}
		for _, part := range reports.Fold(l, max(s.width-2, 0)) {
			fmt.Fprintf(&b, "  %s\n", part)
		}
	}
	fmt.Fprintf(&b, "%s\n", reports.Dim.On("because: "+reports.Safe(q.Reason.String()), s.colour))
	if len(always) > 0 {
		var rules []string
		for _, r := range always {
			rules = append(rules, reports.Safe(r.String()))
		}
		fmt.Fprintf(&b, "always would allow, in this session: %s\n", strings.Join(rules, ", "))
		return b.String() + "allow it? [y]es once, [a]lways, [n]o and why: "
	}
	return b.String() + "allow it? [y]es once, [n]o and why: "
}

// questionText is a question of the model with the answers on offer.
func (s *chatScreen) questionText(q tool.Question) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", reports.Yellow.On(reports.Safe(q.Text), s.colour))
	for i, o := range q.Options {
		fmt.Fprintf(&b, "  %d  %s: %s\n", i+1, reports.Safe(o.Label), reports.Safe(o.Description))
	}
	if q.Multiple {
		return b.String() + "numbers, or an answer of your own: "
	}
	return b.String() + "a number, or an answer of your own: "
}

// stream prints the words of the main conversation as they come.
func (s *chatScreen) stream(agent string, data []byte) {
	if agent != "" || !bytes.Contains(data, []byte(`"text`)) && !bytes.Contains(data, []byte("content_block_stop")) {
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
	s.mu.Lock()
	defer s.mu.Unlock()
	if event.Type == "content_block_stop" && s.midline {
		fmt.Fprintln(s.out)
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
	s.status.clear()
	lines := strings.Split(strings.ReplaceAll(text, "\t", "    "), "\n")
	for i, l := range lines {
		lines[i] = reports.Safe(l)
	}
	fmt.Fprint(s.out, strings.Join(lines, "\n"))
	s.midline = lines[len(lines)-1] != "" || len(lines) == 1 && s.midline
}

// event draws what happens to calls.
func (s *chatScreen) event(e trace.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.again(s.waiting)
	switch d := e.Data.(type) {
	case trace.Ready:
		s.number(e, d.Input)
	case trace.TurnStart:
		s.status.draw("waiting for the model")
	case trace.Fallback:
		s.line(reports.Yellow, "the stream broke off and is tried again: "+reports.Safe(d.Error))
	}
	if s.quiet {
		return
	}
	switch d := e.Data.(type) {
	case trace.Started:
		s.line(reports.Cyan, s.label(e, s.sign("● ", "* "))+s.names[callKey(e)])
	case trace.Progress:
		s.progress(e, d.Text)
	case trace.Emitted:
		s.result(e, d)
	case trace.TaskStarted:
		s.line(reports.Cyan, fmt.Sprintf("%s%s began: %s", s.sign("● ", "* "), d.ID, reports.Safe(d.Title)))
	case trace.TaskEnded:
		s.line(reports.Cyan, fmt.Sprintf("%s%s %s: %s", s.sign("● ", "* "), d.ID, d.Status, reports.Safe(d.Title)))
	}
}

func callKey(e trace.Event) string { return e.Agent + "/" + e.Call }

// number gives a call its number, and finds what it is called.
func (s *chatScreen) number(e trace.Event, input string) {
	s.numbers[callKey(e)] = len(s.numbers) + 1
	name := reports.Safe(e.Tool)
	for _, entry := range s.tools.Entries() {
		if t := entry.Tool; t != nil && t.Matches(e.Tool) {
			if in, problems := t.Parse(json.RawMessage(input)); len(problems) == 0 {
				name = strings.TrimSuffix(t.Name+": "+reports.Safe(t.Present.Summary(in)), ": ")
			}
		}
	}
	s.names[callKey(e)] = name
}

// label is a sign and the number of a call, behind its agent.
func (s *chatScreen) label(e trace.Event, sign string) string {
	text := sign
	if e.Agent != "" {
		text += e.Agent + " "
	}
	return text + "#" + strconv.Itoa(s.numbers[callKey(e)]) + " "
}

// progressLines bound what is shown of one report of a running call.
const progressLines = 5

func (s *chatScreen) progress(e trace.Event, text string) {
	lines := reports.SafeLines(strings.ReplaceAll(text, "\t", "    "))
	if left := len(lines) - progressLines; left > 0 {
		lines = lines[left:]
	}
	for _, l := range lines {
		s.line(reports.Dim, s.label(e, s.sign("  │ ", "  | "))+l)
	}
}

func (s *chatScreen) result(e trace.Event, d trace.Emitted) {
	lines := reports.SafeLines(strings.TrimSpace(d.Text))
	text, paint := d.Status, reports.Green
	if d.Error {
		paint = reports.Red
	}
	if lines[0] != "" {
		text += ": " + lines[0]
	}
	if more := len(lines) - 1; more > 0 {
		text = fmt.Sprintf("%s (and %d more lines)", text, more)
	}
	s.line(paint, s.label(e, s.sign("  └ ", "  ` "))+text)
}
