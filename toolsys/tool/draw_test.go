package tool_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/toolsys/message"
	"toolbench/toolsys/render"
	"toolbench/toolsys/tool"
)

type drawIn struct {
	Path string `json:"path"`
	Many bool   `json:"many,omitempty"`
}

type drawOut struct{ Lines []string }

// drawing builds a tool with what a test adds to its definition.
func drawing(t *testing.T, with func(*tool.Def[drawIn, drawOut])) *tool.Tool {
	t.Helper()
	d := tool.Def[drawIn, drawOut]{
		Name: "Look", Description: "Looks.",
		Call: func(context.Context, drawIn, *tool.Context) (tool.Result[drawOut], error) {
			return tool.Result[drawOut]{}, nil
		},
		View: tool.View[drawIn]{Summary: func(in drawIn) string { return in.Path }, Activity: func(in drawIn) string { return "Looking at " + in.Path }},
	}
	with(&d)
	built, err := tool.Build(d)
	require.NoError(t, err)
	return built
}

func text(nodes []render.Node) string { return render.String(nodes, false) }

// What a tool leaves out is drawn from its name, summary, activity, class and result (M1).
func TestACallIsShownWithoutADrawing(t *testing.T) {
	plain := drawing(t, func(*tool.Def[drawIn, drawOut]) {})
	in := plain.Partly(json.RawMessage(`{"path":"a.go","many":tr`))
	assert.Equal(t, "Look(a.go)", render.SpanText(plain.Head(in, false)))
	assert.Equal(t, "Looking at a.go", render.SpanText(plain.Head(in, true)))
	assert.Empty(t, plain.Draw.Use(in), "the summary has it all")
	more := plain.Partly(json.RawMessage(`{"path":"a.go","many":true}`))
	assert.Empty(t, text(plain.Draw.Use(more)))
	assert.Equal(t, "path: a.go\nmany: true", render.String(plain.Draw.Use(more), true))
	assert.Equal(t, "waiting", text(plain.Draw.Queued(in)))
	assert.Equal(t, "3\n4\n5\n6\n7", text(plain.Draw.Progress(in, []string{"1", "2", "3\n4", "5", "6", "7"})))
	answer := tool.Outcome[any]{Text: "1\n2\n3\n4\n5\n6\n7\n8"}
	assert.Equal(t, "1\n2\n3\n4\n5\n6\n… 2 more lines", text(plain.Draw.Result(in, answer)))
	assert.True(t, plain.Truncated(in, answer))
	assert.False(t, plain.Truncated(in, tool.Outcome[any]{Text: "short"}))
	assert.Equal(t, answer.Text, plain.Draw.Search(in, answer))
	assert.Equal(t, "(no output)", text(plain.Draw.Result(in, tool.Outcome[any]{})))
	assert.Equal(t, "[image/png, 3 bytes]", text(plain.Draw.Result(in, tool.Outcome[any]{Blocks: []message.Block{message.Image("image/png", "AAAA")}})))
	assert.Equal(t, "no", text(plain.Draw.Rejected(in, tool.Outcome[any]{Text: "no"})))
	assert.Equal(t, "broke", text(plain.Draw.Error(in, tool.Outcome[any]{Text: "broke"})))
	assert.Empty(t, plain.Draw.Tag(in))
	calls := []tool.Called[tool.Input, any]{{In: in}, {In: in}}
	assert.Nil(t, plain.Draw.Grouped(calls))

	reader := drawing(t, func(d *tool.Def[drawIn, drawOut]) {
		d.Traits.Class = func(drawIn) tool.Class { return tool.Class{Read: true} }
	})
	assert.Equal(t, "Read 8 lines", text(reader.Draw.Result(in, answer)), "a reading folds")
	assert.Equal(t, "Look ×2 a.go, a.go", text(reader.Draw.Grouped(calls)))
}

// A drawing that panics breaks nothing: it is reported, and what stands in for it is
// drawn (A5).
func TestADrawingThatPanicsIsStoodInFor(t *testing.T) {
	bad := drawing(t, func(d *tool.Def[drawIn, drawOut]) {
		nodes := func(drawIn) []render.Node { panic("broken") }
		outcome := func(drawIn, tool.Outcome[drawOut]) []render.Node { panic("broken") }
		d.Draw = tool.Drawing[drawIn, drawOut]{
			Use: nodes, Queued: nodes, Result: outcome, Rejected: outcome, Error: outcome,
			Progress: func(drawIn, []string) []render.Node { panic("broken") },
			Tag:      func(drawIn) string { panic("broken") },
			Grouped:  func([]tool.Called[drawIn, drawOut]) []render.Node { panic("broken") },
			Search:   func(drawIn, tool.Outcome[drawOut]) string { panic("broken") },
		}
	})
	var broke []string
	in := bad.Partly(json.RawMessage(`{"path":"a","many":true}`)).Reporting(func(member string, _ error) { broke = append(broke, member) })
	answer := tool.Outcome[any]{Text: "text"}
	assert.Equal(t, "path: a\nmany: true", render.String(bad.Draw.Use(in), true))
	assert.Equal(t, "waiting", text(bad.Draw.Queued(in)))
	assert.Equal(t, "at it", text(bad.Draw.Progress(in, []string{"at it"})))
	assert.Equal(t, "text", text(bad.Draw.Result(in, answer)))
	assert.Equal(t, "text", text(bad.Draw.Rejected(in, answer)))
	assert.Equal(t, "text", text(bad.Draw.Error(in, answer)))
	assert.Empty(t, bad.Draw.Tag(in))
	assert.Nil(t, bad.Draw.Grouped([]tool.Called[tool.Input, any]{{In: in, Outcome: answer}}))
	assert.Equal(t, "text", bad.Draw.Search(in, answer))
	assert.Equal(t, "draw use,draw queued,draw progress,draw result,draw rejected,draw error,draw tag,draw grouped,draw result,draw search", strings.Join(broke, ","))
}

// A tool's own drawing has the typed data where they are known; words that it would have
// found and does not draw are not found (M2).
func TestADrawingHasTheDataThatAreKnown(t *testing.T) {
	own := drawing(t, func(d *tool.Def[drawIn, drawOut]) {
		d.Draw.Result = func(_ drawIn, o tool.Outcome[drawOut]) []render.Node {
			if !o.Known {
				return nil
			}
			return []render.Node{render.Words("drawn "+strings.Join(o.Data.Lines, " "), render.Plain)}
		}
		d.Draw.Search = func(drawIn, tool.Outcome[drawOut]) string { return "one phantom two" }
	})
	in := own.Partly(nil)
	known := tool.Outcome[any]{Data: drawOut{Lines: []string{"one", "two"}}, Known: true, Text: "text"}
	assert.Equal(t, "drawn one two", text(own.Draw.Result(in, known)))
	assert.Equal(t, "one two", own.Draw.Search(in, known))
	assert.Equal(t, "text", text(own.Draw.Result(in, tool.Outcome[any]{Text: "text"})))
	assert.Equal(t, "text", text(own.Draw.Result(in, tool.Outcome[any]{Text: "text", Data: 7, Known: true})), "data of another type")
}
