package pool_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"toolbench/toolsys/message"
	"toolbench/toolsys/permission"
	"toolbench/toolsys/pool"
	"toolbench/toolsys/search"
	"toolbench/toolsys/settings"
	"toolbench/toolsys/tool"
)

type in struct {
	Text string `json:"text,omitempty"`
}

type def = tool.Def[in, string]

func named(name string, changes ...func(*def)) *tool.Tool {
	d := def{Name: name, Description: "Does " + name + ".",
		Call: func(context.Context, in, *tool.Context) (tool.Result[string], error) { return tool.Done(""), nil }}
	for _, c := range changes {
		c(&d)
	}
	return tool.Must(d)
}

func deferrable(d *def) { d.Loading.Deferrable = true }

func served(server, name string, changes ...func(*def)) *tool.Tool {
	return named("mcp__"+server+"__"+name, append([]func(*def){func(d *def) { d.Origin = &tool.Origin{Server: server, Tool: name} }}, changes...)...)
}

func catalogue(t require.TestingT, tools ...*tool.Tool) *pool.Catalogue {
	var entries []pool.Entry
	for _, tl := range tools {
		entries = append(entries, pool.Entry{Name: tl.Name, Tool: tl})
	}
	c, err := pool.NewCatalogue(entries)
	require.NoError(t, err)
	return c
}

func rules(t require.TestingT, deny ...string) permission.Rules {
	r, err := permission.Rules{}.Parse(permission.Project, permission.Deny, deny...)
	require.NoError(t, err)
	return r
}

func reasons(p *pool.Pool) map[string]string {
	out := map[string]string{}
	for _, o := range p.Omitted {
		out[o.Name] = o.Reason
	}
	return out
}

func TestTwoBlocksInByteOrder(t *testing.T) {
	c := catalogue(t, named("zed"), named("Zed"), named("Alpha"), named("_under"))
	p := c.Assemble(pool.Inputs{Settings: settings.External(), Served: []*tool.Tool{served("s", "b"), served("a", "z"), served("s", "B")}})
	assert.Equal(t, []string{"Alpha", "Zed", "_under", "zed", "mcp__a__z", "mcp__s__B", "mcp__s__b"}, p.Names())
	assert.Equal(t, 4, p.Builtins)
}

func TestDuplicateNames(t *testing.T) {
	bare := func(d *def) { d.Name = "Search" }
	c := catalogue(t, named("Search"))
	server := served("s", "search", bare)
	p := c.Assemble(pool.Inputs{Settings: settings.External(), Served: []*tool.Tool{server}})
	got, _ := p.Find("Search")
	assert.False(t, got.IsMCP(), "the built-in wins")
	assert.Equal(t, "another tool has its name", reasons(p)["Search"])
	assert.Len(t, p.Tools, 1)

	p = c.Assemble(pool.Inputs{Settings: settings.External(), Served: []*tool.Tool{server}, Rules: rules(t, "Search")})
	got, ok := p.Find("Search")
	require.True(t, ok)
	assert.True(t, got.IsMCP(), "a denied built-in may be replaced; a rule without mcp__ is about built-ins only")
	assert.Zero(t, p.Builtins)

	one, two := served("a", "y", bare), served("b", "x", bare)
	for _, order := range [][]*tool.Tool{{one, two}, {two, one}} {
		p := catalogue(t).Assemble(pool.Inputs{Settings: settings.External(), Served: order})
		got, _ := p.Find("Search")
		assert.Equal(t, "a", got.Origin.Server, "of two servers' it is not the one that connected first")
	}
}

