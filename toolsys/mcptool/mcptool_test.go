package mcptool_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	_ "toolbench/property/seeded"
	"toolbench/toolsys/mcptool"
	"toolbench/toolsys/message"
	"toolbench/toolsys/permission"
	"toolbench/toolsys/render"
	"toolbench/toolsys/settings"
	"toolbench/toolsys/tool"
)

func TestNamesAreNormalised(t *testing.T) {
	long := strings.Repeat("x", 200)
	for _, c := range []struct {
		server, tool string
		bare         bool
		want         string
	}{
		{"github", "list_issues", false, "mcp__github__list_issues"},
		{"github", "list_issues", true, "list_issues"},
		{"claude.ai Drive", "read file", false, "mcp__claude_ai_Drive__read_file"},
		{"天气", "get-weather", false, "mcp______get-weather"},
		{"s", "a.b/c", true, "a_b_c"},
	} {
		assert.Equal(t, c.want, mcptool.Name(c.server, c.tool, c.bare))
	}
	name := mcptool.Name("s", long, false)
	assert.Len(t, name, mcptool.MaxName)
	assert.NotEqual(t, name, mcptool.Name("s", long+"y", false), "what is cut off still makes them differ")
	exactly := strings.Repeat("x", mcptool.MaxName)
	assert.Equal(t, exactly, mcptool.Name("s", exactly, true))
}

// listing is one server's tools, by name only.
func listing(server string, bare bool, names ...string) mcptool.Listing {
	l := mcptool.Listing{Server: mcptool.Server{Name: server, Bare: bare}}
	for _, n := range names {
		l.Tools = append(l.Tools, listed(n, nil))
	}
	return l
}

func listed(name string, adjust func(*mcp.Tool)) *mcp.Tool {
	t := &mcp.Tool{Name: name, Description: "does " + name, InputSchema: map[string]any{"type": "object"}}
	if adjust != nil {
		adjust(t)
	}
	return t
}

func origins(tools []*tool.Tool) map[string]tool.Origin {
	m := map[string]tool.Origin{}
	for _, t := range tools {
		m[t.Name] = *t.Origin
	}
	return m
}

func TestAToolWhoseNameWasNotChangedKeepsItInACollision(t *testing.T) {
	tools, reports := mcptool.Tools(listing("s", false, "a.b", "a b", "a_b"))
	got := origins(tools)
	require.Len(t, got, 3)
	assert.Equal(t, tool.Origin{Server: "s", Tool: "a_b"}, got["mcp__s__a_b"])
	require.Len(t, reports, 2)
	for _, r := range reports {
		assert.Contains(t, r.String(), "mcp__s__a_b is the name of tool")
		assert.Contains(t, r.What, r.Name)
		assert.Equal(t, r.Tool, got[r.Name].Tool)
	}
}

func TestServersCannotTakeEachOthersNames(t *testing.T) {
	tools, reports := mcptool.Tools(listing("a__b", false, "c"), listing("a", false, "b__c"), listing("bare", true, "mcp__a__b__c"))
	assert.Len(t, origins(tools), 3)
	assert.Equal(t, "a", origins(tools)["mcp__a__b__c"].Server)
	assert.Len(t, reports, 2)
}

func TestNamesDoNotDependOnTheOrderOfConnectingOrListing(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		name := rapid.StringMatching(`[ab.][_ ./]?[ab]?`)
		var all []mcptool.Listing
		for _, server := range rapid.SliceOfNDistinct(name, 1, 4, rapid.ID).Draw(r, "servers") {
			names := rapid.SliceOfNDistinct(name, 1, 6, rapid.ID).Draw(r, "tools")
			all = append(all, listing(server, rapid.Bool().Draw(r, "bare"), names...))
		}
		tools, reports := mcptool.Tools(all...)
		mixed := slices.Clone(rapid.Permutation(all).Draw(r, "order"))
		for i := range mixed {
			mixed[i].Tools = rapid.Permutation(mixed[i].Tools).Draw(r, "tool order")
		}
		again, reports2 := mcptool.Tools(mixed...)
		require.Equal(r, origins(tools), origins(again))
		require.Equal(r, reports, reports2)
		count := 0
		for _, l := range all {
			count += len(l.Tools)
		}
		require.Len(r, origins(tools), count, "no tool is lost")
	})
}

