package work

import (
	"context"
	_ "embed" // the prompt beside this file
	"fmt"
	"strings"

	"toolbench/toolsys/tool"
)

//go:embed overflow.md
var overflowPrompt string

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
		Name:        "OverflowTest",
		Hint:        "make a result of a given size",
		Description: "Gives a result of a size that is asked for, to test the budget of results.",
		Describe:    func(in OverflowIn) string { return fmt.Sprintf("Make a result of %d characters", in.Chars) },
		Prompt:      tool.Prompt(overflowPrompt),
		Call: tool.Data(func(_ context.Context, in OverflowIn, _ *tool.Context) (string, error) {
			return filler(in.Chars), nil
		}),
		Permit: tool.Allows[OverflowIn]("it makes a text and touches nothing"),
		Traits: tool.Looks(tool.Class{}, func(OverflowIn, *tool.Context) []string { return nil }),
		View: tool.View[OverflowIn]{
			Title:    func(OverflowIn) string { return "Overflow test" },
			Summary:  func(in OverflowIn) string { return fmt.Sprintf("%d characters", in.Chars) },
			Activity: func(OverflowIn) string { return "Making a large result" },
		},
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
