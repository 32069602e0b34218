package scenario

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/tidwall/gjson"

	"toolbench/sim/stream"
	"toolbench/toolsys/message"
)

// Script is what the model streams.
type Script struct {
	// Cassette is replayed; Turns are what it is recorded from, and run by
	// themselves where no cassette is named.
	Cassette string `yaml:"cassette"`
	Turns    []Turn `yaml:"turns"`
	// Pace replaces the times of the recording: recorded, or its members.
	Pace Pace `yaml:"pace"`
	// Chunk cuts the bytes into pieces of that many.
	Chunk int `yaml:"chunk"`
	// Requests is strict (the default: what is sent must be what was recorded) or
	// lenient.
	Requests string `yaml:"requests" names:"matching"`
	// Tolerance is by how much times may differ from what is expected of them: one session
	// that is recorded twice in real time never has the same times.
	Tolerance Duration `yaml:"tolerance"`
	// Leftover allows recorded interactions that were not asked for.
	Leftover bool `yaml:"leftover"`
}

// Turn is one scripted answer of the model.
type Turn struct {
	// For picks the request this answers by a text in its first user message, for
	// sub-agents; "" answers the main conversation in order.
	For string `yaml:"for"`
	// Text and Thinking are what is written, Calls the calls; Stop is the reason to stop, which
	// follows from the calls if not given.
	Text     string     `yaml:"text"`
	Thinking string     `yaml:"thinking"`
	Calls    []Scripted `yaml:"calls"`
	Stop     string     `yaml:"stop"`
	// Blocks are further blocks in their order, in front of the calls: for thinking between
	// calls, and for what the API's own tools do.
	Blocks []ScriptedBlock `yaml:"blocks"`
	// Sent are the answer's events as they came, each its JSON, in place of all that would be written of it: for
	// what a gateway sends and the API does not. They come evenly from FirstByte till End.
	Sent []string `yaml:"events"`
	// Container is where the API ran the model's code; Cleared is what it cleared out of the request.
	Container string           `yaml:"container"`
	Cleared   []ScriptedChange `yaml:"cleared"`
	// Missed is why the API could not read more from its cache, by its word.
	Missed ScriptedMiss `yaml:"missed"`
	// FirstByte is when the first event comes, End when the stream has ended, from the request on.
	FirstByte Duration `yaml:"first_byte"`
	End       Duration `yaml:"end"`
	// CutAfter ends the stream after that many events; Error sends an error event.
	CutAfter int    `yaml:"cut_after"`
	Error    string `yaml:"error"`
	// Pings are the times of further ping events.
	Pings []Duration `yaml:"pings"`
	// Repeat gives the same answer that many times more, for long sessions.
	Repeat int `yaml:"repeat"`
}

// Scripted is one call in a scripted answer.
type Scripted struct {
	// ID is the call's, by which all else refers to it; Tool is the name that the model calls, Input
	// the arguments.
	ID    string         `yaml:"id"`
	Tool  string         `yaml:"tool"`
	Input map[string]any `yaml:"input"`
	// Raw is the input's text when it is to be no JSON.
	Raw string `yaml:"raw"`
	// At is when the block is complete.
	At Duration `yaml:"at"`
	// CutAt stops the input after that many bytes, as max_tokens does.
	CutAt int `yaml:"cut_at"`
	// Caller is the kind of the API's own tool that made the call, and By that tool's call; the model
	// itself where it is not given.
	Caller string `yaml:"caller"`
	By     string `yaml:"by"`
	// SameID allows an id that is taken, on purpose, as a broken gateway does it (O7).
	SameID bool `yaml:"same_id"`
}

// Made are the calls of the answer in their order.
func (t Turn) Made() []Scripted {
	var all []Scripted
	for _, data := range t.Sent {
		for _, block := range append(gjson.Get(data, "message.content").Array(), gjson.Get(data, "content_block")) {
			if block.Get("type").Str == message.TypeToolUse {
				all = append(all, Scripted{ID: block.Get("id").Str, Tool: block.Get("name").Str, SameID: true})
			}
		}
	}
	for _, b := range t.Blocks {
		if b.Call != nil {
			all = append(all, *b.Call)
		}
	}
	return append(all, t.Calls...)
}

// ScriptedBlock is one block of a scripted answer: one of its members is given.
type ScriptedBlock struct {
	// Thinking and Text are written; Redacted is thinking that the API keeps to itself.
	Thinking string `yaml:"thinking"`
	Text     string `yaml:"text"`
	Redacted string `yaml:"redacted"`
	// Call is a call; Server is one of a tool of the API's own, and Result what that gave.
	Call   *Scripted       `yaml:"call"`
	Server *Scripted       `yaml:"server"`
	Result *ScriptedResult `yaml:"result"`
}

// ScriptedResult is what a tool of the API's own gave.
type ScriptedResult struct {
	// Type is that of the block, such as tool_search_tool_result; Call is the id of the call, Content
	// what the block holds.
	Type    string         `yaml:"type"`
	Call    string         `yaml:"call"`
	Content map[string]any `yaml:"content"`
}