func TestBlanketDenyRulesHideTools(t *testing.T) {
	c := catalogue(t, named("Bash"), named("Read"))
	offer := []*tool.Tool{served("git", "push"), served("git", "pull"), served("github", "push")}
	for rule, want := range map[string][]string{
		"Bash":           {"Read", "mcp__git__pull", "mcp__git__push", "mcp__github__push"},
		"Bash(rm *)":     {"Bash", "Read", "mcp__git__pull", "mcp__git__push", "mcp__github__push"},
		"mcp__git":       {"Bash", "Read", "mcp__github__push"},
		"mcp__git__*":    {"Bash", "Read", "mcp__github__push"},
		"mcp__git__push": {"Bash", "Read", "mcp__git__pull", "mcp__github__push"},
	} {
		p := c.Assemble(pool.Inputs{Settings: settings.External(), Served: offer, Rules: rules(t, rule)})
		assert.Equal(t, want, p.Names(), rule)
		for name, reason := range reasons(p) {
			assert.Contains(t, reason, rule, name)
		}
		assert.Len(t, p.Tools, len(want), "what is hidden does not count against thresholds")
	}
}

func TestLookUpByNameOrAlias(t *testing.T) {
	c := catalogue(t, named("Task", func(d *def) { d.Aliases = []string{"Agent1", "Other"} }))
	p := c.Assemble(pool.Inputs{Settings: settings.External(), Served: []*tool.Tool{served("s", "x", func(d *def) { d.Name = "Other" })}})
	got, ok := p.Find("Agent1")
	require.True(t, ok)
	assert.Equal(t, "Task", got.Name)
	got, _ = p.Find("Other")
	assert.True(t, got.IsMCP(), "a name beats an alias")
	_, ok = p.Find("agent1")
	assert.False(t, ok)
}

func TestCataloguesThatClashAreErrors(t *testing.T) {
	alias := func(a string) func(*def) { return func(d *def) { d.Aliases = []string{a} } }
	for name, entries := range map[string][]pool.Entry{
		"one name twice":             {{Name: "A", Tool: named("A")}, {Name: "A", Tool: named("A")}},
		"a name and an alias":        {{Name: "A", Tool: named("A")}, {Name: "B", Tool: named("B", alias("A"))}},
		"one alias twice":            {{Name: "A", Tool: named("A", alias("X"))}, {Name: "B", Tool: named("B", alias("X"))}},
		"a planned tool's name":      {{Name: "A"}, {Name: "B", Tool: named("B", alias("A"))}},
		"another tool than its name": {{Name: "A", Tool: named("B")}},
	} {
		_, err := pool.NewCatalogue(entries)
		assert.ErrorContains(t, err, "catalogue", name)
	}
}

func TestGates(t *testing.T) {
	external, internal := settings.External(), settings.Internal()
	cases := []struct {
		name   string
		gate   pool.Gate
		s      settings.Settings
		cond   pool.Conditions
		reason string
	}{
		{"no gate is open", pool.Gate{}, external, pool.Conditions{}, ""},
		{"any of its flags opens it", pool.Gate{Any: []settings.Flag{settings.Proactive, settings.Kairos}}, external.With(settings.Kairos), pool.Conditions{}, ""},
		{"none of them leaves it closed", pool.Gate{Any: []settings.Flag{settings.Proactive, settings.Kairos}}, external, pool.Conditions{}, "needs PROACTIVE or KAIROS"},
		{"a flag may close it", pool.Gate{Not: []settings.Flag{settings.EmbeddedSearch}}, external.With(settings.EmbeddedSearch), pool.Conditions{}, "is on"},
		{"internal users only", pool.Gate{Internal: true}, external, pool.Conditions{}, "USER_TYPE=ant"},
		{"internal users", pool.Gate{Internal: true}, internal, pool.Conditions{}, ""},
		{"special tools stay out", pool.Gate{Special: true}, external, pool.Conditions{}, "special"},
		{"resource tools rejoin with resources", pool.Gate{Special: true, Resources: true}, external, pool.Conditions{Resources: true}, ""},
		{"and not without", pool.Gate{Special: true, Resources: true}, external, pool.Conditions{}, "no connected server has resources"},
		{"the answer's tool joins where its form is given", pool.Gate{Special: true, Output: true}, external, pool.Conditions{Output: true}, ""},
		{"and not elsewhere", pool.Gate{Special: true, Output: true}, external, pool.Conditions{Resources: true}, "special"},
		{"tool search needs the decision", pool.Gate{Search: true}, external, pool.Conditions{}, "tool search is off"},
		{"a language server needs its setting", pool.Gate{LSP: true}, external, pool.Conditions{}, "ENABLE_LSP_TOOL"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got := c.gate.Closed(c.s, c.cond)
			if c.reason == "" {
				assert.Empty(t, got)
			} else {
				assert.Contains(t, got, c.reason)
			}
		})
	}
}

