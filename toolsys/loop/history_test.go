package loop_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	_ "toolbench/property/seeded"
	"toolbench/toolsys/loop"
	"toolbench/toolsys/message"
	"toolbench/toolsys/pool"
	"toolbench/toolsys/search"
	"toolbench/toolsys/tool"
	"toolbench/toolsys/trace"
)

// refused lists what an API refuses of a request: tools of one name, references to
// tools that it does not have, calls and results that do not stand side by side.
func refused(req message.Request) (bad []string) {
	seen := map[string]bool{}
	for _, name := range toolNames(req) {
		if seen[name] {
			bad = append(bad, "two tools are named "+name)
		}
		seen[name] = true
	}
	raw, err := json.Marshal(req.Messages)
	if err != nil {
		return append(bad, err.Error())
	}
	for _, part := range strings.Split(string(raw), `"tool_reference","tool_name":"`)[1:] {
		if name, _, _ := strings.Cut(part, `"`); !seen[name] {
			bad = append(bad, "a reference to "+name+", which is not there")
		}
	}
	if n := strings.Count(string(raw), `"type":"image"`); n > 100 {
		bad = append(bad, fmt.Sprintf("%d images", n))
	}
	for i, m := range req.Messages {
		var next message.Message
		if i+1 < len(req.Messages) {
			next = req.Messages[i+1]
		}
		for _, c := range m.Calls() {
			if n := answers(next, c.ID); n != 1 {
				bad = append(bad, fmt.Sprintf("call %s has %d results behind it", c.ID, n))
			}
		}
		for _, r := range m.Results() {
			if i == 0 || !slices.ContainsFunc(req.Messages[i-1].Calls(), func(c message.Block) bool { return c.ID == r.ToolUseID }) {
				bad = append(bad, "result "+r.ToolUseID+" has no call before it")
			}
		}
	}
	return bad
}

func answers(m message.Message, id string) (n int) {
	for _, r := range m.Results() {
		if r.ToolUseID == id {
			n++
		}
	}
	return n
}

// served is a tool that a server brings.
func served(server, name string) *tool.Tool {
	t := named(name, func(d *def) { d.Origin, d.Loading.Deferrable = &tool.Origin{Server: server, Tool: name}, true })
	return t
}

// finder is a search that finds what it is told to, as references.
func finder() *tool.Tool {
	return tool.Must(tool.Def[in, []string]{
		Name: search.ToolName, Description: "Finds tools.", Traits: tool.Traits[in]{ReadOnly: tool.Always[in], Safe: tool.Always[in]},
		Call: func(_ context.Context, in in, _ *tool.Context) (tool.Result[[]string], error) {
			names := strings.Fields(in.Text)
			return tool.Result[[]string]{Data: names, Observed: []tool.Observation{{Discovered: names}}}, nil
		},
		Block: func(names []string) (refs []message.Block) {
			for _, n := range names {
				refs = append(refs, message.ToolReference(n))
			}
			return refs
		},
	})
}

// A tool that left the pool is not referred to any more, though the history keeps the
// reference; when it comes back it is referred to again.
func TestAReferenceToAToolThatLeftIsNotSent(t *testing.T) {
	for _, style := range []pool.Style{pool.Names, pool.Hints, pool.API} {
		s := &script{turns: []turn{calls("ToolSearch mcp__a__x"), calls("Look"), calls("Look"), says("done")}}
		request := 0
		r := open(t, s, func(c *loop.Config) {
			c.Style = style
			c.Served = func(context.Context) tool.Served {
				if request++; request == 3 { // the third request: the second was made with it
					return tool.Served{}
				}
				return tool.Served{Tools: []*tool.Tool{served("a", "mcp__a__x")}}
			}
		}, named("Look", nil), finder())
		r.send(t)
		sent := make([]string, len(s.requests))
		for i, req := range s.requests {
			assert.Empty(t, refused(req), "style %d, request %d", style, i+1)
			raw, err := json.Marshal(req.Messages)
			require.NoError(t, err)
			sent[i] = string(raw)
		}
		assert.Contains(t, sent[2], "The tool mcp__a__x is not available any more.", "style %d", style)
		assert.Equal(t, style == pool.API, strings.Contains(sent[1], `"tool_reference"`))
		assert.Equal(t, style == pool.API, strings.Contains(sent[3], `"tool_reference"`))
		assert.Equal(t, []string{"mcp__a__x"}, r.State().Discovered)
	}
}

