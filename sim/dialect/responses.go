package dialect

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/tidwall/gjson"
)

// Responses: OpenAI's API whose conversations are lists of items - messages, reasoning, calls, results - each of
// which stands by itself. Gemini's Interactions has steps of other names for them, and is read and never given.

// hasItems reports whether a request without an address is one of Responses.
func hasItems(v gjson.Result) bool {
	input := v.Get("input")
	if !input.IsArray() {
		return input.Type == gjson.String && slices.ContainsFunc(textOnly, func(name string) bool { return v.Get(name).Exists() })
	}
	first := input.Get("0")
	return first.Get("role").Exists() || isItem(first.Get("type").String())
}

// textOnly are members by which a request whose input is a text is known from one for embeddings.
var textOnly = []string{"instructions", "previous_response_id", "max_output_tokens", "conversation", "tools", "stream"}

func isItem(kind string) bool {
	return kind == "message" || kind == "reasoning" || strings.HasSuffix(kind, "_call") || strings.HasSuffix(kind, "_call_output")
}

// isResponse reports whether v is an answer.
func isResponse(v gjson.Result) bool {
	return v.Get("object").String() == "response" && v.Get("output").IsArray() ||
		v.Get("output.0.type").Exists() && isItem(v.Get("output.0.type").String())
}

func responsesRequest(v gjson.Result, ids *IDs) gjson.Result {
	tools, system := itemTools(v.Get("tools")), []json.RawMessage(nil)
	for _, item := range v.Get("input").Array() {
		if kind := item.Get("type").String(); kind == moreTools || kind == foundTools && !isSearched(item) {
			tools = append(tools, itemTools(item.Get("tools"))...)
		}
	}
	if s := Either(v, "instructions", "system_instruction").String(); s != "" {
		system = append(system, textBlock(s))
	}
	c := conversation{}
	if input := v.Get("input"); input.Type == gjson.String {
		c.add("user", textBlock(input.Str))
	} else {
		items := input.Array()
		for len(items) > 0 && isSystem(items[0]) {
			system = append(system, chatParts(items[0].Get("content"))...)
			items = items[1:]
		}
		hosted := answered(items)
		for _, item := range items {
			c.item(item, hosted, ids)
		}
	}
	c.flush()
	return gjson.ParseBytes(object("model", v.Get("model").String(), "max_tokens", limit(v, "max_output_tokens", "generation_config.max_output_tokens"), "stream", v.Get("stream").Bool(),
		"previous_response_id", Either(v, "previous_response_id", "previous_interaction_id").String(), "conversation", Either(v, "conversation.id", "conversation").String(), "tools", tools, "system", system, "messages", listOf(c.messages)))
}

// moreTools is the kind of item that offers tools beside those of the request, foundTools that of those that a search
// found.
const moreTools, foundTools = "additional_tools", "tool_search_output"

// isSearched reports whether an item is of a search that the provider made. Those of xAI on X are worded as calls of
// custom tools, and differ from the client's in their ids alone.
func isSearched(item gjson.Result) bool {
	kind := item.Get("type").Str
	return (kind == "tool_search_call" || kind == foundTools) && item.Get("execution").Str != "client" ||
		kind == "custom_tool_call" && strings.HasPrefix(item.Get("call_id").Str, "xs_call_")
}

// itemTools are the tools of a list, in which a namespace has more of them.
func itemTools(list gjson.Result) (out []json.RawMessage) {
	for _, tool := range list.Array() {
		if inner := tool.Get("tools"); tool.Get("type").String() == "namespace" && inner.IsArray() {
			out = append(out, itemTools(inner)...)
		} else {
			out = append(out, functionTool(tool))
		}
	}
	return out
}

func isSystem(item gjson.Result) bool {
	role := item.Get("role").String()
	return role == "system" || role == "developer" || item.Get("type").String() == moreTools
}