func TestModesOfTheWholeCatalogue(t *testing.T) {
	entry := func(name string, change func(*pool.Entry)) pool.Entry {
		e := pool.Entry{Name: name, Tool: named(name)}
		if change != nil {
			change(&e)
		}
		return e
	}
	basic := func(e *pool.Entry) { e.Simple, e.Repl = true, true }
	c, err := pool.NewCatalogue([]pool.Entry{
		entry("Bash", basic), entry("Read", basic), entry("Task", nil),
		entry("REPL", func(e *pool.Entry) { e.Gate.Internal = true }),
		entry("CoordinatorMode", func(e *pool.Entry) {
			e.Gate.Any = []settings.Flag{settings.CoordinatorMode}
			e.Tool = named("CoordinatorMode", func(d *def) { d.Coordinates = true })
		}),
		{Name: "Planned"},
		entry("Broken", func(e *pool.Entry) {
			e.Tool = named("Broken", func(d *def) { d.Traits.Enabled = func(settings.Settings) bool { panic("x") } })
		}),
		entry("Off", func(e *pool.Entry) {
			e.Tool = named("Off", func(d *def) { d.Traits.Enabled = func(settings.Settings) bool { return false } })
		}),
	})
	require.NoError(t, err)
	names := func(s settings.Settings) []string { return c.Assemble(pool.Inputs{Settings: s}).Names() }
	assert.Equal(t, []string{"Bash", "Read", "Task"}, names(settings.External()))
	assert.Equal(t, []string{"Bash", "Read"}, names(settings.Simple()))
	assert.Equal(t, []string{"Bash", "CoordinatorMode", "Read"}, names(settings.Simple().With(settings.CoordinatorMode)))
	repl := settings.Internal().With(settings.ReplMode)
	assert.Equal(t, []string{"REPL", "Task"}, names(repl), "what the REPL keeps for itself is reached through it")
	assert.Equal(t, []string{"Bash", "Read", "Task"}, names(settings.External().With(settings.ReplMode)), "who has no REPL is kept from nothing")
	repl.Simple = true
	assert.Equal(t, []string{"REPL"}, names(repl))

	out := reasons(c.Assemble(pool.Inputs{Settings: settings.External()}))
	assert.Contains(t, out["Planned"], "planned")
	assert.Contains(t, out["Broken"], "panic: x")
	assert.Equal(t, "disabled", out["Off"])
	assert.Len(t, out, len(c.Entries())-3, "every tool left out has a reason")
}

func look(p *pool.Pool, v pool.View) *pool.Snapshot {
	v.Settings = settings.External()
	return p.Look(v)
}

