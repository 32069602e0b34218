package toolsys

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"toolbench/toolsys/loop"
	"toolbench/toolsys/permission"
	"toolbench/toolsys/pipeline"
	"toolbench/toolsys/pool"
	"toolbench/toolsys/search"
	"toolbench/toolsys/settings"
	"toolbench/toolsys/tool"
	"toolbench/toolsys/trace"
)

// Config is what a system works with. The zero value has no tools, truncates results
// that are too large and runs on the real clock.
type Config struct {
	// Tools are the program's own tools.
	Tools []*tool.Tool
	// Builtins makes the built-in tools, as builtin.All does; nil leaves them out.
	Builtins func(pool.Host) (pool.Kit, error)
	// Servers is the way to MCP servers, as mcptool.Join gives it; zero for none. They
	// are their owner's to close.
	Servers tool.Servers
	// Decorate may wrap each tool; the bench adds simulated durations this way.
	Decorate func(*tool.Tool) *tool.Tool
	// ResultsDir is the folder for results too large for the conversation; "" means
	// DefaultResultsDir. Keep writes one of them, and Resolve gives what a path leads to
	// when links are followed (L6); nil takes what the built-in tools bring.
	ResultsDir string
	Keep       func(file, text string) error
	Resolve    func(path string) string
	// Clock is the way to time; its zero value is the real one.
	Clock tool.Clock
	// Trace receives every event; nil drops them. Start is when the program began, from which the
	// times of events are counted; the zero time is when New is called.
	Trace trace.Sink
	Start time.Time
}

// System is the tools of one program, shared by its conversations.
type System struct {
	Catalogue *pool.Catalogue
	Tasks     *tool.Tasks
	Inbox     *tool.Inbox

	cfg Config
	// commands are those that the built-in tools bring.
	commands func() []tool.Command
}

// ErrConfig is wrapped by the errors of New.
var ErrConfig = errors.New("invalid tool system")

// DefaultResultsDir is where large results go unless Config names another folder.
const DefaultResultsDir = "/tmp/tool-results"

// New wires a system. It is an error when two tools claim one name, when a tool is
// nil, and when the built-in tools cannot be made.
func New(cfg Config) (*System, error) {
	cfg = cfg.complete()
	s := &System{cfg: cfg}
	s.Tasks = tool.NewTasks(cfg.Clock, s.taskEvent)
	s.Inbox = tool.NewInbox(cfg.Clock, s.mailEvent)
	entries, err := s.entries()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	s.Catalogue, err = pool.NewCatalogue(entries)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	return s, nil
}

// entries are the catalogue's lines: the built-in tools, then the program's own.
func (s *System) entries() ([]pool.Entry, error) {
	var entries []pool.Entry
	if s.cfg.Builtins != nil {
		kit, err := s.cfg.Builtins(pool.Host{ResultsDir: s.cfg.ResultsDir, Servers: s.cfg.Servers, Tasks: s.Tasks, Inbox: s.Inbox, Work: &tool.WorkList{}})
		if err != nil {
			return nil, err
		}
		entries, s.commands = kit.Entries, kit.Commands
		if s.cfg.Keep == nil {
			s.cfg.Keep = kit.Keep
		}
		if s.cfg.Resolve == nil {
			s.cfg.Resolve = kit.Resolve
		}
	}
	for i, t := range s.cfg.Tools {
		if t == nil {
			return nil, fmt.Errorf("tool %d is nil", i+1)
		}
		entries = append(entries, pool.Entry{Name: t.Name, Tool: t, Own: true})
	}
	for i, e := range entries {
		if e.Tool != nil && s.cfg.Decorate != nil {
			entries[i].Tool = s.cfg.Decorate(e.Tool)
		}
	}
	return entries, nil
}

func (c Config) complete() Config {
	if c.Clock.Now == nil {
		c.Clock = RealClock()
	}
	if c.Start.IsZero() {
		c.Start = c.Clock.Now()
	}
	c.ResultsDir = cmp.Or(c.ResultsDir, DefaultResultsDir)
	return c
}

// RealClock is the clock on the wall.
func RealClock() tool.Clock {
	return tool.Clock{
		Now:     time.Now,
		Go:      func(_ string, f func()) { go f() },
		Unnamed: true,
		Sleep: func(ctx context.Context, _ string, d time.Duration) error {
			timer := time.NewTimer(d)
			defer timer.Stop()
			select {
			case <-timer.C:
			case <-ctx.Done():
			}
			return context.Cause(ctx)
		},
	}
}

// Open begins a conversation. What cfg leaves out is filled from the system: the
// catalogue, the clock, the trace, the budget and, where there are none, the
// default settings. Rules that can never match are reported through Handlers.Notify.
func (s *System) Open(cfg loop.Config) (*loop.Session, error) {
	cfg.Catalogue, cfg.Inbox = s.Catalogue, s.Inbox
	if cfg.Served == nil {
		cfg.Served = s.cfg.Servers.Served
	}
	if cfg.Commands == nil {
		cfg.Commands = s.Commands
	}
	d := &cfg.Handlers
	if d.Clock.Now == nil {
		d.Clock = s.cfg.Clock
	}
	if d.Trace == nil && s.cfg.Trace != nil {
		d.Trace = s.cfg.Trace
	}
	if d.Since == nil {
		d.Since = func() time.Duration { return d.Clock.Now().Sub(s.cfg.Start) }
	}
	if d.Resolve == nil {
		d.Resolve = s.cfg.Resolve
	}
	d.Budget = cmp.Or(d.Budget, pipeline.NewLedger(pipeline.ResultStore{Save: s.cfg.Keep, Dir: s.cfg.ResultsDir}))
	// What is kept of a large result is there to be read, so nobody is asked (K1).
	cfg.State.Extra = append(slices.Clone(cfg.State.Extra), s.cfg.ResultsDir)
	cfg.Settings = cmp.Or(cfg.Settings, settings.External())
	if d.Notify != nil {
		for _, p := range s.RuleProblems(cfg.State.Rules) {
			d.Notify(p.String())
		}
	}
	return loop.New(cfg)
}

