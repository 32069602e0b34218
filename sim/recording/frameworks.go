package recording

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"toolbench/sim/dialect"
)

// What frameworks for agents keep of a session as a list: messages of Pydantic AI, events of OpenHands, and
// messages of many others that differ in their words alone.

// listedIn are the members under which such a list stands where it is not the whole document.
const listedIn = "messages message_history agent_messages chat_history history trajectory events items steps values.messages state.messages llm_context.messages data spans store|@values|0"

// framework gives who reads v, a part of such a session; nil where it is none.
func (ls *lineScan) framework(v gjson.Result) func(gjson.Result) error {
	kind, event := v.Get("kind").Str, v.Get("type").Str
	switch {
	case (kind == "request" || kind == "response") && v.Get("parts").IsArray():
		return ls.pydantic
	case v.Get("source").Type == gjson.String && v.Get("step_index").Exists():
		return ls.planned
	case v.Get(`attributes.gen_ai\.output`).Exists():
		return ls.ofAnyAgent
	case (strings.HasPrefix(event, "agent.") || strings.HasPrefix(event, "user.")) && firstOf(v, "content name").Exists() && !v.Get("data").Exists():
		return ls.managed
	case v.Get("source").Type == gjson.String && (strings.HasSuffix(kind, "Event") || kind == "UserRejectObservation" || kind == "Condensation"):
		return ls.openHands
	case v.Get("source").Type == gjson.String && v.Get("timestamp").Exists() && dialect.Either(v, "action", "observation").Type == gjson.String:
		return ls.openHandsBefore
	case v.Get("step_number").Exists() && v.Get("observations").Exists():
		return ls.smolStep
	case isDumped(v):
		return ls.dumped
	}
	return nil
}

// ofFramework reads v where it is a part of such a session, or holds one, of which the first parts may be in the
// words of anybody.
func (ls *lineScan) ofFramework(v gjson.Result) (known bool, err error) {
	if read := ls.framework(v); read != nil {
		ls.logs.key = fmt.Sprint("history\x00", -ls.group) // beside messages that need no framework
		return true, read(v)
	}
	if v.Get("$schemaVersion").Exists() && dialect.Either(v, "model_responses", "modelResponses").IsArray() {
		return true, ls.runState(v)
	}
	if v.Get("runs.0.messages.0.role").Exists() {
		return true, ls.runs(v)
	}
	if messages := exampleOf(v); messages.Exists() {
		return true, ls.example(v, messages)
	}
	if v.Get("agents.0.messages.0.role").Exists() { // a file of Letta's
		return true, each(v.Get("agents"), func(agent gjson.Result) error {
			ls.logs = logs{key: "letta\x00" + strings.Clone(agent.Get("id").String()), model: strings.Clone(agent.Get("llm_config.model").String())}
			return each(agent.Get("messages"), func(m gjson.Result) error { return ls.chatted(m, stamp(m.Get("created_at"))) })
		})
	}
	if said := firstOf(v, "steps|@reverse|0.response.messages response.messages"); said.Get("0.role").Exists() && !v.Get("request").Exists() {
		ls.logs = logs{key: fmt.Sprint("framework\x00", ls.values)} // what Vercel's AI SDK gives back of a run
		return true, each(said, func(m gjson.Result) error { return ls.chatted(m, time.Time{}) })
	}
	list := firstOf(v, listedIn).Array()
	if !slices.ContainsFunc(list[:min(len(list), firstParts)], func(p gjson.Result) bool { return ls.framework(p) != nil }) {
		return false, nil
	}
	ls.logs = logs{key: fmt.Sprint("framework\x00", ls.values)}
	for _, p := range list {
		read := ls.framework(p)
		if read == nil && firstOf(p, "role type").Exists() {
			read = ls.dumped
		}
		if read == nil {
			ls.s.ignore("parts of no known kind")
		} else if err := read(p); err != nil {
			return true, err
		}
	}
	return true, nil
}

