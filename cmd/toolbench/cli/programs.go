package cli

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"

	"toolbench/reports"
	"toolbench/sim/scenario/check"
	"toolbench/sim/scenario/run"
	"toolbench/toolsys/tool"
)

// ownProgram is a tool or a check of the project's own: a program that gets one line of JSON
// on its standard input and answers with one on its standard output.
type ownProgram struct {
	Command []string       `yaml:"command"`
	About   string         `yaml:"about"`
	Schema  map[string]any `yaml:"schema"`
	Safe    bool           `yaml:"safe"`
	// Session keeps the program for a whole run of a scenario: it gets a line for each
	// call, and answers each with one, in order.
	Session bool `yaml:"session"`
	// Limit is how long one answer may take, in real time.
	Limit string `yaml:"limit"`

	limit time.Duration

	name, dir, place string
}

// The members of a project's file that name programs.
const (
	ownTools  = "tools"
	ownChecks = "checks"
)

// programTime is how long one answer of a program may take.
const programTime = time.Minute

// programs reads the tools or the checks of a project's file.
func (c *config) programs(kind string, n ast.Node) error {
	members, err := c.members(n, "names with a command, as in `few-calls: {command: [sh, few.sh]}`")
	if err != nil {
		return err
	}
	for _, m := range members {
		p := ownProgram{name: key(m), dir: filepath.Dir(c.file), place: c.place(m)}
		if err := yaml.NodeToValue(m.Value, &p, yaml.Strict()); err != nil {
			near := ""
			if unknown, ok := errors.AsType[*yaml.UnknownFieldError](err); ok {
				near = closest(strings.Trim(strings.TrimPrefix(unknown.Message, "unknown field "), `"`), []string{"command", "about", "schema", "safe", "session", "limit"})
			}
			return usage("%s%s; see `toolbench help embedding` for what %s may say", yamlProblem(c.file, err), near, p.name)
		}
		if len(p.Command) == 0 || p.Command[0] == "" {
			return usage("%s: %s has no command, as in `command: [sh, %s.sh]`", p.place, p.name, p.name)
		}
		if p.limit, err = programLimit(p.Limit); err != nil {
			return usage("%s: limit of %s: %s", p.place, p.name, err)
		}
		if kind == ownTools {
			c.tools = append(c.tools, p)
		} else {
			c.checks = append(c.checks, p)
		}
	}
	return nil
}

// programLimit reads a limit, which is a minute where none is given, and no more: a run in
// which nothing happens for longer counts as hung.
func programLimit(text string) (time.Duration, error) {
	if text == "" {
		return programTime, nil
	}
	limit, err := time.ParseDuration(text)
	if err != nil || limit <= 0 || limit > programTime {
		return 0, fmt.Errorf("%q is no time up to %s; write one as 500ms or 10s", text, programTime)
	}
	return limit, nil
}

// ownPrograms are the project's tools and checks, if the user trusts its file, whose author chose
// what the programs do. The function end ends those that run.
func (a *app) ownPrograms(ctx context.Context, trusted bool) (own *run.Own, end func(), err error) {
	c := a.config
	end = func() {}
	if len(c.tools)+len(c.checks) == 0 {
		if trusted {
			return nil, end, usage("--trust: there is no %s here that names tools or checks", ConfigFile)
		}
		return nil, end, nil
	}
	if !trusted {
		a.logf("%s names programs, which are started with --trust only: %s", c.file, programNames(slices.Concat(c.tools, c.checks)))
		return nil, end, nil
	}
	out, end := newOutside(ctx)
	for _, p := range c.tools {
		if _, err := p.tool(nil); err != nil {
			return nil, end, usage("%s: %s", p.place, err)
		}
	}
	own = &run.Own{Checks: map[string]func(check.Result) error{}, Tools: func(w run.World) ([]*tool.Tool, error) {
		var all []*tool.Tool
		for _, p := range c.tools {
			way := p.way(out)
			if p.Session {
				w.Cleanup(way.end)
			}
			t, err := p.tool(way)
			if err != nil {
				return nil, err
			}
			all = append(all, t)
		}
		return all, nil
	}}
	for _, p := range c.checks {
		way := p.way(out)
		own.Checks[p.name] = func(out check.Result) error { return p.check(ctx, out, way) }
	}
	return own, end, nil
}

func programNames(all []ownProgram) string {
	var names []string
	for _, p := range all {
		names = append(names, p.name)
	}
	return strings.Join(names, ", ")
}

// tool is the program as a tool.
func (p ownProgram) tool(way *programWay) (*tool.Tool, error) {
	schema := json.RawMessage(`{"type":"object"}`)
	if p.Schema != nil {
		raw, err := json.Marshal(p.Schema)
		if err != nil {
			return nil, fmt.Errorf("the schema of %s: %w", p.name, err)
		}
		schema = raw
	}
	about := cmp.Or(p.About, "A tool of the project's own.")
	return tool.Build(tool.Def[json.RawMessage, string]{
		Name: p.name, Description: about, InputSchema: schema, Text: func(text string) string { return text },
		Traits: tool.Traits[json.RawMessage]{Safe: func(json.RawMessage) bool { return p.Safe }},
		Call: func(ctx context.Context, in json.RawMessage, c *tool.Context) (tool.Result[string], error) {
			answer, err := way.ask(ctx, map[string]any{"tool": p.name, "call": c.CallID, "input": in})
			return tool.Result[string]{Data: answer.Text, Failed: answer.Failed}, err
		},
	})
}

// check has the program judge a run.
func (p ownProgram) check(ctx context.Context, out check.Result, way *programWay) error {
	var report bytes.Buffer
	if err := formatNamed("json").Write(&report, []check.Result{out}, reports.Options{}); err != nil {
		return err
	}
	answer, err := way.ask(ctx, map[string]any{"check": p.name, "report": json.RawMessage(report.Bytes())})
	if err == nil && answer.Failed {
		err = errors.New(answer.Text)
	}
	return err
}
