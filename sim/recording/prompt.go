package recording

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"toolbench/sim/dialect"
	"toolbench/toolsys/message"
)

// PromptFile is a recording with the requests of its sessions.
type PromptFile struct {
	Name string
	// Sessions go by when they began.
	Sessions []*PromptSession
	// Problems counts what is wrong with the recording itself.
	Problems int
}

// PromptSession is one conversation.
type PromptSession struct {
	// Number counts the file's conversations from 1; Agent is a sub-agent's id.
	Number int
	Agent  string
	// API is in whose words its first turn was recorded.
	API dialect.API
	// Turns are its turns in order.
	Turns []PromptTurn
}

// PromptTurn is a request with what came of it.
type PromptTurn struct {
	// Number counts from 1.
	Number int
	// Prompt is nil where the recording holds none, as a transcript.
	Prompt *Prompt
	// Calls names the tools that the answer called, in order, repeated ones too.
	Calls []string
	// Usage is what the API measured; nil where that was not recorded.
	Usage *Usage
	// Sent is when the request left; zero where it is unknown.
	Sent time.Time
}

// Prompt is a prompt, as the API puts it together: tools, system prompt, messages.
type Prompt struct {
	Model            string
	Tools            []PromptTool
	System, Messages []PromptBlock
}

// PromptTool is a definition as it was sent.
type PromptTool struct {
	Name, Description string
	// Kind is the type of a tool that the API defines; "" for the client's own.
	Kind string
	// Schema is the input's JSON Schema, "" where there is none.
	Schema string
	// Text is the whole definition, less its breakpoint.
	Text string
	// Deferred is sent with defer_loading: it stays out of the prompt (E4).
	Deferred, Breakpoint bool
}

// PromptBlock is a block of the system prompt or of a message.
type PromptBlock struct {
	// Name is what a report calls it.
	Name, Text string
	Breakpoint bool
}

// Marked reports whether the request has a breakpoint anywhere.
func (r *Prompt) Marked() bool {
	marked := func(b PromptBlock) bool { return b.Breakpoint }
	return slices.ContainsFunc(r.Tools, func(t PromptTool) bool { return t.Breakpoint }) ||
		slices.ContainsFunc(r.System, marked) || slices.ContainsFunc(r.Messages, marked)
}

// Sent gives the turns whose request is in the recording.
func (s *PromptSession) Sent() []PromptTurn {
	return slices.DeleteFunc(slices.Clone(s.Turns), func(t PromptTurn) bool { return t.Prompt == nil })
}

// MaxPromptBytes is the size limit of the requests of one file, what they repeat counted once.
const MaxPromptBytes = 256 << 20

// ReadPrompts takes the sessions of a recording, in any of its formats. The name is for
// messages. Errors are those of Scan; the last is ErrTooLarge also for
// requests that hold more than MaxPromptBytes. What was read before an error is given.
func ReadPrompts(name string, r io.Reader, limits Limits) (*PromptFile, error) {
	rd := &reader{file: &PromptFile{Name: name}, sessions: map[int]*PromptSession{}, requests: map[place]*Prompt{}, parser: &parser{map[string]string{}, MaxPromptBytes}}
	_, err := Scan(name, r, limits, Handler{
		Request: rd.request, Turn: rd.turn, Problem: func(Problem) { rd.file.Problems++ },
	})
	slices.SortFunc(rd.file.Sessions, func(a, b *PromptSession) int { return a.Number - b.Number })
	if errors.Is(err, errFull) {
		err = fmt.Errorf("%s: %w: its requests hold more than %d MB; split the file", name, ErrTooLarge, MaxPromptBytes>>20)
	}
	return rd.file, err
}

// reader is a file on its way.
type reader struct {
	file     *PromptFile
	sessions map[int]*PromptSession
	// requests wait for their turns, which come when results are known.
	requests map[place]*Prompt
	parser   *parser
}

type place struct{ conversation, turn int }

func (rd *reader) request(c *Conversation, turn int, body string) error {
	r, err := rd.parser.request(body)
	rd.requests[place{c.Number, turn}] = r
	return err
}

func (rd *reader) turn(c *Conversation, t *Turn) error {
	s := rd.sessions[c.Number]
	if s == nil {
		s = &PromptSession{Number: c.Number, Agent: c.Agent, API: t.API}
		rd.sessions[c.Number] = s
		rd.file.Sessions = append(rd.file.Sessions, s)
	}
	at := place{c.Number, t.Number}
	turn := PromptTurn{Number: t.Number, Prompt: rd.requests[at], Usage: t.Usage, Sent: t.Sent}
	delete(rd.requests, at)
	turn.Calls = append(turn.Calls, mapped(t.Calls, func(call Call) string { return rd.parser.own(call.Name) })...)
	s.Turns = append(s.Turns, turn)
	return nil
}