// one builds a single tool.
func one(t *testing.T, given *mcp.Tool) (*tool.Tool, []mcptool.Report) {
	t.Helper()
	tools, reports := mcptool.Tools(mcptool.Listing{Server: mcptool.Server{Name: "s"}, Tools: []*mcp.Tool{given}})
	require.Len(t, tools, 1)
	return tools[0], reports
}

func holds(t *testing.T, predicate func(tool.Input) bool) bool {
	t.Helper()
	in := tool.Input{Value: json.RawMessage(`{}`)}
	return predicate(in.Reporting(func(member string, err error) { t.Error(member, err) }))
}

func TestWithoutAHintTheStrictThingIsAssumed(t *testing.T) {
	got, _ := one(t, listed("x", nil))
	b := got.Behaviour
	assert.False(t, holds(t, b.Safe))
	assert.False(t, holds(t, b.ReadOnly))
	assert.False(t, holds(t, b.Destructive))
	assert.False(t, holds(t, b.OpenWorld))
	assert.False(t, got.Loading.Always)
	assert.Empty(t, got.Hint)
	on, err := got.Enabled(settings.Settings{})
	require.NoError(t, err)
	assert.True(t, on)
	assert.True(t, got.IsMCP())
}

func TestHintsAreTaken(t *testing.T) {
	yes := true
	got, _ := one(t, listed("x", func(m *mcp.Tool) {
		m.Annotations = &mcp.ToolAnnotations{ReadOnlyHint: true, DestructiveHint: &yes, OpenWorldHint: &yes, Title: "The X"}
		m.Meta = mcp.Meta{"anthropic/searchHint": "find an x", "anthropic/alwaysLoad": true}
	}))
	b := got.Behaviour
	for _, p := range []func(tool.Input) bool{b.Safe, b.ReadOnly, b.Destructive, b.OpenWorld} {
		assert.True(t, holds(t, p))
	}
	assert.Equal(t, "find an x", got.Hint)
	assert.True(t, got.Loading.Always)
	in := got.Partly(json.RawMessage(`{"n":1,"order":"A1"}`))
	assert.Equal(t, "The X (s): A1 declared as reading only", render.SpanText(got.Head(in, false)))
	assert.Equal(t, "Asking s: The X A1 declared as reading only", render.SpanText(got.Head(in, true)))
	assert.Equal(t, "n: 1\norder: A1", render.String(got.Draw.Use(in), true))
}

func TestOnlyTheValueTrueLoadsAlwaysAndOnlyATextHints(t *testing.T) {
	for _, v := range []any{false, "true", 1.0, nil, map[string]any{}} {
		got, _ := one(t, listed("x", func(m *mcp.Tool) {
			m.Meta = mcp.Meta{"anthropic/alwaysLoad": v, "anthropic/searchHint": map[string]any{}}
		}))
		assert.False(t, got.Loading.Always, "%v", v)
		assert.Empty(t, got.Hint)
	}
}

func TestPermissionIsLeftToTheGeneralRules(t *testing.T) {
	got, _ := one(t, listed("x", nil))
	in := tool.Input{Value: json.RawMessage(`{"a":1}`)}
	assert.Equal(t, permission.Passthrough, got.Permit(in, nil).Behaviour)
	assert.Equal(t, 100*time.Second, got.Limit.Timeout(in))
	assert.Equal(t, `mcp__s__x {"a":1}`, got.Shape.Classifier(in))
}

