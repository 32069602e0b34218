package work

import (
	"context"
	_ "embed" // the prompt beside this file
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"toolbench/toolsys/message"
	"toolbench/toolsys/tool"
)

//go:embed repl.md
var replPrompt string

// ReplChars is the largest result of a REPL, in code points: that of a few of its calls.
const ReplChars = 100_000

// ReplIn is what REPL takes.
type ReplIn struct {
	Calls     []ReplCall `json:"calls" minItems:"1" maxItems:"50" jsonschema:"The calls to make, in order"`
	KeepGoing bool       `json:"keep_going,omitempty" jsonschema:"Go on after a call that failed"`
}

// ReplCall is one call within.
type ReplCall struct {
	Tool  string         `json:"tool" minLength:"1" jsonschema:"The name of the tool"`
	Input map[string]any `json:"input" jsonschema:"Its input"`
}

// ReplOut is what REPL answers with.
type ReplOut struct {
	Results []ReplResult `json:"results"`
	// Left are the calls that were not made.
	Left []string `json:"left,omitempty"`
}

// ReplResult is what came of one call.
type ReplResult struct {
	Tool   string          `json:"tool"`
	Status string          `json:"status"`
	Failed bool            `json:"failed,omitempty"`
	Blocks []message.Block `json:"-"`
}

// REPL makes a list of calls of the tools it wraps (SPEC C3, L). It allows itself, since each call within is
// decided upon by itself, and shows those calls in its place.
func REPL() *tool.Tool {
	return tool.Must(tool.Def[ReplIn, ReplOut]{
		Name:        "REPL",
		Hint:        "run several tool calls at once",
		Description: "Makes several calls of file and shell tools, one after the other.",
		Prompt:      tool.Prompt(replPrompt),
		Call:        repl,
		Block:       ReplOut.blocks,
		Permit:      tool.Allows[ReplIn]("each call within is decided upon by itself"),
		Traits: tool.Traits[ReplIn]{
			Destructive: tool.Always[ReplIn],
			OpenWorld:   tool.Always[ReplIn],
			Interrupt:   tool.Cancel,
			Wrapper:     true,
		},
		Limits: tool.Limits[ReplIn]{ResultChars: ReplChars},
		View: tool.View[ReplIn]{
			Summary:  ReplIn.tools,
			Activity: func(in ReplIn) string { return "Running " + in.tools() },
		},
	})
}

// tools names the tools that are called, in order, each once where it repeats.
func (in ReplIn) tools() string {
	var names []string
	for i, c := range in.Calls {
		if i == 0 || c.Tool != in.Calls[i-1].Tool {
			names = append(names, c.Tool)
		}
	}
	return strings.Join(names, ", ")
}

func repl(ctx context.Context, in ReplIn, c *tool.Context) (tool.Result[ReplOut], error) {
	if c.Inner == nil {
		return tool.Result[ReplOut]{}, errors.New("no calls can be made from here; make them one by one")
	}
	var calls []tool.InnerCall
	for _, call := range in.Calls {
		raw, err := json.Marshal(call.Input)
		if err != nil {
			return tool.Result[ReplOut]{}, fmt.Errorf("the input of %s is no JSON: %w", call.Tool, err)
		}
		calls = append(calls, tool.InnerCall{Tool: call.Tool, Input: raw})
	}
	var res tool.Result[ReplOut]
	report := c.Inner(ctx, calls, func(r tool.InnerResult) bool {
		res.Failed = res.Failed || r.Failed
		return in.KeepGoing || !r.Failed
	})
	for _, r := range report.Results {
		res.Data.Results = append(res.Data.Results, ReplResult(r))
	}
	for _, call := range in.Calls[len(report.Results):] {
		res.Data.Left = append(res.Data.Left, call.Tool)
	}
	res.Modify, res.Messages = report.Modify, report.Messages
	return res, nil
}

// blocks are the results, each under its number, and then what was not done.
func (out ReplOut) blocks() []message.Block {
	var all []message.Block
	for i, r := range out.Results {
		all = append(all, message.Text(fmt.Sprintf("[%d] %s: %s", i+1, r.Tool, r.Status)))
		all = append(all, r.Blocks...)
	}
	for i, name := range out.Left {
		all = append(all, message.Text(fmt.Sprintf("[%d] %s: not made, because a call before it failed", len(out.Results)+i+1, name)))
	}
	return all
}