// errFull is the end of a parser's room.
var errFull = errors.New("full")

// parser reads the bodies of requests and keeps equal texts once.
type parser struct {
	texts map[string]string
	room  int
}

// own gives the text that is kept for a text.
func (p *parser) own(text string) string {
	kept, ok := p.texts[text]
	if !ok {
		kept = strings.Clone(text)
		p.texts[kept] = kept
		p.room -= len(kept)
	}
	return kept
}

// request reads a body. The error is errFull.
func (p *parser) request(body string) (*Prompt, error) {
	v := gjson.Parse(body)
	r := &Prompt{Model: p.own(v.Get("model").String())}
	definitions := map[string]string{}
	for _, t := range v.Get("tools").Array() {
		tool := p.tool(t)
		r.Tools = append(r.Tools, tool)
		if tool.Deferred {
			definitions[tool.Name] = tool.Text
		}
	}
	r.System = p.pieces("system prompt", v.Get("system"), nil)
	for i, m := range v.Get("messages").Array() {
		name := fmt.Sprintf("message %d (%s)", i+1, m.Get("role").String())
		r.Messages = append(r.Messages, p.pieces(name, m.Get("content"), definitions)...)
	}
	if n := len(r.Messages); n > 0 && v.Get("cache_control").IsObject() {
		r.Messages[n-1].Breakpoint = true // the API's own choice of place
	}
	if p.room < 0 {
		return nil, errFull
	}
	return r, nil
}

func (p *parser) tool(t gjson.Result) PromptTool {
	tool := PromptTool{
		Name: p.own(t.Get("name").String()), Description: p.own(t.Get("description").String()), Kind: p.own(t.Get("type").String()),
		Text: p.own(less(t, "cache_control", "defer_loading")), Breakpoint: t.Get("cache_control").IsObject(), Deferred: t.Get("defer_loading").Bool(),
	}
	if tool.Kind == "custom" {
		tool.Kind = ""
	}
	if s := t.Get("input_schema"); s.IsObject() {
		tool.Schema = p.own(compact(s.Raw))
	}
	return tool
}

// pieces reads a content: a text, or blocks. A reference to a deferred tool becomes its definition in the prompt, so
// that is added to the block's text; that of a tool which is sent whole as well is taken to stand in the prompt once.
func (p *parser) pieces(name string, content gjson.Result, definitions map[string]string) []PromptBlock {
	if content.Type == gjson.String {
		return []PromptBlock{{Name: name, Text: p.own(`{"type":"text","text":` + compact(content.Raw) + "}")}}
	}
	var out []PromptBlock
	for _, b := range content.Array() {
		text := less(b, "cache_control")
		found := dialect.Either(b, "content.tool_references", "content") // of the client's own search, or of the API's
		for _, referred := range found.Get(`#(type=="tool_reference")#.tool_name`).Array() {
			text += definitions[referred.String()]
		}
		out = append(out, PromptBlock{Name: name, Text: p.own(text), Breakpoint: b.Get("cache_control").IsObject()})
	}
	return out
}

// less is an object's compact JSON without some members.
func less(v gjson.Result, without ...string) string {
	var b strings.Builder
	v.ForEach(func(key, value gjson.Result) bool {
		if slices.Contains(without, key.Str) {
			return true
		}
		if b.Len() > 0 {
			b.WriteByte(',')
		}
		b.WriteString(key.Raw + ":" + compact(value.Raw))
		return true
	})
	return "{" + b.String() + "}"
}

// compact takes the blanks out of valid JSON.
func compact(raw string) string { return gjson.Get(raw, "@ugly").Raw }

// PromptsOf makes a session of the bodies of its requests, in the order in which they were
// sent (D5). The error names a body that has more than there is room for.
func PromptsOf(bodies []message.Body) (*PromptSession, error) {
	s, p := &PromptSession{Number: 1}, &parser{map[string]string{}, MaxPromptBytes}
	for i, body := range bodies {
		r, err := p.request(string(body.Bytes()))
		if err != nil {
			return nil, fmt.Errorf("request %d: %w", i+1, err)
		}
		s.Turns = append(s.Turns, PromptTurn{Number: i + 1, Prompt: r})
	}
	return s, nil
}