func TestADescriptionMayBeEmpty(t *testing.T) {
	got, reports := one(t, listed("x", func(m *mcp.Tool) { m.Description = "" }))
	assert.Empty(t, got.Description)
	assert.Empty(t, reports)
}

func raw(t *testing.T, given *tool.Tool) string {
	t.Helper()
	b, err := given.Input.Raw()
	require.NoError(t, err)
	return string(b)
}

func TestTheServersSchemaIsUsedWhateverItsOrder(t *testing.T) {
	got, reports := one(t, listed("x", func(m *mcp.Tool) {
		m.InputSchema = map[string]any{"required": []any{"b"}, "type": "object", "properties": map[string]any{"b": map[string]any{"type": "integer", "description": "n"}, "a": true}}
	}))
	assert.Empty(t, reports)
	assert.Equal(t, `{"type":"object","properties":{"a":{},"b":{"type":"integer","description":"n"}},"required":["b"]}`, raw(t, got))
	_, problems := got.Parse(json.RawMessage(`{"a":1}`))
	assert.NotEmpty(t, problems)
	in, problems := got.Parse(json.RawMessage(`{"b":1}`))
	assert.Empty(t, problems)
	assert.Equal(t, json.RawMessage(`{"b":1}`), in.Value)
}

func TestABadSchemaLoadsItsToolUnvalidatedWithAReport(t *testing.T) {
	for name, c := range map[string]struct {
		schema any
		raw    string
		report string
	}{
		"none":               {nil, `{"type":"object"}`, "gives no schema"},
		"not an object":      {"object", `{"type":"object"}`, "no JSON object"},
		"true":               {true, `{"type":"object"}`, "no JSON object"},
		"an array's":         {map[string]any{"type": "array"}, `{"type":"object"}`, "must have type object"},
		"does not resolve":   {map[string]any{"type": "object", "properties": map[string]any{"a": map[string]any{"$ref": "#/nowhere"}}}, `{"type":"object","properties":{"a":{"$ref":"#/nowhere"}}}`, "not validated"},
		"elsewhere":          {map[string]any{"type": "object", "$ref": "https://example.com/s.json"}, `{"type":"object","$ref":"https://example.com/s.json"}`, "another document"},
		"cannot be compiled": {map[string]any{"type": "object", "properties": map[string]any{"a": map[string]any{"type": "string", "pattern": "(?=x)"}}}, "", "not validated"},
	} {
		t.Run(name, func(t *testing.T) {
			got, reports := one(t, listed("x", func(m *mcp.Tool) { m.InputSchema = c.schema }))
			require.Len(t, reports, 1)
			assert.Contains(t, reports[0].String(), c.report)
			assert.Contains(t, reports[0].String(), `MCP server "s", tool "x"`)
			if c.raw != "" {
				assert.Equal(t, c.raw, raw(t, got))
			}
			_, problems := got.Parse(json.RawMessage(`{"a":[1]}`))
			assert.Empty(t, problems, "the server checks the input itself")
		})
	}
}

func TestABadOutputSchemaIsReportedAndNotUsed(t *testing.T) {
	for name, bad := range map[string]any{"no object": "object", "misspelt": map[string]any{"type": "objec"}} {
		t.Run(name, func(t *testing.T) {
			got, reports := one(t, listed("x", func(m *mcp.Tool) { m.OutputSchema = bad }))
			require.Len(t, reports, 1)
			assert.Contains(t, reports[0].What, "its output schema is not used")
			assert.Nil(t, got.Output)
		})
	}
}

func TestASchemaThatOnlyForgotItsTypeGetsIt(t *testing.T) {
	got, reports := one(t, listed("x", func(m *mcp.Tool) {
		m.InputSchema = map[string]any{"properties": map[string]any{"a": map[string]any{"type": "string"}}}
	}))
	assert.Empty(t, reports)
	assert.Equal(t, `{"type":"object","properties":{"a":{"type":"string"}}}`, raw(t, got))
	_, problems := got.Parse(json.RawMessage(`{"a":1}`))
	assert.NotEmpty(t, problems, "it is validated")
}

