package recording

import (
	"cmp"
	"encoding/json"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"toolbench/sim/dialect"
)

// What an agent streams to a page, an event each: in the words of Vercel's AI SDK, whose own streams have nearly
// the same, or in those of AG-UI. Results stand beside the calls.

// page is what has come of a page's stream and waits for the rest.
type page struct {
	text  strings.Builder
	calls map[string]*pageCall
	open  []*pageCall // not known to be whole
}

// pageCall is a call whose input comes in pieces.
type pageCall struct {
	id, name     string
	input        strings.Builder
	hosted, made bool
}

// paged takes an event of a page's stream.
func (ls *lineScan) paged(kind string, v gjson.Result) (known bool, err error) {
	means, p := recorders().Page[kind], ls.logs.page
	switch {
	case (means == "begin" || means == "step" && p == nil) && (p != nil || ls.logs.key == ""): // other logs have a start as well
		err = ls.pageOver(time.Time{}) // of the stream before
		ls.logs = logs{key: "page\x00" + strings.Clone(firstOf(v, "threadId messageId").String()), pieces: true, steps: means == "step" || kind == "start", page: &page{calls: map[string]*pageCall{}}}
		return true, err
	case means == "" || p == nil:
		return false, nil
	}
	at, piece := stamp(v.Get("timestamp")), firstOf(v, "delta inputTextDelta argsTextDelta text textDelta").String()
	switch means {
	case "again":
		ls.s.ignore("messages that a page was sent once more")
	case "step":
		ls.logs.answering = false
	case "text":
		ls.pieced(&p.text, piece)
	case "said":
		err = ls.prints("assistant", textOf(p.rest()), at)
	case "thought":
		err = ls.prints("assistant", fields{"type": "thinking", "thinking": p.rest()}, at)
	case "call", "input":
		ls.pieced(&p.call(v).input, piece)
	case "called":
		err = ls.pageMade(p.call(v), firstOf(v, "input args"), at)
	case "result", "error":
		err = ls.pageResult(v, means == "error", at)
	case "over":
		err = ls.pageOver(at)
	}
	return true, ls.logged(err)
}

// streamPart takes a line of the streams that came before these: a letter, and what it is about. Nothing marks where a text ends.
func (ls *lineScan) streamPart(letter string, v gjson.Result) (err error) {
	if !v.IsObject() {
		v = gjson.ParseBytes(dialect.JSON(fields{"delta": v.String()}))
	}
	if p := ls.logs.page; p == nil {
		_, err = ls.paged("start-step", v)
	} else if letter != "0:" && p.text.Len() > 0 {
		_, err = ls.paged("text-end", gjson.Result{})
	}
	if known, e := ls.paged(letter, v); !known || err != nil {
		ls.s.ignore(ls.named(letter))
	} else {
		err = e
	}
	return err
}

// pieced adds a piece to those before, as far as one part of a recording may go.
func (ls *lineScan) pieced(to *strings.Builder, piece string) {
	if int64(to.Len()+len(piece)) > ls.s.limits.Part {
		ls.s.ignore("pieces of what is too large")
		return
	}
	to.WriteString(piece)
}

// rest is the text since the last that was taken.
func (p *page) rest() string {
	defer p.text.Reset()
	return p.text.String()
}

// pageOver takes what came in pieces and has no word that it is whole, as calls that wait for a person have not.
func (ls *lineScan) pageOver(at time.Time) error {
	p := ls.logs.page
	if p == nil {
		return nil
	}
	if text := p.rest(); text != "" {
		if err := ls.prints("assistant", textOf(text), at); err != nil {
			return err
		}
	}
	open := p.open
	p.open = nil
	for _, c := range open {
		if !c.made && !json.Valid([]byte(cmp.Or(c.input.String(), "{}"))) {
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
	c := p.calls[id]
	if c == nil {
		c = &pageCall{id: strings.Clone(id)}
		p.calls[c.id], p.open = c, append(p.open, c)
	}
	c.name = cmp.Or(strings.Clone(firstOf(v, "toolName toolCallName").String()), c.name)
	c.hosted = c.hosted || v.Get("providerExecuted").Bool()
	return c
}

// pageMade takes a call whose input is whole.
func (ls *lineScan) pageMade(c *pageCall, input gjson.Result, at time.Time) error {
	if c.made {
		return nil
	}
	c.made = true
	if !input.Exists() { // a text that is no JSON stays one
		input = gjson.ParseBytes(dialect.JSON(cmp.Or(c.input.String(), "{}")))
	}
	c.input = strings.Builder{}
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
	var d messageDump
	d.answered(v, failed)
	return ls.prints("user", d.results[0], at)
}
