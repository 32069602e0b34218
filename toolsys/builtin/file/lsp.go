package file

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"path"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
	wide "unicode/utf16"

	"toolbench/toolsys/tool"
)

// LSPTimeout is how long a language server may take for an answer, its start included.
const LSPTimeout = 2 * time.Minute

// A server that has not read the project yet is asked again each askedAgain, for as long as it reports that it reads, and no
// longer than patience. Some do not report it: a new server's answer is one that it gives twice, and nothing is a new file's
// only after opening.
const (
	askedAgain = 250 * time.Millisecond
	opening    = time.Second
	patience   = 30 * time.Second
)

// CodePlace refuses a place in a file that is not there.
const CodePlace = 20

// LSPIn is what LSP takes.
type LSPIn struct {
	Operation string `json:"operation" enum:"definition,references,hover,implementation,document_symbols,workspace_symbols,incoming_calls,outgoing_calls" jsonschema:"What to ask"`
	FilePath  string `json:"file_path" minLength:"1" jsonschema:"The file that the question is about"`
	Line      int    `json:"line,omitempty" minimum:"1" jsonschema:"The line, from 1"`
	Character int    `json:"character,omitempty" minimum:"1" jsonschema:"The character on the line, from 1"`
	Symbol    string `json:"symbol,omitempty" jsonschema:"The name on the line, in place of character"`
	Query     string `json:"query,omitempty" jsonschema:"For workspace_symbols: what the name contains"`
}

// LSPOut is what LSP answers with.
type LSPOut struct {
	// Text is the answer of a hover.
	Text string `json:"text,omitempty"`
	// Found are places, in the server's order; Omitted counts those that were left out.
	Found   []Symbol `json:"found,omitempty"`
	Omitted int      `json:"omitted,omitempty"`
	// Partial reports whether the server was still reading the project.
	Partial bool `json:"partial,omitempty"`
}

// Symbol is a place in the code, with what is there. Line and Character count from 1.
type Symbol struct {
	Path      string `json:"path"`
	Line      int    `json:"line"`
	Character int    `json:"character"`
	// Kind and Name are a symbol's, Within what contains it; Text is the line otherwise.
	Kind   string `json:"kind,omitempty"`
	Name   string `json:"name,omitempty"`
	Within string `json:"within,omitempty"`
	Text   string `json:"text,omitempty"`
	// CallLines are where a caller calls, in its own file; of what is called, where the function asked about does.
	CallLines []int `json:"call_lines,omitempty"`
}

// MaxSpots is how many places an answer has.
const MaxSpots = 200

// LSP asks a language server about code (SPEC L). Servers are started when they are first asked, and end
// with l; nil has none.
func LSP(d Deps, l *Languages) *tool.Tool {
	q := lsp{d, l}
	return tool.Must(tool.Def[LSPIn, LSPOut]{
		Name:     "LSP",
		LSP:      true,
		Describe: func(in LSPIn) string { return "Ask for " + in.words() },
		Texts:    prompts.Of("lsp"),
		Call:     tool.Data(acting(q.plan, q.call)),
		Text:     LSPOut.text,
		Validate: looked(LSPIn.path, q.glance),
		Subject:  subjectOf(LSPIn.path, "Read"),
		Traits: tool.Looks(tool.Class{Search: true}, func(in LSPIn, c *tool.Context) []string {
			// A server reads the whole project.
			return append(d.lookups(in.FilePath, c), strings.TrimSuffix(c.State.Root, "/")+"/**")
		}),
		Loading: tool.Loading{Deferrable: true},
		Shaping: tool.Shaping[LSPIn]{Backfill: absolute("file_path"), Classifier: LSPIn.words},
		Limits:  tool.Limits[LSPIn]{Timeout: func(LSPIn) time.Duration { return LSPTimeout }},
		View:    tool.Doing("LSP", "Asking for ", LSPIn.words),
		Draw:    tool.Drawing[LSPIn, LSPOut]{Result: drawSymbols},
	})
}

func (in LSPIn) path() string { return in.FilePath }

func (in LSPIn) words() string {
	what := strings.ReplaceAll(in.Operation, "_", " ")
	switch name := cmp.Or(in.Query, in.Symbol); {
	case name != "":
		return what + " of " + name
	case in.Line > 0:
		return fmt.Sprintf("%s at %s:%d", what, path.Base(in.FilePath), in.Line)
	}
	return what + " in " + path.Base(in.FilePath)
}