func TestDeferredToolsAreNamedUntilDiscovered(t *testing.T) {
	c := catalogue(t, named("Read"), named("Rare", deferrable, func(d *def) { d.Hint = "seldom used things" }), named(search.ToolName))
	p := c.Assemble(pool.Inputs{Settings: settings.External(), Served: []*tool.Tool{served("s", "x"), served("s", "now", func(d *def) { d.Loading.Always = true })}})
	defs := pool.NewDefinitions()

	s := look(p, pool.View{Deferring: true})
	assert.Equal(t, []string{"Read", "ToolSearch", "mcp__s__now"}, toolsOf(t, s.Definitions(defs)))
	assert.Equal(t, "<available-deferred-tools>\nRare\nmcp__s__x\n</available-deferred-tools>", s.Announcement())
	rare, _ := p.Find("Rare")
	read, _ := p.Find("Read")
	assert.True(t, s.HintDue(rare))
	assert.False(t, s.HintDue(read))

	s = look(p, pool.View{Deferring: true, Discovered: []string{"mcp__s__x", "Rare", "Gone"}})
	assert.Equal(t, []string{"Read", "ToolSearch", "Rare", "mcp__s__now", "mcp__s__x"}, toolsOf(t, s.Definitions(defs)), "behind the fixed prefix, in its two blocks")
	assert.Empty(t, s.Announcement())
	assert.False(t, s.HintDue(rare))

	s = look(p, pool.View{Deferring: true, Style: pool.Hints})
	assert.Contains(t, s.Announcement(), "Rare: seldom used things\n")

	s = look(p, pool.View{Deferring: true, Style: pool.API})
	assert.Equal(t, []string{"Read", "ToolSearch", "mcp__s__now", "Rare", "mcp__s__x"}, toolsOf(t, s.Definitions(defs)))
	assert.Contains(t, string(s.Definitions(defs)[3]), `"defer_loading":true`)
	assert.Empty(t, s.Announcement())

	s = look(p, pool.View{})
	assert.Equal(t, []string{"Rare", "Read", "mcp__s__now", "mcp__s__x"}, toolsOf(t, s.Definitions(defs)), "off: every tool whole, no ToolSearch")
	assert.False(t, s.HintDue(rare))
}

func toolsOf(t require.TestingT, defs []json.RawMessage) []string {
	var out []string
	for _, raw := range defs {
		var d struct {
			Name   string          `json:"name"`
			Schema json.RawMessage `json:"input_schema"`
		}
		require.NoError(t, json.Unmarshal(raw, &d))
		require.NotEmpty(t, d.Schema)
		out = append(out, d.Name)
	}
	return out
}

// Servers that come and go never change a byte up to the breakpoint, which stands
// after the last built-in that is always whole (D4).
func TestThePrefixDoesNotMove(t *testing.T) {
	c := catalogue(t, named("Read"), named("Edit"), named("Rare", deferrable), named(search.ToolName))
	defs := pool.NewDefinitions()
	prefix := func(discovered []string, offer ...*tool.Tool) []json.RawMessage {
		s := look(c.Assemble(pool.Inputs{Settings: settings.External(), Served: offer}), pool.View{Deferring: true, Discovered: discovered})
		return s.Definitions(defs)[:s.Fixed()]
	}
	want := prefix(nil)
	require.Len(t, want, 3)
	marked := 0
	for _, raw := range want {
		marked += strings.Count(string(raw), `"cache_control"`)
	}
	assert.Equal(t, 1, marked)
	assert.Contains(t, string(want[2]), `"cache_control"`)
	assert.Equal(t, want, prefix(nil, served("a", "x")))
	assert.Equal(t, want, prefix([]string{"Rare", "mcp__a__x"}, served("a", "x"), served("b", "y")))
}

// Same members in, same bytes out (D3).
func TestPropertyAssemblyIsPermutationInvariant(t *testing.T) {
	var builtins, offer []*tool.Tool
	for i := range 8 {
		builtins = append(builtins, named(fmt.Sprintf("Tool%d", i), func(d *def) { d.Loading.Deferrable = i%3 == 0 }))
		offer = append(offer, served(fmt.Sprintf("s%d", i%3), fmt.Sprint(i)))
	}
	rapid.Check(t, func(t *rapid.T) {
		n, m := rapid.IntRange(0, 8).Draw(t, "built in"), rapid.IntRange(0, 8).Draw(t, "served")
		view := pool.View{Deferring: rapid.Bool().Draw(t, "deferring"), Style: rapid.SampledFrom([]pool.Style{pool.Names, pool.Hints, pool.API}).Draw(t, "style")}
		deny := rapid.SliceOfN(rapid.SampledFrom([]string{"Tool1", "Tool2", "mcp__s1", "mcp__s0__*"}), 0, 2).Draw(t, "deny")
		bytes := func(b, o []*tool.Tool, defs *pool.Definitions) (string, string) {
			p := catalogue(t, b...).Assemble(pool.Inputs{Settings: settings.External(), Served: o, Rules: rules(t, deny...)})
			s := look(p, view)
			raw, err := json.Marshal(s.Definitions(defs))
			require.NoError(t, err)
			return string(raw), s.Announcement()
		}
		defs := pool.NewDefinitions()
		want, announced := bytes(builtins[:n], offer[:m], defs)
		got, again := bytes(rapid.Permutation(builtins[:n]).Draw(t, "b"), rapid.Permutation(offer[:m]).Draw(t, "o"), defs)
		assert.Equal(t, want, got)
		assert.Equal(t, announced, again)
		fresh, _ := bytes(builtins[:n], offer[:m], pool.NewDefinitions())
		assert.Equal(t, want, fresh, "nor on what was written before")
	})
}