// answered has the ids of calls whose result stands behind them. Some tools run at the
// provider's or at the client's, which shows only there.
func answered(items []gjson.Result) map[string]bool {
	out := map[string]bool{}
	for _, item := range items {
		if strings.HasSuffix(item.Get("type").String(), "_output") {
			out[item.Get("call_id").String()] = true
		}
	}
	return out
}

// item takes an item of a request.
func (c *conversation) item(item gjson.Result, answered map[string]bool, ids *IDs) {
	kind := item.Get("type").String()
	switch role := item.Get("role").String(); {
	case kind == moreTools, isSearched(item), kind == "item_reference", kind == "mcp_approval_response", kind == "compaction":
	case kind == "program_output", kind == "multi_agent_call_output": // of what the provider ran
	case role != "" && (kind == "" || kind == "message"):
		if isSystem(item) {
			role = "system"
		}
		if role == "assistant" {
			c.add(role, written(item)...)
		} else {
			c.alone(role, chatParts(item.Get("content")))
		}
	case kind == "user_input":
		c.alone("user", chatParts(item.Get("content")))
	case kind == "text", kind == "image", kind == "document":
		c.add("user", part(item))
	case strings.HasSuffix(kind, "_output") && kind != "model_output", kind == "function_result":
		c.result(itemResult(item))
	default:
		c.add("assistant", outputItem(item, func(id string) bool { return !answered[id] }, ids)...)
	}
}

// itemResult is the result that an item gives, which in Interactions may also stand in what the user says.
func itemResult(item gjson.Result) json.RawMessage {
	return object("type", "tool_result", "tool_use_id", text(item.Get("call_id").String()),
		"content", outputParts(Either(item, "output", "result.content", "result", "tools")), "is_error", item.Get("is_error").Bool())
}

// outputParts is a result, which is a text, parts, or what the tool's kind has.
func outputParts(output gjson.Result) []json.RawMessage {
	if output.IsArray() && output.Get("0.type").Exists() && output.Get("0.outcome").Type == gjson.Null {
		return chatParts(output)
	}
	if output.Type == gjson.String {
		return []json.RawMessage{textBlock(output.Str)}
	}
	if t := output.Get("type").String(); t == "computer_screenshot" || t == "input_image" {
		return []json.RawMessage{part(gjson.ParseBytes(object("type", "input_image", "image_url", output.Get("image_url").String())))}
	}
	return []json.RawMessage{textBlock(output.Raw)}
}

// clientTools are the kinds of call that a client answers, and the tools they are for;
// the provider itself answers all others.
var clientTools = map[string]string{
	"function_call": "", "custom_tool_call": "", "local_shell_call": "local_shell", "shell_call": "shell", "apply_patch_call": "apply_patch", "computer_call": "computer",
	"tool_search_call": "tool_search",
}

// outputItem is the blocks of an item that the model wrote. Hosted reports of a call that
// either side may run whether the provider has.
func outputItem(item gjson.Result, hosted func(id string) bool, ids *IDs) []json.RawMessage {
	switch kind := item.Get("type").String(); kind {
	case "message", "model_output":
		calls := each(item.Get(`content.#(type=="function_call")#`).Array(), func(c gjson.Result) []json.RawMessage { return outputItem(c, hosted, ids) })
		return append(written(item), slices.Concat(calls...)...)
	case "reasoning", "thought":
		return reasoning(item)
	case "function_call", "custom_tool_call", "local_shell_call", "shell_call", "apply_patch_call", "computer_call", "tool_search_call":
		id, name, in := itemCall(item, ids)
		if isSearched(item) || kind == "shell_call" && hosted(id) {
			return []json.RawMessage{serverCall(item, kind)}
		}
		return []json.RawMessage{object("type", "tool_use", "id", text(id), "name", text(name), "input", in, Signature, item.Get("signature").String())}
	case "mcp_call":
		return []json.RawMessage{
			object("type", "mcp_tool_use", "id", item.Get("id").String(), "name", item.Get("name").String(),
				"server_name", item.Get("server_label").String(), "input", input(item.Get("arguments"))),
			object("type", "mcp_tool_result", "tool_use_id", item.Get("id").String(), "is_error", item.Get("error").Type != gjson.Null,
				"content", []json.RawMessage{textBlock(item.Get("output").String())}),
		}
	default:
		if strings.HasSuffix(kind, "_call") {
			return []json.RawMessage{serverCall(item, kind)}
		}
		return nil
	}
}

