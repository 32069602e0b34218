package work

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"toolbench/toolsys/message"
	"toolbench/toolsys/tool"
)

// InspectIn is what CtxInspect takes.
type InspectIn struct {
	Top int `json:"top,omitempty" minimum:"1" maximum:"100" default:"10" jsonschema:"How many of the largest parts are listed"`
}

// InspectOut is what CtxInspect answers with: tokens by part, estimated at four bytes each.
type InspectOut struct {
	System   int `json:"system"`
	Tools    int `json:"tools"`
	Names    int `json:"names"`
	Messages int `json:"messages"`
	Calls    int `json:"calls"`
	Results  int `json:"results"`
	// Total is the sum of those, Window what the model takes, Snipped what is not sent.
	Total   int `json:"total"`
	Window  int `json:"window"`
	Snipped int `json:"snipped"`
	// Largest are the messages and calls that could be snipped, the largest first.
	Largest []Part `json:"largest"`
}

// Part is a message or a call that could be snipped.
type Part struct {
	ID     string `json:"id"`
	What   string `json:"what"`
	Tokens int    `json:"tokens"`
}

// CtxInspect shows what fills the context: tokens by part, and the largest parts that
// could be taken out (SPEC L).
func CtxInspect() *tool.Tool {
	return tool.Must(tool.Def[InspectIn, InspectOut]{
		Name:  "CtxInspect",
		Texts: prompts.Of("ctxinspect"),
		Call: tool.Data(func(_ context.Context, in InspectIn, c *tool.Context) (InspectOut, error) {
			if c.Overhead == nil {
				return InspectOut{}, errors.New("there is no conversation here to look into")
			}
			return inspect(c, cmp.Or(in.Top, 10)), nil
		}),
		Text:   InspectOut.text,
		Permit: tool.Allows[InspectIn]("it looks at the conversation's own context"),
		Traits: tool.Looks(tool.Class{Read: true}, func(InspectIn, *tool.Context) []string { return []string{"context"} }),
		View:   tool.Titled[InspectIn]("Context", "Looking at the context", nil),
	})
}

func inspect(c *tool.Context, top int) InspectOut {
	o := c.Overhead()
	out := InspectOut{System: tokens(o.System), Tools: tokens(o.Tools), Names: tokens(o.Names), Window: o.Window, Largest: []Part{}}
	for _, h := range holding(c) {
		out.count(h)
	}
	out.Total = out.System + out.Tools + out.Names + out.Messages + out.Calls + out.Results
	slices.SortStableFunc(out.Largest, func(a, b Part) int { return cmp.Compare(b.Tokens, a.Tokens) })
	out.Largest = out.Largest[:min(top, len(out.Largest))]
	return out
}

// count adds a message to the parts.
func (out *InspectOut) count(h held) {
	if h.snipped {
		out.Snipped += tokens(h.bytes)
	} else {
		out.Messages += tokens(h.bytes)
	}
	if !h.snipped && h.kept == "" && h.bytes > 0 {
		out.Largest = append(out.Largest, Part{h.id(), h.role + ": " + message.Line(h.text, tool.SummaryChars), tokens(h.bytes)})
	}
	for _, call := range h.calls {
		if call.snipped {
			out.Snipped += tokens(call.bytes())
			continue
		}
		out.Calls += tokens(call.input)
		out.Results += tokens(call.result)
		if call.kept == "" {
			out.Largest = append(out.Largest, Part{call.id, call.what(), tokens(call.bytes())})
		}
	}
}

func (out InspectOut) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "About %d of %d tokens (%d %%), at four bytes a token:\n", out.Total, out.Window, 100*out.Total/max(1, out.Window))
	for _, part := range []struct {
		name   string
		tokens int
	}{
		{"system prompt", out.System}, {"tools", out.Tools}, {"names of deferred tools", out.Names},
		{"messages", out.Messages}, {"calls", out.Calls}, {"results", out.Results}, {"snipped, not sent", out.Snipped},
	} {
		fmt.Fprintf(&b, "%8d  %s\n", part.tokens, part.name)
	}
	if len(out.Largest) == 0 {
		return b.String() + "Nothing can be snipped.\n"
	}
	b.WriteString("Largest parts that can be snipped:\n")
	for _, p := range out.Largest {
		fmt.Fprintf(&b, "%8d  %s %s\n", p.Tokens, p.ID, p.What)
	}
	return b.String()
}