// ScriptedMiss is the API's own diagnosis of its cache.
type ScriptedMiss struct {
	// Reason is its word, as tools_changed; Tokens are what it might have read.
	Reason string `yaml:"reason"`
	Tokens int    `yaml:"tokens"`
}

// ScriptedChange is what the API cleared out of a request.
type ScriptedChange struct {
	// Uses are the calls whose results were cleared, Tokens what that gained.
	Uses   int `yaml:"uses"`
	Tokens int `yaml:"tokens"`
}

// Pace replaces the recorded times; in a file "recorded" or members.
type Pace struct {
	// FirstByte is the time to the first event, TokensPerSecond the speed from there on.
	FirstByte       Duration `yaml:"first_byte"`
	TokensPerSecond float64  `yaml:"tokens_per_second"`
	set             bool
}

// Stream is the pace for a player, nil for the recorded times.
func (p Pace) Stream() *stream.Pace {
	if !p.set {
		return nil
	}
	return &stream.Pace{FirstByte: p.FirstByte.D(), TokensPerSecond: p.TokensPerSecond}
}

// UserScript is what the person does.
type UserScript struct {
	// Permits answer permission questions, in order of asking or by tool or call.
	Permits []Permit `yaml:"permits"`
	// Answers answer AskUserQuestion, in order.
	Answers []AnswerScript `yaml:"answers"`
	// Elicits answer what MCP servers ask, in order or by server (N5).
	Elicits []ElicitScript `yaml:"elicits"`
	// Messages are new messages in the middle of the run (J4).
	Messages []UserMessage `yaml:"says"`
}

// Permit is one answer to a permission question.
type Permit struct {
	// Tool or Call narrows the answer; neither answers anything.
	Tool string `yaml:"tool" names:"tool"`
	Call string `yaml:"call" names:"call"`
	// Allow lets the call run; without it the call is denied. After is how long the person takes,
	// Text a word to the model, Input what the call is given instead.
	Allow bool           `yaml:"allow"`
	After Duration       `yaml:"after"`
	Text  string         `yaml:"text"`
	Input map[string]any `yaml:"input"`
	// Always lets the call run as well, and all later ones that the rules which are proposed
	// for it cover: about those the person is not asked again.
	Always bool `yaml:"always"`
	// Never leaves the question open for ever. Deaf answers also when the call was
	// stopped meanwhile.
	Never bool `yaml:"never"`
	Deaf  bool `yaml:"deaf"`
}

// AnswerScript is one answer to the model's questions.
type AnswerScript struct {
	// Choose are the labels that are chosen, one for each question; After is how long it takes.
	Choose []string `yaml:"choose"`
	After  Duration `yaml:"after"`
}

// ElicitScript is the person's answer to one question of an MCP server (N5).
type ElicitScript struct {
	// Server narrows the answer to that server's questions.
	Server string `yaml:"server"`
	// Action is accept, decline or cancel; Content fills in the form.
	Action  string         `yaml:"action" names:"action"`
	Content map[string]any `yaml:"content"`
	// After is how long the person takes.
	After Duration `yaml:"after"`
}

// UserMessage is the user's new message.
type UserMessage struct {
	// At is when the message is sent, Text what it holds.
	At   Duration `yaml:"at"`
	Text string   `yaml:"text"`
}

// HookScript is a hook of the scenario's own, or a command.
type HookScript struct {
	// Name is for reports.
	Name string `yaml:"name"`
	// Event is when it is asked; Matcher is a pattern of tools, If a permission rule that a call has
	// to fit.
	Event   string `yaml:"event" names:"event"`
	Matcher string `yaml:"matcher"`
	If      string `yaml:"if"`
	// Timeout is how long it may take, After how long it takes.
	Timeout Duration `yaml:"timeout"`
	After   Duration `yaml:"after"`
	// Decision is allow, ask or deny, with its Reason.
	Decision string `yaml:"decision" names:"decision"`
	Reason   string `yaml:"reason"`
	// Input replaces members of the call's, Output the result; Context is added for the model, and
	// Stop ends the turn.
	Input   map[string]any `yaml:"input"`
	Output  string         `yaml:"output"`
	Context string         `yaml:"context"`
	Stop    bool           `yaml:"stop"`
	// Fails is error, panic or hang.
	Fails string `yaml:"fails" names:"failure"`
	// Command runs in the world's shell with JSON on stdin and stdout.
	Command string `yaml:"command"`
	// OnFailure is what becomes of the call when the hook fails, hangs or replies
	// nonsense: allow, ask or deny. A command before the call denies by default.
	OnFailure string `yaml:"on_failure" names:"decision"`
}

// Ruling is the classifier's word on inputs that contain Match.
type Ruling struct {
	// Match is a text that the input contains; Ruling clears or blocks it, Text is why, After how
	// long it takes; Fails gives no ruling at all.
	Match  string   `yaml:"match"`
	Ruling string   `yaml:"ruling" names:"ruling"`
	Text   string   `yaml:"text"`
	After  Duration `yaml:"after"`
	Fails  bool     `yaml:"fails"`
}

