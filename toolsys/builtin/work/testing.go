package work

import (
	"context"
	"fmt"
	"strings"

	"toolbench/toolsys/tool"
)

// MaxOverflow is the largest result that OverflowTest makes, in characters: more than a
// message may hold, and less than would be a burden to whoever runs the test.
const MaxOverflow = 1_000_000

// OverflowIn is what OverflowTest takes.
type OverflowIn struct {
	Chars int `json:"chars" minimum:"0" maximum:"1000000" jsonschema:"How many characters the result has"`
}

// OverflowTest gives a result of a size that is asked for, to test what becomes of
// results that are too large (SPEC K1, K2). The same size gives the same text, in which
// each line begins with its own place, so that a cut shows where it was made.
func OverflowTest() *tool.Tool {
	return tool.Must(tool.Def[OverflowIn, string]{
		Name:     "OverflowTest",
		Describe: func(in OverflowIn) string { return fmt.Sprintf("Make a result of %d characters", in.Chars) },
		Texts:    prompts.Of("overflow"),
		Call:     tool.Data(func(_ context.Context, in OverflowIn, _ *tool.Context) (string, error) { return filler(in.Chars), nil }),
		Permit:   tool.Allows[OverflowIn]("it makes a text and touches nothing"),
		Traits:   tool.Looks(tool.Class{}, func(OverflowIn, *tool.Context) []string { return nil }),
		View: tool.Titled("Overflow test", "Making a large result",
			func(in OverflowIn) string { return fmt.Sprintf("%d characters", in.Chars) }),
	})
}

// lineChars is the length of a line of filler, its line feed included.
const lineChars = 80

// filler is a text of n characters: lines that begin with how many characters stand
// before them.
func filler(n int) string {
	var b strings.Builder
	b.Grow(n + lineChars)
	for b.Len() < n {
		fmt.Fprintf(&b, "%07d %s\n", b.Len(), strings.Repeat(".", lineChars-9))
	}
	return b.String()[:n]
}

// TestingIn is what TestingPermission takes.
type TestingIn struct {
	Note string `json:"note,omitempty" maxLength:"200" jsonschema:"A text that the answer repeats, to tell calls apart"`
}

// TestingPermission does nothing, and asks a person before it does. No mode and no allow
// rule answers for that person: with it a test sees how a program asks, and how it takes
// the answer (SPEC F2).
func TestingPermission() *tool.Tool {
	return tool.Must(tool.Def[TestingIn, string]{
		Name:  "TestingPermission",
		Texts: prompts.Of("testingpermission"),
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
		View: tool.Titled("Permission test", "Testing the permission question",
			func(in TestingIn) string { return in.Note }),
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
