package work

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"toolbench/toolsys/message"
	"toolbench/toolsys/tool"
)

// Why nothing is snipped.
const (
	CodeHalfRange = iota + 1
	CodeNothingThere
	CodeStays
)

// SnipIn is what Snip takes; without anything it lists what there is.
type SnipIn struct {
	IDs  []string `json:"ids,omitempty" jsonschema:"Messages (m3) and calls (their ids), as the list names them"`
	From string   `json:"from,omitempty" jsonschema:"The first message of a range (m2)"`
	To   string   `json:"to,omitempty" jsonschema:"The last message of the range (m9)"`
}

// SnipOut is what Snip answers with.
type SnipOut struct {
	// Messages and Calls are what this call took out, with about so many tokens.
	Messages []int    `json:"messages,omitempty"`
	Calls    []string `json:"calls,omitempty"`
	Tokens   int      `json:"tokens"`
	// List is what there is, where nothing was named.
	List string `json:"list,omitempty"`
}

// Snip takes earlier messages, and calls with their results, out of what is sent to the
// model (SPEC L). The transcript keeps them: only the state notes what is left out, and
// each request is made without it. What was asked last stays.
func Snip() *tool.Tool {
	return tool.Must(tool.Def[SnipIn, SnipOut]{
		Name:     "Snip",
		Describe: func(in SnipIn) string { return "Snip " + in.what() },
		Texts:    prompts.Of("snip"),
		Call:     snip,
		Text:     SnipOut.text,
		Validate: func(in SnipIn, c *tool.Context) *tool.Refusal {
			_, refusal := in.chosen(holding(c))
			return refusal
		},
		Permit: tool.Allows[SnipIn]("the context is the conversation's own, and the transcript keeps all"),
		Traits: tool.Traits[SnipIn]{Effects: changes[SnipIn]("context")},
		View:   tool.Titled("Snip", "Snipping the context", SnipIn.what),
	})
}

func (in SnipIn) what() string {
	what := slices.Clone(in.IDs)
	if in.From != "" || in.To != "" {
		what = append(what, in.From+" to "+in.To)
	}
	if len(what) == 0 {
		return "list"
	}
	return strings.Join(what, ", ")
}

func snip(_ context.Context, in SnipIn, c *tool.Context) (tool.Result[SnipOut], error) {
	all := holding(c)
	if len(in.IDs) == 0 && in.From == "" && in.To == "" {
		return tool.Done(SnipOut{List: listed(all)}), nil
	}
	snips, refusal := in.chosen(all)
	if refusal != nil {
		return tool.Result[SnipOut]{}, fmt.Errorf("%s", refusal.Message)
	}
	out := SnipOut{Messages: snips.Messages, Calls: tool.Each(snips.Calls, func(call message.CallAt) string { return call.ID })}
	for _, h := range all {
		whole := slices.Contains(snips.Messages, h.number)
		if whole && !h.snipped {
			out.Tokens += tokens(h.bytes)
		}
		for _, call := range h.calls {
			if (whole || slices.Contains(snips.Calls, message.CallAt{Message: h.number, ID: call.id})) && !call.snipped {
				out.Tokens += tokens(call.bytes())
			}
		}
	}
	return tool.Result[SnipOut]{Data: out, Modify: func(s tool.State) tool.State {
		s.Snipped = s.Snipped.Add(snips)
		return s
	}}, nil
}

// chosen is what an input names, or the reason why it cannot be snipped.
func (in SnipIn) chosen(all []held) (tool.Snips, *tool.Refusal) {
	var snips tool.Snips
	for _, id := range in.IDs {
		switch h, call := find(all, id); {
		case h == nil:
			return snips, missing(id, all)
		case call != nil:
			calls, kept := called(all, id)
			if kept != "" {
				return snips, stays(id, kept)
			}
			snips.Calls = append(snips.Calls, calls...)
		case h.kept != "":
			return snips, stays(id, h.kept)
		default:
			snips.Messages = append(snips.Messages, h.number)
		}
	}
	if in.From == "" && in.To == "" {
		return tool.Snips{}.Add(snips), nil
	}
	messages, refusal := in.span(all)
	return snips.Add(tool.Snips{Messages: messages}), refusal
}

// span is the range of an input, as numbers.
func (in SnipIn) span(all []held) ([]int, *tool.Refusal) {
	if in.From == "" || in.To == "" {
		return nil, &tool.Refusal{Message: "a range needs both its ends: give from and to, or ids alone", Code: CodeHalfRange}
	}
	ends := [2]int{}
	for i, id := range []string{in.From, in.To} {
		h, _ := find(all, id)
		if h == nil {
			return nil, missing(id, all)
		}
		ends[i] = h.number
	}
	if ends[0] > ends[1] {
		return nil, &tool.Refusal{Message: fmt.Sprintf("%s comes after %s; give the earlier one as from", in.From, in.To), Code: CodeHalfRange}
	}
	var messages []int
	for _, h := range all {
		switch {
		case h.number < ends[0] || h.number > ends[1]:
		case h.kept != "":
			return nil, stays(h.id(), h.kept)
		default:
			messages = append(messages, h.number)
		}
	}
	return messages, nil
}

// find looks a message up by its id, or the message of a call by that of the call.
func find(all []held, id string) (*held, *heldCall) {
	for i := range all {
		if all[i].id() == id {
			return &all[i], nil
		}
		for k := range all[i].calls {
			if all[i].calls[k].id == id {
				return &all[i], &all[i].calls[k]
			}
		}
	}
	return nil, nil
}

// called are the calls of an id, and the reason why one of them stays.
func called(all []held, id string) (calls []message.CallAt, kept string) {
	for _, h := range all {
		for _, call := range h.calls {
			if call.id == id {
				calls, kept = append(calls, message.CallAt{Message: h.number, ID: id}), cmp.Or(kept, call.kept)
			}
		}
	}
	return calls, kept
}

func missing(id string, all []held) *tool.Refusal {
	there := "there are no messages yet"
	if len(all) > 0 {
		there = fmt.Sprintf("the messages are %s to %s", all[0].id(), all[len(all)-1].id())
	}
	return &tool.Refusal{Message: fmt.Sprintf("there is no message or call %q; %s; call Snip without input to list them with their calls", message.Line(id, tool.SummaryChars), there), Code: CodeNothingThere}
}

func stays(id, why string) *tool.Refusal {
	return &tool.Refusal{Message: fmt.Sprintf("%s stays: %s", id, why), Code: CodeStays}
}

func (out SnipOut) text() string {
	if len(out.Messages)+len(out.Calls) == 0 {
		return out.List
	}
	var what []string
	if n := len(out.Messages); n > 0 {
		what = append(what, fmt.Sprintf("messages: %d", n))
	}
	if n := len(out.Calls); n > 0 {
		what = append(what, fmt.Sprintf("calls: %d", n))
	}
	return fmt.Sprintf("Snipped %s, about %d tokens less from the next request on. The transcript keeps them.", strings.Join(what, ", "), out.Tokens)
}