// Whatever is called, found, served, cut away or was there before: no request is one
// that an API refuses.
func TestNoRequestIsRefused(t *testing.T) {
	pieces := []string{"mcp__a__x", "mcp__b__y", "Look", "Nothing"}
	rapid.Check(t, func(rt *rapid.T) {
		s := &script{}
		for range rapid.IntRange(1, 6).Draw(rt, "turns") {
			specs := rapid.SliceOfN(rapid.SampledFrom(append([]string{"ToolSearch mcp__a__x", "ToolSearch mcp__b__y Nothing"}, pieces...)), 1, 3).Draw(rt, "calls")
			s.turns = append(s.turns, calls(specs...))
		}
		s.turns = append(s.turns, says("done"))
		renumber(s.turns)
		r := open(t, s, func(c *loop.Config) {
			c.Style = rapid.SampledFrom([]pool.Style{pool.Names, pool.Hints, pool.API}).Draw(rt, "style")
			c.Served = func(context.Context) tool.Served {
				var all []*tool.Tool
				for range rapid.IntRange(0, 4).Draw(rt, "served") {
					all = append(all, served(rapid.SampledFrom([]string{"a", "b"}).Draw(rt, "server"), rapid.SampledFrom(pieces).Draw(rt, "name")))
				}
				return tool.Served{Tools: all}
			}
			c.Compact = func(context.Context, []message.Message) (loop.Summary, bool, error) {
				return loop.Summary{Text: "Summary.", Keep: rapid.IntRange(-1, 6).Draw(rt, "keep")}, rapid.IntRange(0, 2).Draw(rt, "cut") == 0, nil
			}
			if rapid.Bool().Draw(rt, "history") {
				c.History = []message.Message{
					message.UserText("before"),
					{Role: message.Assistant, Content: []message.Block{{Type: message.TypeToolUse, ID: "old", Name: "Look", Input: json.RawMessage(`{}`)}}},
				}
			}
		}, named("Look", nil), finder())
		r.send(rt)
		for i, req := range s.requests {
			if bad := refused(req); len(bad) > 0 {
				rt.Fatalf("request %d: %v", i+1, bad)
			}
		}
	})
}

// renumber gives the calls of all turns ids of their own.
func renumber(turns []turn) {
	for n, t := range turns {
		for i := range t {
			t[i] = strings.ReplaceAll(t[i], `"id":"c`, fmt.Sprintf(`"id":"t%d_`, n))
		}
	}
}

// A session that was killed while a call ran is opened again: the call has one result,
// which states that it is not known whether it ran.
func TestAKilledSessionIsOpenedAgain(t *testing.T) {
	s := &script{turns: []turn{says("done")}}
	r := open(t, s, func(c *loop.Config) {
		c.History = []message.Message{
			message.UserText("go"),
			{Role: message.Assistant, Content: []message.Block{{Type: message.TypeToolUse, ID: "pay", Name: "Pay", Input: json.RawMessage(`{}`)}}},
		}
	}, named("Look", nil))
	r.send(t)
	require.Empty(t, refused(s.requests[0]))
	require.Len(t, s.requests[0].Messages, 3)
	assert.Contains(t, message.PlainText(s.requests[0].Messages[2].Results()[0].Content), "Whether it ran, and what it did, is not known.")
	assert.Equal(t, []string{"call pay of the history had no result"}, r.kinds(trace.KindNotice, "text"))
}

// An image is one of n pixels on a side.
func imageOf(n int) message.Block {
	var b bytes.Buffer
	_ = png.Encode(&b, image.NewGray(image.Rect(0, 0, n, 1)))
	return message.Image("image/jpeg", base64.StdEncoding.EncodeToString(b.Bytes()))
}