// lsp is what the tool works with.
type lsp struct {
	Deps
	languages *Languages
}

// question is a call that is ready to be asked.
type question struct {
	place
	text   string
	server LanguageServer
	// line and character are the protocol's: from 0, in UTF-16 units.
	line, character int
}

// glance is plan before permission, when no line is looked at of a file that lies outside of the roots or that a rule keeps.
func (q lsp) glance(in LSPIn, c *tool.Context) (question, *tool.Refusal) {
	p, refusal := q.locate(in.FilePath, c)
	if refusal == nil && (q.forbidden("LSP", p, c).hides("") || len(c.Roots) > 0 && !q.within(p.real, c.Roots)) {
		in.Operation = ""
	}
	return q.plan(in, c)
}

func (q lsp) plan(in LSPIn, c *tool.Context) (question, *tool.Refusal) {
	server, refusal := q.languages.of(in.FilePath)
	if refusal != nil {
		return question{}, refusal
	}
	p, content, refusal := q.open(in.FilePath, c)
	if refusal != nil {
		return question{}, refusal
	}
	ask := question{place: p, text: string(content), server: server}
	if protocol().Methods[in.Operation] == "" {
		return ask, nil
	}
	return ask, ask.find(in)
}

// find takes the place from the model's terms into the protocol's.
func (ask *question) find(in LSPIn) *tool.Refusal {
	lines := strings.Split(ask.text, "\n")
	switch {
	case in.Line == 0 || in.Character == 0 && in.Symbol == "":
		return refuse(CodePlace, "%s is about a place: give line, and symbol or character.", in.Operation)
	case in.Line > len(lines):
		return refuse(CodePlace, "%s has %d lines, and none of the number %d.", ask.abs, len(lines), in.Line)
	}
	line := strings.TrimSuffix(lines[in.Line-1], "\r")
	runes := []rune(line)
	at := in.Character - 1
	if in.Symbol != "" {
		before, _, found := strings.Cut(line, in.Symbol)
		if !found {
			return refuse(CodePlace, "%q is not on line %d of %s, which is: %s", in.Symbol, in.Line, ask.abs, strings.TrimSpace(line))
		}
		whole := regexp.MustCompile(`(?:^|[^\pL\pN_])(` + regexp.QuoteMeta(in.Symbol) + `)(?:$|[^\pL\pN_])`)
		if m := whole.FindStringSubmatchIndex(line); m != nil { // n is not the letter of func
			before = line[:m[2]]
		}
		at = len([]rune(before))
	}
	if at > len(runes) {
		return refuse(CodePlace, "line %d of %s has %d characters, and none of the number %d.", in.Line, ask.abs, len(runes), in.Character)
	}
	ask.line, ask.character = in.Line-1, len(wide.Encode(runes[:at])) // the protocol counts in UTF-16
	return nil
}

func (q lsp) call(ctx context.Context, in LSPIn, ask question, c *tool.Context) (LSPOut, error) {
	server, err := q.languages.started(ctx, ask.server, c)
	if err != nil {
		return LSPOut{}, err
	}
	var out LSPOut
	fresh, err := q.sync(ctx, server, ask, c)
	if err == nil {
		out, err = q.patient(ctx, server, in, ask, c, fresh)
	}
	if err != nil {
		return LSPOut{}, server.problem(err)
	}
	return out, nil
}

// patient asks until the server has read what the answer is about; fresh reports whether it was shown the file just now.
func (q lsp) patient(ctx context.Context, s *server, in LSPIn, ask question, c *tool.Context, fresh bool) (out LSPOut, err error) {
	for waited := time.Duration(0); ; {
		before := out
		out, err = q.ask(ctx, s, in, ask, c)
		nothing := err == nil && out.Text == "" && len(out.Found)+out.Omitted == 0
		reads := func() bool { return err == nil && (nothing || !s.ready.Load()) && s.reads() }
		again := outdated(err) || nothing && fresh && waited < opening ||
			err == nil && !s.ready.Load() && (waited == 0 || !reflect.DeepEqual(out, before))
		if out.Partial = reads(); waited >= patience || !out.Partial && !again {
			s.ready.Store(true)
			return out, err
		}
		for wait := true; wait; wait = waited < patience && reads() {
			if err := c.Clock.Sleep(ctx, "tool/"+c.CallID, askedAgain); err != nil {
				return out, err
			}
			waited += askedAgain
		}
	}
}

