package builtin_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	_ "toolbench/property/seeded"
	"toolbench/reports"
	"toolbench/toolsys/builtin"
	"toolbench/toolsys/builtin/file"
	"toolbench/toolsys/builtin/shell"
	"toolbench/toolsys/builtin/web"
	"toolbench/toolsys/builtin/work"
	"toolbench/toolsys/message"
	"toolbench/toolsys/pool"
	"toolbench/toolsys/render"
	"toolbench/toolsys/tool"
)

// everyTool are the built-in tools.
func everyTool(t *testing.T) []*tool.Tool {
	t.Helper()
	kit, err := builtin.All(builtin.Deps{FS: afero.NewMemMapFs(), Agents: []work.AgentType{{Name: "explore"}}})(pool.Host{ResultsDir: "/results", Inbox: tool.NewInbox(tool.Clock{}, nil), Work: &tool.WorkList{}})
	require.NoError(t, err)
	var all []*tool.Tool
	for _, e := range kit.Entries {
		all = append(all, e.Tool)
	}
	require.GreaterOrEqual(t, len(all), 55)
	return all
}

// Every tool draws a call in each state, and from every beginning of its input (M1).
func TestEveryToolIsShown(t *testing.T) {
	for _, tl := range everyTool(t) {
		t.Run(tl.Name, func(t *testing.T) {
			sample := samples[tl.Name]
			require.NotEmpty(t, sample)
			in, problems := tl.Parse(json.RawMessage(sample))
			require.Empty(t, problems)
			in = in.Reporting(func(member string, err error) { t.Errorf("%s: %s", member, err) })
			assert.NotEmpty(t, render.SpanText(tl.Head(in, false)))
			assert.NotEmpty(t, render.SpanText(tl.Head(in, true)))
			answer := tool.Outcome[any]{Text: "what came\nof it"}
			for state, nodes := range map[string][]render.Node{
				"queued": tl.Draw.Queued(in), "progress": tl.Draw.Progress(in, []string{"at it"}), "result": tl.Draw.Result(in, answer),
				"rejected": tl.Draw.Rejected(in, answer), "error": tl.Draw.Error(in, answer),
			} {
				assert.NotEmpty(t, strings.TrimSpace(render.String(nodes, false)), state)
			}
			assert.Contains(t, render.String(tl.Draw.Rejected(in, answer), true), "what came")
			assert.Contains(t, render.String(tl.Draw.Error(in, answer), true), "what came")
			for n := range len(sample) {
				part := tl.Partly(json.RawMessage(sample[:n])).Reporting(func(member string, err error) { t.Errorf("%s of %s: %s", member, sample[:n], err) })
				tl.Head(part, true)
				tl.Draw.Use(part)
			}
		})
	}
}

var nasty = "\x1b[2J\x1b]8;;javascript:alert(1)\x07x\x1b\\\u009b31m\r<script>alert('1')</script>\" onload=\"x\u202egnp\u2066\x00\t\nb </pre><img src=x onerror=alert(1)>"

// shownCall is a call of any built-in tool whose texts are drawn.
type shownCall struct {
	tool   *tool.Tool
	in     tool.Input
	answer tool.Outcome[any]
}

func anyCall(tools []*tool.Tool) *rapid.Generator[shownCall] {
	texts := rapid.OneOf(rapid.Just(nasty), rapid.Just(strings.Repeat("x", 9000)), rapid.String(), rapid.StringMatching(`(src/[a-z]+\.go:[0-9]{1,3}:.*\n){0,9}`), rapid.StringMatching(`( {0,4}[0-9]{1,3}\t.*\n){0,30}`))
	return rapid.Custom(func(t *rapid.T) shownCall {
		tl := rapid.SampledFrom(tools).Draw(t, "tool")
		var members map[string]any
		if json.Unmarshal([]byte(samples[tl.Name]), &members) != nil {
			t.Fatalf("no sample of %s", tl.Name)
		}
		members = filled(t, members, texts).(map[string]any)
		raw, err := json.Marshal(members)
		if err != nil {
			t.Fatal(err)
		}
		if rapid.Bool().Draw(t, "cut") {
			raw = raw[:rapid.IntRange(0, len(raw)).Draw(t, "length")]
		}
		answer := tool.Outcome[any]{Text: texts.Draw(t, "result")}
		if rapid.Bool().Draw(t, "an image") {
			answer.Blocks = []message.Block{message.Image(texts.Draw(t, "media"), "AAAA")}
		}
		return shownCall{tl, tl.Partly(raw), answer}
	})
}

