package secret

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"sync"

	"github.com/tidwall/gjson"
)

// piece is a part of a text and what stands there afterwards.
type piece struct {
	span
	put string
}

// rounds bounds how often a text is searched until nothing more is found: what is
// left when a secret is gone may look like one.
const rounds = 4

// Text blanks the secrets in a text: a request's or a response's body, a header, a
// tool's result. A body of server-sent events is read as the texts its deltas spell.
// JSON stays valid. Report is called with the kind of each secret, never with its value;
// it may be nil. Blanking what is blanked changes nothing.
func (f *Finder) Text(s string, report func(kind string)) string { return blanked(s, f.pieces, report) }

func blanked(s string, find func(string) []piece, report func(kind string)) string {
	for range rounds {
		pieces := find(s)
		if len(pieces) == 0 {
			break
		}
		s = blank(s, pieces, report)
	}
	return s
}

// Memory is a finder that remembers what it found in the parts of requests: each request of a
// conversation repeats those before it, so that the time would grow with the square of its length.
// It may be used by many.
type Memory struct {
	*Finder
	mu    sync.Mutex
	found map[string][]span
	size  int
}

// maxRemembered is how many bytes of texts are remembered; more of them are forgotten together.
const maxRemembered = 64 << 20

// repeated are the members of a request that the next ones repeat, of all providers' APIs.
var repeated = []string{"messages", "contents", "input", "tools"}

// Remember gives the finder a memory.
func (f *Finder) Remember() *Memory { return &Memory{Finder: f, found: map[string][]span{}} }

// Body is Text for the body of a request, of which each message and each tool is searched by itself.
func (m *Memory) Body(s string, report func(kind string)) string { return blanked(s, m.inBody, report) }

func (m *Memory) inBody(s string) []piece {
	if !isJSON(s) {
		return m.pieces(s)
	}
	var found []span
	rest, done := builder{}, 0 // the body without its messages and tools
	upTo := func(at int) {
		rest.next(done, false)
		rest.text = append(rest.text, s[done:at]...)
	}
	gjson.Parse(s).ForEach(func(name, list gjson.Result) bool {
		if !list.IsArray() || !slices.Contains(repeated, name.Str) {
			return true
		}
		for _, item := range list.Array() {
			upTo(item.Index)
			done = item.Index + len(item.Raw)
			for _, sp := range m.item(item.Raw) {
				found = append(found, span{item.Index + sp.from, item.Index + sp.to, sp.kind})
			}
		}
		return true
	})
	upTo(len(s))
	v := rest.view(len(s))
	for _, sp := range m.spans(v.text, layers) {
		found = append(found, v.down(sp))
	}
	return fit(s, 0, len(s), merged(found))
}

func (m *Memory) item(text string) []span {
	m.mu.Lock()
	found, known := m.found[text]
	m.mu.Unlock()
	if known {
		return found
	}
	found = m.spans(text, layers) // by several at a time
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, known := m.found[text]; known {
		return found
	}
	if m.size += len(text); m.size > maxRemembered {
		clear(m.found)
		m.size = len(text)
	}
	m.found[strings.Clone(text)] = found // it must not keep the body
	return found
}

func (f *Finder) pieces(s string) []piece {
	if isStream(s) {
		return f.stream(s)
	}
	spans := f.spans(s, layers)
	if len(spans) > 0 && isJSON(s) {
		return fit(s, 0, len(s), spans)
	}
	return asBlanks(spans)
}

func asBlanks(spans []span) []piece {
	var out []piece
	for _, sp := range spans {
		out = append(out, piece{sp, Blanked})
	}
	return out
}

func blank(s string, pieces []piece, report func(kind string)) string {
	var b strings.Builder
	b.Grow(len(s))
	done := 0
	for _, p := range pieces {
		b.WriteString(s[done:p.from])
		b.WriteString(p.put)
		done = p.to
		if report != nil && p.put != "" {
			report(p.kind)
		}
	}
	b.WriteString(s[done:])
	return b.String()
}

func isJSON(s string) bool {
	t := strings.TrimLeft(s, " \t\r\n")
	return t != "" && (t[0] == '{' || t[0] == '[') && json.Valid([]byte(s))
}

// fit keeps JSON what it is: of a text it blanks what is within the quotes, and a
// number that is a secret becomes a text. From..to is the document in s; the spans
// are those within it.
func fit(s string, from, to int, spans []span) []piece {
	var out []piece
	for i := from; i < to && len(spans) > 0; {
		end, put := token(s, i, to)
		if put == "" {
			i = end
			continue
		}
		inner := span{from: i, to: end}
		if s[i] == '"' {
			inner = span{from: i + 1, to: end - 1}
		}
		for len(spans) > 0 && spans[0].to <= inner.from {
			spans = spans[1:]
		}
		for _, sp := range spans {
			if sp.from >= inner.to {
				break
			}
			cut := piece{span{max(sp.from, inner.from), min(sp.to, inner.to), sp.kind}, put}
			if put != Blanked {
				cut.from, cut.to = inner.from, inner.to
				out = slices.DeleteFunc(out, func(p piece) bool { return p.from == cut.from })
			}
			out = append(out, cut)
		}
		i = end
	}
	return out
}

// token gives where the token of a valid document ends that begins at i, and what
// stands for a secret in it: "" where there can be none.
func token(s string, i, to int) (end int, put string) {
	switch c := s[i]; {
	case c == '"':
		for end = i + 1; s[end] != '"'; end++ {
			if s[end] == '\\' {
				end++
			}
		}
		return end + 1, Blanked
	case c == '-' || c >= '0' && c <= '9':
		end = i
		for end < to && strings.IndexByte("+-.eE0123456789", s[end]) >= 0 {
			end++
		}
		return end, `"` + Blanked + `"`
	default:
		return i + 1, ""
	}
}

// Count is how often secrets of a kind were blanked at a place, such as "request
// body". It never has the secrets themselves.
type Count struct {
	Kind  string `json:"kind"`
	Where string `json:"where"`
	Times int    `json:"times"`
}

// Total is how many secrets were counted.
func Total(counts []Count) (n int) {
	for _, c := range counts {
		n += c.Times
	}
	return n
}

// Tally adds up what was blanked. Its zero value is ready, and may be used by many.
type Tally struct {
	mu    sync.Mutex
	times map[Count]int
}

// At gives what to hand to Text for a place.
func (t *Tally) At(where string) func(kind string) {
	return func(kind string) {
		t.mu.Lock()
		defer t.mu.Unlock()
		if t.times == nil {
			t.times = map[Count]int{}
		}
		t.times[Count{Kind: kind, Where: where}]++
	}
}

// Counts gives the sums, ordered by kind and place.
func (t *Tally) Counts() []Count {
	t.mu.Lock()
	defer t.mu.Unlock()
	var out []Count
	for c, n := range t.times {
		c.Times = n
		out = append(out, c)
	}
	slices.SortFunc(out, func(a, b Count) int { return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Where, b.Where)) })
	return out
}