// An API takes 100 images in a request, none of them too large and each with its own type, whoever
// handed them in: the tools, the user, or the transcript of another program.
func TestImagesOfWhateverOriginAreTaken(t *testing.T) {
	shoot := named("Shoot", func(d *def) {
		d.Block = func(string) []message.Block { return slices.Repeat([]message.Block{imageOf(3)}, 40) }
	})
	s := &script{turns: []turn{calls("Shoot"), calls("Shoot"), calls("Shoot"), says("done")}}
	renumber(s.turns)
	r := open(t, s, func(c *loop.Config) {
		c.History = []message.Message{
			{Role: message.User, Content: []message.Block{imageOf(4_000)}},
			{Role: message.Assistant, Content: []message.Block{{Type: message.TypeToolUse, ID: "old", Name: "Shoot", Input: json.RawMessage(`{}`)}}},
			{Role: message.User, Content: []message.Block{message.ToolResult("old", false, imageOf(5_000))}},
		}
	}, shoot)
	_, err := r.Send(t.Context(), message.Message{Role: message.User, Content: []message.Block{imageOf(6_000)}})
	require.NoError(t, err)
	for i, req := range s.requests {
		assert.Empty(t, refused(req), "request %d", i+1)
	}
	sent := func(i int) string {
		raw, err := json.Marshal(s.requests[i].Messages)
		require.NoError(t, err)
		return string(raw)
	}
	assert.NotContains(t, sent(0), "image/jpeg")
	for _, n := range []int{4_000, 5_000, 6_000} {
		assert.Contains(t, sent(0), fmt.Sprintf("[The image has %d by 1 pixels and is shown with 2000 by 1.]", n))
	}
	assert.NotContains(t, sent(2), "are left out")
	assert.Equal(t, 51, strings.Count(sent(3), "the oldest are left out"), "half of the room was made free")
	assert.Equal(t, []string{"a request has no room for all images and documents: the 51 oldest are left out"}, r.kinds(trace.KindNotice, "text"))
}

// A transcript that another model goes on with has no thoughts of the one before.
func TestAnotherModelGoesOnWithATranscript(t *testing.T) {
	thought := turn{
		beginning, `{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"Hm.","signature":"c2ln"}}`, `{"type":"content_block_stop","index":0}`,
		`{"type":"content_block_start","index":1,"content_block":{"type":"text","text":"Yes."}}`, `{"type":"content_block_stop","index":1}`,
		`{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":5}}`, `{"type":"message_stop"}`,
	}
	var journal bytes.Buffer
	open(t, &script{turns: []turn{thought}}, func(c *loop.Config) { c.Journal = loop.WriteJournal(&journal) }, named("Look", nil)).send(t)
	entries, err := loop.ReadJournal(&journal)
	require.NoError(t, err)
	for model, kept := range map[string]bool{"claude-sonnet-4-5": true, "claude-opus-4-5": false} {
		s := &script{turns: []turn{says("done")}}
		open(t, s, func(c *loop.Config) {
			c.ModelName = model
			c.History, c.Reader = loop.Reopen(entries)
		}, named("Look", nil)).send(t)
		raw, err := json.Marshal(s.requests[0].Messages)
		require.NoError(t, err)
		assert.Equal(t, kept, strings.Contains(string(raw), "Hm."), model)
		assert.Contains(t, string(raw), "Yes.")
	}
}

// However many calls a message has, one whose id is taken is dropped: it could not be
// answered apart from the first (H2).
func TestACallWhoseIDIsTakenIsDropped(t *testing.T) {
	for _, n := range []int{3, 40} {
		again := slices.Clone(many(n))
		for i, e := range again {
			again[i] = strings.ReplaceAll(e, fmt.Sprintf(`"id":"c%d"`, n-1), `"id":"c1"`)
		}
		s := &script{turns: []turn{again, says("done")}}
		r := open(t, s, nil, look())
		assert.Equal(t, n-1, r.send(t).Calls)
		assert.Len(t, r.History()[1].Content, n-1, "the message is sent back without it")
	}
}
