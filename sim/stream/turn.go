package stream

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Turn is one scripted answer of the model (O2). Times count from the moment the request is sent and are rounded down
// to a Tick; Script keeps them from running backwards.
type Turn struct {
	// ID is the message's id. Calls without an id of their own are named after it, so the turns of one conversation
	// need different ones. Empty: "msg_scripted".
	ID string
	// Model is the model's name; empty: "scripted".
	Model  string
	Blocks []Block
	// Stop is the stop reason. Empty: max_tokens if a block is cut, else
	// tool_use if the turn holds a call, else end_turn.
	Stop string
	// StopSequence is the sequence that stopped the turn, for stop_sequence.
	StopSequence string
	Usage        Usage
	// Container is where the API ran code of the model's; Cleared is what it cleared out of the request, as JSON.
	Container string
	Cleared   json.RawMessage
	// Diagnostics is what the API says of its cache, as JSON.
	Diagnostics json.RawMessage
	// FirstByte is when message_start arrives.
	FirstByte time.Duration
	// End is when message_stop arrives; zero: with the last block's end.
	End time.Duration
	// Pings are the times of further ping events, anywhere in the stream. One always follows message_start.
	Pings []time.Duration
	// Seed decides where texts and inputs are split into deltas.
	Seed uint64
	// CutAfter ends the stream after that many events; zero: it is complete.
	CutAfter int
	// Error, if set, is sent as the last event: after CutAfter events, or in place of message_delta and message_stop.
	Error *Error
}

// Usage is the token count a turn reports.
type Usage struct {
	Input, Output, CacheWrite, CacheRead int // tokens; Output 0: estimated, BytesPerToken
}

// Error is an error event of a stream, or the body of a failed request.
type Error struct {
	// Type and Message are as the API words them: "overloaded_error", "Overloaded".
	Type, Message string
	// At is when it comes; zero: with the turn's end, or the last event before it.
	At time.Duration
}

// JSON returns the error as the API sends it.
func (e Error) JSON() []byte {
	return fmt.Appendf(nil, `{"type":"error","error":{"type":%s,"message":%s}}`, compact(e.Type), compact(e.Message))
}

// Kind is the type of a content block.
type Kind string

// The kinds of block whose content Script streams. Any other kind is sent in one piece at its start, with ID as
// tool_use_id and Content as content: that is the shape of all *_tool_result blocks.
const (
	Text          Kind = "text"
	Thinking      Kind = "thinking"
	Redacted      Kind = "redacted_thinking"
	ToolUse       Kind = "tool_use"
	ServerToolUse Kind = "server_tool_use"
	MCPToolUse    Kind = "mcp_tool_use"
)

// Block is one content block of a turn.
type Block struct {
	Kind Kind
	// Text is the text, the thinking, or the data of a redacted block.
	Text string
	// Signature ends a thinking block.
	Signature string
	// ID, Name and Input belong to calls; Server to mcp_tool_use, Toolset to those of a set that the API defines. An empty ID
	// is derived from the turn's. Input is compacted, its members kept in
	// order; what is not valid JSON is streamed as it stands.
	ID, Name, Server, Toolset string
	Input                     json.RawMessage
	// Caller is who made the call, as JSON; none is sent where it is empty.
	Caller json.RawMessage
	// Content is the content of a block of another kind.
	Content json.RawMessage
	// At is when the block is complete (content_block_stop). Zero: evenly
	// between the neighbours whose times are given.
	At time.Duration
	// Deltas replaces the derived pieces: each is sent as it stands, at its time.
	// CutAt then only takes the block's end away.
	Deltas []Delta
	// CutAt stops the block after that many bytes of its text or input, without a content_block_stop, and the turn's
	// later blocks are not sent: what max_tokens does inside a call. Negative: before the first byte.
	CutAt int
}

// Delta is one piece of a block's text or input; At zero is derived.
type Delta struct {
	At   time.Duration
	Text string
}