func TestAToolWithoutANameOrListedTwiceIsReported(t *testing.T) {
	a, b := listed("x", nil), listed("x", func(m *mcp.Tool) { m.Description = "another" })
	for _, order := range [][]*mcp.Tool{{a, b}, {b, a}} {
		tools, reports := mcptool.Tools(mcptool.Listing{Server: mcptool.Server{Name: "s"}, Tools: append(order, listed("", nil))})
		require.Len(t, tools, 1)
		assert.Equal(t, "another", tools[0].Description, "whichever came first")
		assert.Len(t, reports, 2)
	}
}

// server is a real server behind a transport in memory, and a session with it.
func server(t *testing.T, pageSize int, names []string, answer mcp.ToolHandler) (*mcp.ClientSession, *mcp.ServerSession) {
	t.Helper()
	s := mcp.NewServer(&mcp.Implementation{Name: "s", Version: "1"}, &mcp.ServerOptions{PageSize: pageSize})
	for _, n := range names {
		s.AddTool(listed(n, nil), answer)
	}
	here, there := mcp.NewInMemoryTransports()
	serving, err := s.Connect(t.Context(), there, nil)
	require.NoError(t, err)
	session, err := mcp.NewClient(&mcp.Implementation{Name: "c", Version: "1"}, &mcp.ClientOptions{
		MultiRoundTrip: &mcp.MultiRoundTripOptions{Disabled: true},
		Capabilities:   &mcp.ClientCapabilities{Elicitation: &mcp.ElicitationCapabilities{Form: &mcp.FormElicitationCapabilities{}, URL: &mcp.URLElicitationCapabilities{}}},
	}).Connect(t.Context(), here, nil)
	require.NoError(t, err)
	t.Cleanup(func() { serving.Close(); session.Close() })
	return session, serving
}

func answers(r *mcp.CallToolResult, err error) mcp.ToolHandler {
	return func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) { return r, err }
}

func TestListTurnsEveryPage(t *testing.T) {
	names := []string{"a", "b", "c", "d", "e", "f", "g"}
	session, _ := server(t, 3, names, answers(&mcp.CallToolResult{}, nil))
	all, err := mcptool.List(t.Context(), session)
	require.NoError(t, err)
	var got []string
	for _, l := range all {
		got = append(got, l.Name)
	}
	assert.Equal(t, names, got)
}

func TestAListThatNeverEndsIsAnError(t *testing.T) {
	err := listingError(t, &mcp.ListToolsResult{Tools: []*mcp.Tool{listed("a", nil)}, NextCursor: "more"})
	require.ErrorIs(t, err, mcptool.ErrEndless)
	assert.ErrorContains(t, err, `cursor "more" comes again`, "which is noticed at once")
}

// A list may be too long and end at once.
func TestNoMoreToolsAreTakenThanTheMost(t *testing.T) {
	most := slices.Repeat([]*mcp.Tool{listed("a", nil)}, mcptool.MaxTools)
	require.NoError(t, listingError(t, &mcp.ListToolsResult{Tools: most}))
	err := listingError(t, &mcp.ListToolsResult{Tools: append(most, listed("b", nil))})
	assert.ErrorIs(t, err, mcptool.ErrEndless)
	assert.ErrorContains(t, err, "more than 10000 tools")
}