// managed takes an event of an agent that Anthropic runs. What the client sends comes once more when it is processed.
func (ls *lineScan) managed(v gjson.Result) error {
	id := v.Get("id").String()
	if id != "" && ls.logs.acted[id] {
		return nil
	}
	ls.logs.acts(strings.Clone(id))
	if strings.HasPrefix(ls.logs.key, "history") { // some have a list an event, with which method of a client gave it
		ls.logs.key = "managed"
	}
	var d messageDump
	d.part(v)
	role := map[bool]string{true: "assistant", false: "user"}[len(d.results) == 0 && strings.HasPrefix(v.Get("type").Str, "agent.")]
	return ls.piece(gjson.ParseBytes(dialect.JSON(fields{"role": role, "content": append(d.blocks, d.results...)})), stamp(v.Get("processed_at")))
}

// opens makes calls that have no ids, of which results name the tool alone.
func (d *messageDump) opens(l *logs, calls gjson.Result, name, input string) {
	l.open = nil
	for _, c := range calls.Array() {
		l.turn++
		made := [2]string{fmt.Sprint("call-", l.turn), strings.Clone(c.Get(name).String())}
		d.blocks, l.open = append(d.blocks, callOf(made[0], made[1], c.Get(input))), append(l.open, made)
	}
}

// closes takes what came of one: the first of that name, or the first at all, as one that was refused may have nothing.
func (d *messageDump) closes(ls *lineScan, name, text string, failed bool) error {
	open := ls.logs.open
	if len(open) == 0 {
		ls.s.ignore("results that no call made")
		return nil
	}
	i := max(0, slices.IndexFunc(open, func(c [2]string) bool { return strings.EqualFold(c[1], name) }))
	d.results = []any{resultOf(open[i][0], text, failed)}
	ls.logs.open = slices.Delete(open, i, i+1)
	return d.end(ls, "user")
}

// planned takes a step of Antigravity's: what the model wants done, or what came of it.
func (ls *lineScan) planned(v gjson.Result) error {
	d, kind, text := messageDump{at: stamp(v.Get("created_at"))}, v.Get("type").Str, v.Get("content").String()
	switch {
	case kind == "USER_INPUT":
		d.said(text)
		return d.end(ls, "user")
	case kind == "PLANNER_RESPONSE":
		d.part(gjson.ParseBytes(dialect.JSON(fields{"type": "thinking", "text": v.Get("thinking").String()})))
		d.said(text)
		d.opens(&ls.logs, v.Get("tool_calls"), "name", "args")
		return d.end(ls, "assistant")
	case v.Get("source").Str == "MODEL":
		return d.closes(ls, kind, text, v.Get("status").Str == "ERROR")
	}
	ls.s.ignore("steps of the type " + quoted(kind))
	return nil
}

// ofAnyAgent takes a span of Mozilla's any-agent. The first has what was asked, others what came since.
func (ls *lineScan) ofAnyAgent(s gjson.Result) error {
	attribute := func(name string) gjson.Result { return s.Get(`attributes.gen_ai\.` + name) }
	d, given := messageDump{at: time.Unix(0, s.Get("start_time").Int()).UTC()}, attribute("output")
	if name := attribute(`tool\.name`); name.Exists() {
		return d.closes(ls, name.Str, given.String(), s.Get("status.status_code").Str == "error")
	}
	err := each(parsed(attribute(`input\.messages`)), func(m gjson.Result) error { return ls.chatted(m, d.at) })
	if calls := parsed(given); calls.Get(`0.tool\.name`).Exists() {
		d.opens(&ls.logs, calls, `tool\.name`, `tool\.args`)
	} else {
		d.said(given.String())
	}
	return cmp.Or(err, d.end(ls, "assistant"))
}

// runs takes the runs of a session of Agno's, each of which may begin with messages of those before.
func (ls *lineScan) runs(v gjson.Result) error {
	ls.logs = logs{key: "runs\x00" + strings.Clone(v.Get("session_id").String())}
	return each(v.Get("runs.#.messages|@flatten"), func(m gjson.Result) error {
		if m.Get("from_history").Bool() {
			return nil
		}
		return ls.chatted(m, time.Time{})
	})
}