// written is a message of the model's. A text without a letter is none: the Messages API has no empty ones.
func written(item gjson.Result) []json.RawMessage {
	return slices.DeleteFunc(chatParts(item.Get("content")), func(b json.RawMessage) bool {
		t := gjson.GetBytes(b, "text")
		return t.Exists() && t.Str == ""
	})
}

// serverCall is a call that the provider ran, with what it shows of its input.
func serverCall(item gjson.Result, kind string) json.RawMessage {
	in := shown(item, "action", "arguments", "queries", "code")
	return object("type", "server_tool_use", "id", item.Get("id").String(), "name", cmp.Or(item.Get("name").String(), strings.TrimSuffix(kind, "_call")), "input", in)
}

// shown is the input that an item has at one of some members: an object as it is, of all else an object with that member.
func shown(item gjson.Result, members ...string) json.RawMessage {
	for _, member := range members {
		if v := item.Get(member); v.IsObject() {
			return raw(v)
		} else if v.Type != gjson.Null {
			return object(member, raw(v))
		}
	}
	return json.RawMessage("{}")
}

func itemCall(item gjson.Result, ids *IDs) (id, name string, in json.RawMessage) {
	kind := item.Get("type").String()
	name = cmp.Or(item.Get("name").String(), clientTools[kind])
	switch {
	case kind == "function_call":
		in = input(item.Get("arguments"))
	case kind == "custom_tool_call":
		in = object("input", text(item.Get("input").String()))
	default:
		in = shown(item, "action", "operation", "actions", "arguments")
	}
	return ids.optional(cmp.Or(item.Get("call_id").String(), item.Get("id").String()), name, in), name, in
}

// reasoning is what the provider shows of the model's reasoning, and its encrypted form.
func reasoning(item gjson.Result) []json.RawMessage {
	shown := append(item.Get("summary").Array(), item.Get("content").Array()...)
	all := each(shown, func(p gjson.Result) string { return p.Get("text").String() })
	sealed := Either(item, "encrypted_content", "signature").String()
	switch {
	case len(all) > 0:
		return []json.RawMessage{thinking(strings.Join(all, "\n\n"), sealed)}
	case sealed != "":
		return []json.RawMessage{object("type", "redacted_thinking", "data", sealed)}
	}
	return nil
}

func responsesReply(v gjson.Result, from Origin) gjson.Result {
	items := Either(v, "output", "steps").Array()
	done := answered(items)
	blocks := each(items, func(item gjson.Result) []json.RawMessage {
		return outputItem(item, func(id string) bool { return done[id] }, from.IDs)
	})
	return reply(from, v.Get("id").String(), v.Get("model").String(), slices.Concat(blocks...), responseStop(v), responsesUsage(v.Get("usage")))
}

// responseStop is why a response ended; "" while it has not.
func responseStop(v gjson.Result) string {
	if why := Either(v, "incomplete_details.reason", "status_details.reason").String(); why != "" {
		return why
	}
	return cmp.Or(v.Get("status").String(), "completed")
}

func responsesUsage(u gjson.Result) json.RawMessage {
	return usage(count(u, "input_tokens", "total_input_tokens")+count(u, "total_tool_use_tokens"),
		count(u, "input_tokens_details.cached_tokens", "input_token_details.cached_tokens", "total_cached_tokens"), count(u, "input_tokens_details.cache_write_tokens"),
		count(u, "output_tokens", "total_output_tokens")+count(u, "total_thought_tokens"))
}
