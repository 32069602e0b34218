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
	"toolbench/sim/stream"
)

// What agents write of their sessions besides what they sent: logs a line an item, and
// documents that hold a whole session. Each becomes messages in the Messages API's form.

// Logs is the format of all of them.
const Logs Format = "agent-log"

// logs is what the lines of a log refer to.
type logs struct {
	// key is the session's, model the one in use, ids those of calls without.
	key, model string
	ids        dialect.IDs
	// answer is the last that came with each of its calls, acted are actions that were calls without one.
	answer string
	acted  map[string]bool
	// open are the ids and the names of calls whose results do not name them.
	open [][2]string
	// printed: the lines are those of a run without a terminal, page: those that it streams to one.
	printed bool
	page    *page
	// pieces: answers come in parts; turn counts them; answering: the last part was of one; steps: marks part them.
	pieces, answering, steps bool
	turn                     int
}

// log reads a value that is a session's log, or a line of one.
func (ls *lineScan) log(kind string, v gjson.Result) (known bool, err error) {
	if known, err := ls.ofFramework(v); known || err != nil {
		return known, ls.logged(err)
	}
	switch {
	case kind == "session_meta" && v.Get("payload").IsObject():
		ls.logs = logs{key: "codex\x00" + strings.Clone(v.Get("payload.id").String())}
	case kind == "turn_context" && v.Get("payload").IsObject():
		ls.logs.model = strings.Clone(v.Get("payload.model").String())
	case kind == "response_item" && v.Get("payload").IsObject():
		err = ls.item(v.Get("payload"), stamp(v.Get("timestamp")))
	case isBareItem(kind, v):
		err = ls.item(v, stamp(v.Get("timestamp")))
	case kind == "gemini" && v.Get("content").Exists(), kind == "user" && v.Get("content").Exists() && !v.Get("message").Exists():
		err = ls.geminiLine(v)
	case kind == "context.append_loop_event", kind == "llm.tools_snapshot", v.Get("message.payload").IsObject():
		err = ls.kimi(v)
	case kind == "usage.record":
		ls.logs.model = cmp.Or(strings.Clone(v.Get("model").String()), ls.logs.model)
	case isLoose(kind, v):
		ls.logs.model = cmp.Or(strings.Clone(dialect.Either(v, "data.model", "model_id").String()), ls.logs.model)
		err = ls.chatted(v, stamp(v.Get("timestamp")))
	case kind == "" && firstOf(v, "history.0.parts parts").IsArray() && firstOf(v, "history role").Exists():
		err = each(firstOf(v, "history @this"), func(m gjson.Result) error { return ls.contents(m, time.Time{}) })
	case isExchange(firstOf(v, recordedIn).Get("0")): // a recorder's list
		return true, each(firstOf(v, recordedIn), func(x gjson.Result) error { return ls.exchanges.take(x, ls.at, false) })
	case v.Get("method").Exists() && dialect.EventAPI(dialect.Either(v, "response.0", "response")) != "":
		err = each(v.Get("response"), func(piece gjson.Result) error { return ls.dialect.Add(stream.Event{Data: []byte(piece.Raw)}) })
		err = cmp.Or(err, ls.dialect.End())
	case v.Get("loglines").IsArray(), v.Get("batch").IsObject() && v.Get("results").IsArray():
		err = each(firstOf(v, "loglines results"), func(l gjson.Result) error { return ls.take([]byte(l.Raw)) })
	case v.Get("totalPrompts").Exists() && v.Get("prompts").IsArray():
		err = ls.chatReplay(v)
	case v.Get("messages.0.info.role").Exists() && v.Get("messages.0.parts").IsArray():
		ls.logs = logs{key: "opencode\x00" + strings.Clone(v.Get("info.id").String()), steps: true}
		err = each(v.Get("messages"), ls.openCode)
	case v.Get("conversation_id").Exists() && firstOf(v, "history.0.0.content history.0.user.content").IsObject():
		err = ls.amazonQ(v)
	case v.Get("history.0.message.role").Exists():
		err = ls.continued(v)
	case v.Get("projectHash").Exists() && v.Get("messages").IsArray():
		ls.logs = logs{key: "gemini\x00" + strings.Clone(v.Get("sessionId").String())}
		err = each(v.Get("messages"), ls.geminiLine)
	case strings.HasPrefix(v.Get("schema_version").String(), "ATIF-") && v.Get("steps").IsArray():
		err = ls.trajectory(v)
	case v.Get("resourceSpans").IsArray():
		return true, ls.spans(v)
	case ls.isPart(firstOf(v, observedIn).Get("0")), ls.isPart(v.Get("patch.0")):
		return true, cmp.Or(each(firstOf(v, observedIn), ls.observe), each(v.Get("patch"), ls.observe))
	case ls.isPart(v):
		return true, ls.observe(v)
	case v.Get("events.#(author).author").Exists() && v.Get("events.#(content.parts).content").Exists():
		err = ls.adkSession(v)
	default:
		if known, err := ls.evaluated(v); known || err != nil {
			return known, ls.logged(err)
		}
		return ls.pair(v)
	}
	return true, ls.logged(err)
}