// runState takes the state of a run that OpenAI's library for agents writes down. A call that waits for approval stands there twice.
func (ls *lineScan) runState(v gjson.Result) error {
	ls.logs = logs{key: fmt.Sprint("run\x00", ls.values)}
	asked := dialect.Either(v, "original_input", "originalInput")
	if asked.Type == gjson.String {
		asked = gjson.ParseBytes(dialect.JSON([]any{fields{"role": "user", "content": asked.Str}}))
	}
	take := func(item gjson.Result) error { return ls.item(item, time.Time{}) }
	made := dialect.Either(v, "generated_items", "generatedItems").Get(`#(type!="tool_approval_item")#`)
	return cmp.Or(each(asked, take), each(made, func(item gjson.Result) error { return take(dialect.Either(item, "raw_item", "rawItem")) }))
}

// firstParts is how many parts of a list are looked at for what they are.
const firstParts = 32

// dumpedBy are who wrote a message in the words of LangChain, AutoGen and LangChain4j, by its type.
var dumpedBy = map[string]string{
	"human": "user", "HumanMessage": "user", "ai": "assistant", "AIMessage": "assistant", "AIMessageChunk": "assistant", "tool": "tool", "ToolMessage": "tool",
	"system": "system", "SystemMessage": "system", "UserMessage": "user", "AssistantMessage": "assistant", "FunctionExecutionResultMessage": "tool",
	"TextMessage": "", "ThoughtEvent": "assistant", "ToolCallRequestEvent": "assistant", "ToolCallExecutionEvent": "tool", "ToolCallSummaryMessage": "system",
	"SYSTEM": "system", "USER": "user", "AI": "assistant", "TOOL_EXECUTION_RESULT": "tool",
}

// The words that differ. Parts of a message stand under the first of partsIn that there is.
const (
	partsIn  = "parts content.parts contents Items items blocks content text"
	kindIn   = "type $type block_type"
	callIDIn = "toolCallId callId CallId toolUseId tool_use_id mcp_tool_use_id custom_tool_use_id tool_call_id call_id origin.id id Id"
	nameIn   = "toolName FunctionName tool_name name function.name"
	inputIn  = "args arguments Arguments input function.arguments"
	givenIn  = "output.value output result Result content text errorText error"
	callsIn  = "tool_calls toolCalls toolExecutionRequests additional_kwargs.tool_calls toolInvocations"
)

// isDumped reports whether v is a message in such words.
func isDumped(v gjson.Result) bool {
	if kind := v.Get("type").Str; kind != "" {
		_, known := dumpedBy[kind]
		return known && kind != "system" && firstOf(v, "content data.content contents text toolExecutionRequests").Exists() || kind == "constructor" && v.Get("kwargs.content").Exists()
	}
	if !firstOf(v, "role Role message.role").Exists() {
		return false
	}
	if v.Get("toolCalls.0.function").Exists() || v.Get("role").Str == "tool" && v.Get("toolCallId").Exists() { // of AG-UI
		return true
	}
	part := firstOf(v, "parts.0 content.parts.0 contents.0 Items.0 items.0 blocks.0 content.0 message.content.0")
	return v.Get("message_id").Exists() && v.Get("message.content").IsArray() || // of Strands
		firstOf(part, "$type block_type tool_call tool_call_result").Exists() || v.Get("meta").Exists() && part.Get("text").Exists() || // the latter of Haystack's
		firstOf(v, "parts content.parts").IsArray() && part.Get("type").Exists() && (v.Get("id").Exists() || !part.Get("content").Exists()) || // of Vercel's AI SDK or TanStack's in a page
		v.Get("blocks").IsArray() && v.Get("additional_kwargs").Exists() // of LlamaIndex
}

