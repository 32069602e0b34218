package reports

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"toolbench/toolsys/render"
	"toolbench/toolsys/tool"
	"toolbench/toolsys/trace"
)

// ListReport is a list of scenarios.
type ListReport struct {
	Version   int      `json:"version"`
	Scenarios []Listed `json:"scenarios"`
}

// Listed is one scenario of a list.
type Listed struct {
	Name  string   `json:"name"`
	Tags  []string `json:"tags"`
	About string   `json:"about"`
	File  string   `json:"file"`
}

func (r ListReport) document() any { return r }

func (r ListReport) show(p *page) {
	g := Grid{Columns: columns("Scenario", "Tags", "About")}
	for _, l := range r.Scenarios {
		g.add(Safe(l.Name), Safe(strings.Join(l.Tags, " ")), Safe(l.About))
	}
	p.grid(g)
}

// TraceKinds writes the kinds of events of a run and what their members hold.
func TraceKinds(w io.Writer, o Options) error {
	p := newPage(w, o)
	g := Grid{Columns: columns("Kind", "About", "Members")}
	for _, kind := range trace.Kinds() {
		members := each(kind.Members, func(m trace.Member) string {
			if m.Optional {
				return "[" + m.Name + " " + m.Type + "]"
			}
			return m.Name + " " + m.Type
		})
		g.add(kind.Kind, kind.About, strings.Join(members, ", "))
	}
	p.tables(g)
	p.lines("A member in brackets is left out where it is empty.")
	return p.end()
}

// ToolsReport is a list of the built-in tools.
type ToolsReport struct {
	Version int           `json:"version"`
	Tools   []BuiltinTool `json:"tools"`
}

// BuiltinTool is one built-in tool.
type BuiltinTool struct {
	Name    string   `json:"name"`
	Aliases []string `json:"aliases"`
	Planned bool     `json:"planned" jsonschema:"It has no code yet, and is in no pool."`
	About   string   `json:"about" jsonschema:"Its description in a sentence."`
	Flags   []string `json:"flags" jsonschema:"It is offered where one of these feature flags is on; empty where none is needed."`
	Closed  string   `json:"closed" jsonschema:"Why it is not offered to an external user without further settings; empty where it is."`
	// Traits are those of an input without members; some tools decide by their input.
	Safe        bool   `json:"safe" jsonschema:"It may run beside others; of an input without members, as are the traits that follow."`
	ReadOnly    bool   `json:"read_only"`
	Destructive bool   `json:"destructive"`
	OpenWorld   bool   `json:"open_world"`
	NeedsUser   bool   `json:"needs_user"`
	Interrupt   string `json:"interrupt" jsonschema:"What a new message of the user does to a running call."`
	Deferrable  bool   `json:"deferrable" jsonschema:"Its definition may be left out of requests until the model finds it."`
	Always      bool   `json:"always_loaded"`
	Hint        string `json:"hint" jsonschema:"What a search finds it by, beside its name."`
	ResultChars int    `json:"result_chars" jsonschema:"The largest result that stays in the conversation, in characters; -1 is without limit."`
}

func (r ToolsReport) document() any { return r }

func (r ToolsReport) show(p *page) {
	g := Grid{Columns: columns("Tool", "Traits", ">Result", "Offered")}
	planned := 0
	for _, t := range r.Tools {
		offered := cmp.Or(t.Closed, "yes")
		if t.Planned {
			planned++
			offered = "planned; " + offered
		}
		g.add(Safe(t.Name), t.traits(), t.limit(), Safe(offered))
	}
	p.tables(g)
	count := fmt.Sprintf("%d built-in tools", len(r.Tools))
	if planned > 0 {
		count += fmt.Sprintf(", %d of them planned", planned)
	}
	p.lines(count + "; the traits are of an input without members, and some tools decide by their input")
}

// traits are the words for what a tool is.
func (t BuiltinTool) traits() string {
	var words []string
	for _, w := range []struct {
		is   bool
		word string
	}{{t.Safe, "safe"}, {t.ReadOnly, "read-only"}, {t.Destructive, "destructive"}, {t.OpenWorld, "open world"}, {t.NeedsUser, "needs the user"}, {t.Deferrable, "deferrable"}, {t.Always, "always loaded"}} {
		if w.is {
			words = append(words, w.word)
		}
	}
	return strings.Join(words, ", ")
}

func (t BuiltinTool) limit() string {
	switch {
	case t.Planned:
		return ""
	case t.ResultChars < 0:
		return "no limit"
	}
	return fmt.Sprint(t.ResultChars)
}

// ServersReport is what live MCP servers offer.
type ServersReport struct {
	Version   int                 `json:"version"`
	Tools     []ServedTool        `json:"tools"`
	Resources []tool.Resource     `json:"resources"`
	Prompts   []tool.ServerPrompt `json:"prompts"`
	// Remarks are what is odd about a tool's definition.
	Remarks []string `json:"remarks"`
}

// ServedTool is a tool of an MCP server, as a model sees it and as a call is checked.
type ServedTool struct {
	// Name is what a model calls it; Server and Tool are the server's own names.
	Name        string `json:"name"`
	Server      string `json:"server"`
	Tool        string `json:"tool"`
	About       string `json:"about"`
	Hint        string `json:"hint"`
	ReadOnly    bool   `json:"read_only"`
	Destructive bool   `json:"destructive"`
	OpenWorld   bool   `json:"open_world"`
	Always      bool   `json:"always_loaded"`
}

func (r ServersReport) document() any { return r }

func (r ServersReport) show(p *page) {
	g := Grid{Columns: columns("Tool", "Traits", "About")}
	for _, t := range r.Tools {
		traits := BuiltinTool{Safe: t.ReadOnly, ReadOnly: t.ReadOnly, Destructive: t.Destructive, OpenWorld: t.OpenWorld, Always: t.Always}.traits()
		g.add(Safe(t.Name), traits, Cut(oneLine(t.About, p.ASCII), 60, p.ASCII))
	}
	p.tables(g)
	for _, res := range r.Resources {
		p.lines("resource " + Safe(res.Server+": "+res.URI+"  "+res.Name))
	}
	for _, prompt := range r.Prompts {
		args := each(prompt.Arguments, func(arg tool.PromptArgument) string { return arg.Name })
		p.lines("prompt " + Safe(fmt.Sprintf("%s: %s(%s)", prompt.Server, prompt.Name, strings.Join(args, ", "))))
	}
	p.lines(each(r.Remarks, Safe)...)
	p.lines(strings.Join([]string{render.Count(len(r.Tools), "tool"), render.Count(len(r.Resources), "resource"), render.Count(len(r.Prompts), "prompt")}, ", "))
}
