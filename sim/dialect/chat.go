package dialect

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/tidwall/gjson"
)

// Chat Completions: OpenAI's first API with tools, which most other providers follow, each with members of its own.

// chatOnly are members that only requests of Chat Completions have.
var chatOnly = []string{"max_completion_tokens", "response_format", "stream_options", "functions", "parallel_tool_calls", "frequency_penalty", "reasoning_effort"}

// byMembers is the API of a request with messages, by what the Messages API has not: members of Chat Completions or
// of Ollama, tools as functions, roles, parts and calls. It reads the members once: requests repeat the whole
// conversation, and each look for one that is not there would read all of it.
func byMembers(v gjson.Result) API {
	api := Messages
	v.ForEach(func(name, member gjson.Result) bool {
		switch {
		case slices.Contains(ollamaOnly, name.Str):
			api = Ollama
		case slices.Contains(chatOnly, name.Str),
			name.Str == "tools" && slices.ContainsFunc(member.Array(), func(tool gjson.Result) bool { return tool.Get("function").IsObject() }),
			name.Str == "messages" && slices.ContainsFunc(member.Array(), isChatMessage):
			api = Chat
		}
		return api != Ollama
	})
	return api
}

func isChatMessage(m gjson.Result) bool {
	switch m.Get("role").String() {
	case "system", "developer", "tool", "function":
		return true
	}
	return m.Get("tool_calls").Exists() || m.Get("function_call").IsObject() || m.Get(`content.#(type=="image_url")`).Exists() ||
		m.Get(`content.#(type=="tool-call")`).Exists()
}

// wording is how an API whose roles are those of Chat Completions has what a message holds.
type wording struct {
	parts           func(m gjson.Result) []json.RawMessage
	answer, results func(m gjson.Result, ids *IDs) []json.RawMessage
}

func chatRequest(v gjson.Result, ids *IDs) gjson.Result {
	parts := func(m gjson.Result) []json.RawMessage { return chatParts(m.Get("content")) }
	return wording{parts, chatAnswer, chatResults}.request(v, ids, v.Get("stream").Bool(), "max_completion_tokens", "max_tokens")
}

func (w wording) request(v gjson.Result, ids *IDs, streams bool, limits ...string) gjson.Result {
	var system []json.RawMessage
	tools := each(append(v.Get("tools").Array(), v.Get("functions").Array()...), functionTool)
	c := conversation{}
	for _, m := range v.Get("messages").Array() {
		switch role := m.Get("role").String(); role {
		case "system", "developer":
			if len(c.messages) == 0 && c.role == "" {
				system = append(system, w.parts(m)...)
				continue
			}
			c.alone("system", w.parts(m))
		case "tool", "function":
			for _, r := range w.results(m, ids) {
				c.result(r)
			}
		case "assistant":
			c.add("assistant", w.answer(m, ids)...)
		default:
			c.alone(role, w.parts(m))
		}
	}
	c.flush()
	return gjson.ParseBytes(object("model", v.Get("model").String(), "max_tokens", limit(v, limits...), "stream", streams,
		"tools", tools, "system", system, "messages", listOf(c.messages)))
}

// limit is the request's bound of the answer, at one of some paths.
func limit(v gjson.Result, paths ...string) json.RawMessage {
	if n := count(v, paths...); n > 0 {
		return JSON(n)
	}
	return nil
}

// conversation puts blocks that belong to one message into one: other APIs send each
// result, and some each part of an answer, by itself.
type conversation struct {
	messages []json.RawMessage
	role     string
	blocks   []json.RawMessage
	results  bool
}

func (c *conversation) add(role string, blocks ...json.RawMessage) {
	if c.role != role || c.results {
		c.flush()
	}
	c.role, c.blocks = role, append(c.blocks, blocks...)
}

// alone adds a message that nothing joins.
func (c *conversation) alone(role string, blocks []json.RawMessage) {
	c.flush()
	c.messages = append(c.messages, message(role, blocks))
}

func (c *conversation) result(block json.RawMessage) {
	if !c.results {
		c.flush()
	}
	c.role, c.results, c.blocks = "user", true, append(c.blocks, block)
}

func (c *conversation) flush() {
	if c.role != "" {
		c.messages = append(c.messages, message(c.role, c.blocks))
	}
	c.role, c.blocks, c.results = "", nil, false
}

// functionTool is a tool: a function, or what the provider itself runs.
func functionTool(tool gjson.Result) json.RawMessage {
	f := Either(tool, "function", "custom", "@this")
	kind, free := tool.Get("type").String(), false
	if kind == "function" || kind == "custom" {
		free, kind = kind == "custom", ""
	}
	return object("name", cmp.Or(f.Get("name").String(), tool.Get("server_label").String(), kind), "type", kind, "freeform", free,
		"description", f.Get("description").String(), "input_schema", schemaOf(f.Get("parameters")))
}

// chatParts is a content: a text, or parts.
func chatParts(content gjson.Result) []json.RawMessage {
	if content.Type == gjson.String {
		return []json.RawMessage{textBlock(content.Str)}
	}
	var out []json.RawMessage
	for _, p := range content.Array() {
		if p.Type == gjson.String {
			out = append(out, textBlock(p.Str))
		} else if p.IsObject() {
			out = append(out, part(p))
		}
	}
	return out
}

