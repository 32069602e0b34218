package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"toolbench/toolsys/message"
	"toolbench/toolsys/permission"
	"toolbench/toolsys/pipeline"
	"toolbench/toolsys/tool"
)

// chatInput is what comes from the person: lines, answers, Ctrl-C.
type chatInput struct {
	lines <-chan string
	// asked are questions on their way to the terminal; those that wait stand in waiting, the
	// one that is shown first.
	asked   chan *question
	waiting []*question
	// always are the rules that the person allowed for the session.
	always []permission.Rule

	mu sync.Mutex
	// stop ends the turn; nil where none runs. warned is set by a Ctrl-C, and the next ends
	// the chat; cut is set where the last turn was ended so.
	stop        context.CancelCauseFunc
	warned, cut bool
	// leaving is set where the person ends the chat while the model is at work.
	leaving bool
}

// errStopped ends a turn for the person's Ctrl-C.
var errStopped = errors.New("interrupted by the user")

// question is something a line of the person answers.
type question struct {
	ctx  context.Context
	text func() string
	// take takes a line and reports whether it was an answer. known answers without asking
	// where an earlier answer covers the question.
	take  func(line string) bool
	known func() bool
	done  chan struct{}
}

// interrupt takes a Ctrl-C: the first ends the turn, or warns; the next is not taken.
func (c *chat) interrupt() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.warned {
		return false
	}
	c.warned = true
	if c.stop != nil {
		c.cut = true
		c.stop(errStopped)
		c.screen.notice("interrupted; Ctrl-C again ends the conversation")
	} else {
		c.screen.notice("Ctrl-C again, or Ctrl-D, ends the conversation")
	}
	return true
}

// run takes prompts until there are no more.
func (c *chat) run(ctx context.Context) error {
	c.lines = linesOf(c.a.Stdin)
	c.screen.welcome(c)
	for {
		c.screen.prompt(c.a.Interactive)
		select {
		case <-ctx.Done():
			return interrupted("interrupted%s", c.kept.where())
		case line, more := <-c.lines:
			c.screen.typed(line)
			if !more {
				c.screen.end(c.a.Interactive, c.kept.where())
				return nil
			}
			switch done, err := c.entered(ctx, strings.TrimSpace(line)); {
			case ctx.Err() != nil:
				return interrupted("interrupted%s", c.kept.where())
			case err != nil && !c.a.Interactive:
				return err
			case err != nil:
				c.a.printError(err)
			case done:
				c.screen.end(false, c.kept.where())
				return nil
			}
		}
	}
}

// linesOf hands on the lines of an input, until it ends.
func linesOf(in io.Reader) <-chan string {
	lines := make(chan string)
	go func() {
		defer close(lines)
		for from := bufio.NewReader(in); ; {
			line, err := from.ReadString('\n')
			if line != "" {
				lines <- strings.TrimSuffix(line, "\n")
			}
			if err != nil {
				return
			}
		}
	}()
	return lines
}

// entered does what a line asks for. The error is of a turn.
func (c *chat) entered(ctx context.Context, line string) (done bool, err error) {
	c.mu.Lock()
	c.warned = false
	cut := c.cut
	c.mu.Unlock()
	switch {
	case line == "":
		return false, nil
	case strings.HasPrefix(line, "/") && !c.names(ctx, line):
		return c.command(line), nil
	}
	m := message.UserText(line)
	if cut {
		m.Content = append([]message.Block{message.Text("<system-reminder>The user interrupted the turn before.</system-reminder>")}, m.Content...)
	}
	err = c.turn(ctx, m)
	return c.leaving, err
}

// turn sends a message and takes part until the answer is there.
func (c *chat) turn(ctx context.Context, m message.Message) error {
	turn, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	c.running(stop)
	defer c.running(nil)
	sent := make(chan error, 1)
	go func() {
		_, err := c.session.Send(turn, m)
		sent <- err
	}()
	lines := c.lines
	if !c.a.Interactive {
		lines = nil // the next prompt waits for this one's answer
	}
	for {
		for len(c.waiting) > 0 && c.waiting[0].known() { // earlier answers cover it
			c.answered()
		}
		select {
		case err := <-sent:
			c.waiting = nil
			c.screen.idle()
			if err == nil || errors.Is(err, errStopped) {
				return nil
			}
			return c.a.unanswered(err, recordFlags{baseURL: c.flags.baseURL, keyEnv: c.flags.keyEnv}, "")
		case q := <-c.asked:
			if c.waiting = append(c.waiting, q); len(c.waiting) == 1 {
				c.show()
			}
		case <-c.withdrawn():
			c.screen.notice("the question is withdrawn")
			c.screen.typed("")
			c.answered()
		case line, more := <-lines:
			if !more {
				lines = nil
				stop(errStopped) // nobody is there any more
				continue
			}
			c.during(strings.TrimSpace(line))
		}
	}
}

func (c *chat) running(stop context.CancelCauseFunc) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stop = stop; stop != nil {
		c.cut = false
	}
}

// withdrawn ends when the question that is shown needs no answer any more.
func (c *chat) withdrawn() <-chan struct{} {
	if len(c.waiting) == 0 {
		return nil
	}
	return c.waiting[0].ctx.Done()
}

// answered goes on to the next question.
func (c *chat) answered() {
	close(c.waiting[0].done)
	if c.waiting = c.waiting[1:]; len(c.waiting) > 0 {
		c.show()
	}
}

func (c *chat) show() {
	if !c.waiting[0].known() {
		c.screen.ask(c.waiting[0].text())
	}
}

