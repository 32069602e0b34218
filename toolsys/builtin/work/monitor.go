package work

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"regexp"
	"strings"
	"time"

	"toolbench/toolsys/message"
	"toolbench/toolsys/tool"
)

// CodeBadPattern refuses a pattern that is no regular expression.
const CodeBadPattern = 1

// defaultWatch is how long Monitor watches unless the call gives a time, mostMails how
// often it reports before it ends: a pattern that always matches is a mistake.
const (
	defaultWatch = 5 * time.Minute
	mostMails    = 20
	// mostLines and mostChars bound one report: whoever reads it pays for each character, and
	// TaskOutput has it all. longestLine is how much of a line is looked into.
	mostLines   = 40
	mostChars   = 500
	longestLine = 64 << 10
)

// MonitorIn is what Monitor takes.
type MonitorIn struct {
	TaskID  string `json:"task_id" minLength:"1" jsonschema:"The background task to watch"`
	Pattern string `json:"pattern" minLength:"1" maxLength:"1000" jsonschema:"A regular expression (RE2) that is looked for in each line"`
	Once    bool   `json:"once,omitempty" jsonschema:"End with the first match"`
	Timeout int    `json:"timeout,omitempty" minimum:"1" maximum:"3600000" default:"300000" jsonschema:"How long to watch at most, in milliseconds"`
}

// MonitorOut is what Monitor answers with.
type MonitorOut struct {
	// TaskID is the watch's own.
	TaskID  string `json:"task_id"`
	Watches string `json:"watches"`
}

// Monitor watches a background task's output and reports lines that match, and the task's
// end, through the inbox (SPEC L). It begins with what the task has written already.
func Monitor(d Deps) *tool.Tool {
	return tool.Must(tool.Def[MonitorIn, MonitorOut]{
		Name:        "Monitor",
		Coordinates: true,
		Describe:    func(in MonitorIn) string { return "Watch " + in.TaskID },
		Texts:       prompts.Of("monitor"),
		Call:        d.monitor,
		Text: func(out MonitorOut) string {
			return fmt.Sprintf("%s is watched, by %s. What matches comes to you as a message.", out.Watches, out.TaskID)
		},
		Validate: func(in MonitorIn, _ *tool.Context) *tool.Refusal {
			if _, err := regexp.Compile(in.Pattern); err != nil {
				return &tool.Refusal{Message: fmt.Sprintf("the pattern is no regular expression: %v", err), Code: CodeBadPattern}
			}
			return nil
		},
		Permit: tool.Allows[MonitorIn]("the task is the session's own"),
		Traits: tool.Traits[MonitorIn]{ReadOnly: tool.Always[MonitorIn]},
		View: tool.View[MonitorIn]{
			Summary:  func(in MonitorIn) string { return in.TaskID + ": " + in.Pattern },
			Activity: func(in MonitorIn) string { return "Watching " + in.TaskID },
		},
	})
}

// watch is one Monitor at work.
type watch struct {
	d       Deps
	in      MonitorIn
	pattern *regexp.Regexp
	of      tool.Task
	agent   string // who gets the reports
	id      string // the watch's own task
	from    int64  // what was read of the output
	part    string // a line that is not complete
	mails   int
}

func (d Deps) monitor(_ context.Context, in MonitorIn, c *tool.Context) (tool.Result[MonitorOut], error) {
	of, err := d.Tasks.Get(in.TaskID)
	if err != nil {
		return tool.Result[MonitorOut]{}, d.unknown(in.TaskID)
	}
	w := &watch{d: d, in: in, pattern: regexp.MustCompile(in.Pattern), of: of, agent: c.AgentID}
	ids := make(chan string, 1) // the task begins before its id is known here
	release := d.Inbox.Expect(c.AgentID)
	now := c.Clock.Now
	id := d.Tasks.Start(tool.TaskSpec{Kind: "monitor", Title: "watch " + in.TaskID, Agent: c.AgentID}, func(ctx context.Context, out io.Writer) (int, error) {
		defer release()
		w.id = <-ids
		return 0, w.run(ctx, out, now)
	})
	ids <- id
	return tool.Result[MonitorOut]{Data: MonitorOut{TaskID: id, Watches: in.TaskID}, Observed: []tool.Observation{{Task: id}}}, nil
}

func (in MonitorIn) watches() time.Duration {
	return cmp.Or(time.Duration(in.Timeout)*time.Millisecond, defaultWatch)
}

// run reads what the task writes, as it does, until it ends or the watch is over.
func (w *watch) run(ctx context.Context, out io.Writer, now func() time.Time) error {
	until := now().Add(w.in.watches())
	for {
		text, next, t, err := w.d.Tasks.Tail(w.in.TaskID, w.from)
		if err != nil {
			return err
		}
		w.from = next
		matched := w.matches(text, !running(t))
		if len(matched) > 0 {
			_, _ = io.WriteString(out, strings.Join(matched, "\n")+"\n") // for TaskOutput; the message has it too
			w.report("wrote:\n" + shortened(matched))
		}
		switch {
		case w.in.Once && len(matched) > 0:
			return nil
		case !running(t):
			w.report(fmt.Sprintf("has ended: %s, exit code %d.", t.Status, t.Exit))
			return nil
		case w.mails >= mostMails:
			w.report(fmt.Sprintf("is not watched any more: the pattern matched %d times; watch it with a narrower one.", w.mails))
			return nil
		case !now().Before(until):
			w.report(fmt.Sprintf("is not watched any more, after %v; it still runs.", w.in.watches()))
			return nil
		}
		if err := w.d.Tasks.More(ctx, w.in.TaskID, w.from, until.Sub(now())); err != nil {
			return err
		}
	}
}

// matches gives the complete lines that match; the last one is complete when the task is over.
func (w *watch) matches(text string, over bool) []string {
	lines := strings.Split(w.part+text, "\n")
	w.part = ""
	if last := len(lines) - 1; !over {
		w.part, lines = lines[last], lines[:last]
		w.part = strings.ToValidUTF8(w.part[:min(longestLine, len(w.part))], "")
	}
	var found []string
	for _, line := range lines {
		if line = strings.TrimSuffix(line, "\r"); line != "" && w.pattern.MatchString(line) {
			found = append(found, line)
		}
	}
	return found
}

// shortened are lines as a report has them: the last count, since they are the newest.
func shortened(lines []string) string {
	var out []string
	if left := len(lines) - mostLines; left > 0 {
		out, lines = append(out, fmt.Sprintf("[%d earlier lines are left out]", left)), lines[left:]
	}
	out = append(out, tool.Each(lines, func(line string) string { return message.Excerpt(line, mostChars) })...)
	return strings.Join(out, "\n")
}

// report sends what was seen to who asked for it. One that has ended is not there to read it.
func (w *watch) report(what string) {
	w.mails++
	_, _ = w.d.Inbox.Post(tool.Mail{
		To: w.agent, From: "monitor", Kind: tool.MailTask, About: w.id,
		Text: fmt.Sprintf("%s (%s) %s", w.of.ID, w.of.Title, what),
	})
}