// recordedIn are the lists that exchanges stand in.
const recordedIn = "recordings entries data.pairs turns data logs openai anthropic"

// loggedIn is the first of what CloudWatch gives out of its logs, and messageIn what each holds: JSON as a text.
const (
	loggedIn  = `events.0.message logEvents.0.message results.0.#(field=="@message").value`
	messageIn = `message #(field=="@message").value`
)

// pair takes a request and its answer as anybody may write them down, by their messages alone, or what a service for logs kept.
func (ls *lineScan) pair(v gjson.Result) (known bool, err error) {
	switch {
	case parsed(firstOf(v, loggedIn)).IsObject():
		return true, each(firstOf(v, "events logEvents results"), func(l gjson.Result) error { return ls.take([]byte(parsed(firstOf(l, messageIn)).Raw)) })
	case v.Get("chat_messages.0.sender").Exists():
		return true, ls.logged(ls.exported(v))
	}
	in, out := parsed(firstOf(v, "input inputs prompt")), parsed(firstOf(v, "output outputs completion response"))
	if !in.Get("0.role").Exists() || !firstOf(out, "role 0.role 0.message.role message.role").Exists() {
		return false, nil
	}
	model := v.Get("model").String()
	address, request := asked(in, model, v.Get("tools"))
	return true, ls.translated(address, request, answered(out), generation{id: v.Get("id").String(), model: model})
}

// logged notes that what is read is a log, if nothing else was noted.
func (ls *lineScan) logged(err error) error {
	if !ls.s.known() {
		ls.s.format = Logs
	}
	return err
}

func each(list gjson.Result, do func(gjson.Result) error) error {
	for _, v := range list.Array() {
		if err := do(v); err != nil {
			return err
		}
	}
	return nil
}

// mapped gives what f makes of each thing.
func mapped[T, U any](all []T, f func(T) U) []U {
	made := make([]U, len(all))
	for i, one := range all {
		made[i] = f(one)
	}
	return made
}

// isLoose reports whether a line is a message in words that are nearly those of Chat Completions, by its type:
// one of Grok's command line, an event of Copilot's, or what Docker's agent wraps.
func isLoose(kind string, v gjson.Result) bool {
	switch kind {
	case "":
		return v.Get("agentName").Exists() && v.Get("message.role").Exists()
	case "assistant", "tool_result":
		return v.Get("content").Exists() && !v.Get("message").Exists()
	case "user.message", "assistant.message", "tool.execution_complete":
		return v.Get("data").IsObject()
	case "context.append_message": // of Kimi's
		return v.Get("message.role").Exists()
	}
	return false
}

// isBareItem reports whether a line is an item of OpenAI's Responses by itself.
func isBareItem(kind string, v gjson.Result) bool {
	switch kind {
	case "function_call", "custom_tool_call", "local_shell_call":
		return v.Get("call_id").Exists()
	case "function_call_output", "custom_tool_call_output", "local_shell_call_output":
		return v.Get("output").Exists()
	case "message":
		t := v.Get("content.0.type").String()
		return v.Get("role").Exists() && (t == "input_text" || t == "output_text")
	}
	return false
}

