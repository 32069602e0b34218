package stream

import (
	"encoding/json"
	"time"
)

// Turn is one scripted answer of the model (O2). Times count from the moment
// the request is sent and are rounded down to a Tick; Script keeps them from
// running backwards.
type Turn struct {
	// ID is the message's id. Calls without an id of their own are named after
	// it, so the turns of one conversation need different ones.
	// Empty: "msg_scripted".
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
	// FirstByte is when message_start arrives.
	FirstByte time.Duration
	// End is when message_stop arrives; zero: with the last block's end.
	End time.Duration
	// Pings are the times of further ping events, anywhere in the stream. One
	// always follows message_start.
	Pings []time.Duration
	// Seed decides where texts and inputs are split into deltas.
	Seed uint64
	// CutAfter ends the stream after that many events; zero: it is complete.
	CutAfter int
	// Error, if set, is sent as the last event: after CutAfter events, or in
	// place of message_delta and message_stop.
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
func (e Error) JSON() []byte { return compact(e.wire()) }

func (e Error) wire() wireError {
	return wireError{typeError, wireFailure{e.Type, e.Message}}
}

// Kind is the type of a content block.
type Kind string

// The kinds of block that Script knows the inner life of. Any other kind is
// sent whole at its start, with ID as tool_use_id and Content as content: that
// is the shape of all *_tool_result blocks.
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
	// ID, Name and Input belong to calls; Server to mcp_tool_use. An empty ID
	// is derived from the turn's. Input is compacted, its members kept in
	// order; what is not valid JSON is streamed as it stands.
	ID, Name, Server string
	Input            json.RawMessage
	// Content is the content of a block of another kind.
	Content json.RawMessage
	// At is when the block is complete (content_block_stop). Zero: evenly
	// between the neighbours whose times are known.
	At time.Duration
	// Deltas replaces the derived pieces: each is sent as it stands, at its time.
	// CutAt then only takes the block's end away.
	Deltas []Delta
	// CutAt stops the block after that many bytes of its text or input,
	// without a content_block_stop, and the turn's later blocks are not sent:
	// what max_tokens does inside a call. Negative: before the first byte.
	CutAt int
}

// Delta is one piece of a block's text or input; At zero is derived.
type Delta struct {
	At   time.Duration
	Text string
}

// call reports whether the block asks this side for a result.
func (b Block) call() bool { return b.Kind == ToolUse }

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
		if b.call() {
			reason = "tool_use"
		}
	}
	return reason
}
