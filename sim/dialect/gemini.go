package dialect

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/tidwall/gjson"
)

// Gemini's generateContent, on Google's own address and on Vertex. Calls come whole, and ids are optional on either
// side: a result may name no more than its tool. What Google's library for Python writes down is the same with its
// names in lower case, what is not there as null, and all of a request but its contents below "config".

// Either is the first of a member's spellings that is there.
func Either(v gjson.Result, names ...string) gjson.Result {
	for _, name := range names {
		if m := v.Get(name); m.Type != gjson.Null {
			return m
		}
	}
	return gjson.Result{}
}

// isGenerated reports whether v is an answer, or a piece of a stream; candidates may also be those of an election.
func isGenerated(v gjson.Result) bool {
	first := v.Get("candidates.0")
	return v.Get("candidates").IsArray() && (!first.Exists() || Either(first, "content", "finishReason", "finish_reason", "index").Exists()) ||
		v.Get("usageMetadata").IsObject() && (v.Get("modelVersion").Exists() || v.Get("promptFeedback").Exists()) ||
		v.Get("usage_metadata").IsObject() && (v.Get("model_version").Exists() || v.Get("prompt_feedback").Exists())
}

func geminiRequest(v gjson.Result, address string, ids *IDs) gjson.Result {
	var messages []json.RawMessage
	tools := slices.Concat(each(Either(v, "tools", "config.tools").Array(), geminiTools)...)
	for _, m := range v.Get("contents").Array() {
		role := m.Get("role").String()
		if role == "model" {
			role = "assistant"
		} else if role == "" || role == "function" || role == "tool" {
			role = "user"
		}
		messages = append(messages, message(role, geminiParts(m.Get("parts"), ids)))
	}
	system := Either(v, "systemInstruction", "system_instruction", "config.system_instruction")
	prompt := geminiParts(system.Get("parts"), ids)
	if system.Type == gjson.String {
		prompt = []json.RawMessage{textBlock(system.Str)}
	}
	config := Either(v, "generationConfig", "generation_config", "config")
	streams := strings.HasSuffix(path(address), ":streamGenerateContent") || strings.HasSuffix(path(address), "/generate_content_stream")
	model := v.Get("model").String()
	if _, after, ok := strings.Cut("/"+model, "/models/"); ok { // without the places before its name
		model = after
	}
	return gjson.ParseBytes(object("model", cmp.Or(model, Model(address)),
		"max_tokens", limit(config, "maxOutputTokens", "max_output_tokens"), "stream", streams,
		"tools", tools, "system", prompt, "messages", listOf(messages)))
}

// geminiTools are the functions of an item of the tools, or what the provider itself runs.
func geminiTools(tool gjson.Result) (out []json.RawMessage) {
	tool.ForEach(func(kind, value gjson.Result) bool {
		if value.Type == gjson.Null {
			return true
		}
		if kind.Str != "functionDeclarations" && kind.Str != "function_declarations" {
			out = append(out, object("name", kind.Str, "type", kind.Str))
			return true
		}
		for _, f := range value.Array() {
			schema := Either(f, "parametersJsonSchema", "parameters_json_schema")
			in := raw(schema)
			if schema.Type == gjson.Null {
				in = plainSchema(f.Get("parameters"))
			}
			out = append(out, object("name", f.Get("name").String(), "description", f.Get("description").String(), "input_schema", in))
		}
		return true
	})
	return out
}

// plainSchema writes a schema as JSON Schema has it: Gemini's own form has its types in
// capitals, and its bounds as texts.
func plainSchema(v gjson.Result) json.RawMessage {
	if !v.IsObject() {
		return raw(v)
	}
	var pairs []any
	v.ForEach(func(name, value gjson.Result) bool {
		out := raw(value)
		switch name.Str {
		case "type":
			out = schemaType(value, v.Get("nullable").Bool())
		case "nullable":
			return true
		case "items", "additionalProperties", "not":
			out = plainSchema(value)
		case "anyOf", "any_of", "oneOf", "allOf", "prefixItems":
			out = listOf(each(value.Array(), plainSchema))
		case "properties", "$defs", "defs":
			var members []any
			value.ForEach(func(name, s gjson.Result) bool {
				members = append(members, name.Str, plainSchema(s))
				return true
			})
			out = object(members...)
		case "minItems", "maxItems", "minLength", "maxLength", "minProperties", "maxProperties":
			if value.Type == gjson.String && json.Valid([]byte(value.Str)) {
				out = json.RawMessage(value.Str)
			}
		}
		pairs = append(pairs, strings.ReplaceAll(name.Str, "any_of", "anyOf"), out)
		return true
	})
	return object(pairs...)
}

func schemaType(v gjson.Result, nullable bool) json.RawMessage {
	if v.Type != gjson.String || v.Str == "TYPE_UNSPECIFIED" {
		return raw(v)
	}
	kind := strings.ToLower(v.Str)
	if nullable {
		return JSON([]string{kind, "null"})
	}
	return JSON(kind)
}