// listingError is the error of a list of which each page is the same.
func listingError(t *testing.T, page *mcp.ListToolsResult) error {
	t.Helper()
	s := mcp.NewServer(&mcp.Implementation{Name: "s", Version: "1"}, nil)
	s.AddTool(listed("a", nil), answers(nil, nil))
	s.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			if method == "tools/list" {
				return page, nil
			}
			return next(ctx, method, req)
		}
	})
	here, there := mcp.NewInMemoryTransports()
	serving, err := s.Connect(t.Context(), there, nil)
	require.NoError(t, err)
	session, err := mcp.NewClient(&mcp.Implementation{Name: "c", Version: "1"}, nil).Connect(t.Context(), here, nil)
	require.NoError(t, err)
	defer session.Close()
	defer serving.Close()
	_, err = mcptool.List(t.Context(), session)
	return err
}

// fixed is a session that is always the same.
func fixed(s *mcp.ClientSession) func(context.Context) (*mcp.ClientSession, error) {
	return func(context.Context) (*mcp.ClientSession, error) { return s, nil }
}

// asked calls the only tool of a server that answers so.
func asked(t *testing.T, answer mcp.ToolHandler, c *tool.Context) (tool.Output, error) {
	t.Helper()
	session, _ := server(t, 0, []string{"x"}, answer)
	return ask(t, fixed(session), c)
}

func ask(t *testing.T, session func(context.Context) (*mcp.ClientSession, error), c *tool.Context) (tool.Output, error) {
	t.Helper()
	return askOf(t, listed("x", nil), session, c)
}

func askOf(t *testing.T, x *mcp.Tool, session func(context.Context) (*mcp.ClientSession, error), c *tool.Context) (tool.Output, error) {
	t.Helper()
	tools, reports := mcptool.Tools(mcptool.Listing{Server: mcptool.Server{Name: "s", Session: session}, Tools: []*mcp.Tool{x}})
	require.Empty(t, reports)
	in, problems := tools[0].Parse(json.RawMessage(`{"q":"天"}`))
	require.Empty(t, problems)
	if c == nil {
		c = &tool.Context{}
	}
	return tools[0].Call(t.Context(), in, c)
}

func TestTheArgumentsReachTheServerAsTheModelWroteThem(t *testing.T) {
	var got string
	_, err := asked(t, func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		got = r.Params.Name + string(r.Params.Arguments)
		return &mcp.CallToolResult{}, nil
	}, nil)
	require.NoError(t, err)
	assert.Equal(t, `x{"q":"天"}`, got)
}

func TestContentBecomesBlocksInOrder(t *testing.T) {
	out, err := asked(t, answers(&mcp.CallToolResult{Content: []mcp.Content{
		&mcp.TextContent{Text: "one"},
		&mcp.ImageContent{MIMEType: "Image/PNG; x=y", Data: []byte{1, 2, 3}},
		&mcp.ImageContent{MIMEType: "image/svg+xml", Data: []byte("<svg/>")},
		&mcp.AudioContent{MIMEType: "audio/wav", Data: []byte{1}},
		&mcp.ResourceLink{Name: "readme", URI: "file:///r.md", Description: "What it is"},
		&mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: "file:///t", Text: "inside"}},
		&mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: "file:///p.pdf", MIMEType: "application/pdf", Blob: []byte("%PDF")}},
		&mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: "file:///z", MIMEType: "application/zip", Blob: []byte("PK")}},
	}}, nil), nil)
	require.NoError(t, err)
	assert.False(t, out.Failed)
	assert.Equal(t, []message.Block{
		message.Text("one"),
		message.Image("image/png", "AQID"),
		message.Text(`[image of type "image/svg+xml", 6 bytes, which cannot be shown]`),
		message.Text(`[audio of type "audio/wav", 1 bytes, which cannot be shown]`),
		message.Text("[resource readme: file:///r.md] What it is"),
		message.Text("[resource file:///t]\ninside"),
		message.Document("application/pdf", "JVBERg=="),
		message.Text(`[resource file:///z of type "application/zip", 2 bytes, which cannot be shown]`),
	}, out.Blocks)
}