// item takes an item of Responses.
func (ls *lineScan) item(item gjson.Result, at time.Time) error {
	ls.logs.pieces = true
	if id := item.Get("callId"); id.Exists() { // in the words of OpenAI's library for JavaScript
		kind, given := strings.Replace(item.Get("type").Str, "_result", "_output", 1), item.Get("output")
		as := dialect.JSON(fields{"call_id": id.Str, "type": kind, "output": cmp.Or(plainText(given), given.String())})
		item = gjson.Parse(strings.TrimSuffix(string(as), "}") + "," + strings.TrimPrefix(item.Raw, "{")) // the first of two members counts
	}
	return ls.said("", []byte(`{"input":[`+item.Raw+`]}`), at)
}

// piece takes a part of an answer, or what is the client's: one answer is all that stands between that.
func (ls *lineScan) piece(m gjson.Result, at time.Time) error {
	answer := m.Get("role").String() == "assistant"
	if answer && !ls.logs.answering {
		ls.logs.turn++
	}
	ls.logs.answering = answer || ls.logs.steps && ls.logs.answering
	return ls.spoken(m, fmt.Sprint("turn-", ls.logs.turn), at)
}

// kimiUsage is what Kimi counts, in the names of its first version and of the next.
var kimiUsage = map[string]string{
	"input_tokens": "input_other inputOther", "output_tokens": "output",
	"cache_read_input_tokens": "input_cache_read inputCacheRead", "cache_creation_input_tokens": "input_cache_creation inputCacheCreation",
}

// kimi takes an event of Kimi's log of a session. Where steps are marked they part answers, since results may be
// there before the next call.
func (ls *lineScan) kimi(v gjson.Result) error {
	e, at := dialect.Either(v, "message.payload", "event"), stamp(dialect.Either(v, "timestamp", "time"))
	kind := dialect.Either(v, "message.type", "event.type").String()
	m := fields{"role": kind, "toolCallId": dialect.Either(e, "tool_call_id", "toolCallId", "id").String()}
	switch {
	case v.Get("tools").IsArray():
		t, err := ls.dialogues.of(cmp.Or(ls.logs.key, "log"), "", "")
		if err == nil {
			t.tools = offeredIn(v.Get("tools"))
		}
		return err
	case kind == "StepBegin", kind == "step.begin":
		ls.logs.steps, ls.logs.answering = true, false
		return nil
	case (kind == "StatusUpdate" || kind == "step.end") && ls.logs.answering:
		usage := fields{}
		for name, paths := range kimiUsage {
			usage[name] = firstOf(dialect.Either(e, "token_usage", "usage"), paths).Int()
		}
		return ls.piece(gjson.ParseBytes(dialect.JSON(fields{"role": "assistant", "content": []any{}, "usage": usage})), at)
	case roles[kind] == "assistant":
		m["content"], m["reasoning_content"] = firstOf(e, "part.text text").Value(), firstOf(e, "part.think think").Value()
		if dialect.Either(e, "function.name", "name").Exists() {
			m["tool_calls"] = []any{json.RawMessage(e.Raw)}
		}
	case roles[kind] != "":
		given := firstOf(e, "user_input return_value result @this")
		m["content"], m["is_error"] = plainText(firstOf(given, "output content message @this")), firstOf(given, "is_error isError").Bool()
	default:
		ls.s.ignore("events of the type " + quoted(kind))
		return nil
	}
	ls.logs.pieces = true
	return ls.chatted(gjson.ParseBytes(dialect.JSON(m)), at)
}

// spoken takes a message of a log.
func (ls *lineScan) spoken(m gjson.Result, id string, at time.Time) error {
	key := cmp.Or(ls.logs.key, "log")
	if m.Get("role").String() == "assistant" && id != "" {
		m = gjson.Parse(`{"id":` + string(dialect.JSON(id)) + `,` + strings.TrimPrefix(m.Raw, "{"))
	}
	return ls.dialogues.historyMessage(m, ls.logs.model, key, ls.at, at)
}

// written makes a message of blocks.
func (ls *lineScan) written(role string, usage any, blocks []any, at time.Time) error {
	if len(blocks) == 0 {
		return nil
	}
	m := map[string]any{"role": role, "content": blocks}
	if usage != nil {
		m["usage"] = usage
	}
	return ls.spoken(gjson.ParseBytes(dialect.JSON(m)), "", at)
}

type fields = map[string]any

func textOf(s string) fields { return fields{"type": "text", "text": s} }

func callOf(id, name string, input gjson.Result) fields {
	in := json.RawMessage(input.Raw)
	if input.Type == gjson.String && json.Valid([]byte(input.Str)) {
		in = json.RawMessage(input.Str)
	}
	if len(in) == 0 {
		in = json.RawMessage("{}")
	}
	return fields{"type": "tool_use", "id": id, "name": name, "input": in}
}