// filled puts drawn texts in the place of some.
func filled(t *rapid.T, v any, texts *rapid.Generator[string]) any {
	switch v := v.(type) {
	case map[string]any:
		for _, k := range sortedKeys(v) {
			v[k] = filled(t, v[k], texts)
		}
	case []any:
		for i := range v {
			v[i] = filled(t, v[i], texts)
		}
	case string:
		if rapid.Bool().Draw(t, "other text") {
			return texts.Draw(t, "text")
		}
	}
	return v
}

func sortedKeys(m map[string]any) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

func (c shownCall) everything() []render.Node {
	nodes := []render.Node{render.Line{Spans: c.tool.Head(c.in, false)}, render.Line{Spans: c.tool.Head(c.in, true)}}
	for _, more := range [][]render.Node{
		c.tool.Draw.Use(c.in), c.tool.Draw.Queued(c.in), c.tool.Draw.Progress(c.in, []string{c.answer.Text, "b"}), c.tool.Draw.Result(c.in, c.answer),
		c.tool.Draw.Rejected(c.in, c.answer), c.tool.Draw.Error(c.in, c.answer),
		c.tool.Draw.Grouped([]tool.Called[tool.Input, any]{{In: c.in, Outcome: c.answer}, {In: c.in, Outcome: c.answer}}),
	} {
		nodes = append(nodes, more...)
	}
	return nodes
}

// The text that a search finds never has what is not shown (M2), of any tool.
func TestSearchFindsWhatIsShown(t *testing.T) {
	tools := everyTool(t)
	rapid.Check(t, func(t *rapid.T) {
		c := anyCall(tools).Draw(t, "call")
		shown := strings.Join(reports.Terminal{Verbose: true}.Lines(c.tool.Draw.Result(c.in, c.answer)), "\n")
		for word := range strings.FieldsSeq(c.tool.Draw.Search(c.in, c.answer)) {
			if !strings.Contains(shown, word) {
				t.Fatalf("%s finds %q, which is not shown:\n%s", c.tool.Name, word, shown)
			}
		}
	})
}

// Whoever is asked whether a call may run sees all of its input, of any tool.
func TestAQuestionShowsTheWholeInput(t *testing.T) {
	tools := everyTool(t)
	rapid.Check(t, func(t *rapid.T) {
		c := anyCall(tools).Draw(t, "call")
		if len(c.in.Raw) > 3000 {
			return // bounded
		}
		shown := strings.Join(reports.Terminal{Verbose: true}.Lines(c.tool.Asked(c.in)), "\n")
		var members map[string]json.RawMessage
		if json.Unmarshal(c.in.Raw, &members) != nil {
			return
		}
		for name, value := range members {
			text := string(value)
			if json.Unmarshal(value, &text) != nil && !strings.Contains(shown, name+": ") {
				t.Fatalf("%s does not show %s:\n%s", c.tool.Name, name, shown)
			}
			for _, l := range render.Shown(text) {
				if !strings.Contains(shown, strings.TrimSpace(l)) {
					t.Fatalf("%s does not show %q of %s:\n%s", c.tool.Name, l, name, shown)
				}
			}
		}
	})
}