// Commands are what the user of a conversation can ask for by a slash and a name: what the
// built-in tools bring, and the prompts of servers, each by its server's name and its own. Servers
// that cannot be asked have none.
func (s *System) Commands(ctx context.Context) []tool.Command {
	var all []tool.Command
	if s.commands != nil {
		all = s.commands()
	}
	if s.cfg.Servers.Prompts == nil {
		return all
	}
	prompts, _ := s.cfg.Servers.Prompts(ctx)
	for _, p := range prompts {
		all = append(all, tool.Command{Name: "mcp__" + p.Server + "__" + p.Name, About: p.Description, Expand: func(ctx context.Context, args string) (tool.Expansion, error) {
			filled, err := p.Fill(args)
			if err != nil {
				return tool.Expansion{}, err
			}
			blocks, err := s.cfg.Servers.Prompt(ctx, p.Server, p.Name, filled)
			return tool.Expansion{Blocks: blocks}, err
		}})
	}
	return all
}

// Close stops the background tasks and waits for them.
func (s *System) Close(ctx context.Context) error { return s.Tasks.StopAll(ctx) }

// mailEvent traces a message that was sent.
func (s *System) mailEvent(m tool.Mail) {
	if s.cfg.Trace == nil {
		return
	}
	s.cfg.Trace(trace.Event{At: s.cfg.Clock.Now().Sub(s.cfg.Start), Agent: m.To, Data: trace.MailSent{
		Mail: trace.Mail{ID: m.ID, From: m.From, Is: string(m.Kind), About: m.About, Text: m.Text},
	}})
}

// taskEvent traces the beginning and the end of a background task.
func (s *System) taskEvent(t tool.Task) {
	if s.cfg.Trace == nil {
		return
	}
	about := trace.Task{ID: t.ID, Title: t.Title, Status: string(t.Status), Exit: t.Exit}
	var data trace.Data = trace.TaskStarted{Task: about}
	if t.Status != tool.TaskRunning {
		data = trace.TaskEnded{Task: about}
	}
	s.cfg.Trace(trace.Event{At: s.cfg.Clock.Now().Sub(s.cfg.Start), Agent: t.Agent, Data: data})
}

// Decide resolves a call by its tool's name without running it (SPEC F7): no hook is
// run, nobody is asked. The context says where the call would run, by which rules and
// in which mode. Of a tool that is not in the catalogue only the name is known, and of what that may mean the
// strictest decision counts. An input that does not fit its tool is an error.
func (s *System) Decide(name string, input json.RawMessage, c *tool.Context) (permission.Decision, permission.Query, error) {
	if t := s.find(name); t != nil {
		return pipeline.Decide(t, input, c, s.cfg.Resolve)
	}
	q := permission.Query{Subject: permission.Subject{Tool: name}, Dir: c.State.Dir, Home: c.Home, Roots: c.Roots}
	rest, isMCP := strings.CutPrefix(name, "mcp__")
	names := strings.Split(rest, "__") // which both a server's name and a tool's may contain
	var strictest permission.Decision
	for i := 1; i <= max(1, len(names)-1); i++ {
		if isMCP {
			q.MCP = &permission.Origin{Server: strings.Join(names[:i], "__"), Tool: strings.Join(names[i:], "__")}
		}
		d := permission.Resolve(permission.Inputs{Rules: c.Rules, Query: q, Mode: c.Mode, CanAsk: true})
		if d.Behaviour > strictest.Behaviour {
			strictest = d
		}
	}
	return strictest, q, nil
}

// find looks a tool up by name or alias.
func (s *System) find(name string) *tool.Tool {
	for _, e := range s.Catalogue.Entries() {
		if e.Tool != nil && e.Tool.Matches(name) {
			return e.Tool
		}
	}
	return nil
}

// Safe reports whether a call may run beside others; one that cannot be read may not.
func (s *System) Safe(name string, input json.RawMessage) bool {
	t := s.find(name)
	if t == nil {
		return false
	}
	in, problems := t.Parse(input)
	return len(problems) == 0 && t.Behaviour.Safe(in)
}

// RuleProblems lists the rules that can never match a tool of the system, and those
// that others leave nothing to decide.
func (s *System) RuleProblems(rules permission.Rules) []permission.Problem {
	var known []permission.Known
	for _, e := range s.Catalogue.Entries() {
		k := permission.Known{Subject: permission.Subject{Tool: e.Name}, Content: true}
		if e.Tool != nil {
			k.Aliases, k.Content = e.Tool.Aliases, e.Tool.TakesContent
		}
		known = append(known, k)
	}
	return rules.Problems(known, func(name string, names []string) []string { return search.Nearest(name, names, nil, 1) })
}