// takesInput reports whether the block streams JSON input.
func (b Block) takesInput() bool {
	return b.Kind == ToolUse || b.Kind == ServerToolUse || b.Kind == MCPToolUse
}

// stop is the stop reason the turn reports.
func (t Turn) stop() string {
	if t.Stop != "" {
		return t.Stop
	}
	reason := "end_turn"
	for _, b := range t.Blocks {
		if b.CutAt != 0 {
			return "max_tokens"
		}
		if b.Kind == ToolUse {
			reason = "tool_use"
		}
	}
	return reason
}

// appendHead appends the content_block of a block's start. Calls start with an empty input: the deltas bring it.
func (b Block) appendHead(buf []byte, t Turn, i int) []byte {
	switch {
	case b.Kind == Text:
		return append(buf, `{"type":"text","text":""}`...)
	case b.Kind == Thinking:
		return append(buf, `{"type":"thinking","thinking":"","signature":""}`...)
	case b.Kind == Redacted:
		return append(quoted(quoted(buf, `{"type":`, string(b.Kind)), `,"data":`, b.Text), '}')
	case b.takesInput():
		buf = quoted(buf, `{"type":`, string(b.Kind))
		buf = quoted(buf, `,"id":`, cmp.Or(b.ID, "toolu_"+strings.TrimPrefix(t.id(), "msg_")+"_"+strconv.Itoa(i)))
		buf = quoted(buf, `,"name":`, b.Name)
		if b.Server != "" {
			buf = quoted(buf, `,"server_name":`, b.Server)
		}
		if b.Toolset != "" {
			buf = quoted(buf, `,"toolset_name":`, b.Toolset)
		}
		if len(b.Caller) > 0 {
			buf = append(append(buf, `,"caller":`...), squeeze(b.Caller)...)
		}
		return append(buf, `,"input":{}}`...)
	}
	return append(buf, compact(struct {
		Type    string          `json:"type"`
		ID      string          `json:"tool_use_id,omitempty"`
		Content json.RawMessage `json:"content,omitempty"`
	}{string(b.Kind), b.ID, b.content()})...)
}

// content is the block's content as valid JSON: a string if it was none.
func (b Block) content() json.RawMessage {
	if len(b.Content) == 0 || json.Valid(b.Content) {
		return b.Content
	}
	return compact(string(b.Content))
}

// pieces are the block's deltas. Those of a call begin with an empty one, as recorded streams do; a call without
// arguments has no other. Where they are split is decided by the turn's seed and the block's place.
func (b Block) pieces(seed uint64, place int) []Delta {
	switch {
	case b.Deltas != nil:
		return b.Deltas
	case b.Kind == Text || b.Kind == Thinking:
		return derived(split(b.cut(b.Text), rand.New(rand.NewPCG(seed, uint64(place))), func(byte) int { return inProse }))
	case b.takesInput():
		input := b.input()
		if input == "" {
			return silence
		}
		return derived(append([]string{""}, splitJSON(b.cut(input), rand.New(rand.NewPCG(seed, uint64(place))))...))
	}
	return nil
}

// silence is a call without arguments. It is only read.
var silence = []Delta{{}}

// input is the JSON that a call's deltas spell; {} is spelt by silence.
func (b Block) input() string {
	if string(b.Input) == "{}" { // most calls: nothing to squeeze
		return ""
	}
	if s := string(squeeze(b.Input)); s != "{}" {
		return s
	}
	return ""
}

// cut returns the first CutAt bytes, or fewer so as not to break a rune.
func (b Block) cut(s string) string {
	n := max(b.CutAt, 0)
	if b.CutAt == 0 || n >= len(s) {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// deltaMember is the member of a delta that holds a piece of such a block.
func (b Block) deltaMember() string {
	switch b.Kind {
	case Thinking, Text:
		return string(b.Kind)
	}
	return "partial_json"
}

func derived(texts []string) []Delta {
	ds := make([]Delta, len(texts))
	for i, s := range texts {
		ds[i].Text = s
	}
	return ds
}

func (t Turn) id() string { return cmp.Or(t.ID, "msg_scripted") }
