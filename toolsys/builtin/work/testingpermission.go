package work

import (
	"context"
	_ "embed" // the prompt beside this file
	"fmt"
	"strings"

	"toolbench/toolsys/tool"
)

//go:embed testingpermission.md
var testingPrompt string

// TestingIn is what TestingPermission takes.
type TestingIn struct {
	Note string `json:"note,omitempty" maxLength:"200" jsonschema:"A text that the answer repeats, to tell calls apart"`
}

// TestingPermission does nothing, and asks a person before it does. No mode and no allow
// rule answers for that person: with it a test sees how a program asks, and how it takes
// the answer (SPEC F2).
func TestingPermission() *tool.Tool {
	return tool.Must(tool.Def[TestingIn, string]{
		Name:        "TestingPermission",
		Hint:        "test the permission question",
		Description: "Does nothing, after the user was asked.",
		Prompt:      tool.Prompt(testingPrompt),
		Call: tool.Data(func(_ context.Context, in TestingIn, c *tool.Context) (string, error) {
			text := "The user allowed it."
			if in.Note != "" {
				text = "The user allowed it: " + in.Note
			}
			return text + decisions(c), nil
		}),
		Permit: tool.Asks[TestingIn]("this is a test of the question; allow it?"),
		Traits: tool.Traits[TestingIn]{
			NeedsUser: tool.Always[TestingIn], ReadOnly: tool.Always[TestingIn], Interrupt: tool.Cancel,
			Effects: func(TestingIn, *tool.Context) tool.Effects { return tool.Effects{} },
		},
		View: tool.View[TestingIn]{
			Title:    func(TestingIn) string { return "Permission test" },
			Summary:  func(in TestingIn) string { return in.Note },
			Activity: func(TestingIn) string { return "Testing the permission question" },
		},
	})
}

// decisions lists what was decided before, a line each, with the reason.
func decisions(c *tool.Context) string {
	if c.Decisions == nil {
		return ""
	}
	var b strings.Builder
	for i, d := range c.Decisions() {
		if i == 0 {
			b.WriteString("\nDecided before:")
		}
		word := "denied"
		if d.Allowed {
			word = "allowed"
		}
		fmt.Fprintf(&b, "\n- %s %s: %s (%s)", d.Tool, d.Call, word, d.Reason)
	}
	return b.String()
}