func TestDefinitionsAreWrittenOnce(t *testing.T) {
	worded := 0
	c := catalogue(t, named("Read", func(d *def) {
		d.Prompt = func(o tool.PromptOptions) string {
			worded++
			return "beside " + strings.Join(o.Tools, " & ")
		}
	}), named("Edit"))
	defs := pool.NewDefinitions()
	for range 5 {
		look(c.Assemble(pool.Inputs{Settings: settings.External(), Served: []*tool.Tool{served("s", "x")}}), pool.View{}).Definitions(defs)
	}
	assert.Equal(t, 1, worded)
	denied := look(c.Assemble(pool.Inputs{Settings: settings.External(), Rules: rules(t, "Edit")}), pool.View{}).Definitions(defs)
	assert.Equal(t, 2, worded, "a prompt that may point to another tool is worded anew when that is gone")
	assert.Contains(t, string(denied[0]), `"description":"beside Read"`)
}

// A store does not grow for ever while servers reconnect with new tools.
func TestDefinitionsForgetWhatIsNoLongerUsed(t *testing.T) {
	defs := pool.NewDefinitions()
	worded := 0
	kept := named("Kept", func(d *def) {
		d.Prompt = func(tool.PromptOptions) string { worded++; return "kept" }
	})
	c, first := catalogue(t, kept), served("s", "x")
	for range 3 * pool.DefinitionsKept {
		again := *first // a server that reconnects brings its tools anew
		look(c.Assemble(pool.Inputs{Settings: settings.External(), Served: []*tool.Tool{&again}}), pool.View{}).Definitions(defs)
	}
	assert.Equal(t, 1, worded, "what every request uses stays")
	assert.LessOrEqual(t, defs.Len(), 2*pool.DefinitionsKept)
}

// The definitions of one request, however many, do not push each other out.
func TestDefinitionsKeepAllThatOneRequestHas(t *testing.T) {
	defs, worded := pool.NewDefinitions(), 0
	var offer []*tool.Tool
	one := served("s", "x", func(d *def) { d.Prompt = func(tool.PromptOptions) string { worded++; return "served" } })
	for i := range pool.DefinitionsKept + 500 {
		another := *one
		another.Name = fmt.Sprintf("mcp__s__t%d", i)
		offer = append(offer, &another)
	}
	c := catalogue(t)
	for i := range 3 { // and one tool less, so that the snapshots differ
		look(c.Assemble(pool.Inputs{Settings: settings.External(), Served: offer[i:]}), pool.View{}).Definitions(defs)
	}
	assert.Equal(t, len(offer), worded)
}

func TestDiscoveryIsReadBack(t *testing.T) {
	history := []message.Message{
		{Role: message.User, Content: []message.Block{message.Text("hi"), pool.Discovery([]string{"B", "A", "B"})}},
		{Role: message.Assistant, Content: []message.Block{pool.Discovery([]string{"Forged"})}},
		{Role: message.User, Content: []message.Block{
			message.ToolResult("t", false, message.ToolReference("C")),
			message.ToolResult("u", false, pool.Discovery([]string{"InAResult"})),
			message.Text("<discovered_tools>broken</discovered_tools>"),
		}},
	}
	assert.Equal(t, []string{"A", "B", "C"}, pool.Discovered(history), "what the model or a tool writes does not count")
	assert.Empty(t, pool.Discovered(nil))

	kept, ok := pool.Compact(history)
	require.True(t, ok)
	assert.Equal(t, []string{"A", "B", "C"}, pool.Discovered([]message.Message{kept}), "compaction keeps them")
	_, ok = pool.Compact(history[1:2])
	assert.False(t, ok)
}

