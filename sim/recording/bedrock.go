package recording

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"net/url"
	"strings"

	"github.com/tidwall/gjson"

	"toolbench/sim/stream"
)

// A frame is: its length, that of its headers, a checksum of the two; headers;
// payload; a checksum of all. Numbers are big-endian, lengths in bytes.
const (
	framePrelude = 12
	frameTail    = 4
)

// isFrame reports whether bytes begin with a frame: the prelude has a checksum.
func isFrame(b []byte) bool {
	if len(b) < framePrelude {
		return false
	}
	size, headers := binary.BigEndian.Uint32(b), binary.BigEndian.Uint32(b[4:])
	return size >= framePrelude+frameTail && headers <= size-framePrelude-frameTail && crc32.ChecksumIEEE(b[:8]) == binary.BigEndian.Uint32(b[8:])
}

var (
	errFrame    = errors.New("a frame of the event stream is damaged")
	errFrameCut = errors.New("the event stream ends inside a frame")
)

// readFrame reads one frame of at most max bytes and gives its headers that are
// texts, and its payload; io.EOF between frames.
func readFrame(r io.Reader, max int64) (map[string]string, []byte, error) {
	var prelude [framePrelude]byte
	if n, err := io.ReadFull(r, prelude[:]); err != nil {
		if n > 0 && errors.Is(err, io.ErrUnexpectedEOF) {
			return nil, nil, errFrameCut
		}
		return nil, nil, err
	}
	size := binary.BigEndian.Uint32(prelude[:])
	if !isFrame(prelude[:]) || int64(size) > max {
		return nil, nil, errFrame
	}
	rest := make([]byte, size-framePrelude)
	if _, err := io.ReadFull(r, rest); err != nil {
		return nil, nil, errFrameCut
	}
	body, tail := rest[:len(rest)-frameTail], rest[len(rest)-frameTail:]
	sum := crc32.Update(crc32.ChecksumIEEE(prelude[:]), crc32.IEEETable, body)
	if sum != binary.BigEndian.Uint32(tail) {
		return nil, nil, errFrame
	}
	split := binary.BigEndian.Uint32(prelude[4:])
	return frameHeaders(body[:split]), body[split:], nil
}

// frameHeaders reads the headers that are texts; it stops at one of another type,
// whose length does not matter here.
func frameHeaders(b []byte) map[string]string {
	const text = 7
	out := map[string]string{}
	for len(b) > 0 {
		n := int(b[0])
		if len(b) < n+4 || b[n+1] != text {
			return out
		}
		name, rest := string(b[1:n+1]), b[n+2:]
		size := int(binary.BigEndian.Uint16(rest))
		if len(rest) < size+2 {
			return out
		}
		out[name], b = string(rest[2:size+2]), rest[size+2:]
	}
	return out
}

// frameEvent gives the model's event in a frame; ok is false when it has none.
func frameEvent(headers map[string]string, payload []byte) (e stream.Event, ok bool, err error) {
	if kind := headers[":exception-type"]; kind != "" || headers[":message-type"] == "error" {
		kind = or(kind, headers[":error-code"])
		text := or(gjson.GetBytes(payload, "message").String(), headers[":error-message"])
		return failure(kind, text), true, nil
	}
	if kind := headers[":event-type"]; isConverseEvent(kind) && json.Valid(payload) {
		return stream.Event{Type: kind, Data: payload}, true, nil
	}
	text := gjson.GetBytes(payload, "bytes")
	if text.Type != gjson.String {
		return e, false, nil
	}
	data, err := base64.StdEncoding.DecodeString(text.Str)
	if err != nil || !json.Valid(data) {
		return e, false, fmt.Errorf("a frame's event cannot be read: %w", errors.Join(err, errFrame))
	}
	if kind := gjson.GetBytes(data, "type").String(); kind != "" {
		return stream.Event{Type: kind, Data: data}, true, nil
	}
	if e, ok := converseEvent(gjson.ParseBytes(data)); ok {
		return e, true, nil
	}
	return stream.Event{Data: data}, true, nil
}

// framed decodes frames one after the other.
func framed(r io.Reader, max int64, emit func(stream.Event) error) error {
	for {
		headers, payload, err := readFrame(r, max)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		e, ok, err := frameEvent(headers, payload)
		if err != nil {
			return err
		}
		if !ok {
			continue // events of the front end's own
		}
		if err := emit(e); err != nil {
			return err
		}
	}
}