// part is one part of a content, of Chat Completions or of Responses.
func part(p gjson.Result) json.RawMessage {
	switch kind := p.Get("type").String(); kind {
	case "text", "input_text", "output_text", "summary_text", "reasoning_text":
		return textBlock(p.Get("text").String())
	case "refusal":
		return textBlock(p.Get("refusal").String())
	case "thinking":
		return thinking(joinedTexts(p.Get("thinking")), "")
	case "image_url", "input_image":
		return object("type", "image", "source", source(cmp.Or(p.Get("image_url.url").String(), p.Get("image_url").String(), p.Get("file_id").String())))
	case "file", "input_file", "document_url":
		return object("type", "document", "title", cmp.Or(p.Get("file.filename").String(), p.Get("filename").String()),
			"source", source(cmp.Or(p.Get("file.file_data").String(), p.Get("file_data").String(), p.Get("file_url").String(), p.Get("document_url").String())))
	case "tool_result", "tool_use": // of a client that mixes the two APIs
		return raw(p)
	case "tool-call": // of Vercel's AI SDK, as is the next
		kind := map[bool]string{true: "server_tool_use"}[p.Get("providerExecuted").Bool()]
		return object("type", cmp.Or(kind, "tool_use"), "id", p.Get("toolCallId").String(), "name", p.Get("toolName").String(), "input", input(Either(p, "input", "args")))
	case "tool-result":
		said := Either(p, "output.value", "output", "result").String() // of what is no text, its JSON
		return object("type", "tool_result", "tool_use_id", text(p.Get("toolCallId").String()), "content", []json.RawMessage{textBlock(said)},
			"is_error", p.Get("isError").Bool() || strings.HasPrefix(p.Get("output.type").String(), "error-"))
	case "function_result":
		return itemResult(p)
	case "document": // of Cohere's, which holds a result or what else there is to cite
		data := p.Get("document.data")
		return textBlock(cmp.Or(data.String(), p.Get("document.text").String()))
	default:
		if t := Either(p, "text", "transcript"); t.Type == gjson.String { // the latter of what was spoken
			return textBlock(t.Str)
		}
		return object("type", cmp.Or(kind, "unknown"))
	}
}

func joinedTexts(v gjson.Result) string {
	if v.Type == gjson.String {
		return v.Str
	}
	return strings.Join(each(v.Array(), func(p gjson.Result) string { return p.Get("text").String() }), "")
}

// source is where the bytes of an image or a file are.
func source(address string) json.RawMessage {
	if rest, ok := strings.CutPrefix(address, "data:"); ok {
		if kind, data, ok := strings.Cut(rest, ";base64,"); ok {
			return object("type", "base64", "media_type", kind, "data", data)
		}
	}
	if strings.HasPrefix(address, "http") || strings.HasPrefix(address, "gs:") {
		return object("type", "url", "url", address)
	}
	return object("type", "base64", "data", address)
}

func thinking(s, signature string) json.RawMessage {
	return object("type", "thinking", "thinking", text(s), "signature", signature)
}

// thought is what a provider adds to Chat Completions of the model's reasoning.
func thought(m gjson.Result) string {
	return cmp.Or(m.Get("reasoning_content").Str, m.Get("reasoning").Str, m.Get("reasoning_text").Str, joinedTexts(m.Get("reasoning_details")))
}

// chatAnswer is the blocks of a message that the model wrote.
func chatAnswer(m gjson.Result, ids *IDs) []json.RawMessage {
	var out []json.RawMessage
	if t := thought(m); t != "" {
		out = append(out, thinking(t, ""))
	}
	if plan := m.Get("tool_plan").String(); plan != "" {
		out = append(out, textBlock(plan))
	}
	if c := m.Get("content"); c.Type != gjson.String || c.Str != "" {
		out = append(out, chatParts(c)...)
	}
	if r := cmp.Or(m.Get("refusal").String(), m.Get("audio.transcript").String()); r != "" {
		out = append(out, textBlock(r))
	}
	out = append(out, each(m.Get("tool_calls").Array(), func(call gjson.Result) json.RawMessage { return chatCall(call, ids) })...)
	if f := m.Get("function_call"); f.Get("name").String() != "" {
		out = append(out, chatCall(f, ids))
	}
	return out
}

func chatCall(call gjson.Result, ids *IDs) json.RawMessage {
	f := call
	for _, member := range []string{"custom", "function"} { // some send both, one empty
		if inner := call.Get(member); inner.Get("name").String() != "" {
			f = inner
		}
	}
	name, in := f.Get("name").String(), input(f.Get("arguments"))
	if custom := f.Get("input"); custom.Exists() && !f.Get("arguments").Exists() {
		in = object("input", text(custom.String()))
	}
	id := ids.optional(call.Get("id").String(), name, in)
	if call.Get("id").String() != "" { // its result may have none
		ids.wait(id, id, name)
	}
	return object("type", "tool_use", "id", text(id), "name", text(name), "input", in)
}