func resultOf(id, text string, failed bool) fields {
	return fields{"type": "tool_result", "tool_use_id": id, "content": text, "is_error": failed}
}

// contents takes a message of Gemini's API, as its command line keeps a conversation.
func (ls *lineScan) contents(v gjson.Result, at time.Time) error {
	return ls.said("", []byte(`{"contents":[`+v.Raw+`]}`), at)
}

// said takes the messages of a request's body, in the words of the API of that address, less what is the system's.
func (ls *lineScan) said(address string, body []byte, at time.Time) error {
	_, request, _ := dialect.Request(address, body, &ls.logs.ids)
	return each(request.Get("messages"), func(m gjson.Result) error {
		if role := m.Get("role").String(); role != "user" && role != "assistant" {
			return nil
		}
		if ls.logs.pieces {
			return ls.piece(m, at)
		}
		return ls.spoken(m, "", at)
	})
}

// geminiLine takes a message of a session of Gemini's command line: an answer with its
// calls, each of which has its result.
func (ls *lineScan) geminiLine(v gjson.Result) error {
	at := stamp(v.Get("timestamp"))
	if v.Get("type").String() == "user" {
		return ls.written("user", nil, []any{textOf(plainText(v.Get("content")))}, at)
	}
	if v.Get("type").String() != "gemini" {
		ls.s.ignore("messages of the type " + quoted(v.Get("type").String()))
		return nil
	}
	ls.logs.model = cmp.Or(strings.Clone(v.Get("model").String()), ls.logs.model)
	var d messageDump
	d.blocks = append(d.blocks, mapped(v.Get("thoughts").Array(), func(t gjson.Result) any { return fields{"type": "thinking", "thinking": t.Get("description").String()} })...)
	d.said(plainText(v.Get("content")))
	done := at
	for _, c := range v.Get("toolCalls").Array() {
		id := c.Get("id").String()
		d.blocks = append(d.blocks, callOf(id, c.Get("name").String(), c.Get("args")))
		if r := c.Get("result"); r.Type != gjson.Null {
			d.results = append(d.results, resultOf(id, responseText(r), c.Get("status").String() == "error"))
		}
		if t := stamp(c.Get("timestamp")); t.After(done) {
			done = t
		}
	}
	u := v.Get("tokens")
	usage := fields{"input_tokens": max(0, u.Get("input").Int()-u.Get("cached").Int()), "cache_read_input_tokens": u.Get("cached").Int(), "output_tokens": u.Get("output").Int() + u.Get("thoughts").Int()}
	return ls.answered(usage, d.blocks, d.results, at, done)
}

// answered makes an answer of blocks, and what its calls gave.
func (ls *lineScan) answered(usage any, blocks, results []any, at, done time.Time) error {
	return cmp.Or(ls.written("assistant", usage, blocks, at), ls.written("user", nil, results, done))
}

// openCode takes a message of a session that OpenCode exported: its parts, which are those that it prints. A message may have
// several answers, each of which begins a step.
func (ls *lineScan) openCode(m gjson.Result) error {
	at := stamp(m.Get("info.time.created"))
	ls.logs.answering = false
	if m.Get("info.role").String() == "user" {
		return ls.prints("user", textOf(plainText(m.Get(`parts.#(type=="text")#`))), at)
	}
	ls.logs.model = strings.Clone(m.Get("info.modelID").String())
	return each(m.Get("parts"), func(p gjson.Result) error {
		err := ls.printedPart(strings.ReplaceAll(p.Get("type").String(), "-", "_"), p, at)
		if t := stamp(p.Get("state.time.end")); t.After(at) {
			at = t
		}
		return err
	})
}