// sync shows the server the files as they are: the one that is asked about, those it was shown before, and
// those that the conversation read or changed. Fresh reports whether the first was not shown before.
func (q lsp) sync(ctx context.Context, server *server, ask question, c *tool.Context) (fresh bool, err error) {
	names := server.shown()
	fresh = !slices.Contains(names, ask.real)
	for _, f := range c.State.Files.All() {
		if of, refusal := q.languages.of(f.Path); refusal == nil && of.Language == ask.server.Language {
			names = append(names, f.Path)
		}
	}
	for _, name := range names {
		p, refusal := q.locate(name, c)
		if refusal != nil || p.real == ask.real {
			continue
		}
		content, refusal := q.load(p)
		if err := server.show(ctx, p.real, string(content), refusal == nil); err != nil {
			return fresh, err
		}
	}
	return fresh, server.show(ctx, ask.real, ask.text, true)
}

func (out LSPOut) text() string {
	var b strings.Builder
	if len(out.Found)+out.Omitted == 0 {
		b.WriteString(cmp.Or(out.Text, "The language server found nothing.") + "\n")
	}
	for _, s := range out.Found {
		fmt.Fprintf(&b, "%s:%d:%d", s.Path, s.Line, s.Character)
		if s.Name != "" {
			fmt.Fprintf(&b, ": %s %s", s.Kind, s.Name)
		}
		if s.Within != "" {
			fmt.Fprintf(&b, " (in %s)", s.Within)
		}
		if len(s.CallLines) > 0 {
			fmt.Fprintf(&b, " (calls on line %s)", strings.Trim(strings.ReplaceAll(fmt.Sprint(s.CallLines), " ", ", "), "[]"))
		}
		if s.Text != "" {
			fmt.Fprintf(&b, ": %s", s.Text)
		}
		b.WriteByte('\n')
	}
	if out.Omitted > 0 {
		fmt.Fprintf(&b, "[%d more were left out]\n", out.Omitted)
	}
	if out.Partial {
		b.WriteString("[The language server is still reading the project: there may be more.]")
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// What servers answer with, as far as it is used.
type (
	wirePlace struct{ Line, Character int }
	wireRange struct{ Start wirePlace }
	// wireLocation is a Location, or a LocationLink by its members that begin with target.
	wireLocation struct {
		URI                  string
		Range                wireRange
		TargetURI            string
		TargetSelectionRange wireRange
	}
	// wireSymbol is a DocumentSymbol with its children, a SymbolInformation with its location, or an item
	// of a call hierarchy with its URI.
	wireSymbol struct {
		Name           string
		Kind           int
		ContainerName  string
		SelectionRange wireRange
		Children       []wireSymbol
		Location       *wireLocation
		URI            string
	}
)

// pictures are those within a text, which a model would read as thousands of letters.
var pictures = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`!\[[^]]*\]\(data:[^)]*\)\n*`) })

func (q lsp) ask(ctx context.Context, s *server, in LSPIn, ask question, c *tool.Context) (LSPOut, error) {
	at := object{"textDocument": object{"uri": uri(ask.real)}, "position": object{"line": ask.line, "character": ask.character}}
	f := finder{q: q, c: c, hidden: q.hiddenBelow("LSP", ask.place, c), lines: map[string][]string{}}
	var err error
	switch in.Operation {
	case "hover":
		var got struct{ Contents any }
		err = s.call(ctx, protocol().Methods[in.Operation], at, &got)
		text := pictures().ReplaceAllString(strings.Join(marked(nil, got.Contents), "\n\n"), "")
		return LSPOut{Text: strings.TrimSpace(text)}, err
	case "document_symbols":
		var got []wireSymbol
		err = s.call(ctx, "textDocument/documentSymbol", object{"textDocument": at["textDocument"]}, &got)
		f.symbols(got, uri(ask.real), "")
	case "workspace_symbols":
		var got []wireSymbol
		err = s.call(ctx, "workspace/symbol", object{"query": in.Query}, &got)
		f.symbols(got, "", "")
	case "incoming_calls", "outgoing_calls":
		err = f.calls(ctx, s, protocol().Methods[in.Operation], at)
	default:
		at["context"] = object{"includeDeclaration": true}
		var got json.RawMessage
		if err = s.call(ctx, protocol().Methods[in.Operation], at, &got); err == nil {
			err = f.locations(got)
		}
	}
	return f.out, err
}

// finder takes places in, in the model's terms.
type finder struct {
	q      lsp
	c      *tool.Context
	hidden hidden
	lines  map[string][]string // of files that were looked into
	out    LSPOut
}

