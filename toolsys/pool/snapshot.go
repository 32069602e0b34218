package pool

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"sync"

	"toolbench/toolsys/search"
	"toolbench/toolsys/settings"
	"toolbench/toolsys/tool"
)

// Style is how deferred tools are announced to the model (E4).
type Style uint8

// Names lists bare names, Hints names with their hints, API sends definitions marked
// defer_loading. ServerRegex and ServerBM25 do so too, and leave the search to the API: a
// tool of its own stands where ToolSearch stood, and what it finds needs no other definition
// (E10).
const (
	Names Style = iota
	Hints
	API
	ServerRegex
	ServerBM25
)

// refers reports whether deferred tools go as definitions, and are found by reference.
func (s Style) refers() bool { return s >= API }

// server is the definition of the API's own search, nil where the search is ours.
func (s Style) server() json.RawMessage {
	switch s {
	case ServerRegex:
		return json.RawMessage(`{"type":"tool_search_tool_regex_20251119","name":"tool_search_tool_regex"}`)
	case ServerBM25:
		return json.RawMessage(`{"type":"tool_search_tool_bm25_20251119","name":"tool_search_tool_bm25"}`)
	}
	return nil
}

// Refers reports whether the request has tools that are found by reference.
func (s *Snapshot) Refers() bool { return s.View.Deferring && s.View.Style.refers() }

// View is what a request's form depends on beside the pool.
type View struct {
	Settings settings.Settings
	// Deferring is the final decision (E3); when it is off every tool is sent in
	// full and ToolSearch leaves.
	Deferring  bool
	Discovered []string
	Style      Style
}

// Snapshot is the pool as one request shows it: what is loaded, what is deferred.
// It is a value of that moment and does not change when the pool does.
type Snapshot struct {
	Pool *Pool
	View View

	loaded     []*tool.Tool
	deferred   []*tool.Tool
	fixed      int // how many of loaded are built-ins that are never deferred
	discovered map[string]bool
	index      func() *search.Index
	written    renderedDefinitions
}

// Index finds tools of this snapshot by words; it is built on first use.
func (s *Snapshot) Index() *search.Index { return s.index() }

// Look makes the snapshot of p under v.
func (p *Pool) Look(v View) *Snapshot { return p.look(v, &indexes{}) }

func (p *Pool) look(v View, x *indexes) *Snapshot {
	s := &Snapshot{Pool: p, View: v, discovered: map[string]bool{}}
	for _, name := range v.Discovered {
		s.discovered[name] = true
	}
	var found []*tool.Tool
	for i, t := range p.Tools {
		switch {
		case !v.Deferring && t.Name == search.ToolName:
		case !v.Deferring || !Deferred(t, v.Settings):
			s.loaded = append(s.loaded, t)
			if i < p.Builtins {
				s.fixed = len(s.loaded)
			}
		case s.discovered[t.Name] && v.Style.server() == nil:
			found = append(found, t)
		default:
			s.deferred = append(s.deferred, t)
		}
	}
	s.place(found)
	s.index = sync.OnceValue(func() *search.Index { return x.of(s) })
	return s
}

// indexes makes the indexes of snapshots, and keeps what was read of the tools of the last:
// when one server's tools change, the others are not read again. The zero indexes have
// none.
type indexes struct {
	reader search.Reader
	mu     sync.Mutex
	docs   map[*tool.Tool]*search.Doc
}

func (x *indexes) of(s *Snapshot) *search.Index {
	x.mu.Lock()
	defer x.mu.Unlock()
	before := x.docs
	x.docs = make(map[*tool.Tool]*search.Doc, len(s.deferred)+len(s.loaded))
	ranker, _ := search.RankerNamed(s.View.Settings.Ranker) // none named is the default
	return x.reader.Index(ranker, x.keep(s.deferred, before), x.keep(s.loaded, before))
}

// keep gives tools as they were read before, and others to be read.
func (x *indexes) keep(tools []*tool.Tool, before map[*tool.Tool]*search.Doc) []*search.Doc {
	docs := make([]*search.Doc, len(tools))
	for i, t := range tools {
		if docs[i] = before[t]; docs[i] == nil {
			e := entry(t)
			e.Params = search.Parameters(SchemaOf(t))
			docs[i] = search.NewDoc(e)
		}
		x.docs[t] = docs[i]
	}
	return docs
}

// place puts discovered tools behind the built-ins that are always loaded: what
// is discovered, as what is served, must not move a byte of the cached prefix
// (D4). Within each of the two blocks the order stays by name.
func (s *Snapshot) place(found []*tool.Tool) {
	rest := slices.Concat(found, s.loaded[s.fixed:])
	slices.SortStableFunc(rest, func(a, b *tool.Tool) int {
		if a.IsMCP() != b.IsMCP() {
			if b.IsMCP() {
				return -1
			}
			return 1
		}
		return strings.Compare(a.Name, b.Name)
	})
	s.loaded = slices.Concat(s.loaded[:s.fixed], rest)
}

