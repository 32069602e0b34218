package recording

import (
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"toolbench/sim/stream"
)

// session takes the line that opens a log of the dialect with a message a line.
func (ts *talks) session(v gjson.Result) { ts.sessionID = strings.Clone(v.Get("id").String()) }

// message takes a line of that dialect: user, assistant or toolResult. A line that
// follows another than the last begins a branch, which is another conversation's
// course; its turns are counted with the conversation they branch off.
func (ts *talks) message(v gjson.Result, line int) error {
	t, err := ts.of("session\x00"+ts.sessionID, ts.sessionID, "")
	if err != nil {
		return err
	}
	m := v.Get("message")
	at := stamp(v.Get("timestamp"))
	if at.IsZero() {
		at = stamp(m.Get("timestamp"))
	}
	switch role := m.Get("role").String(); role {
	case "user":
		t.heard(at)
		t.user.hear(v, m.Get("content"))
	case "toolResult":
		t.heard(at)
		t.result(Result{
			Call: strings.Clone(m.Get("toolCallId").String()), Text: strings.Clone(plain(m.Get("content"))), IsError: m.Get("isError").Bool(),
		}, at, line)
	case "assistant":
		return t.reply(v, m, at, line)
	default:
		ts.s.ignore("messages of the role " + quoted(role[:min(len(role), 40)]))
	}
	return nil
}

// stops translates stop reasons; an unknown one stays as it is.
var stops = map[string]string{"toolUse": "tool_use", "stop": "end_turn", "length": "max_tokens"}

// reply is a whole message. Its line is written at its end, so within it times are
// shared out by the amount of output.
func (t *talk) reply(v, m gjson.Result, end time.Time, line int) error {
	stop := m.Get("stopReason").String()
	content := m.Get("content")
	if stop == "error" && len(content.Array()) == 0 {
		t.s.problem(Problem{Kind: ErrorEvent, Text: "the model failed: " + quoted(m.Get("errorMessage").String()), Line: line, Conversation: t.c.Number})
		return nil
	}
	d, err := t.draft(strings.Clone(v.Get("id").String()), strings.Clone(m.Get("model").String()), line, callIDs(content))
	if err != nil {
		return err
	}
	d.exact = false
	d.turn.Stop = or(stops[stop], strings.Clone(stop))
	switch stop {
	case "error":
		d.turn.Ending, d.turn.Why = Failed, "the stream failed: "+quoted(m.Get("errorMessage").String())
	case "aborted":
		d.turn.Ending, d.turn.Why = Cut, aborted
	}
	blocks := sessionBlocks(content)
	for i, at := range shares(blocks, t.input, end) {
		t.add(d, blocks[i], at)
	}
	return nil
}

func sessionBlocks(content gjson.Result) []stream.Block {
	if content.Type == gjson.String {
		return []stream.Block{{Kind: stream.Text, Text: strings.Clone(content.Str)}}
	}
	var out []stream.Block
	for _, b := range content.Array() {
		block := blockOf(b)
		if block.Kind == "toolCall" {
			block.Kind, block.ID = stream.ToolUse, strings.Clone(b.Get("id").String())
			block.Input, block.Content = []byte(b.Get("arguments").Raw), nil
		}
		out = append(out, block)
	}
	return out
}

// shares gives each block its end between the request and the line's time.
func shares(blocks []stream.Block, sent, end time.Time) []time.Time {
	out := make([]time.Time, len(blocks))
	if end.IsZero() {
		return out
	}
	if sent.IsZero() || sent.After(end) {
		sent = end
	}
	total, sum := 0, 0
	for _, b := range blocks {
		total += len(b.Text) + len(b.Input) + 1
	}
	for i, b := range blocks {
		sum += len(b.Text) + len(b.Input) + 1
		out[i] = sent.Add(time.Duration(float64(end.Sub(sent)) * float64(sum) / float64(total)))
	}
	return out
}
