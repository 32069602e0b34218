package recording

import (
	"cmp"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"toolbench/sim/dialect"
)

// What agents print of a run without a terminal, a line an event: Codex's exec --json, Gemini's, Cursor's and Droid's
// stream-json and OpenCode's run --format json. (Claude Code prints the lines of its transcripts.) What goes between an agent
// and an editor, in the words of the Agent Client Protocol, is read as well.

// headless reads such a line. Parts of an answer stand one after the other, up to a result; OpenCode marks where one
// begins, since a call has its result in its own line.
func (ls *lineScan) headless(kind string, v gjson.Result) (known bool, err error) {
	if known, err := ls.live(firstOf(v, "msg @this")); known {
		return true, ls.logged(err)
	}
	part, at := v.Get("part"), stamp(firstOf(v, "timestamp timestamp_ms"))
	switch {
	case kind == "thread.started" && v.Get("thread_id").Exists(), kind == "init" && v.Get("session_id").Exists(),
		kind == "system" && v.Get("subtype").Str == "init" && !v.Get("mcp_servers").Exists():
		ls.logs = logs{key: "headless\x00" + strings.Clone(firstOf(v, "thread_id session_id").String()), model: strings.Clone(v.Get("model").String()), pieces: true, printed: true}
	case kind == "step_start" && v.Get("sessionID").Exists():
		if key := "headless\x00" + v.Get("sessionID").String(); key != ls.logs.key {
			ls.logs = logs{key: strings.Clone(key), pieces: true, printed: true, steps: true}
		}
		ls.logs.answering = false
	case v.Get("params.item.type").Exists() && strings.HasPrefix(v.Get("method").Str, "item/"):
		if key := "headless\x00" + v.Get("params.threadId").String(); key != ls.logs.key { // threads take turns
			ls.logs = logs{key: strings.Clone(key), acted: ls.logs.acted, turn: ls.logs.turn, pieces: true, printed: true}
		}
		err = ls.printedItem(v.Get("method").Str, v.Get("params.item"), at)
	case v.Get("params.sessionId").Exists() && firstOf(v, "params.update.sessionUpdate params.prompt.0.type").Exists():
		err = ls.edited(v.Get("params"))
	case !ls.logs.printed:
		return false, nil
	case part.IsObject():
		err = ls.printedPart(kind, part, at)
	case v.Get("item.type").Exists():
		err = ls.printedItem(kind, v.Get("item"), at)
	case kind == "tool_use":
		err = ls.prints("assistant", callOf(v.Get("tool_id").String(), v.Get("tool_name").String(), v.Get("parameters")), at)
	case kind == "tool_result":
		err = ls.prints("user", resultOf(firstOf(v, "tool_id id").String(), firstOf(v, "output error.message value").String(), v.Get("status").Str == "error" || v.Get("isError").Bool()), at)
	case kind == "tool_call" && v.Get("toolName").Exists():
		err = ls.prints("assistant", callOf(v.Get("id").String(), v.Get("toolName").String(), v.Get("parameters")), at)
	case kind == "tool_call":
		err = ls.printedCall(v, at)
	case kind == "message" && firstOf(v, "content text").Exists():
		err = ls.prints(v.Get("role").String(), textOf(plainText(firstOf(v, "content text"))), at)
	case (kind == "user" || kind == "assistant") && v.Get("message").IsObject():
		err = ls.piece(v.Get("message"), at)
	default:
		return false, nil
	}
	return true, ls.logged(err)
}

// prints takes a block of an answer, or of what the client has for the next.
func (ls *lineScan) prints(role string, block any, at time.Time) error {
	return ls.piece(gjson.ParseBytes(dialect.JSON(fields{"role": role, "content": []any{block}})), at)
}

// printedPart takes a part of OpenCode's.
func (ls *lineScan) printedPart(kind string, p gjson.Result, at time.Time) error {
	state := p.Get("state")
	switch kind {
	case "step_start":
		ls.logs.answering = false
		return nil
	case "text":
		return ls.prints("assistant", textOf(p.Get("text").String()), at)
	case "reasoning":
		return ls.prints("assistant", fields{"type": "thinking", "thinking": p.Get("text").String()}, at)
	case "tool", "tool_use":
		id := p.Get("callID").String()
		err := ls.prints("assistant", callOf(id, p.Get("tool").String(), state.Get("input")), stamp(state.Get("time.start")))
		if given := firstOf(state, "output error"); given.Exists() {
			err = cmp.Or(err, ls.prints("user", resultOf(id, given.String(), state.Get("status").Str == "error"), stamp(state.Get("time.end"))))
		}
		return err
	case "step_finish":
		u := p.Get("tokens")
		usage := fields{"input_tokens": u.Get("input").Int(), "cache_read_input_tokens": u.Get("cache.read").Int(),
			"cache_creation_input_tokens": u.Get("cache.write").Int(), "output_tokens": u.Get("output").Int() + u.Get("reasoning").Int()}
		return ls.piece(gjson.ParseBytes(dialect.JSON(fields{"role": "assistant", "content": []any{}, "usage": usage})), at)
	}
	ls.s.ignore("parts of the kind " + quoted(kind))
	return nil
}