// locations takes in one location, several, or null.
func (f *finder) locations(raw json.RawMessage) error {
	var all []wireLocation
	if text := strings.TrimSpace(string(raw)); strings.HasPrefix(text, "{") {
		raw = json.RawMessage("[" + text + "]")
	}
	if err := json.Unmarshal(raw, &all); err != nil {
		return fmt.Errorf("its answer cannot be read: %w", err)
	}
	for _, l := range all {
		if l.TargetURI != "" {
			l.URI, l.Range = l.TargetURI, l.TargetSelectionRange
		}
		f.add(l.URI, l.Range.Start, Symbol{})
	}
	return nil
}

// symbols takes in symbols of a file with what they contain, or those that name their own places.
func (f *finder) symbols(all []wireSymbol, file, within string) {
	for _, s := range all {
		where, start := file, s.SelectionRange.Start
		if s.Location != nil {
			where, start = s.Location.URI, s.Location.Range.Start
		}
		f.add(where, start, Symbol{Name: s.Name, Kind: kind(s.Kind), Within: cmp.Or(s.ContainerName, within)})
		f.symbols(s.Children, file, s.Name)
	}
}

func kind(n int) string {
	if n < 1 || n > len(protocol().Kinds) {
		return "symbol"
	}
	return protocol().Kinds[n-1]
}

// calls asks for the function at a place, and then who calls it or what it calls.
func (f *finder) calls(ctx context.Context, s *server, method string, at object) error {
	var items []json.RawMessage
	if err := s.call(ctx, "textDocument/prepareCallHierarchy", at, &items); err != nil {
		return err
	}
	for _, item := range items {
		var got []struct {
			From, To   *wireSymbol
			FromRanges []wireRange
		}
		if err := s.call(ctx, method, object{"item": item}, &got); err != nil {
			return err
		}
		for _, g := range got {
			if end := cmp.Or(g.From, g.To); end != nil {
				s := Symbol{Name: end.Name, Kind: kind(end.Kind)}
				for _, r := range g.FromRanges {
					s.CallLines = append(s.CallLines, r.Start.Line+1)
				}
				slices.Sort(s.CallLines)
				s.CallLines = slices.Compact(s.CallLines)
				f.add(end.URI, end.SelectionRange.Start, s)
			}
		}
	}
	return nil
}

// add takes one place in, with the text of its line where it is no symbol. Places that no tool could read, as inside of an
// archive, and those that rules keep from being read are left out.
func (f *finder) add(where string, at wirePlace, s Symbol) {
	u, err := url.Parse(where)
	if len(f.out.Found) == MaxSpots || err != nil || u.Scheme != "file" {
		f.out.Omitted++
		return
	}
	p, refusal := f.q.locate(u.Path, f.c)
	if f.hidden.names = []string{p.abs, p.real}; refusal != nil || f.hidden.hides("") {
		f.out.Omitted++
		return
	}
	s.Path, s.Line, s.Character = shown(u.Path, f.c.State.Dir), at.Line+1, at.Character+1
	if line, ok := f.line(p, at.Line); ok {
		s.Character = characters(line, at.Character) + 1
		if s.Name == "" {
			s.Text = strings.TrimSpace(line)
		}
	}
	f.out.Found = append(f.out.Found, s)
}

// line is a line of a file within the roots; what lies outside is named and not shown.
func (f *finder) line(p place, n int) (string, bool) {
	lines, known := f.lines[p.real]
	if !known && f.q.within(p.real, f.c.Roots) {
		if content, refusal := f.q.load(p); refusal == nil {
			lines = strings.Split(string(content), "\n")
		}
	}
	f.lines[p.real] = lines
	if n < 0 || n >= len(lines) {
		return "", false
	}
	return strings.TrimSuffix(lines[n], "\r"), true
}

// marked adds the texts of a hover: one text, one with its language, or several.
func marked(texts []string, hover any) []string {
	switch v := hover.(type) {
	case string:
		return append(texts, v)
	case object:
		text, _ := v["value"].(string)
		return append(texts, text)
	case []any:
		for _, one := range v {
			texts = marked(texts, one)
		}
	}
	return texts
}

// characters is how many characters of a line stand before so many UTF-16 units.
func characters(line string, before int) int {
	n := 0
	for _, r := range line {
		if before <= 0 {
			break
		}
		before -= wide.RuneLen(r)
		n++
	}
	return n
}