// Structured content says again what the content says, for programs: the model reads it once.
func TestStructuredContentBesideContentIsNotRepeated(t *testing.T) {
	out, err := asked(t, answers(&mcp.CallToolResult{
		StructuredContent: map[string]any{"a": 1}, Content: []mcp.Content{&mcp.TextContent{Text: "a is 1"}},
	}, nil), nil)
	require.NoError(t, err)
	assert.Equal(t, []message.Block{message.Text("a is 1")}, out.Blocks)
	assert.JSONEq(t, `{"a":1}`, string(out.Meta.Structured))
}

// The protocol's own title goes before that of the annotations, and both before the name.
func TestATitleIsTheToolsOwnThenThatOfItsAnnotations(t *testing.T) {
	for want, given := range map[string]mcp.Tool{
		"Own (s)":   {Title: "Own", Annotations: &mcp.ToolAnnotations{Title: "Noted"}},
		"Noted (s)": {Annotations: &mcp.ToolAnnotations{Title: "Noted"}},
		"x (s)":     {},
	} {
		got, _ := one(t, listed("x", func(m *mcp.Tool) { m.Title, m.Annotations = given.Title, given.Annotations }))
		assert.Equal(t, want, got.Present.Title(tool.Input{Value: json.RawMessage(`{}`)}))
	}
}

func TestStructuredContentAndMetaAreKept(t *testing.T) {
	out, err := asked(t, answers(&mcp.CallToolResult{
		Meta: mcp.Meta{"k": "v"}, StructuredContent: map[string]any{"b": 1, "a": []int{2}},
	}, nil), nil)
	require.NoError(t, err)
	assert.Equal(t, []message.Block{message.Text(`{"a":[2],"b":1}`)}, out.Blocks, "it stands in for content")
	require.NotNil(t, out.Meta)
	assert.JSONEq(t, `{"a":[2],"b":1}`, string(out.Meta.Structured))
	var meta map[string]any
	require.NoError(t, json.Unmarshal(out.Meta.Meta, &meta))
	assert.Equal(t, "v", meta["k"])
}

// The protocol has clients hold structured content to the output schema: what does not fit is no result, though what came
// is still there to see.
func TestStructuredContentIsHeldToTheOutputSchema(t *testing.T) {
	described := listed("x", func(m *mcp.Tool) {
		m.OutputSchema = map[string]any{"type": "object", "required": []any{"n"}, "properties": map[string]any{"n": map[string]any{"type": "integer"}}}
	})
	for name, c := range map[string]struct {
		answer mcp.CallToolResult
		note   string
	}{
		"it fits":        {mcp.CallToolResult{StructuredContent: map[string]any{"n": 1}}, ""},
		"another type":   {mcp.CallToolResult{StructuredContent: map[string]any{"n": "one"}}, "n"},
		"a member lacks": {mcp.CallToolResult{StructuredContent: map[string]any{}}, "n"},
		"there is none":  {mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "1"}}}, ""},
		"it failed":      {mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: "no"}}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			session, _ := server(t, 0, []string{"x"}, answers(&c.answer, nil))
			out, err := askOf(t, described, fixed(session), nil)
			require.NoError(t, err)
			assert.Equal(t, c.answer.IsError || c.note != "", out.Failed)
			require.NotEmpty(t, out.Blocks)
			if c.note == "" {
				assert.Len(t, out.Blocks, 1)
				return
			}
			require.Len(t, out.Blocks, 2, "what came is there too")
			assert.Contains(t, out.Blocks[1].Text, "does not match the output schema")
			assert.Contains(t, out.Blocks[1].Text, c.note)
		})
	}
}

func TestAFailureOfTheToolIsAFailedResult(t *testing.T) {
	out, err := asked(t, answers(&mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: "no such issue"}}}, nil), nil)
	require.NoError(t, err)
	assert.True(t, out.Failed)
	assert.Equal(t, "no such issue", out.Blocks[0].Text)
}

