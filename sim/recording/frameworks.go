package recording

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"toolbench/sim/dialect"
)

// What frameworks for agents keep of a session as a list: messages of Pydantic AI and events of OpenHands.

// listedIn are the members under which such a list stands where it is not the whole document.
const listedIn = "messages message_history agent_messages history trajectory events items"

// framework gives who reads v, a part of such a session; nil where it is none.
func (ls *lineScan) framework(v gjson.Result) func(gjson.Result) error {
	kind := v.Get("kind").Str
	switch {
	case (kind == "request" || kind == "response") && v.Get("parts").IsArray():
		return ls.pydantic
	case v.Get("source").Type == gjson.String && (strings.HasSuffix(kind, "Event") || kind == "UserRejectObservation" || kind == "Condensation"):
		return ls.openHands
	case v.Get("source").Type == gjson.String && v.Get("timestamp").Exists() && dialect.Either(v, "action", "observation").Type == gjson.String:
		return ls.openHandsBefore
	}
	return nil
}

// ofFramework reads v where it is a part of such a session, or holds one.
func (ls *lineScan) ofFramework(v gjson.Result) (known bool, err error) {
	if read := ls.framework(v); read != nil {
		ls.logs.key = fmt.Sprint("framework\x00", -ls.group)
		return true, read(v)
	}
	list := firstOf(v, listedIn)
	read := ls.framework(list.Get("0"))
	if read == nil {
		return false, nil
	}
	ls.logs = logs{key: fmt.Sprint("framework\x00", ls.values)}
	return true, each(list, read)
}

// pydantic takes a message of Pydantic AI's. A part that asks for another try answers the call that it names.
func (ls *lineScan) pydantic(m gjson.Result) error {
	role, at := "user", stamp(m.Get("timestamp"))
	if m.Get("kind").Str == "response" {
		role, ls.logs.model = "assistant", strings.Clone(m.Get("model_name").String())
	}
	var blocks []any
	for _, p := range m.Get("parts").Array() {
		id, name, content := p.Get("tool_call_id").String(), p.Get("tool_name").String(), p.Get("content")
		kind, text := p.Get("part_kind").String(), plainText(content)
		if content.IsObject() || text == "" && content.Exists() && content.Type != gjson.String {
			text = content.Raw
		}
		if t := stamp(p.Get("timestamp")); t.After(at) {
			at = t
		}
		switch {
		case kind == "tool-call":
			blocks = append(blocks, callOf(id, name, p.Get("args")))
		case kind == "tool-return", kind == "retry-prompt" && name != "":
			outcome := p.Get("outcome").Str
			blocks = append(blocks, resultOf(id, text, kind == "retry-prompt" || outcome == "failed" || outcome == "denied"))
		case kind == "user-prompt", kind == "retry-prompt", kind == "text":
			blocks = append(blocks, textOf(text))
		case kind == "thinking":
			blocks = append(blocks, fields{"type": "thinking", "thinking": text, "signature": p.Get("signature").String()})
		case strings.HasSuffix(kind, "-tool-call"): // what the provider ran itself
			call := callOf(id, name, p.Get("args"))
			call["type"] = "server_tool_use"
			blocks = append(blocks, call)
		case kind != "system-prompt" && !strings.HasSuffix(kind, "-tool-return"):
			ls.s.ignore("parts of the kind " + quoted(kind))
		}
	}
	u := m.Get("usage")
	read, written := u.Get("cache_read_tokens").Int(), u.Get("cache_write_tokens").Int()
	return ls.written(role, fields{
		"input_tokens":            max(0, dialect.Either(u, "input_tokens", "request_tokens").Int()-read-written),
		"cache_read_input_tokens": read, "cache_creation_input_tokens": written,
		"output_tokens": dialect.Either(u, "output_tokens", "response_tokens").Int(),
	}, blocks, at)
}