// amazonQ takes a conversation of Amazon Q's command line, or Kiro's: pairs of what was sent and of what the model answered.
func (ls *lineScan) amazonQ(v gjson.Result) error {
	ls.logs = logs{key: "q\x00" + strings.Clone(v.Get("conversation_id").String()), model: strings.Clone(v.Get("model_info.model_id").String())}
	return each(v.Get("history"), func(pair gjson.Result) error {
		sent, said, d := firstOf(pair, "user.content 0.content"), firstOf(pair, "assistant.ToolUse assistant.Response 1.ToolUse 1.Response"), messageDump{}
		for _, r := range firstOf(sent, "ToolUseResults.tool_use_results CancelledToolUses.tool_use_results").Array() {
			text := cmp.Or(texts(r.Get("content.#.Text"), ""), r.Get("content.0.Json").Raw)
			d.results = append(d.results, resultOf(r.Get("tool_use_id").String(), text, r.Get("status").Str == "Error"))
		}
		d.said(firstOf(sent, "Prompt.prompt CancelledToolUses.prompt").String())
		err := d.end(ls, "user")
		d.said(said.Get("content").String())
		for _, c := range said.Get("tool_uses").Array() {
			d.called(c)
		}
		return cmp.Or(err, d.end(ls, "assistant"))
	})
}

// continued takes a session of Continue's: its messages, each with what became of its calls where no message of its own has that.
func (ls *lineScan) continued(v gjson.Result) error {
	ls.logs = logs{key: "continue\x00" + strings.Clone(v.Get("sessionId").String()), model: strings.Clone(v.Get("chatModelTitle").String())}
	own := v.Get(`history.#(message.role=="tool")#.message.toolCallId`).Raw
	return each(v.Get("history"), func(item gjson.Result) error {
		if err := ls.chatted(item, time.Time{}); err != nil {
			return err
		}
		return each(item.Get("toolCallStates"), func(c gjson.Result) error {
			id, output := c.Get("toolCallId"), c.Get("output")
			if !output.Exists() || strings.Contains(own, id.Raw) {
				return nil
			}
			return ls.written("user", nil, []any{resultOf(id.String(), plainText(output), c.Get("status").Str == "errored")}, time.Time{})
		})
	})
}

// exported takes a conversation that Claude's page exported: an answer has its calls and what they gave, in the first years without ids.
func (ls *lineScan) exported(v gjson.Result) error {
	ls.logs = logs{key: "claude.ai\x00" + strings.Clone(v.Get("uuid").String()), model: strings.Clone(v.Get("model").String()), pieces: true}
	calls, open := 0, []string(nil)
	return each(v.Get("chat_messages"), func(m gjson.Result) error {
		if m.Get("sender").Str == "human" || !m.Get("content.0").Exists() {
			return ls.prints(cmp.Or(roles[m.Get("sender").Str], "assistant"), textOf(cmp.Or(plainText(m.Get("content")), m.Get("text").String())), time.Time{})
		}
		return each(m.Get("content"), func(b gjson.Result) error {
			switch b.Get("type").Str {
			case "tool_use":
				calls++
				open = append(open, cmp.Or(strings.Clone(b.Get("id").String()), fmt.Sprint("call-", calls)))
				return ls.prints("assistant", callOf(open[len(open)-1], b.Get("name").String(), b.Get("input")), time.Time{})
			case "tool_result":
				id := cmp.Or(b.Get("tool_use_id").String(), strings.Join(open[:min(1, len(open))], ""))
				open = slices.DeleteFunc(open, func(is string) bool { return is == id })
				return ls.prints("user", resultOf(id, plainText(b.Get("content")), b.Get("is_error").Bool()), time.Time{})
			case "text", "thinking":
				return ls.prints("assistant", json.RawMessage(b.Raw), time.Time{})
			}
			ls.s.ignore("blocks of the kind " + quoted(b.Get("type").Str))
			return nil
		})
	})
}

// plainText is a content that is a text, or parts with texts.
func plainText(v gjson.Result) string {
	if v.Type == gjson.String {
		return v.Str
	}
	textOf := func(p gjson.Result) string { return cmp.Or(p.Get("text").String(), p.Get("content").String(), p.Str) }
	return strings.Join(mapped(v.Array(), textOf), "\n")
}

// responseText is what function responses hold, texts as they are.
func responseText(v gjson.Result) string {
	var all []string
	for _, p := range v.Array() {
		r := p.Get("functionResponse.response")
		switch out := r.Get("output"); {
		case out.Type == gjson.String:
			all = append(all, out.Str)
		case r.Exists():
			all = append(all, r.Raw)
		default:
			all = append(all, cmp.Or(p.Get("text").String(), p.String()))
		}
	}
	return strings.Join(all, "\n")
}