// during takes a line while the model is at work: an answer, a command, or a message that
// goes out with the results of what runs (J4).
func (c *chat) during(line string) {
	c.screen.typed(line)
	switch {
	case len(c.waiting) > 0:
		if c.waiting[0].take(line) {
			c.answered()
		} else {
			c.screen.ask(c.waiting[0].text())
		}
	case line == "":
	case strings.HasPrefix(line, "/"):
		if c.leaving = c.command(line); c.leaving {
			c.interrupt()
		}
	default:
		c.screen.notice(map[bool]string{ // what happens when the user sends a message while calls run (J4)
			true: "what runs is stopped for your message", false: "your message goes to the model with the results of what runs",
		}[c.session.Interruptible()])
		c.session.Interrupt(message.UserText(line))
	}
}

// names reports whether a line begins with a command of the session's: a skill's, or a
// server's prompt.
func (c *chat) names(ctx context.Context, line string) bool {
	name, _ := cutWord(line[1:])
	return slices.ContainsFunc(c.system.Commands(ctx), func(own tool.Command) bool { return own.Name == name })
}

// put has a question answered. Its error is that of a turn that ended before.
func (c *chat) put(ctx context.Context, q *question) error {
	q.ctx, q.done = ctx, make(chan struct{})
	select {
	case c.asked <- q:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	select {
	case <-q.done:
	case <-ctx.Done():
	}
	return context.Cause(ctx)
}

// permission asks whether a call may run: once, always in this session, or not.
func (c *chat) permission(ctx context.Context, q pipeline.Question) (pipeline.Reply, error) {
	// Of a question that is withdrawn the reply is not read: it may be written still.
	reply := new(pipeline.Reply)
	proposed := permission.Propose(q.Inputs)
	err := c.put(ctx, &question{
		text: func() string { return c.screen.permissionText(q, proposed) },
		known: func() bool {
			reply.Allow = len(c.always) > 0 && permission.AllowedBy(q.Inputs, c.always)
			return reply.Allow
		},
		take: func(line string) bool {
			word, rest := cutWord(line)
			switch strings.ToLower(word) {
			case "y", "yes":
				reply.Allow = true
			case "n", "no":
				reply.Text = rest
			case "a", "always":
				if len(proposed) == 0 {
					return false
				}
				c.always = append(c.always, proposed...)
				reply.Allow = true
			default:
				return false
			}
			return true
		},
	})
	if err != nil {
		return pipeline.Reply{}, err
	}
	return *reply, nil
}

// answers puts the questions of the model, one after the other.
func (c *chat) answers(ctx context.Context, _ string, qs []tool.Question) (all []tool.Answer, err error) {
	for _, q := range qs {
		answer := new(tool.Answer)
		err := c.put(ctx, &question{
			text:  func() string { return c.screen.questionText(q) },
			known: func() bool { return false },
			take: func(line string) bool {
				*answer = answerOf(q, line)
				return len(answer.Chosen) > 0
			},
		})
		if err != nil {
			return nil, err
		}
		all = append(all, *answer)
	}
	return all, nil
}

// answerOf reads numbers of options, or an answer of the person's own.
func answerOf(q tool.Question, line string) tool.Answer {
	var a tool.Answer
	for part := range strings.FieldsFuncSeq(line, func(r rune) bool { return r == ',' || r == ' ' }) {
		n, err := strconv.Atoi(part)
		if err != nil || n < 1 || n > len(q.Options) || !q.Multiple && len(a.Chosen) > 0 {
			return tool.Answer{Chosen: []string{line}}
		}
		if label := q.Options[n-1].Label; !slices.Contains(a.Chosen, label) {
			a.Chosen = append(a.Chosen, label)
		}
	}
	return a
}

// cutWord cuts the first word off a line.
func cutWord(line string) (word, rest string) {
	if end := strings.IndexFunc(line, unicode.IsSpace); end >= 0 {
		return line[:end], strings.TrimSpace(line[end:])
	}
	return line, ""
}

// command does what a line with a slash asks for, and reports whether it ends the chat.
func (c *chat) command(line string) (done bool) {
	switch word, rest := cutWord(line); word {
	case "/exit", "/quit":
		return true
	case "/mode":
		c.setMode(rest)
	case "/rules":
		for _, r := range c.always {
			c.screen.notice("allowed in this session: " + r.String())
		}
		for _, h := range c.session.State().Rules.All() {
			c.screen.notice(h.String())
		}
	case "/decisions":
		for _, d := range c.session.Decisions() {
			c.screen.notice(fmt.Sprintf("%s %s: %s", map[bool]string{true: "allowed", false: "denied"}[d.Allowed], d.Tool, d.Reason.String()))
		}
	case "/commands":
		for _, own := range c.system.Commands(context.Background()) {
			c.screen.notice("/" + own.Name + ": " + own.About)
		}
	case "/tasks":
		for _, t := range c.system.Tasks.List() {
			c.screen.notice(fmt.Sprintf("%s %s: %s", t.ID, t.Status, t.Title))
		}
	default:
		c.screen.notice("/mode [default|plan|acceptEdits|bypass], /rules, /decisions, /tasks, /commands, /exit; Ctrl-C interrupts, and a line that is typed while the model is at work goes to it with the results")
	}
	return false
}

func (c *chat) setMode(text string) {
	if text != "" {
		if _, err := knownMode(text); err != nil {
			c.screen.notice(err.Error())
			return
		}
		mode, _ := permission.ParseMode(text) // it is known
		_ = c.session.Change(func(s tool.State) tool.State { s.Mode = mode; return s })
	}
	c.screen.notice("the mode is " + c.session.State().Mode.String())
}