// openHands takes an event of an OpenHands session. Calls of one answer are events of their own, and name it.
func (ls *lineScan) openHands(e gjson.Result) error {
	at, id := stamp(e.Get("timestamp")), cmp.Or(e.Get("tool_call_id").String(), e.Get("action_id").String())
	switch kind := e.Get("kind").Str; {
	case kind == "ActionEvent":
		return ls.acted(e, cmp.Or(id, e.Get("id").String()), at)
	case kind == "ObservationEvent":
		o := e.Get("observation")
		text := plainText(dialect.Either(o, "content", "output"))
		return ls.written("user", nil, []any{resultOf(id, text, o.Get("is_error").Bool())}, at)
	case kind == "AgentErrorEvent", kind == "UserRejectObservation":
		return ls.written("user", nil, []any{resultOf(id, firstOf(e, "error rejection_reason").String(), true)}, at)
	case kind == "MessageEvent" && e.Get("source").Str == "agent":
		return ls.written("assistant", nil, []any{textOf(plainText(e.Get("llm_message.content")))}, at)
	case kind == "MessageEvent":
		return ls.written("user", nil, []any{textOf(plainText(e.Get("llm_message.content")))}, at)
	default:
		ls.s.ignore("events of the kind " + quoted(kind))
		return nil
	}
}

// acted takes a call of OpenHands with what was said before it.
func (ls *lineScan) acted(e gjson.Result, id string, at time.Time) error {
	var blocks []any
	for _, t := range e.Get("thinking_blocks").Array() {
		blocks = append(blocks, json.RawMessage(t.Raw))
	}
	if said := plainText(e.Get("thought")); said != "" {
		blocks = append(blocks, textOf(said))
	}
	input := firstOf(e, "tool_call.arguments tool_call.function.arguments")
	if !input.Exists() {
		action, _ := e.Get("action").Value().(fields)
		delete(action, "kind")
		input = gjson.ParseBytes(dialect.JSON(action))
	}
	blocks = append(blocks, callOf(id, firstOf(e, "tool_name tool_call.name").String(), input))
	m := gjson.ParseBytes(dialect.JSON(fields{"role": "assistant", "content": blocks}))
	return ls.spoken(m, e.Get("llm_response_id").String(), at)
}

// openHandsBefore takes an event of OpenHands before its first version: an action has the answer that it is of in
// full, each action of that answer the same. Where no answer is kept the action itself is the call.
func (ls *lineScan) openHandsBefore(e gjson.Result) error {
	at, meta, action := stamp(e.Get("timestamp")), e.Get("tool_call_metadata"), e.Get("action").Str
	if o := e.Get("observation").Str; o != "" {
		id := meta.Get("tool_call_id").String()
		if cause := e.Get("cause"); id == "" && cause.Int() >= 0 && cause.Exists() {
			id = "event-" + cause.Raw
		}
		if id == "" || o == "agent_state_changed" {
			ls.s.ignore("observations that no call made")
			return nil
		}
		failed := o == "error" || e.Get("success").Type == gjson.False
		return ls.written("user", nil, []any{resultOf(id, e.Get("content").String(), failed)}, at)
	}
	said := firstOf(e, "args.content args.final_thought args.thought message").String()
	switch _, m, ok := dialect.Reply(meta.Get("model_response"), dialect.Origin{}); {
	case ok && m.Get("content.0").Exists():
		answer := cmp.Or(m.Get("id").String(), e.Get("id").Raw)
		if answer == ls.logs.answer {
			return nil // it was read with the first of its actions
		}
		ls.logs.answer, ls.logs.model = answer, strings.Clone(m.Get("model").String())
		return ls.spoken(m, "", at)
	case action == "message" && e.Get("source").Str == "user":
		return ls.written("user", nil, []any{textOf(said)}, at)
	case action == "message", action == "finish":
		return ls.written("assistant", nil, []any{textOf(said)}, at)
	case e.Get("source").Str != "agent" || action == "system" || action == "think":
		ls.s.ignore("actions of the kind " + quoted(action))
		return nil
	}
	id := cmp.Or(meta.Get("tool_call_id").String(), "event-"+e.Get("id").Raw)
	return ls.written("assistant", nil, []any{callOf(id, cmp.Or(meta.Get("function_name").String(), action), e.Get("args"))}, at)
}
