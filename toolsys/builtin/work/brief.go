package work

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"toolbench/toolsys/tool"
)

// BriefIn is what Brief takes.
type BriefIn struct {
	Message string `json:"message" minLength:"1" jsonschema:"What the user is to read, in Markdown"`
	Status  string `json:"status,omitempty" enum:"normal,proactive" default:"normal" jsonschema:"proactive for what the user did not ask for"`
}

// BriefOut is what Brief answers with.
type BriefOut struct {
	Message string `json:"message"`
	Status  string `json:"status"`
	// From is the agent whose message it is; empty for the main conversation.
	From string `json:"from,omitempty"`
}

// CodeBlank refuses a message of nothing but spaces.
const CodeBlank = 1

// Brief shows the user a message while the work goes on (SPEC L). It changes nothing but
// the user's screen, so it allows itself in every mode.
func Brief() *tool.Tool {
	return tool.Must(tool.Def[BriefIn, BriefOut]{
		Name:        "Brief",
		Coordinates: true,
		Texts:       prompts.Of("brief"),
		Call:        tool.Data(brief),
		Text:        func(BriefOut) string { return "The user has the message." },
		Validate: func(in BriefIn, _ *tool.Context) *tool.Refusal {
			if strings.TrimSpace(in.Message) == "" {
				return &tool.Refusal{Message: "the message is blank; write what the user is to read", Code: CodeBlank}
			}
			return nil
		},
		Permit: tool.Allows[BriefIn]("it only shows the user a message"),
		Traits: tool.Traits[BriefIn]{ReadOnly: tool.Always[BriefIn], Effects: writes[BriefIn]("user")},
		View:   tool.Titled("Message", "Writing to the user", func(in BriefIn) string { return firstLine(in.Message) }),
	})
}

func brief(_ context.Context, in BriefIn, c *tool.Context) (BriefOut, error) {
	if c.Notify == nil {
		return BriefOut{}, errors.New("nobody is there to read it; put it into your last message")
	}
	out := BriefOut{Message: in.Message, Status: cmp.Or(in.Status, "normal"), From: c.AgentID}
	text := out.Message
	if out.From != "" {
		text = out.From + ": " + text
	}
	c.Notify(text)
	return out, nil
}