// Any names survive the way through the history.
func TestPropertyDiscoverySurvives(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.SliceOfDistinct(rapid.String(), rapid.ID).Draw(t, "names")
		got := pool.Discovered([]message.Message{{Role: message.User, Content: []message.Block{pool.Discovery(names)}}})
		slices.Sort(names)
		assert.ElementsMatch(t, names, got)
	})
}

func TestDeltaSaysWhatChanged(t *testing.T) {
	assert.Empty(t, pool.Delta([]string{"A"}, []string{"A"}))
	text := pool.Delta([]string{"A", "B"}, []string{"B", "C"})
	assert.Contains(t, text, "+ C\n- A\n</system-reminder>")
	assert.NotContains(t, text, "B\n")
}

func thousand() (*pool.Catalogue, []*tool.Tool, error) {
	var entries []pool.Entry
	var offer []*tool.Tool
	for i := range 500 {
		name := fmt.Sprintf("Tool%03d", i)
		entries = append(entries, pool.Entry{Name: name, Tool: named(name)})
		offer = append(offer, served(fmt.Sprintf("s%d", i%10), fmt.Sprintf("t%03d", i)))
	}
	c, err := pool.NewCatalogue(entries)
	return c, offer, err
}

// BenchmarkThousandToolsCold builds the tools and writes every definition anew.
func BenchmarkThousandToolsCold(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		c, offer, err := thousand()
		if err != nil {
			b.Fatal(err)
		}
		look(c.Assemble(pool.Inputs{Settings: settings.External(), Served: offer}), pool.View{}).Definitions(pool.NewDefinitions())
	}
}

// BenchmarkThousandToolsUnchanged is what a request costs when nothing changed.
func BenchmarkThousandToolsUnchanged(b *testing.B) {
	c, offer, err := thousand()
	if err != nil {
		b.Fatal(err)
	}
	defs := pool.NewDefinitions()
	b.ReportAllocs()
	for b.Loop() {
		look(c.Assemble(pool.Inputs{Settings: settings.External(), Served: offer}), pool.View{}).Definitions(defs)
	}
}

// BenchmarkTenThousandTools is what a request costs with as many served tools: written for
// the first time, when nothing changed, and when one of twenty servers did.
func BenchmarkTenThousandTools(b *testing.B) {
	c, offer := tenThousand(b)
	request := func(a *pool.Assembly, served []*tool.Tool, v pool.View, defs *pool.Definitions) *pool.Snapshot {
		v.Settings = settings.External()
		s := a.Look(a.Assemble(c, pool.Inputs{Settings: settings.External(), Served: served}), v)
		s.Definitions(defs)
		return s
	}
	request(&pool.Assembly{}, offer, pool.View{}, pool.NewDefinitions()) // schemas are derived once
	for _, deferring := range []bool{false, true} {
		name, v := map[bool]string{false: "loaded", true: "deferred"}[deferring], pool.View{Deferring: deferring}
		b.Run(name+"/cold", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				request(&pool.Assembly{}, offer, v, pool.NewDefinitions())
			}
		})
		b.Run(name+"/unchanged", func(b *testing.B) {
			var a pool.Assembly
			defs := pool.NewDefinitions()
			request(&a, offer, v, defs)
			b.ReportAllocs()
			for b.Loop() {
				request(&a, offer, v, defs)
			}
		})
		b.Run(name+"/one server changed", func(b *testing.B) {
			var a pool.Assembly
			defs, fewer := pool.NewDefinitions(), offer[:len(offer)-500]
			b.ReportAllocs()
			for b.Loop() {
				request(&a, offer, v, defs)
				request(&a, fewer, v, defs)
			}
		})
	}
}

