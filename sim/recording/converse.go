package recording

import (
	"bytes"
	"encoding/json"
	"net/url"
	"strings"

	"github.com/tidwall/gjson"
)

// Bedrock's Converse API, and models that speak its way through InvokeModel, say the
// same as the Messages API in other words: members of a block stand for its type. Here
// those words are translated, so that all that stands behind knows one kind (O2).

// isConverse tells a request's body in those words from one of the Messages API.
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

// converseKinds are the members that say what a content block is.
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

// converseUsage: models say what they cost under two sets of names.
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

// converseResult also knows results that are JSON: they are what their text says.
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
