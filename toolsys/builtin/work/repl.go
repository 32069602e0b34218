package work

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"toolbench/toolsys/message"
	"toolbench/toolsys/tool"
)

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
	// Left are the calls that were not made, with their labels.
	Left []string `json:"left,omitempty"`
}

// ReplResult is what came of one call.
type ReplResult struct {
	// Label is the call's number, or the name of the step that it is.
	Label  string          `json:"label"`
	Tool   string          `json:"tool"`
	Status string          `json:"status"`
	Failed bool            `json:"failed,omitempty"`
	Blocks []message.Block `json:"-"`
}

// REPL makes a list of calls of the tools it wraps (SPEC C3, L). It allows itself, since each call within is
// decided upon by itself, and shows those calls in its place.
func REPL() *tool.Tool {
	return tool.Must(tool.Def[ReplIn, ReplOut]{
		Name:   "REPL",
		Texts:  prompts.Of("repl"),
		Call:   repl,
		Block:  ReplOut.blocks,
		Permit: tool.Allows[ReplIn]("each call within is decided upon by itself"),
		Traits: tool.Traits[ReplIn]{
			Destructive: tool.Always[ReplIn],
			OpenWorld:   tool.Always[ReplIn],
			Interrupt:   tool.Cancel,
			Wrapper:     true,
		},
		Limits: tool.Limits[ReplIn]{ResultChars: ReplChars},
		View:   tool.Doing("REPL", "Running ", ReplIn.tools),
		Draw:   tool.Drawing[ReplIn, ReplOut]{Use: drawCalls},
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
	report := c.Inner(ctx, func(done []tool.InnerResult) (tool.InnerCall, bool) {
		n := len(done)
		if n == len(in.Calls) || n > 0 && done[n-1].Failed && !in.KeepGoing {
			return tool.InnerCall{}, false
		}
		raw, _ := json.Marshal(in.Calls[n].Input) // it was read from JSON
		return tool.InnerCall{Tool: in.Calls[n].Tool, Input: raw}, true
	})
	res := tool.Result[ReplOut]{Modify: report.Modify, Messages: report.Messages}
	for i, call := range in.Calls {
		res.Failed = res.Data.add(report, i, strconv.Itoa(i+1), call.Tool) || res.Failed
	}
	return res, nil
}

// add takes what came of one call in, under its label, and reports whether it failed.
func (out *ReplOut) add(report tool.InnerReport, i int, label, name string) bool {
	if i >= len(report.Results) {
		out.Left = append(out.Left, fmt.Sprintf("[%s] %s", label, name))
		return false
	}
	r := report.Results[i]
	out.Results = append(out.Results, ReplResult{label, r.Tool, r.Status, r.Failed, r.Blocks})
	return r.Failed
}

// blocks are the results, each under its label, and then what was not done.
func (out ReplOut) blocks() []message.Block {
	var all []message.Block
	for _, r := range out.Results {
		all = append(all, message.Text(fmt.Sprintf("[%s] %s: %s", r.Label, r.Tool, r.Status)))
		all = append(all, r.Blocks...)
	}
	return append(all, tool.Each(out.Left, func(name string) message.Block {
		return message.Text(name + ": not made, because a call before it failed")
	})...)
}