func tenThousand(b *testing.B) (*pool.Catalogue, []*tool.Tool) {
	c, err := pool.NewCatalogue([]pool.Entry{{Name: "ToolSearch", Tool: named("ToolSearch")}})
	require.NoError(b, err)
	var offer []*tool.Tool
	for i := range 10_000 {
		offer = append(offer, served(fmt.Sprintf("s%02d", i/500), fmt.Sprintf("t%05d", i)))
	}
	return c, offer
}

// When a server's tools change, and when one is discovered, the index of the others is put
// together from what was read of them.
func TestAnIndexReadsOnlyWhatChanged(t *testing.T) {
	c, offer := catalogue(t, named("ToolSearch")), []*tool.Tool(nil)
	for i := range 1000 {
		offer = append(offer, served(fmt.Sprintf("s%d", i/50), fmt.Sprintf("t%d", i)))
	}
	q, err := search.ParseQuery("does")
	require.NoError(t, err)
	ask := func(a *pool.Assembly, served []*tool.Tool, found ...string) {
		v := pool.View{Settings: settings.External(), Deferring: true, Discovered: found}
		a.Look(a.Assemble(c, pool.Inputs{Settings: v.Settings, Served: served}), v).Index().Search(q, 5)
	}
	cold := testing.AllocsPerRun(3, func() { ask(&pool.Assembly{}, offer) })
	var a pool.Assembly
	changed := testing.AllocsPerRun(3, func() { ask(&a, offer); ask(&a, offer[50:]) })
	assert.Less(t, changed, cold/2, "of two indexes")
	discovered := testing.AllocsPerRun(3, func() { ask(&a, offer, "mcp__s1__t77"); ask(&a, offer) })
	assert.Less(t, discovered, cold/2)
}

// A tool that its server describes otherwise is found by its new words and no longer by the old ones.
func TestAToolThatItsServerChangedIsFoundAsItIsNow(t *testing.T) {
	c, other := catalogue(t, named("ToolSearch")), served("home", "rest")
	var a pool.Assembly
	ask := func(words string, offer ...*tool.Tool) (names []string) {
		q, err := search.ParseQuery(words)
		require.NoError(t, err)
		v := pool.View{Settings: settings.External(), Deferring: true}
		for _, m := range a.Look(a.Assemble(c, pool.Inputs{Settings: v.Settings, Served: offer}), v).Index().Search(q, 5).Matches {
			names = append(names, m.Name)
		}
		return names
	}
	act := func(does string) *tool.Tool { return served("home", "act", func(d *def) { d.Description = does }) }
	before, now := act("Sends letters."), act("Paints walls.")
	assert.Equal(t, []string{"mcp__home__act"}, ask("letters", before, other))
	assert.Equal(t, []string{"mcp__home__act"}, ask("walls", now, other))
	assert.Empty(t, ask("letters", now, other))
}

// What is kept of the last request is given again only when all that it depends on is the
// same, and it is then the same as if it were made anew.
func TestPropertyAnAssemblyIsWhatACatalogueAssembles(t *testing.T) {
	c := catalogue(t, named("ToolSearch"), named("A"), named("B", func(d *def) { d.Loading.Deferrable = true }))
	offer := []*tool.Tool{served("s", "x"), served("s", "y"), served("t", "x")}
	hiding, err := permission.Rules{}.Parse(permission.Project, permission.Deny, "mcp__s")
	require.NoError(t, err)
	rapid.Check(t, func(t *rapid.T) {
		var a pool.Assembly
		defs := pool.NewDefinitions()
		in, v := pool.Inputs{Settings: settings.External()}, pool.View{Settings: settings.External()}
		for range rapid.IntRange(1, 12).Draw(t, "requests") {
			switch rapid.IntRange(0, 7).Draw(t, "change") {
			case 0:
				in.Served = slices.Clone(offer[:rapid.IntRange(0, 3).Draw(t, "served")])
			case 1:
				if len(in.Served) > 0 { // the same list, changed in place
					in.Served[0] = offer[rapid.IntRange(0, 2).Draw(t, "first")]
				}
			case 2:
				in.Off = rapid.SampledFrom([][]string{nil, {"A"}}).Draw(t, "off")
			case 3:
				in.Rules = rapid.SampledFrom([]permission.Rules{{}, hiding}).Draw(t, "rules")
			case 4:
				v.Deferring, v.Style = rapid.Bool().Draw(t, "deferring"), rapid.SampledFrom([]pool.Style{pool.Names, pool.API}).Draw(t, "style")
			case 5:
				v.Discovered = rapid.SampledFrom([][]string{nil, {"B"}, {"mcp__t__x"}}).Draw(t, "discovered")
			}
			got, want := a.Look(a.Assemble(c, in), v), c.Assemble(in).Look(v)
			require.Equal(t, want.Pool.Names(), got.Pool.Names())
			require.Equal(t, want.Pool.Omitted, got.Pool.Omitted)
			require.Equal(t, want.Definitions(pool.NewDefinitions()), got.Definitions(defs))
			require.Equal(t, want.Announcement(), got.Announcement())
			require.Same(t, got, a.Look(a.Assemble(c, in), v), "nothing changed")
			for _, text := range []string{"does x", "mcp__s", "select:A,B"} {
				q, err := search.ParseQuery(text)
				require.NoError(t, err)
				require.Equal(t, want.Index().Search(q, 5), got.Index().Search(q, 5))
			}
		}
	})
}