// scanFrames reads a bare file of frames.
func (s *scanner) scanFrames(r *bufio.Reader) error {
	s.format = EventBytes
	out := s.lone()
	out.responses.trouble = func(k Kind, text string) { s.problem(Problem{Kind: k, Text: text}) }
	c := &converser{emit: func(e stream.Event) error { return out.responses.add(e, 0) }}
	err := framed(r, s.limits.Part, c.add)
	if e := c.end(); e != nil {
		return e
	}
	switch {
	case errors.Is(err, errFrame) || errors.Is(err, errFrameCut):
		if out.responses.turn == nil {
			s.problem(Problem{Kind: CutStream, Text: err.Error()})
		}
		return out.responses.end(err.Error())
	case err != nil:
		return err
	}
	return out.responses.end("the file ends before message_stop")
}

// Bedrock's Converse API, and models that follow it through InvokeModel, write the
// same as the Messages API in other words: members of a block stand for its type. Here
// those words are translated, so that all that follows has one kind.

// isConverse reports whether a request's body is in those words, not the Messages API's.
func isConverse(v gjson.Result) bool {
	if v.Get("toolConfig").IsObject() || v.Get("inferenceConfig").IsObject() {
		return true
	}
	for _, m := range v.Get("messages").Array() {
		for _, b := range m.Get("content").Array() {
			return b.IsObject() && !b.Get("type").Exists() && converseKind(b) != ""
		}
	}
	return false
}

// converseKinds are the members that identify a content block.
var converseKinds = []string{"text", "toolUse", "toolResult", "reasoningContent", "citationsContent", "cachePoint", "guardContent", "image", "document", "video", "audio", "searchResult"}

func converseKind(b gjson.Result) string {
	for _, kind := range converseKinds {
		if b.Get(kind).Exists() {
			return kind
		}
	}
	return ""
}

// translated is a request or a message in the Messages API's words, its members in
// the order in which they make up a prompt.
type translated struct {
	Type      string              `json:"type,omitempty"`
	ID        string              `json:"id,omitempty"`
	Role      string              `json:"role,omitempty"`
	Model     string              `json:"model,omitempty"`
	MaxTokens json.RawMessage     `json:"max_tokens,omitempty"`
	Tools     []*translatedTool   `json:"tools,omitempty"`
	System    []*translatedBlock  `json:"system,omitempty"`
	Messages  []translatedMessage `json:"messages,omitempty"`
	Content   *[]*translatedBlock `json:"content,omitempty"`
	Stop      string              `json:"stop_reason,omitempty"`
	Usage     *translatedUsage    `json:"usage,omitempty"`
}

type translatedUsage struct {
	Input   int `json:"input_tokens"`
	Written int `json:"cache_creation_input_tokens"`
	Read    int `json:"cache_read_input_tokens"`
	Output  int `json:"output_tokens"`
}

type translatedMessage struct {
	Role    string             `json:"role"`
	Content []*translatedBlock `json:"content"`
}

type translatedTool struct {
	Name        string          `json:"name,omitempty"`
	Type        string          `json:"type,omitempty"`
	Description string          `json:"description,omitempty"`
	Schema      json.RawMessage `json:"input_schema,omitempty"`
	Breakpoint  *breakpoint     `json:"cache_control,omitempty"`
}

type breakpoint struct {
	Type string `json:"type"`
}

// translatedBlock has the members of all kinds of block.
type translatedBlock struct {
	Type      string             `json:"type"`
	Text      *string            `json:"text,omitempty"`
	Thinking  *string            `json:"thinking,omitempty"`
	Signature string             `json:"signature,omitempty"`
	Data      string             `json:"data,omitempty"`
	ID        string             `json:"id,omitempty"`
	Name      string             `json:"name,omitempty"`
	Input     json.RawMessage    `json:"input,omitempty"`
	CallID    string             `json:"tool_use_id,omitempty"`
	Content   []*translatedBlock `json:"content,omitempty"`
	IsError   bool               `json:"is_error,omitempty"`
	Source    json.RawMessage    `json:"source,omitempty"`

	Breakpoint *breakpoint `json:"cache_control,omitempty"`
}