// geminiParts are the blocks of a content.
func geminiParts(parts gjson.Result, ids *IDs) []json.RawMessage {
	var out []json.RawMessage
	for _, p := range hostedParts(parts) {
		if b := geminiPart(p, ids); b != nil {
			out = append(out, b)
		}
	}
	return out
}

// hostedParts words calls whose results stand beside them, and these, as what the provider itself ran: its clients of MCP.
func hostedParts(parts gjson.Result) []gjson.Result {
	names := func(member string) []string {
		return each(parts.Array(), func(p gjson.Result) string { return p.Get(member + ".name").String() })
	}
	calls, results := names("functionCall"), names("functionResponse")
	return each(parts.Array(), func(p gjson.Result) gjson.Result {
		f := Either(p, "functionCall", "functionResponse")
		name, id := f.Get("name").String(), f.Get("id").String()
		switch {
		case name == "" || !slices.Contains(calls, name) || !slices.Contains(results, name):
			return p
		case p.Get("functionCall").Exists():
			return gjson.ParseBytes(object("toolCall", object("toolType", name, "id", id, "args", raw(f.Get("args")))))
		}
		return gjson.ParseBytes(object("toolResponse", object("toolType", name, "id", id, "response", raw(f.Get("response")))))
	})
}

// Signature is the member of a call in which the model's thoughts before it are sealed. Of
// calls beside each other only the first has one, and the API wants it back.
const Signature = "thought_signature"

func geminiPart(p gjson.Result, ids *IDs) json.RawMessage {
	signature := Either(p, "thoughtSignature", "thought_signature").String()
	code, asked := Either(p, "executableCode", "executable_code"), Either(p, "toolCall", "tool_call") // what the provider itself ran
	gave := Either(p, "codeExecutionResult", "code_execution_result", "toolResponse", "tool_response")
	switch call, result := Either(p, "functionCall", "function_call"), Either(p, "functionResponse", "function_response"); {
	case call.IsObject():
		name, in := call.Get("name").String(), objectOf(call.Get("args"))
		id := ids.call(call.Get("id").String(), name, gjson.ParseBytes(in))
		return object("type", "tool_use", "id", text(id), "name", text(name), "input", in, Signature, signature)
	case result.IsObject():
		content, failed := geminiResult(result)
		return object("type", "tool_result", "tool_use_id", text(ids.result(result.Get("id").String(), result.Get("name").String())), "content", content, "is_error", failed)
	case code.IsObject():
		return object("type", "server_tool_use", "id", code.Get("id").String(), "name", "code_execution", "input", object("code", text(code.Get("code").String())))
	case asked.IsObject():
		return object("type", "server_tool_use", "id", asked.Get("id").String(), "name", strings.ToLower(Either(asked, "toolType", "tool_type").String()), "input", objectOf(asked.Get("args")))
	case gave.IsObject():
		kind := cmp.Or(strings.ToLower(Either(gave, "toolType", "tool_type").String()), "code_execution")
		return object("type", kind+"_tool_result", "tool_use_id", gave.Get("id").String(), "content", raw(Either(gave, "response", "@this")))
	case p.Get("thought").Bool():
		return thinking(p.Get("text").String(), signature)
	case p.Get("text").Type == gjson.String:
		if p.Get("text").Str == "" {
			return nil // it only carries a signature
		}
		return textBlock(p.Get("text").String())
	}
	return geminiData(p)
}

// geminiData is an image or a file.
func geminiData(p gjson.Result) json.RawMessage {
	inline, file := Either(p, "inlineData", "inline_data"), Either(p, "fileData", "file_data")
	kind := Either(inline, "mimeType", "mime_type").String() + Either(file, "mimeType", "mime_type").String()
	block := "document"
	if strings.HasPrefix(kind, "image/") {
		block = "image"
	}
	switch {
	case inline.IsObject():
		return object("type", block, "source", object("type", "base64", "media_type", kind, "data", inline.Get("data").String()))
	case file.IsObject():
		return object("type", block, "source", object("type", "url", "media_type", kind, "url", Either(file, "fileUri", "file_uri").String()))
	}
	return nil
}

func objectOf(v gjson.Result) json.RawMessage {
	if v.IsObject() {
		return raw(v)
	}
	return json.RawMessage("{}")
}

// geminiResult is what a tool gave. It must be an object there: what has no more than one
// member, of a name that stands for the result itself, is that.
func geminiResult(result gjson.Result) (content []json.RawMessage, failed bool) {
	value := result.Get("response")
	members := value.Map()
	for only, v := range members {
		if len(members) == 1 && slices.Contains([]string{"output", "result", "error", "content"}, only) {
			value, failed = v, only == "error"
		}
	}
	switch {
	case value.Type == gjson.String:
		content = append(content, textBlock(value.Str))
	case value.Exists():
		content = append(content, textBlock(value.Raw))
	}
	for _, p := range result.Get("parts").Array() {
		if b := geminiData(p); b != nil {
			content = append(content, b)
		}
	}
	return content, failed
}