// No text of a model or a tool sends an escape sequence to a terminal or markup to a page,
// and none takes a screen for ever (M3).
func TestHostileTextIsHarmlessInEveryTool(t *testing.T) {
	tools := everyTool(t)
	rapid.Check(t, func(t *rapid.T) {
		c := anyCall(tools).Draw(t, "call")
		nodes := c.everything()
		for _, l := range (reports.Terminal{Verbose: true, Width: 80}).Lines(nodes) {
			if strings.ContainsFunc(l, func(r rune) bool { return unicode.IsControl(r) || unicode.In(r, unicode.Bidi_Control) }) {
				t.Fatalf("%s: %q", c.tool.Name, l)
			}
		}
		page := reports.NodesHTML(nodes)
		for _, bad := range []string{"<script", "<img", "\x1b", "\u202e", `href="javascript`, "\u009b"} {
			if strings.Contains(page, bad) {
				t.Fatalf("%s: %q on the page", c.tool.Name, bad)
			}
		}
	})
}

// A line of a megabyte takes no screen for ever, whatever tool it is a text of.
func TestAMegabyteIsBoundedInEveryTool(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	for _, tl := range everyTool(t) {
		var members map[string]any
		require.NoError(t, json.Unmarshal([]byte(samples[tl.Name]), &members))
		for k, v := range members {
			if _, ok := v.(string); ok {
				members[k] = long
			}
		}
		raw, err := json.Marshal(members)
		require.NoError(t, err)
		size := 0
		for _, l := range (reports.Terminal{Verbose: true}).Lines(shownCall{tl, tl.Partly(raw), tool.Outcome[any]{Text: long}}.everything()) {
			size += len(l)
		}
		assert.Less(t, size, 100_000, tl.Name)
	}
}

// shownSample is a call with its answer, whose data may not be known.
type shownSample struct {
	name, input, text string
	data              any
}