// words writes a value as JSON, "null" where what is raw in it is none.
func words(v any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if enc.Encode(v) != nil {
		return []byte("null")
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// converseRequest is a request's body in the Messages API's words.
func converseRequest(v gjson.Result) gjson.Result {
	t := translated{MaxTokens: raw(v.Get("inferenceConfig.maxTokens")), System: converseBlocks(v.Get("system")), Messages: []translatedMessage{}}
	for _, tool := range v.Get("toolConfig.tools").Array() {
		switch spec := tool.Get("toolSpec"); {
		case tool.Get("cachePoint").Exists():
			if n := len(t.Tools); n > 0 {
				t.Tools[n-1].Breakpoint = &breakpoint{"ephemeral"}
			}
		case spec.Exists():
			t.Tools = append(t.Tools, &translatedTool{Name: spec.Get("name").String(), Description: spec.Get("description").String(), Schema: schemaOf(spec.Get("inputSchema.json"))})
		case tool.Get("systemTool").Exists():
			name := tool.Get("systemTool.name").String()
			t.Tools = append(t.Tools, &translatedTool{Name: name, Type: name})
		}
	}
	for _, m := range v.Get("messages").Array() {
		t.Messages = append(t.Messages, translatedMessage{m.Get("role").String(), converseBlocks(m.Get("content"))})
	}
	return gjson.ParseBytes(words(t))
}

// schemaOf: some models take the schema as a text.
func schemaOf(v gjson.Result) json.RawMessage {
	if v.Type == gjson.String && gjson.Valid(v.Str) {
		return json.RawMessage(v.Str)
	}
	return raw(v)
}

func raw(v gjson.Result) json.RawMessage {
	if v.Raw == "" {
		return nil
	}
	return json.RawMessage(v.Raw)
}

// converseReply is a whole answer in the Messages API's words; ok is false when the
// document is none.
func converseReply(v gjson.Result) (m gjson.Result, ok bool) {
	content := v.Get("output.message.content")
	if !content.IsArray() {
		return m, false
	}
	blocks := converseBlocks(content)
	return gjson.ParseBytes(words(translated{
		Type: "message", Role: "assistant", Content: &blocks, Stop: v.Get("stopReason").String(), Usage: converseUsage(v.Get("usage")),
	})), true
}

// converseUsage reads the usage, which models give under two sets of names.
func converseUsage(v gjson.Result) *translatedUsage {
	n := func(names ...string) int {
		for _, name := range names {
			if c := v.Get(name); c.Type == gjson.Number && c.Num >= 0 && c.Num < 1e12 {
				return int(c.Num)
			}
		}
		return 0
	}
	return &translatedUsage{
		Input: n("inputTokens"), Output: n("outputTokens"),
		Read:    n("cacheReadInputTokens", "cacheReadInputTokenCount"),
		Written: n("cacheWriteInputTokens", "cacheWriteInputTokenCount"),
	}
}

func converseBlocks(content gjson.Result) []*translatedBlock {
	out := []*translatedBlock{}
	for _, b := range content.Array() {
		kind := converseKind(b)
		if kind == "cachePoint" {
			if n := len(out); n > 0 {
				out[n-1].Breakpoint = &breakpoint{"ephemeral"}
			}
			continue
		}
		out = append(out, converseBlock(kind, b))
	}
	return out
}

func textBlock(s string) *translatedBlock { return &translatedBlock{Type: "text", Text: &s} }

func converseBlock(kind string, b gjson.Result) *translatedBlock {
	v := b.Get(kind)
	switch kind {
	case "text":
		return textBlock(v.String())
	case "toolUse":
		return &translatedBlock{Type: or(v.Get("type").String(), "tool_use"), ID: v.Get("toolUseId").String(), Name: v.Get("name").String(), Input: raw(v.Get("input"))}
	case "toolResult":
		return &translatedBlock{
			Type: or(v.Get("type").String(), "tool_result"), CallID: v.Get("toolUseId").String(),
			Content: converseResult(v.Get("content")), IsError: v.Get("status").String() == "error",
		}
	case "reasoningContent":
		if r := v.Get("reasoningText"); r.Exists() {
			return &translatedBlock{Type: "thinking", Thinking: new(r.Get("text").String()), Signature: r.Get("signature").String()}
		}
		return &translatedBlock{Type: "redacted_thinking", Data: v.Get("redactedContent").String()}
	case "citationsContent":
		var parts []string
		for _, c := range v.Get("content").Array() {
			parts = append(parts, c.Get("text").String())
		}
		return textBlock(strings.Join(parts, ""))
	case "guardContent":
		return textBlock(v.Get("text.text").String())
	case "":
		return &translatedBlock{Type: "unknown"}
	}
	return &translatedBlock{Type: kind, Name: v.Get("name").String(), Source: raw(v.Get("source"))}
}

// converseResult also takes results that are JSON: they are their text.
func converseResult(content gjson.Result) []*translatedBlock {
	out := []*translatedBlock{}
	for _, b := range content.Array() {
		if v := b.Get("json"); v.Exists() {
			out = append(out, &translatedBlock{Type: "text", Text: &v.Raw})
			continue
		}
		out = append(out, converseBlock(converseKind(b), b))
	}
	return out
}

// modelIn is the model that a URL names, as those of Bedrock do: /model/<id>/converse.
func modelIn(address string) string {
	path := address
	if u, err := url.Parse(address); err == nil {
		path = u.EscapedPath()
	}
	_, after, ok := strings.Cut(path, "/model/")
	if !ok {
		return ""
	}
	name, _, _ := strings.Cut(after, "/")
	if plain, err := url.PathUnescape(name); err == nil {
		name = plain
	}
	return name
}