// A request looks as its own conditions and style have it, whatever the one before it looked like.
func TestAnAssemblyKeepsNothingOfOtherConditionsOrStyles(t *testing.T) {
	c, err := pool.NewCatalogue([]pool.Entry{
		{Name: "Later", Tool: named("Later", deferrable)},
		{Name: "List", Tool: named("List"), Gate: pool.Gate{Special: true, Resources: true}},
	})
	require.NoError(t, err)
	var a pool.Assembly
	for _, has := range []bool{false, true, false} {
		p := a.Assemble(c, pool.Inputs{Settings: settings.External(), Conditions: pool.Conditions{Resources: has}})
		assert.Equal(t, has, slices.Contains(p.Names(), "List"))
		for _, style := range []pool.Style{pool.Names, pool.API, pool.Hints} {
			s := a.Look(p, pool.View{Settings: settings.External(), Deferring: true, Style: style})
			assert.Equal(t, style != pool.API, s.Announcement() != "")
			assert.Equal(t, style == pool.API, slices.Contains(toolsOf(t, s.Definitions(pool.NewDefinitions())), "Later"))
		}
	}
}

// What the API's own search finds is known to the calls behind it, and not to those before it.
func TestWhatIsFoundMeanwhileIsKnownToALaterSnapshotOnly(t *testing.T) {
	c := catalogue(t, named("Later", deferrable))
	s := look(c.Assemble(pool.Inputs{Settings: settings.External()}), pool.View{Deferring: true, Style: pool.ServerBM25})
	later, ok := s.Pool.Find("Later")
	require.True(t, ok)
	assert.False(t, s.With([]string{"Later"}).HintDue(later))
	assert.True(t, s.HintDue(later))
}

// A definition is the tool's name, its prompt and its input's schema, as they stand; where
// the prompt panics, the description stands in for it, and only that tool is noted.
func TestADefinitionIsWhatTheToolSays(t *testing.T) {
	c := catalogue(t, named("Broken", func(d *def) { d.Prompt = func(tool.PromptOptions) string { panic("no prompt") } }),
		named("Fine", func(d *def) { d.Prompt, d.Strict = tool.Prompt("Say <it>."), true }))
	defs := pool.NewDefinitions()
	got := look(c.Assemble(pool.Inputs{Settings: settings.External()}), pool.View{}).Definitions(defs)
	require.Len(t, got, 2)
	const schema = `"input_schema":{"type":"object","properties":{"text":{"type":"string"}},"additionalProperties":false}`
	assert.Contains(t, string(got[0]), `{"name":"Broken","description":"Does Broken.",`+schema)
	assert.Contains(t, string(got[1]), `{"name":"Fine","description":"Say <it>.",`+schema+`,"strict":true`)
	require.Len(t, defs.Broken(), 1)
	assert.ErrorContains(t, defs.Broken()["Broken"], "no prompt")
}