func TestAProtocolErrorIsWorded(t *testing.T) {
	_, err := asked(t, answers(nil, &jsonrpc.Error{Code: -32602, Message: "q is required"}), nil)
	require.ErrorIs(t, err, mcptool.ErrRefused)
	assert.ErrorContains(t, err, `"s": q is required (code -32602)`)
}

func TestAServerThatIsGoneIsNamedAndMayComeBack(t *testing.T) {
	old, serving := server(t, 0, []string{"x"}, answers(&mcp.CallToolResult{}, nil))
	fresh, _ := server(t, 0, []string{"x"}, answers(&mcp.CallToolResult{}, nil))
	current := old
	session := func(context.Context) (*mcp.ClientSession, error) { return current, nil }
	require.NoError(t, serving.Close())
	_, err := ask(t, session, nil)
	require.ErrorIs(t, err, mcptool.ErrGone)
	assert.ErrorContains(t, err, `"s"`)
	current = fresh
	_, err = ask(t, session, nil)
	assert.NoError(t, err, "whoever owns the connection put another in its place")
	_, err = ask(t, func(context.Context) (*mcp.ClientSession, error) { return nil, errors.New("cannot reconnect") }, nil)
	assert.ErrorIs(t, err, mcptool.ErrGone)
	assert.ErrorContains(t, err, "cannot reconnect")
}

func TestAQuestionOfTheServerIsAnsweredFirstAndTheCallGoesOn(t *testing.T) {
	for _, c := range []struct {
		answer string
		fails  string
	}{
		{`{"action":"accept"}`, ""},
		{`{"action":"decline"}`, `the answer was "decline"`},
		{`{"action":"cancel"}`, `the answer was "cancel"`},
		{`rubbish`, "cannot be read"},
	} {
		calls := 0
		handler := func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			if calls++; calls == 1 {
				return nil, mcp.URLElicitationRequiredError([]*mcp.ElicitParams{{Mode: "url", Message: "Log in", URL: "https://example.com/login", ElicitationID: "e1"}})
			}
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "logged in"}}}, nil
		}
		var question mcp.ElicitParams
		ctx := &tool.Context{}
		ctx.Elicit = func(_ context.Context, server string, params []byte) ([]byte, error) {
			assert.Equal(t, "s", server)
			require.NoError(t, json.Unmarshal(params, &question))
			return []byte(c.answer), nil
		}
		out, err := asked(t, handler, ctx)
		assert.Equal(t, "https://example.com/login", question.URL)
		if c.fails != "" {
			assert.ErrorContains(t, err, c.fails)
			assert.Equal(t, 1, calls)
			continue
		}
		require.NoError(t, err)
		assert.Equal(t, "logged in", out.Blocks[0].Text)
	}
	calls := 0
	insatiable := func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		calls++
		return nil, mcp.URLElicitationRequiredError([]*mcp.ElicitParams{{Mode: "url", Message: "Once more", URL: "https://example.com/login", ElicitationID: "e1"}})
	}
	ctx := &tool.Context{}
	ctx.Elicit = func(context.Context, string, []byte) ([]byte, error) { return []byte(`{"action":"accept"}`), nil }
	_, err := asked(t, insatiable, ctx)
	require.ErrorIs(t, err, mcptool.ErrRefused)
	assert.ErrorContains(t, err, "asked 10 times")
	assert.Equal(t, 10, calls)
	_, err = asked(t, answers(nil, mcp.URLElicitationRequiredError(nil)), ctx)
	assert.ErrorContains(t, err, "wants something answered first but does not name it")
	_, err = asked(t, answers(nil, mcp.URLElicitationRequiredError([]*mcp.ElicitParams{{Mode: "url"}})), nil)
	assert.ErrorIs(t, err, mcptool.ErrRefused, "nobody can answer")
}