// ScriptedConversation is the scripted turns of one conversation: the main
// one, or, with For, that of a sub-agent whose first message holds the text.
type ScriptedConversation struct {
	For     string
	Answers [][]stream.Event
}

// Scripts gives the scripted turns by conversation, in the order of their
// first turns.
func (sc *Scenario) Scripts() []ScriptedConversation {
	var all []ScriptedConversation
	n := 0
	for _, t := range sc.Stream.Turns {
		at := slices.IndexFunc(all, func(c ScriptedConversation) bool { return c.For == t.For })
		if at < 0 {
			at = len(all)
			all = append(all, ScriptedConversation{For: t.For})
		}
		for range t.Repeat + 1 {
			all[at].Answers = append(all[at].Answers, t.Events(n, 1))
			n++
		}
	}
	return all
}

// Events gives a scripted turn's stream as the n-th answer, counted from 0. Seed decides where inputs are split.
func (t Turn) Events(n int, seed uint64) []stream.Event {
	if len(t.Sent) > 0 {
		return t.sent()
	}
	out := stream.Turn{
		ID: fmt.Sprintf("msg_%d", n+1), Stop: t.Stop, FirstByte: t.FirstByte.D(), End: t.End.D(),
		Seed: seed + uint64(n), CutAfter: t.CutAfter,
	}
	for _, at := range t.Pings {
		out.Pings = append(out.Pings, at.D())
	}
	if t.Error != "" {
		out.Error = &stream.Error{Type: t.Error, Message: "scripted"}
	}
	if t.Thinking != "" {
		out.Blocks = append(out.Blocks, stream.Block{Kind: stream.Thinking, Text: t.Thinking, Signature: "c2ln"})
	}
	if t.Text != "" {
		out.Blocks = append(out.Blocks, stream.Block{Kind: stream.Text, Text: t.Text})
	}
	for _, b := range t.Blocks {
		out.Blocks = append(out.Blocks, b.block())
	}
	for _, c := range t.Calls {
		out.Blocks = append(out.Blocks, c.block())
	}
	out.Container, out.Cleared = t.Container, t.clearedJSON()
	if t.Missed.Reason != "" {
		out.Diagnostics = jsonOf(map[string]any{"cache_miss_reason": map[string]any{"type": t.Missed.Reason, "cache_missed_input_tokens": t.Missed.Tokens}})
	}
	return stream.Script(out)
}

// sent are the events that are given as they came.
func (t Turn) sent() []stream.Event {
	events, lasts := make([]stream.Event, len(t.Sent)), max(0, t.End.D()-t.FirstByte.D())
	for i, data := range t.Sent {
		events[i] = stream.Raw(t.FirstByte.D()+lasts*time.Duration(i+1)/time.Duration(len(t.Sent)), data)
	}
	return events
}

func (t Turn) clearedJSON() json.RawMessage {
	if len(t.Cleared) == 0 {
		return nil
	}
	var all []map[string]any
	for _, c := range t.Cleared {
		all = append(all, map[string]any{"type": "clear_tool_uses_20250919", "cleared_tool_uses": c.Uses, "cleared_input_tokens": c.Tokens})
	}
	return jsonOf(all)
}

func (b ScriptedBlock) block() stream.Block {
	switch {
	case b.Call != nil:
		return b.Call.block()
	case b.Server != nil:
		made := b.Server.block()
		made.Kind = stream.ServerToolUse
		return made
	case b.Result != nil:
		return stream.Block{Kind: stream.Kind(b.Result.Type), ID: b.Result.Call, Content: jsonOf(b.Result.Content)}
	case b.Thinking != "":
		return stream.Block{Kind: stream.Thinking, Text: b.Thinking, Signature: "c2ln"}
	case b.Redacted != "":
		return stream.Block{Kind: stream.Redacted, Text: b.Redacted}
	}
	return stream.Block{Kind: stream.Text, Text: b.Text}
}

// jsonOf is a value of a scenario as JSON; what has none becomes a text that says why.
func jsonOf(value any) json.RawMessage {
	raw, err := json.Marshal(value)
	if err != nil {
		raw, _ = json.Marshal(err.Error()) // a text always has one
	}
	return raw
}

func (c Scripted) block() stream.Block {
	b := stream.Block{Kind: stream.ToolUse, ID: c.ID, Name: c.Tool, At: c.At.D(), CutAt: c.CutAt, Input: json.RawMessage(c.Raw)}
	if c.Raw == "" {
		b.Input = c.InputJSON()
	}
	if c.Caller != "" {
		b.Caller = jsonOf(map[string]string{"type": c.Caller, "tool_id": c.By})
	}
	return b
}

// InputJSON is the call's input as JSON, an empty object when none is given.
func (c Scripted) InputJSON() json.RawMessage {
	raw, err := json.Marshal(c.Input)
	if err != nil || c.Input == nil {
		return json.RawMessage("{}")
	}
	return raw
}