// chatReplay takes the export of VS Code's chat: requests to the model with their texts,
// and behind each the tools that its answer called.
func (ls *lineScan) chatReplay(v gjson.Result) error {
	ls.logs = logs{key: fmt.Sprint("replay\x00", ls.values)}
	d, before := messageDump{}, ""
	for _, p := range v.Get("prompts").Array() {
		if text := p.Get("prompt").String(); text != before || !p.Get("hasSeen").Bool() {
			if err := d.end(ls, "assistant"); err != nil {
				return err
			}
			before = text
			if err := ls.written("user", nil, []any{textOf(text)}, stamp(p.Get("logs.0.metadata.startTime"))); err != nil {
				return err
			}
		}
		for _, l := range p.Get("logs").Array() {
			switch l.Get("kind").String() {
			case "request":
				if err := d.end(ls, "assistant"); err != nil {
					return err
				}
				d.at = stamp(l.Get("metadata.endTime"))
				ls.logs.model = strings.Clone(l.Get("metadata.model").String())
				d.said(replied(l.Get("response.message")))
			case "toolCall":
				id, _, _ := strings.Cut(l.Get("id").String(), "__vscode")
				d.blocks = append(d.blocks, callOf(id, l.Get("tool").String(), l.Get("args")))
				d.results = append(d.results, resultOf(id, replied(l.Get("response")), false))
			default:
				ls.s.ignore("entries of the kind " + quoted(l.Get("kind").String()))
			}
		}
	}
	return d.end(ls, "assistant")
}

// replied is a text, or texts in a list, a line each.
func replied(v gjson.Result) string { return strings.TrimSuffix(texts(v, "\n"), "\n") }

// trajectory takes a trajectory of the Agent Trajectory Interchange Format, ATIF 1.0 to 1.8, and those of the agents
// that it sent out.
func (ls *lineScan) trajectory(v gjson.Result) error {
	ls.logs = logs{key: fmt.Sprint("atif\x00", v.Get("session_id").String(), "\x00", v.Get("trajectory_id").String(), "\x00", ls.values)}
	ls.values++
	err := each(v.Get("steps"), func(step gjson.Result) error {
		at, said := stamp(step.Get("timestamp")), plainText(step.Get("message"))
		switch source, id := step.Get("source").String(), step.Get("extra.tool_call_id").String(); {
		case source == "user":
			return ls.written("user", nil, []any{textOf(said)}, at)
		case source != "agent":
			ls.s.ignore("steps of the source " + quoted(source))
			return nil
		case id != "" && !step.Get("tool_calls").Exists(): // A result of OpenClaw's, as Harbor writes it.
			return ls.written("user", nil, []any{resultOf(id, said, step.Get("extra.is_error").Bool())}, at)
		}
		ls.logs.model = strings.Clone(cmp.Or(step.Get("model_name").String(), v.Get("agent.model_name").String()))
		return ls.step(step, said, at)
	})
	return cmp.Or(err, each(v.Get("subagent_trajectories"), ls.trajectory))
}

func (ls *lineScan) step(step gjson.Result, said string, at time.Time) error {
	var blocks, results []any
	if t := step.Get("reasoning_content").String(); t != "" {
		blocks = append(blocks, fields{"type": "thinking", "thinking": t})
	}
	calls := step.Get("tool_calls").Array()
	if said != "" || len(calls) == 0 {
		blocks = append(blocks, textOf(said))
	}
	blocks = append(blocks, mapped(calls, func(c gjson.Result) any {
		return callOf(c.Get("tool_call_id").String(), c.Get("function_name").String(), c.Get("arguments"))
	})...)
	for i, r := range step.Get("observation.results").Array() {
		id := r.Get("source_call_id").String()
		if id == "" && i < len(calls) {
			id = calls[i].Get("tool_call_id").String()
		}
		if id == "" {
			ls.s.ignore("observations that no call made")
			continue
		}
		results = append(results, resultOf(id, plainText(r.Get("content")), r.Get("extra.is_error").Bool()))
	}
	u := step.Get("metrics")
	cached := u.Get("cached_tokens").Int()
	usage := fields{"input_tokens": max(0, u.Get("prompt_tokens").Int()-cached), "cache_read_input_tokens": cached, "output_tokens": u.Get("completion_tokens").Int()}
	return ls.answered(usage, blocks, results, at, at)
}