// printedItem takes an item of Codex's, in the words of exec or in those of its server for editors: a call when it starts, or
// ends without having started, and its result.
func (ls *lineScan) printedItem(kind string, item gjson.Result, at time.Time) error {
	id, name, input := item.Get("id").String(), "", gjson.Result{}
	done := strings.HasSuffix(kind, "completed")
	switch what := strings.ToLower(strings.ReplaceAll(item.Get("type").Str, "_", "")); {
	case what == "usermessage" && done:
		return ls.prints("user", textOf(plainText(item.Get("content"))), at)
	case what == "agentmessage" && done:
		return ls.prints("assistant", textOf(item.Get("text").String()), at)
	case what == "reasoning" && done:
		return ls.prints("assistant", fields{"type": "thinking", "thinking": plainText(firstOf(item, "text summary"))}, at)
	case what == "commandexecution":
		name, input = "shell", gjson.ParseBytes(dialect.JSON(fields{"command": item.Get("command").String()}))
	case what == "filechange":
		name, input = "apply_patch", gjson.ParseBytes(dialect.JSON(fields{"changes": item.Get("changes").Value()}))
	case what == "mcptoolcall":
		name, input = "mcp__"+item.Get("server").String()+"__"+item.Get("tool").String(), item.Get("arguments")
	default:
		ls.s.ignore("items of the type " + quoted(item.Get("type").Str))
		return nil
	}
	if started := strings.HasSuffix(kind, "started"); !done && !started || started && ls.logs.acted[id] {
		return nil
	}
	if !ls.logs.acted[id] {
		ls.logs.acts(id)
		if err := ls.prints("assistant", callOf(id, name, input), at); err != nil || !done {
			return err
		}
	}
	text := cmp.Or(firstOf(item, "aggregated_output aggregatedOutput").String(), plainText(item.Get("result.content")), item.Get("error.message").String(), item.Get("status").String())
	return ls.prints("user", resultOf(id, text, item.Get("status").Str == "failed" || item.Get("status").Str == "declined"), at)
}

// acts notes a call that was made.
func (l *logs) acts(id string) {
	if l.acted == nil {
		l.acted = map[string]bool{}
	}
	l.acted[id] = true
}

// printedCall takes a call of Cursor's, whose only member is named after the tool.
func (ls *lineScan) printedCall(v gjson.Result, at time.Time) error {
	id, name, call := v.Get("call_id").String(), "", gjson.Result{}
	v.Get("tool_call").ForEach(func(k, c gjson.Result) bool {
		name, call = strings.TrimSuffix(k.Str, "ToolCall"), c
		return !c.IsObject()
	})
	if name == "function" {
		name = call.Get("name").String()
	}
	if v.Get("subtype").Str == "started" {
		return ls.prints("assistant", callOf(id, name, firstOf(call, "args arguments")), at)
	}
	given := firstOf(call, "result.success.content result.success.stdout result.success result.failure.stderr result.error result.rejected result")
	return ls.prints("user", resultOf(id, given.String(), firstOf(call, "result.failure result.error result.rejected").Exists()), at)
}

// edited takes what an agent's editor asks, or a piece of what is said; a call, which comes several times, when it is over.
func (ls *lineScan) edited(v gjson.Result) error {
	if key := "acp\x00" + v.Get("sessionId").String(); key != ls.logs.key {
		if err := ls.pageOver(time.Time{}); err != nil {
			return err
		}
		ls.logs = logs{key: strings.Clone(key), pieces: true, page: &page{calls: map[string]*pageCall{}}}
	}
	p, u := ls.logs.page, v.Get("update")
	switch kind := u.Get("sessionUpdate").Str; kind {
	case "agent_message_chunk":
		ls.pieced(&p.text, u.Get("content.text").String())
	case "tool_call", "tool_call_update":
		c, status := p.call(u), u.Get("status").Str
		c.name = cmp.Or(c.name, strings.Clone(firstOf(u, "_meta.claudeCode.toolName title kind").String()))
		if in := u.Get("rawInput"); in.IsObject() && !c.made {
			c.input.Reset()
			ls.pieced(&c.input, in.Raw)
		}
		if status == "completed" || status == "failed" {
			text := cmp.Or(texts(u.Get("content.#.content.text"), ""), firstOf(u, "rawOutput.output rawOutput content").String())
			return cmp.Or(ls.pageOver(time.Time{}), ls.prints("user", resultOf(c.id, text, status == "failed"), time.Time{}))
		}
	case "":
		return cmp.Or(ls.pageOver(time.Time{}), ls.prints("user", textOf(plainText(v.Get("prompt"))), time.Time{}))
	default:
		ls.s.ignore("updates of the kind " + quoted(kind))
	}
	return nil
}