// What a server needs before it answers is given with what a yes holds, and with nothing of a no; nobody's word is no yes.
func TestWhatAServerNeedsIsGivenAsItWasAnswered(t *testing.T) {
	form := &mcp.ElicitParams{Mode: "form", Message: "Which?", RequestedSchema: json.RawMessage(`{"type":"object","properties":{"which":{"type":"string"}},"required":["which"]}`)}
	page := &mcp.ElicitParams{Mode: "url", Message: "Look", URL: "https://example.com", ElicitationID: "e1"}
	for _, c := range []struct {
		question *mcp.ElicitParams
		answer   string // "" where nobody can be asked
		given    string
		fails    string
	}{
		{form, `{"action":"accept","content":{"which":"one"}}`, `{"action":"accept","content":{"which":"one"}}`, ""},
		{form, `{"action":"accept"}`, "", "does not fit its form"},
		{form, `{"action":"accept","content":{"which":1}}`, "", "does not fit its form"},
		{form, `{"action":"decline","content":{"which":"secret"}}`, `{"action":"decline"}`, ""},
		{form, `{"action":"cancel","content":{"which":"secret"}}`, `{"action":"cancel"}`, ""},
		{page, `{"action":"accept","content":{"seen":"secret"}}`, `{"action":"accept"}`, ""},
		{form, "", `{"action":"decline"}`, ""},
		{nil, `{"action":"accept"}`, "", "is busy; try later"},
	} {
		given := ""
		handler := func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			if len(r.Params.InputResponses) == 0 {
				wanted := mcp.InputRequestMap{}
				if c.question != nil {
					wanted["q"] = c.question
				}
				return &mcp.CallToolResult{InputRequests: wanted, RequestState: "s1"}, nil
			}
			raw, err := json.Marshal(r.Params.InputResponses["q"])
			given = string(raw)
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "done"}}}, err
		}
		ctx := &tool.Context{}
		if c.answer != "" {
			ctx.Elicit = func(context.Context, string, []byte) ([]byte, error) { return []byte(c.answer), nil }
		}
		_, err := asked(t, handler, ctx)
		if c.fails != "" {
			assert.ErrorContains(t, err, c.fails, c.answer)
			continue
		}
		require.NoError(t, err, c.answer)
		assert.JSONEq(t, c.given, given, c.answer)
	}
}

// A server that asks for nothing but to be called again has its way after a pause, with what it gave to be told by, and not for ever.
func TestAServerMayWantToBeCalledAgain(t *testing.T) {
	for times, want := range map[int]string{1: "done", 3: "done", 4: "is busy; try later"} {
		var states []string
		handler := func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			assert.Empty(t, r.Params.InputResponses)
			states = append(states, r.Params.RequestState)
			if len(states) > times {
				return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "done"}}}, nil
			}
			return &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{}, RequestState: fmt.Sprint("s", len(states))}, nil
		}
		var pauses []time.Duration
		ctx := &tool.Context{Core: tool.Core{Clock: tool.Clock{Sleep: func(_ context.Context, _ string, d time.Duration) error {
			pauses = append(pauses, d)
			return nil
		}}}}
		out, err := asked(t, handler, ctx)
		if want == "done" {
			require.NoError(t, err)
			assert.Equal(t, want, out.Blocks[0].Text)
		} else {
			assert.ErrorContains(t, err, want)
		}
		assert.Equal(t, []string{"", "s1", "s2", "s3"}[:min(times, 3)+1], states, times)
		assert.Equal(t, slices.Repeat([]time.Duration{250 * time.Millisecond}, min(times, 3)), pauses, times)
	}
}

func TestTwoInputsThatMeanTheSameAreEquivalent(t *testing.T) {
	got, _ := one(t, listed("x", nil))
	in := func(s string) tool.Input { return tool.Input{Value: json.RawMessage(s)} }
	assert.True(t, got.Shape.Equivalent(in(`{"a":1,"b":2}`), in(`{ "b":2, "a":1 }`)))
	assert.False(t, got.Shape.Equivalent(in(`{"a":1}`), in(`{"a":2}`)))
}