// Deferred reports whether t is sent by name only until it is discovered (E1).
func Deferred(t *tool.Tool, s settings.Settings) bool {
	return search.Deferred(entry(t), search.Flags{
		ForkSubagent: s.Has(settings.ForkSubagent),
		Kairos:       s.Has(settings.Kairos),
		Bridge:       s.Has(settings.KairosBridge),
		DeferAgent:   s.Has(settings.DeferAgent),
		DeferBrief:   s.Has(settings.DeferBrief),
	})
}

func entry(t *tool.Tool) search.Entry {
	e := search.Entry{
		Name: t.Name, Hint: t.Hint, Description: t.Description, MCP: t.IsMCP(),
		Deferrable: t.Loading.Deferrable, AlwaysLoad: t.Loading.Always,
	}
	if t.Origin != nil {
		e.Server = t.Origin.Server
	}
	return e
}

// Loaded lists the tools sent in full, in the request's order.
func (s *Snapshot) Loaded() []*tool.Tool { return slices.Clone(s.loaded) }

// Deferred lists the tools sent by name only.
func (s *Snapshot) Deferred() []*tool.Tool { return slices.Clone(s.deferred) }

// Fixed is how many of Loaded form the prefix that the cache breakpoint closes.
func (s *Snapshot) Fixed() int { return s.fixed }

// HintDue reports whether the error of a failed call should hint to load t first: t is
// deferred, deferral is on, and it was not discovered (E7).
func (s *Snapshot) HintDue(t *tool.Tool) bool {
	return s.View.Deferring && Deferred(t, s.View.Settings) && !s.discovered[t.Name]
}

// Definitions gives the request's tools array, a cache breakpoint after the last
// built-in that is always loaded (D4, E4). Nobody may change it.
func (s *Snapshot) Definitions(d *Definitions) []json.RawMessage {
	return s.written.of(d, func() []json.RawMessage { return s.write(d) })
}

func (s *Snapshot) write(d *Definitions) []json.RawMessage {
	f := form{s.View.Settings, s.Pool.builtins}
	all := len(s.loaded)
	if s.View.Style.refers() {
		all += len(s.deferred)
	}
	k := definitionKey{form: d.number(f, all)}
	o := tool.PromptOptions{Settings: f.settings, Tools: slices.Clip(strings.FieldsFunc(f.builtins, func(r rune) bool { return r == ',' }))}
	out := make([]json.RawMessage, 0, all)
	for i, t := range s.loaded {
		k.tool, k.mark = t, i == s.fixed-1
		if server := s.View.Style.server(); server != nil && t.Name == search.ToolName {
			out = append(out, marked(server, k.mark))
			continue
		}
		out = append(out, d.bytes(k, o))
	}
	if s.View.Style.refers() {
		k.deferred, k.mark = true, false
		for _, t := range s.deferred {
			k.tool = t
			out = append(out, d.bytes(k, o))
		}
	}
	return out
}

// marked is a definition, with a cache breakpoint behind it where one is wanted.
func marked(def json.RawMessage, mark bool) json.RawMessage {
	if !mark {
		return def
	}
	return append(slices.Clone(def[:len(def)-1]), `,"cache_control":{"type":"ephemeral"}}`...)
}

// With gives the snapshot with more tools discovered, for the calls behind a search of the
// API's own: what stands in the request is the same.
func (s *Snapshot) With(found []string) *Snapshot {
	more := &Snapshot{
		Pool: s.Pool, View: s.View, loaded: s.loaded, deferred: s.deferred, fixed: s.fixed, discovered: maps.Clone(s.discovered), index: s.index,
	}
	for _, name := range found {
		more.discovered[name] = true
	}
	return more
}

// Announcement is the text that names the deferred tools, or "" when there are
// none or when they go as definitions (E4).
func (s *Snapshot) Announcement() string {
	if len(s.deferred) == 0 || s.View.Style.refers() {
		return ""
	}
	var b strings.Builder
	b.WriteString("<available-deferred-tools>\n")
	for _, t := range s.deferred {
		b.WriteString(t.Name)
		if s.View.Style == Hints && t.Hint != "" {
			b.WriteString(": " + t.Hint)
		}
		b.WriteByte('\n')
	}
	b.WriteString("</available-deferred-tools>")
	return b.String()
}

// Hash identifies a run of definitions.
func Hash(defs []json.RawMessage) string {
	h := sha256.New()
	for _, raw := range defs {
		h.Write(raw)
		h.Write([]byte{'\n'})
	}
	return hex.EncodeToString(h.Sum(nil))[:16]
}
