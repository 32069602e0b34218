package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
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

	name, dir, place string
}

// The members of a project's file that name programs.
const (
	ownTools  = "tools"
	ownChecks = "checks"
)

// Limits of one answer of a program.
const (
	programTime  = time.Minute
	programBytes = 1 << 20
	programWords = 300
)

// programs reads the tools or the checks of a project's file.
func (c *config) programs(kind string, n ast.Node) error {
	members, err := c.members(n, "names with a command, as in `few-calls: {command: [sh, few.sh]}`")
	if err != nil {
		return err
	}
	for _, m := range members {
		p := ownProgram{name: key(m), dir: filepath.Dir(c.file), place: c.place(m)}
		if err := yaml.NodeToValue(m.Value, &p, yaml.Strict()); err != nil {
			return usage("%s: %s is not as it must be: %s", p.place, p.name, strings.SplitN(yaml.FormatError(err, false, false), "\n", 2)[0])
		}
		if len(p.Command) == 0 || p.Command[0] == "" {
			return usage("%s: %s has no command, as in `command: [sh, %s.sh]`", p.place, p.name, p.name)
		}
		if kind == ownTools {
			c.tools = append(c.tools, p)
		} else {
			c.checks = append(c.checks, p)
		}
	}
	return nil
}

// ownPrograms are the project's tools and checks, if somebody trusts its file: whoever wrote the
// file chose what the programs do.
func (a *app) ownPrograms(ctx context.Context, trusted bool) (*run.Own, error) {
	c := a.config
	if len(c.tools)+len(c.checks) == 0 {
		if trusted {
			return nil, usage("--trust: there is no %s here that names tools or checks", ConfigFile)
		}
		return nil, nil
	}
	if !trusted {
		a.logf("%s names programs, which are started with --trust only: %s", c.file, programNames(slices.Concat(c.tools, c.checks)))
		return nil, nil
	}
	for _, p := range c.tools {
		if _, err := p.tool(); err != nil {
			return nil, usage("%s: %s", p.place, err)
		}
	}
	own := &run.Own{Checks: map[string]func(check.Result) error{}, Tools: func(run.World) ([]*tool.Tool, error) {
		var all []*tool.Tool
		for _, p := range c.tools {
			t, err := p.tool()
			if err != nil {
				return nil, err
			}
			all = append(all, t)
		}
		return all, nil
	}}
	for _, p := range c.checks {
		own.Checks[p.name] = func(out check.Result) error { return p.check(ctx, out) }
	}
	return own, nil
}

func programNames(all []ownProgram) string {
	var names []string
	for _, p := range all {
		names = append(names, p.name)
	}
	return strings.Join(names, ", ")
}

// tool is the program as a tool.
func (p ownProgram) tool() (*tool.Tool, error) {
	schema := json.RawMessage(`{"type":"object"}`)
	if p.Schema != nil {
		raw, err := json.Marshal(p.Schema)
		if err != nil {
			return nil, fmt.Errorf("the schema of %s: %w", p.name, err)
		}
		schema = raw
	}
	about := p.About
	if about == "" {
		about = "A tool of the project's own."
	}
	return tool.Build(tool.Def[json.RawMessage, string]{
		Name: p.name, Description: about, InputSchema: schema, Text: func(text string) string { return text },
		Traits: tool.Traits[json.RawMessage]{Safe: func(json.RawMessage) bool { return p.Safe }},
		Call: func(ctx context.Context, in json.RawMessage, c *tool.Context) (tool.Result[string], error) {
			answer, err := p.ask(ctx, map[string]any{"tool": p.name, "call": c.CallID, "input": in})
			return tool.Result[string]{Data: answer.Text, Failed: answer.Failed}, err
		},
	})
}

// check has the program judge a run.
func (p ownProgram) check(ctx context.Context, out check.Result) error {
	var report bytes.Buffer
	if err := formatNamed("json").Write(&report, []check.Result{out}, reports.Options{}); err != nil {
		return err
	}
	answer, err := p.ask(ctx, map[string]any{"check": p.name, "report": json.RawMessage(report.Bytes())})
	if err == nil && answer.Failed {
		err = errors.New(answer.Text)
	}
	return err
}

// programAnswer is what a program writes: a text, and whether it is that of a failure.
type programAnswer struct {
	Text   string `json:"text"`
	Failed bool   `json:"failed"`
}

// ask starts the program with one line, and takes the line that it answers with.
func (p ownProgram) ask(ctx context.Context, request any) (answer programAnswer, err error) {
	line, err := json.Marshal(request)
	if err != nil {
		return answer, err
	}
	ctx, cancel := context.WithTimeout(ctx, programTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, p.Command[0], p.Command[1:]...)
	out, errs := &limitedBuffer{most: programBytes}, &limitedBuffer{most: programWords}
	cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = p.dir, bytes.NewReader(append(line, '\n')), out, errs, time.Second
	ran := cmd.Run()
	text := bytes.TrimSpace(out.Bytes())
	switch {
	case ctx.Err() != nil:
		return answer, fmt.Errorf("%s did not end within %s", p.name, programTime)
	case ran != nil:
		return answer, fmt.Errorf("%s: %w: %s", p.name, ran, bytes.TrimSpace(errs.Bytes()))
	}
	if err := json.Unmarshal(text, &answer); err != nil {
		return answer, fmt.Errorf(`%s answered %q, which is no line like {"text":"...","failed":false}`, p.name, text[:min(len(text), programWords)])
	}
	return answer, nil
}

// limitedBuffer keeps the beginning of what is written.
type limitedBuffer struct {
	bytes.Buffer
	most int
}

func (b *limitedBuffer) Write(p []byte) (int, error) {
	b.Buffer.Write(p[:min(len(p), max(0, b.most-b.Len()))])
	return len(p), nil
}
