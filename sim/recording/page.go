package recording

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"
)

// What an agent streams to a page, an event each: in the words of Vercel's AI SDK, whose own streams have nearly
// the same, or in those of AG-UI. Results stand beside the calls.

// pageEvents are what such events mean.
var pageEvents = map[string]string{
	"start": "begin", "RUN_STARTED": "begin", "start-step": "step",
	"text-delta": "text", "TEXT_MESSAGE_CONTENT": "text", "TEXT_MESSAGE_CHUNK": "text", "text-end": "said", "TEXT_MESSAGE_END": "said",
	"reasoning-delta": "text", "THINKING_TEXT_MESSAGE_CONTENT": "text", "REASONING_MESSAGE_CONTENT": "text",
	"reasoning-end": "thought", "THINKING_TEXT_MESSAGE_END": "thought", "REASONING_MESSAGE_END": "thought",
	"tool-input-start": "call", "TOOL_CALL_START": "call", "tool-input-delta": "input", "TOOL_CALL_ARGS": "input", "TOOL_CALL_CHUNK": "input",
	"tool-input-available": "called", "tool-input-error": "called", "tool-call": "called", "TOOL_CALL_END": "called",
	"tool-output-available": "result", "tool-output-error": "error", "tool-result": "result", "tool-error": "error", "TOOL_CALL_RESULT": "result",
	"finish-step": "over", "finish": "over", "RUN_FINISHED": "over", "MESSAGES_SNAPSHOT": "again",
	"text-start": "nothing", "reasoning-start": "nothing", "TEXT_MESSAGE_START": "nothing", "REASONING_MESSAGE_START": "nothing",
}

// page is what has come of a page's stream and waits for the rest.
type page struct {
	text  strings.Builder
	calls []*pageCall
}

// pageCall is a call whose input comes in pieces.
type pageCall struct {
	id, name, input string
	hosted, made    bool
}

// paged takes an event of a page's stream.
func (ls *lineScan) paged(kind string, v gjson.Result) (known bool, err error) {
	means, p := pageEvents[kind], ls.logs.page
	switch {
	case (means == "begin" || means == "step" && p == nil) && (p != nil || ls.logs.key == ""): // other logs have a start as well
		err = ls.pageOver(time.Time{}) // of the stream before
		ls.logs = logs{key: "page\x00" + strings.Clone(firstOf(v, "threadId messageId").String()), pieces: true, steps: means == "step" || kind == "start", page: &page{}}
		return true, err
	case means == "" || p == nil:
		return false, nil
	}
	at, text := stamp(v.Get("timestamp")), p.text.String()
	switch means {
	case "again":
		ls.s.ignore("messages that a page was sent once more")
	case "step":
		ls.logs.answering = false
	case "text":
		p.text.WriteString(firstOf(v, "delta text textDelta").String())
	case "said", "thought":
		p.text.Reset()
		block := textOf(text)
		if means == "thought" {
			block = fields{"type": "thinking", "thinking": text}
		}
		err = ls.prints("assistant", block, at)
	case "call", "input":
		p.call(v).input += firstOf(v, "inputTextDelta delta").String()
	case "called":
		err = ls.pageMade(p.call(v), firstOf(v, "input args"), at)
	case "result", "error":
		err = ls.pageResult(v, means == "error", at)
	case "over":
		err = ls.pageOver(at)
	}
	return true, ls.logged(err)
}

// pageOver takes what came in pieces and has no word that it is whole, as calls that wait for a person have not.
func (ls *lineScan) pageOver(at time.Time) error {
	p := ls.logs.page
	if p == nil {
		return nil
	}
	if text := p.text.String(); text != "" {
		p.text.Reset()
		if err := ls.prints("assistant", textOf(text), at); err != nil {
			return err
		}
	}
	for _, c := range p.calls {
		if !c.made && !json.Valid([]byte(cmp.Or(c.input, "{}"))) {
			c.made = true
			ls.s.ignore("calls whose input was cut")
		} else if err := ls.pageMade(c, gjson.Result{}, at); err != nil {
			return err
		}
	}
	return nil
}

// call is the call that an event is about.
func (p *page) call(v gjson.Result) *pageCall {
	id := v.Get("toolCallId").String()
	at := slices.IndexFunc(p.calls, func(c *pageCall) bool { return c.id == id })
	if at < 0 {
		at, p.calls = len(p.calls), append(p.calls, &pageCall{id: strings.Clone(id)})
	}
	c := p.calls[at]
	c.name = strings.Clone(cmp.Or(firstOf(v, "toolName toolCallName").String(), c.name))
	c.hosted = c.hosted || v.Get("providerExecuted").Bool()
	return c
}

// pageMade takes a call whose input is whole.
func (ls *lineScan) pageMade(c *pageCall, input gjson.Result, at time.Time) error {
	if c.made {
		return nil
	}
	c.made = true
	if !input.Exists() {
		input = gjson.Parse(cmp.Or(c.input, "{}"))
	}
	call := callOf(c.id, c.name, input)
	if c.hosted {
		call["type"] = "server_tool_use"
	}
	return ls.prints("assistant", call, at)
}

// pageResult takes what a call gave.
func (ls *lineScan) pageResult(v gjson.Result, failed bool, at time.Time) error {
	c := ls.logs.page.call(v)
	if err := ls.pageMade(c, v.Get("input"), at); err != nil || c.hosted {
		return err
	}
	given := firstOf(v, "errorText output result content error")
	text := plainText(given)
	if text == "" && given.Type != gjson.String {
		text = given.Raw
	}
	return ls.prints("user", resultOf(c.id, text, failed), at)
}
