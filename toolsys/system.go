package toolsys

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path"
	"slices"
	"time"

	"github.com/spf13/afero"

	"toolbench/toolsys/budget"
	"toolbench/toolsys/builtin"
	"toolbench/toolsys/loop"
	"toolbench/toolsys/mcptool"
	"toolbench/toolsys/pool"
	"toolbench/toolsys/settings"
	"toolbench/toolsys/task"
	"toolbench/toolsys/tool"
	"toolbench/toolsys/trace"
)

// Config says what the system works with. The zero value has the built-in tools
// on an empty filesystem in memory, no shell, no network and the real clock.
type Config struct {
	// FS is where tools read and write.
	FS afero.Fs
	// Shell runs Bash's commands; nil leaves Bash without a shell.
	Shell builtin.Shell
	// Resolve gives what a path leads to when links are followed (L6); nil where the
	// filesystem has none.
	Resolve func(path string) string
	// HTTP does WebFetch's requests; nil refuses them.
	HTTP func(*http.Request) (*http.Response, error)
	// Clock is the door to time; its zero value is the real one.
	Clock tool.Clock
	// Tools are tools of the user's own, beside the built-in ones; NoBuiltins
	// leaves those out.
	Tools      []*tool.Tool
	NoBuiltins bool
	// Only keeps these built-ins and no others; empty keeps all.
	Only []string
	// Decorate may wrap each tool; the bench adds simulated durations this way.
	Decorate func(*tool.Tool) *tool.Tool
	// SkillDirs are folders of skills.
	SkillDirs []string
	// ResultsDir is where results too large for the conversation go; "" means
	// /tmp/tool-results.
	ResultsDir string
	// Servers are the MCP servers whose tools conversations have, and whose resources
	// the built-in tools read (N3, N8). They are their owner's to close.
	Servers []*mcptool.Fleet
	// Trace hears of everything; nil means nobody listens.
	Trace trace.Sink
}

// System is the tools of one program, shared by its conversations.
type System struct {
	Catalogue *pool.Catalogue
	Tasks     *task.Table

	cfg   Config
	start time.Time
}

// ErrConfig is wrapped by the errors of New.
var ErrConfig = errors.New("invalid tool system")

// DefaultResultsDir is where large results go when nothing else is said.
const DefaultResultsDir = "/tmp/tool-results"

// New wires a system. It is an error when two tools claim one name, when a tool is
// nil, and when Only names a built-in that there is not.
func New(cfg Config) (*System, error) {
	cfg = cfg.complete()
	s := &System{cfg: cfg, start: cfg.Clock.Now()}
	s.Tasks = task.New(cfg.Clock, s.taskEvent)
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

// entries are the catalogue's lines: the built-in tools, then the user's own.
func (s *System) entries() ([]pool.Entry, error) {
	entries, err := s.builtins()
	if err != nil {
		return nil, err
	}
	for i, t := range s.cfg.Tools {
		if t == nil {
			return nil, fmt.Errorf("tool %d is nil", i+1)
		}
		entries = append(entries, pool.Entry{Name: t.Name, Tool: t})
	}
	for i, e := range entries {
		if e.Tool != nil && s.cfg.Decorate != nil {
			entries[i].Tool = s.cfg.Decorate(e.Tool)
		}
	}
	return entries, nil
}

func (s *System) builtins() ([]pool.Entry, error) {
	if s.cfg.NoBuiltins {
		return nil, nil
	}
	entries := builtin.All(builtin.Deps{
		FS: s.cfg.FS, Shell: s.cfg.Shell, HTTP: s.cfg.HTTP, Tasks: s.Tasks, Resolve: s.cfg.Resolve, SkillDirs: s.cfg.SkillDirs,
		OutputDir: path.Join(s.cfg.ResultsDir, "bash"), Resources: library(s.cfg.Servers),
	}, s.cfg.Only...)
	for _, name := range s.cfg.Only {
		if !slices.ContainsFunc(entries, func(e pool.Entry) bool { return e.Name == name }) {
			return nil, fmt.Errorf("there is no built-in tool %q to keep", name)
		}
	}
	return entries, nil
}

func (c Config) complete() Config {
	if c.FS == nil {
		c.FS = afero.NewMemMapFs()
	}
	if c.Clock.Now == nil {
		c.Clock = RealClock()
	}
	if c.ResultsDir == "" {
		c.ResultsDir = DefaultResultsDir
	}
	return c
}

// RealClock is the clock on the wall.
func RealClock() tool.Clock {
	return tool.Clock{
		Now: time.Now,
		Go:  func(_ string, f func()) { go f() },
		Sleep: func(ctx context.Context, _ string, d time.Duration) error {
			if d <= 0 {
				return context.Cause(ctx)
			}
			timer := time.NewTimer(d)
			defer timer.Stop()
			select {
			case <-timer.C:
				return nil
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		},
	}
}

// Open begins a conversation. What cfg leaves out is filled from the system: the
// catalogue, the clock, the trace, the budget and, where there are none, the
// default settings.
func (s *System) Open(cfg loop.Config) (*loop.Session, error) {
	cfg.Catalogue = s.Catalogue
	if cfg.Served == nil && len(s.cfg.Servers) > 0 {
		cfg.Served = Serve(s.cfg.Servers...)
	}
	d := &cfg.Doors
	if d.Clock.Now == nil {
		d.Clock = s.cfg.Clock
	}
	if d.Trace == nil && s.cfg.Trace != nil {
		d.Trace = s.cfg.Trace
	}
	if d.Since == nil {
		d.Since = func() time.Duration { return d.Clock.Now().Sub(s.start) }
	}
	if d.Resolve == nil {
		d.Resolve = s.cfg.Resolve
	}
	if d.Budget == nil {
		d.Budget = budget.NewLedger(budget.Store{FS: s.cfg.FS, Dir: s.cfg.ResultsDir})
	}
	if d.Rewrite == nil {
		d.Rewrite = builtin.SimulatedEdit(s.cfg.FS)
	}
	// What is kept of a large result is there to be read, so nobody is asked (K1).
	cfg.State.Extra = append(slices.Clone(cfg.State.Extra), s.cfg.ResultsDir)
	if cfg.Settings == (settings.Settings{}) {
		cfg.Settings = settings.External()
	}
	return loop.New(cfg)
}

// Close stops the background tasks and waits for them.
func (s *System) Close(ctx context.Context) error { return s.Tasks.StopAll(ctx) }

func (s *System) taskEvent(e task.Event) {
	if s.cfg.Trace == nil {
		return
	}
	kind := trace.TaskStarted
	if e.Change == task.Ended {
		kind = trace.TaskEnded
	}
	s.cfg.Trace(trace.Event{
		At: s.cfg.Clock.Now().Sub(s.start), Kind: kind, Agent: e.Task.Agent,
		Attrs: []trace.Attr{trace.S("task", e.Task.ID), trace.S("title", e.Task.Title), trace.S("status", string(e.Task.Status)), trace.N("exit", int64(e.Task.Exit))},
	})
}