// dumped takes a message in such words. One of a page has the results of its calls beside them, and its answers
// end where the next step begins.
func (ls *lineScan) dumped(m gjson.Result) error {
	kind := m.Get("type").Str
	if inner := firstOf(m, "data kwargs message"); inner.IsObject() {
		kind, m = cmp.Or(inner.Get("type").Str, kind), inner
	}
	role := strings.ToLower(firstOf(m, "role Role.Label Role").String())
	if by := dumpedBy[kind]; by != "" {
		role = by
	} else if kind == "TextMessage" && role == "" {
		role = map[bool]string{true: "user", false: "assistant"}[m.Get("source").Str == "user"]
	}
	if role == "system" || role == "developer" {
		return nil
	}
	ls.logs.model = cmp.Or(strings.Clone(firstOf(m, "response_metadata.model_name model meta.model").String()), ls.logs.model)
	d := messageDump{at: stamp(firstOf(m, "timestamp created_at createdAt")), usage: firstOf(m, "usage_metadata models_usage usage meta.usage response_metadata.token_usage")}
	content := firstOf(m, partsIn)
	if called := firstOf(m, callsIn); len(called.Array()) > 0 && !m.Get("parts").IsArray() {
		d.said(plainText(content))
		for _, c := range called.Array() {
			d.called(c)
		}
		return d.end(ls, role)
	}
	if role == "tool" && (!content.IsArray() || firstOf(m, "tool_call_id additional_kwargs.tool_call_id").Exists()) {
		id := firstOf(m, "additional_kwargs.tool_call_id "+callIDIn).String()
		d.results = append(d.results, resultOf(id, plainText(content), m.Get("status").Str == "error"))
		return d.end(ls, role)
	}
	if !content.IsArray() {
		d.said(content.String())
	}
	parts := content.Array()
	for i, p := range parts {
		if kind := p.Get("type").Str; kind == "step-start" || kind != "tool-result" && i > 0 && parts[i-1].Get("type").Str == "tool-result" {
			if err := d.end(ls, role); err != nil {
				return err
			}
		}
		d.part(p)
	}
	return d.end(ls, role)
}

// messageDump is what a message has come to.
type messageDump struct {
	blocks, results []any
	at              time.Time
	usage           gjson.Result
}

func (d *messageDump) said(text string) {
	if text != "" {
		d.blocks = append(d.blocks, textOf(text))
	}
}

func (d *messageDump) called(c gjson.Result) {
	name := firstOf(c, nameIn).String()
	if plugin := c.Get("PluginName").Str; plugin != "" {
		name = plugin + "-" + name
	} else if server := c.Get("mcp_server_name").Str; server != "" {
		name = "mcp__" + server + "__" + name
	}
	if kind := c.Get("type").Str; name == "" {
		name = strings.TrimPrefix(kind, "tool-")
	}
	d.blocks = append(d.blocks, callOf(firstOf(c, callIDIn).String(), name, firstOf(c, inputIn)))
}

func (d *messageDump) answered(r gjson.Result, failed bool) {
	given := firstOf(r, givenIn)
	text := plainText(given)
	if text == "" && given.Type != gjson.String {
		text = given.Raw
	}
	failed = failed || firstOf(r, "is_error isError error").Bool() || r.Get("status").Str == "error" || r.Get("state").Str == "output-error"
	id := firstOf(r, callIDIn).String()
	if id == "" || !slices.ContainsFunc(d.results, func(given any) bool { return given.(fields)["tool_use_id"] == id }) { // the call may have had it with it
		d.results = append(d.results, resultOf(id, text, failed))
	}
}

// part takes a part of a message: a call, with its result where it has one, a result, a thought or a text.
func (d *messageDump) part(p gjson.Result) {
	kind, c := firstOf(p, kindIn).String(), firstOf(p, "toolInvocation toolUse tool_call toolResult tool_call_result @this")
	if _, event, named := strings.Cut(kind, "."); named {
		kind = strings.TrimPrefix(strings.TrimPrefix(event, "custom_"), "mcp_")
	}
	switch {
	case kind == "functionResult", kind == "FunctionResultContent", kind == "tool-result", kind == "tool_result",
		p.Get("toolResult").Exists(), p.Get("tool_call_result").Exists(), kind == "" && c.Get("call_id").Exists():
		d.answered(c, false)
	case kind == "reasoning", kind == "thinking":
		d.blocks = append(d.blocks, fields{"type": "thinking", "thinking": firstOf(p, "text reasoning thinking").String()})
	case strings.HasPrefix(kind, "tool-"), kind == "dynamic-tool", kind == "functionCall", kind == "FunctionCallContent", kind == "tool_call", kind == "tool_use",
		p.Get("toolUse").Exists(), p.Get("tool_call").Exists(), kind == "" && c.Get("name").Exists() && c.Get("arguments").Exists():
		d.called(c)
		if firstOf(c, "output result errorText").Exists() {
			d.answered(c, false)
		}
	default:
		d.said(cmp.Or(plainText(firstOf(p, "text Text content")), p.Str))
	}
}