// optional names a call only where it has no id.
func (ids *IDs) optional(sent, name string, in json.RawMessage) string {
	if sent != "" {
		return sent
	}
	return ids.call("", name, gjson.ParseBytes(in))
}

// input is a call's arguments, which are a text of JSON: the object that they are, or
// where they are none the text as it is.
func input(arguments gjson.Result) json.RawMessage {
	s := strings.TrimSpace(arguments.String())
	switch {
	case s == "" || s == "null":
		return json.RawMessage("{}")
	case json.Valid([]byte(s)):
		return json.RawMessage(s)
	}
	return JSON(s)
}

// chatResults are the results that a message of a tool holds: one, or in the words of Vercel's AI SDK each of its parts.
func chatResults(m gjson.Result, ids *IDs) []json.RawMessage {
	if m.Get("content.0.type").Str == "tool-result" {
		return chatParts(m.Get("content"))
	}
	id := Either(m, "tool_call_id", "tool_call_ids.0").String()
	if id == "" {
		id = ids.result("", m.Get("name").String())
	} else {
		ids.answer([2]string{"id", id})
	}
	return []json.RawMessage{object("type", "tool_result", "tool_use_id", text(id), "content", chatParts(m.Get("content")), "is_error", m.Get("is_error").Bool())}
}

// isWorkers reports whether v is an answer of Cloudflare's Workers AI, or a piece of one.
func isWorkers(v gjson.Result) bool {
	return (v.Get("response").Exists() || v.Get("tool_calls").IsArray()) && (v.Get("usage.prompt_tokens").Exists() || v.Get("p").Type == gjson.String)
}

// within is an answer, or a piece of one, that its provider has in words of its own, as Chat Completions has it; none where v is
// no such. The last piece of Workers AI counts what was used. DashScope's generation and SAP's orchestration have choices beside the request's id.
func within(v gjson.Result) gjson.Result {
	if isWorkers(v) {
		return gjson.ParseBytes(object("choices", []json.RawMessage{object("message", object("content", text(v.Get("response").String()), "tool_calls", raw(v.Get("tool_calls"))),
			"finish_reason", map[bool]string{true: "stop"}[v.Get("usage").Exists()])}, "usage", raw(v.Get("usage"))))
	}
	id, said := v.Get("request_id"), gjson.Result{}
	if id.Exists() {
		said = Either(v, "output", "final_result", "orchestration_result")
	}
	if !said.Get("choices").IsArray() {
		return gjson.Result{}
	}
	return gjson.ParseBytes(object("id", id.String(), "model", said.Get("model").String(), "choices", raw(said.Get("choices")),
		"usage", json.RawMessage(cmp.Or(said.Get("usage").Raw, v.Get("usage").Raw))))
}

// generation is a request to DashScope as one of Chat Completions.
func (ids *IDs) generation(v gjson.Result) gjson.Result {
	p := v.Get("parameters")
	ids.soFar = !p.Get("incremental_output").Bool()
	return gjson.ParseBytes(object("model", v.Get("model").String(), "max_tokens", raw(p.Get("max_tokens")), "tools", raw(p.Get("tools")),
		"messages", raw(v.Get("input.messages"))))
}

func chatReply(v gjson.Result, from Origin) gjson.Result {
	var blocks []json.RawMessage
	for i, choice := range v.Get("choices").Array() { // others have their number; GitHub's Copilot numbers none where they are one answer in parts
		if i == 0 || !choice.Get("index").Exists() {
			blocks = append(blocks, chatAnswer(choice.Get("message"), from.IDs)...)
		}
	}
	return reply(from, v.Get("id").String(), v.Get("model").String(), blocks, v.Get("choices.0.finish_reason").String(), chatUsage(v))
}

// reply is a whole message.
func reply(from Origin, id, model string, blocks []json.RawMessage, stop string, usage json.RawMessage) gjson.Result {
	calls := slices.ContainsFunc(blocks, func(b json.RawMessage) bool { return gjson.GetBytes(b, "type").Str == "tool_use" })
	return gjson.ParseBytes(object("type", "message", "id", cmp.Or(id, from.ID), "role", "assistant", "model", cmp.Or(model, from.Model),
		"content", listOf(blocks), "stop_reason", StopReason(stop, calls), "usage", usage))
}

// chatUsage is nil where a piece of a stream has none.
func chatUsage(v gjson.Result) json.RawMessage {
	u := Either(v, "usage", "x_groq.usage", "choices.0.usage")
	read, wrote, reasoned := count(u, "prompt_tokens", "input_tokens"), count(u, "completion_tokens", "output_tokens"), count(u, "completion_tokens_details.reasoning_tokens")
	if count(u, "total_tokens") == read+wrote+reasoned { // as xAI's are counted, apart from what it wrote
		wrote += reasoned
	}
	written := count(u, "prompt_tokens_details.cache_write_tokens", "prompt_tokens_details.cache_creation_tokens")
	return usage(read, count(u, "prompt_tokens_details.cached_tokens", "prompt_cache_hit_tokens", "cached_tokens"), written, wrote)
}