// What several tools draw, as a terminal has it.
func TestDrawings(t *testing.T) {
	calls := []shownSample{
		{"Edit", `{"file_path":"src/a.go","old_string":"func a() {\n\treturn 1\n}","new_string":"func a() {\n\treturn 2 // two\n}"}`, "Edited.", file.EditOut{Kind: "update", Path: "/repo/src/a.go", Replaced: 1, Patch: []file.Hunk{{OldStart: 9, OldLines: 3, NewStart: 9, NewLines: 3, Lines: []string{" func a() {", "-\treturn 1", "+\treturn 2 // two", " }"}}}}},
		{"Write", `{"file_path":"b.go","content":"package b\n"}`, "Created b.go.", nil},
		{"NotebookEdit", `{"notebook_path":"n.ipynb","cell_id":"c1","new_source":"1+1"}`, "Replaced.", nil},
		{"Grep", `{"pattern":"func","output_mode":"content"}`, "src/a.go:9:func a() {\nsrc/b.go:3:func b() {", nil},
		{"Glob", `{"pattern":"**/*.go"}`, "a.go\nb.go", file.GlobOut{Files: []string{"a.go", "b.go"}, Total: 2}},
		{"Read", `{"file_path":"a.go"}`, "     9\tfunc a() {\n    10\t}\nThe file has 10 lines.", nil},
		{"Bash", `{"command":"go test ./...\ngo vet ./...","description":"Test","timeout":5000}`, "ok\nok", nil},
		{"Agent", `{"description":"look","prompt":"Find x.","model":"haiku"}`, "It is in a.go.", work.AgentOut{Text: "It is in a.go.", Turns: 2, Calls: 1}},
		{"TodoWrite", `{"todos":[{"content":"Look","status":"completed","activeForm":"Looking"},{"content":"Mend","status":"in_progress","activeForm":"Mending"},{"content":"Test","status":"pending","activeForm":"Testing"}]}`, "The list is updated.", nil},
		{"TaskList", `{}`, "1. [pending] Test", work.TaskListOut{Tasks: []work.TaskOut{{Task: tool.WorkItem{ID: "1", Subject: "Test", Owner: "me", Status: tool.WorkInProgress}, Open: []string{"2"}}}}},
	}
	calls = append(calls, []shownSample{
		{"WebSearch", `{"query":"gophers"}`, "Pages found", web.SearchOut{Query: "gophers", Hits: []web.Hit{{Title: "The gopher", URL: "https://go.dev/gopher"}}}},
		{"WebFetch", `{"url":"https://go.dev/","prompt":"What is it?"}`, "It is a language.", web.FetchOut{URL: "https://go.dev/", Status: 200, Bytes: 2000, Result: "It is a language.", Answered: true}},
		{"LSP", `{"operation":"references","file_path":"a.go","line":3,"symbol":"f"}`, "b.go:9:2", file.LSPOut{Found: []file.Symbol{{Path: "b.go", Line: 9, Character: 2, Kind: "function", Name: "g", Text: "\tf()"}}, Omitted: 2}},
		{"AskUserQuestion", `{"questions":[{"question":"Which colour?","header":"Colour","options":[{"label":"Red","description":"warm"},{"label":"Blue","description":"cold"}]}]}`, "The user answered", work.QuestionOut{Answers: []work.Answer{{Question: "Which colour?", Chosen: []string{"Blue"}}}}},
		{"ExitPlanMode", `{"plan":"# Mend it\n\n- look\n- write"}`, "Approved", work.PlanOut{Mode: "default", Plan: "# Mend it"}},
		{"CronList", `{}`, "cron_1", work.CronListOut{Jobs: []work.CronJob{{ID: "cron_1", Cron: "*/5 * * * *", Prompt: "Look.", Fired: 2}}}},
		{"ListPeers", `{}`, "scout", work.ListPeersOut{Peers: []work.PeerOut{{Name: "scout", Status: "running", Title: "Look around"}}}},
		{"REPL", `{"calls":[{"tool":"Read","input":{"file_path":"a.go"}}]}`, "[1] Read: ok", nil},
		{"Tungsten", `{"text":"ls","keys":["Enter"]}`, "screen", shell.TungstenOut{Screen: shell.Screen{Text: "1\n2\n3\n4\n5\n6\n7\n$ "}}},
		{"ListMcpResources", `{}`, "{}", work.ResourcesOut{Resources: []tool.Resource{{Server: "orders", URI: "shop://terms", Name: "terms"}}}},
		{"ToolSearch", `{"query":"weather"}`, "<functions>", work.SearchOut{Matches: []string{"mcp__weather__forecast"}, Deferred: 9}},
		{"PushNotification", `{"message":"The build is green.","title":"Done"}`, "Sent.", nil},
		{"SendUserFile", `{"files":["a.txt","b.txt"]}`, "The user has them.", nil},
		{"WebBrowser", `{"action":"read"}`, "A page.", nil},
	}...)
	tools := map[string]*tool.Tool{}
	for _, tl := range everyTool(t) {
		tools[tl.Name] = tl
	}
	var b strings.Builder
	for _, c := range calls {
		tl := tools[c.name]
		in := tl.Partly(json.RawMessage(c.input))
		answer := tool.Outcome[any]{Text: c.text, Data: c.data, Known: c.data != nil}
		for _, verbose := range []bool{false, true} {
			screen := reports.Terminal{Width: 60, Verbose: verbose}
			fmt.Fprintf(&b, "=== %s, verbose %t, truncated %t\n", c.name, verbose, tl.Truncated(in, answer))
			for _, part := range [][]render.Node{{render.Line{Spans: tl.Head(in, false)}}, tl.Draw.Use(in), tl.Draw.Result(in, answer)} {
				for _, l := range screen.Lines(part) {
					fmt.Fprintln(&b, strings.TrimRight(l, " "))
				}
			}
		}
	}
	golden := filepath.Join("testdata", "drawn.txt")
	if *update {
		require.NoError(t, os.WriteFile(golden, []byte(b.String()), 0o644))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	assert.Equal(t, string(want), b.String())
}