// end makes an answer of what there is, with what its calls gave, or a message of the user's.
func (d *messageDump) end(ls *lineScan, role string) error {
	blocks, results := d.blocks, d.results
	d.blocks, d.results = nil, nil
	if role != "assistant" {
		return ls.written("user", nil, append(results, blocks...), d.at)
	}
	cached, made := d.usage.Get("input_token_details.cache_read").Int(), d.usage.Get("input_token_details.cache_creation").Int()
	usage := fields{"input_tokens": max(0, firstOf(d.usage, "input_tokens prompt_tokens").Int()-cached-made), "cache_read_input_tokens": cached, "cache_creation_input_tokens": made,
		"output_tokens": firstOf(d.usage, "output_tokens completion_tokens").Int()}
	return ls.answered(usage, blocks, results, d.at, d.at)
}

// smolStep takes a step of smolagents: its calls have one observation.
func (ls *lineScan) smolStep(step gjson.Result) error {
	d := messageDump{usage: step.Get("token_usage")}
	d.said(plainText(step.Get("model_output")))
	text, failed := step.Get("observations").String(), step.Get("error").IsObject()
	if failed {
		text = cmp.Or(step.Get("error.message").String(), text)
	}
	for _, c := range step.Get("tool_calls").Array() {
		d.called(c)
		d.results = append(d.results, resultOf(c.Get("id").String(), text, failed))
	}
	return d.end(ls, "assistant")
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
	case kind == "MessageEvent":
		role := map[bool]string{true: "assistant", false: "user"}[e.Get("source").Str == "agent"]
		return ls.written(role, nil, []any{textOf(plainText(e.Get("llm_message.content")))}, at)
	default:
		ls.s.ignore("events of the kind " + quoted(kind))
		return nil
	}
}

// acted takes a call of OpenHands with what was said before it.
func (ls *lineScan) acted(e gjson.Result, id string, at time.Time) error {
	var d messageDump
	d.blocks = append(d.blocks, mapped(e.Get("thinking_blocks").Array(), func(t gjson.Result) any { return json.RawMessage(t.Raw) })...)
	d.said(plainText(e.Get("thought")))
	input := firstOf(e, "tool_call.arguments tool_call.function.arguments")
	if !input.Exists() {
		action, _ := e.Get("action").Value().(fields)
		delete(action, "kind")
		input = gjson.ParseBytes(dialect.JSON(action))
	}
	d.blocks = append(d.blocks, callOf(id, firstOf(e, "tool_name tool_call.name").String(), input))
	m := gjson.ParseBytes(dialect.JSON(fields{"role": "assistant", "content": d.blocks}))
	return ls.spoken(m, e.Get("llm_response_id").String(), at)
}

// openHandsBefore takes an event of OpenHands before its first version: an action has the answer that it is of in
// full, each action of that answer the same. Where no answer is kept the action itself is the call.
func (ls *lineScan) openHandsBefore(e gjson.Result) error {
	at, meta, action := stamp(e.Get("timestamp")), e.Get("tool_call_metadata"), e.Get("action").Str
	if o := e.Get("observation").Str; o != "" {
		id := meta.Get("tool_call_id").String()
		if cause := "event-" + e.Get("cause").Raw; id == "" && ls.logs.acted[cause] {
			id = cause
		}
		if id == "" {
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
	ls.logs.acts(id)
	return ls.written("assistant", nil, []any{callOf(id, cmp.Or(meta.Get("function_name").String(), action), e.Get("args"))}, at)
}