// geminiStop is "" while the model writes.
func geminiStop(v gjson.Result) string {
	if Either(v, "promptFeedback.blockReason", "prompt_feedback.block_reason").Exists() && !v.Get("candidates.0").Exists() {
		return "SAFETY"
	}
	return Either(v, "candidates.0.finishReason", "candidates.0.finish_reason").String()
}

func geminiUsage(v gjson.Result) json.RawMessage {
	u := Either(v, "usageMetadata", "usage_metadata")
	read := count(u, "promptTokenCount", "prompt_token_count") + count(u, "toolUsePromptTokenCount", "tool_use_prompt_token_count")
	return usage(read, count(u, "cachedContentTokenCount", "cached_content_token_count"), 0,
		count(u, "candidatesTokenCount", "candidates_token_count")+count(u, "thoughtsTokenCount", "thoughts_token_count"))
}

// geminiStream translates the pieces of a stream, each of which is an answer of its own with what is new.
type geminiStream struct {
	w  *writer
	id string
	// prompt is what the last piece counts of the prompt, 0 without.
	prompt int
	// open is 1 more than the index of the open block, thinks its kind.
	open   int
	thinks bool
	// call is one whose arguments come in pieces, nil outside of such.
	call *pieces
}

func (g *geminiStream) add(_ string, v gjson.Result) {
	if failed := v.Get("error"); failed.IsObject() {
		g.w.fail(cmp.Or(failed.Get("status").String(), "api_error"), failed.Get("message").String())
		return
	}
	id, parts := Either(v, "responseId", "response_id").String(), hostedParts(v.Get("candidates.0.content.parts"))
	prompt := count(v, "usageMetadata.promptTokenCount", "usage_metadata.prompt_token_count")
	if g.w.stopped && (id != g.id && v.Get("candidates.0").Exists() || id == "" && g.prompt > 0 && g.prompt != prompt && len(parts) > 0) {
		g.w.finish()
	}
	g.prompt = prompt
	if !g.w.begun {
		g.id, g.open = id, 0
		g.w.start(id, Either(v, "modelVersion", "model_version").String())
	}
	for _, p := range parts {
		g.part(p)
	}
	if u := geminiUsage(v); u != nil {
		g.w.usage = u
	}
	if stop := geminiStop(v); stop != "" {
		g.whole(stop != "STOP")
		g.w.ended(stop)
	}
}

// pieced adds a part to a call whose arguments come in several parts, and reports whether the part belongs to such a
// call. The first part has the tool's name, and each part but the last has willContinue.
func (g *geminiStream) pieced(p gjson.Result) bool {
	f := Either(p, "functionCall", "function_call")
	more := Either(f, "willContinue", "will_continue").Bool()
	switch name := f.Get("name").String(); {
	case name != "" && !more && !Either(f, "partialArgs", "partial_args").Exists():
		return false
	case name != "":
		g.whole(true)
		g.call = &pieces{id: f.Get("id").String(), name: name, signature: Either(p, "thoughtSignature", "thought_signature").String()}
	case g.call == nil:
		return false
	}
	g.call.add(Either(f, "partialArgs", "partial_args"))
	if !more {
		g.whole(false)
	}
	return true
}

// whole writes the call whose pieces have all come. One that was cut has no whole input, so
// that nobody takes it for a call.
func (g *geminiStream) whole(cut bool) {
	call := g.call
	if g.call = nil; call == nil {
		return
	}
	in := call.input()
	id := g.w.IDs.call(call.id, call.name, gjson.ParseBytes(in))
	n := g.w.call(id, call.name, call.signature)
	if cut || call.broken {
		in = in[:len(in)-1]
	}
	g.w.input(n, string(in))
	g.w.close(n)
}

func (g *geminiStream) part(p gjson.Result) {
	written := p.Get("text")
	thinks := p.Get("thought").Bool()
	if written.Type != gjson.String || Either(p, "functionCall", "function_call").Exists() {
		g.rest()
		if g.pieced(p) {
			return
		}
		g.whole(true)
		if b := geminiPart(p, g.w.IDs); b != nil {
			g.w.block(gjson.ParseBytes(b))
		}
		return
	}
	if written.Str == "" {
		return
	}
	if g.thinks != thinks {
		g.rest()
	}
	kind := map[bool]string{false: "text", true: "thinking"}[thinks]
	if g.open == 0 {
		g.open, g.thinks = 1+g.w.begin(object("type", kind, kind, text(""))), thinks
	}
	g.w.delta(g.open-1, kind+"_delta", kind, written.Str)
}

func (g *geminiStream) rest() {
	g.w.close(g.open - 1)
	g.open = 0
}
