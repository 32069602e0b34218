package ours

import (
	"context"
	"encoding/json"

	"github.com/spf13/afero"

	"toolbench/bench/measure"
	"toolbench/toolsys"
	"toolbench/toolsys/hook"
	"toolbench/toolsys/permission"
	"toolbench/toolsys/pipeline"
	"toolbench/toolsys/pool"
	"toolbench/toolsys/schedule"
	"toolbench/toolsys/settings"
	"toolbench/toolsys/tool"
)

// calls is a message's calls without the conversation: each goes through the whole
// pipeline on a goroutine of the streaming driver.
type calls struct {
	pipe *pipeline.Pipeline
	fs   afero.Fs
	snap *pool.Snapshot
	ctx  tool.Context
	said measure.Message

	driver   schedule.Config[*pipeline.Result]
	save     func(file, text string) error
	prepared []*pipeline.Prepared
	envs     []pipeline.Env
	got      []*pipeline.Result
}

// openCalls opens calls with a hook that matches the tools named.
func openCalls(heard string) func([]measure.Tool, measure.Message) (measure.Conversation, error) {
	return func(all []measure.Tool, m measure.Message) (measure.Conversation, error) {
		c, err := newCalls(heard, all, m)
		if err != nil {
			return measure.Conversation{}, err
		}
		return measure.Conversation{Run: c.run, Answers: c.answers}, nil
	}
}

func newCalls(heard string, all []measure.Tool, m measure.Message) (*calls, error) {
	built, err := tools(all)
	if err != nil {
		return nil, err
	}
	entries := make([]pool.Entry, len(built))
	for i, t := range built {
		entries[i] = pool.Entry{Name: t.Name, Tool: t}
	}
	catalogue, err := pool.NewCatalogue(entries)
	if err != nil {
		return nil, err
	}
	rules, err := rules()
	if err != nil {
		return nil, err
	}
	listening, err := hooks(heard)
	if err != nil {
		return nil, err
	}
	set := settings.External()
	c := &calls{
		pipe: &pipeline.Pipeline{Handlers: pipeline.Handlers{Clock: toolsys.RealClock(), Hooks: listening}},
		fs:   afero.NewMemMapFs(),
		snap: catalogue.Assemble(pool.Inputs{Settings: set}).Look(pool.View{Settings: set}),
		ctx:  tool.Context{Security: tool.Security{Rules: rules, Roots: []string{"/repo"}}, State: tool.State{Dir: "/repo"}},
		said: m,
	}
	c.save = func(file, text string) error { return afero.WriteFile(c.fs, file, []byte(text), 0o600) }
	c.driver = c.config()
	// No call is left when a message has ended, so that the next has the same room.
	c.prepared, c.envs = make([]*pipeline.Prepared, len(m.Calls)), make([]pipeline.Env, len(m.Calls))
	return c, nil
}

// config has the calls run by the pipeline, and their results kept in order.
func (c *calls) config() schedule.Config[*pipeline.Result] {
	return schedule.Config[*pipeline.Result]{
		Policy: schedule.Streaming, Limit: schedule.DefaultLimit,
		Hooks: schedule.Hooks[*pipeline.Result]{
			Run: func(ctx context.Context, i int, control schedule.Control) *pipeline.Result {
				return c.pipe.Run(ctx, c.prepared[i], &c.envs[i], control)
			},
			Verdict: func(r *pipeline.Result) schedule.Verdict {
				return schedule.Verdict{Fails: r.Fails, Modifies: r.Modify != nil}
			},
			Answer: func(i int, cause schedule.Cause) *pipeline.Result { return c.pipe.Answer(c.prepared[i], cause) },
			Emit:   func(_ int, r *pipeline.Result) { c.got = append(c.got, r) },
		},
	}
}

// rules are a project's: some tools are forbidden, writing is allowed.
func rules() (permission.Rules, error) {
	denied, err := permission.Rules{}.Parse(permission.Project, permission.Deny, "Bash(rm *)", "mcp__slack")
	if err != nil {
		return denied, err
	}
	return denied.Parse(permission.Project, permission.Allow, "write")
}

// hooks say nothing, before and after each call of the tools that heard matches.
func hooks(heard string) (hook.Set, error) {
	silent := func(context.Context, hook.Input) (hook.Output, error) { return hook.Output{}, nil }
	return hook.New(toolsys.RealClock(), hook.Hook{Name: "before", Event: hook.PreToolUse, Matcher: heard, Run: silent},
		hook.Hook{Name: "after", Event: hook.PostToolUse, Matcher: heard, Run: silent})
}

// run is one conversation's message: a budget of its own, since what was decided on
// a result is kept with its call's id.
func (c *calls) run(ctx context.Context) error {
	c.pipe.Handlers.Budget = pipeline.NewLedger(pipeline.ResultStore{Save: c.save, Dir: "/results"})
	c.got = c.got[:0]
	driver, err := schedule.NewDriver(ctx, c.driver)
	if err != nil {
		return err
	}
	i := 0
	streamed := c.said.Stream(ctx, func(call measure.Call) error {
		c.envs[i] = pipeline.Env{Snapshot: c.snap, Context: c.ctx}
		pre := c.pipe.Prepare(pipeline.Call{ID: call.ID, Name: call.Tool, Input: json.RawMessage(call.Input), Turn: 1}, &c.envs[i])
		c.prepared[i] = pre
		i++
		driver.Add(pre.Safe, pre.Cancellable)
		return nil
	})
	defer context.AfterFunc(ctx, func() { driver.Abort() })()
	driver.EndStream()
	driver.Wait()
	if streamed != nil {
		return streamed
	}
	return ctx.Err()
}

func (c *calls) answers() []measure.Answer {
	out := make([]measure.Answer, len(c.got))
	for i, r := range c.got {
		out[i] = measure.Answer{ID: r.CallID, Error: r.Error}
	}
	return out
}
