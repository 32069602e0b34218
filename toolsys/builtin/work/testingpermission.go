package work

import (
	"context"
	_ "embed" // the prompt beside this file

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
		Call: tool.Data(func(_ context.Context, in TestingIn, _ *tool.Context) (string, error) {
			if in.Note == "" {
				return "The user allowed it.", nil
			}
			return "The user allowed it: " + in.Note, nil
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
