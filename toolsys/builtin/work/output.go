package work

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"

	"toolbench/toolsys/tool"
)

// SyntheticOutput takes the answer of a conversation in the form that the caller of the
// session asked for (SPEC L, C3). Here it takes any object; a session puts its caller's
// schema in the place of that, and only where it does so is the tool offered. The last
// call counts, so that an answer can be mended.
func SyntheticOutput() *tool.Tool {
	return tool.Must(tool.Def[json.RawMessage, string]{
		Name:        "SyntheticOutput",
		Coordinates: true,
		Texts:       prompts.Of("output"),
		InputSchema: json.RawMessage(`{"type":"object"}`),
		Call:        giveOutput,
		Permit:      tool.Allows[json.RawMessage]("the answer is the conversation's own"),
		Traits:      tool.Traits[json.RawMessage]{Effects: writes[json.RawMessage]("output")},
		View:        tool.Titled("Answer", "Giving the answer", func(in json.RawMessage) string { return string(in) }),
	})
}

// giveOutput leaves the answer in the state, without the spaces between its members.
func giveOutput(_ context.Context, in json.RawMessage, c *tool.Context) (tool.Result[string], error) {
	var answer bytes.Buffer
	if err := json.Compact(&answer, in); err != nil {
		return tool.Result[string]{}, err
	}
	text := "The answer is taken" + map[bool]string{true: " in place of the one before"}[c.State.Output != nil] + ". End here, unless something is left to be done."
	return tool.Result[string]{Data: text, Modify: func(s tool.State) tool.State {
		s.Output = slices.Clone(answer.Bytes())
		return s
	}}, nil
}
