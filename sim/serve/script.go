package serve

import (
	"bytes"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"toolbench/sim/recording"
	"toolbench/sim/replay"
	"toolbench/sim/scenario"
	"toolbench/sim/stream"
	"toolbench/toolsys/message"
)

// Script is what there is to serve.
type Script struct {
	// Source names the recording or scenario.
	Source        string
	Conversations []*Conversation
	// Problems are the recording's own.
	Problems []recording.Problem
}

// Conversation is the answers to one client's conversation, in order.
type Conversation struct {
	// Number counts from 1.
	Number int
	// Opening is the text of the recorded first user message, For a part of it that
	// a script asks for; "" where it is unknown.
	Opening, For string
	// Then are the user's further messages, each sent when a turn has ended.
	Then    []string
	Answers []Answer
}

// Answer is one message of the model, and what was sent back to it when it was recorded.
type Answer struct {
	Events []stream.Event
	// Reply is the message as a whole, as far as it got.
	Reply message.Reply
	// Whole: it ended with message_stop. Any other is not committed, and Why is what became of it.
	Whole bool
	Why   string
	// Results are the recorded ones, by call; empty where none were recorded.
	Results map[string]recording.Result
}

// Calls are those the client has to answer.
func (a *Answer) Calls() []message.Block { return a.Reply.Message.Calls() }

// committed reports whether the answer will be sent back as an assistant message.
func (a *Answer) committed() bool { return a.Whole && len(a.Reply.Message.Content) > 0 }

// ends reports whether the agent's turn is over with it: what comes next is the user's.
func (a *Answer) ends() bool {
	return a.committed() && len(a.Calls()) == 0 && a.Reply.StopReason != "pause_turn"
}

// FromRecording reads any recording (O2). Pace is that of streams without times. Errors are those of recording.Scan.
func FromRecording(name string, r io.Reader, limits recording.Limits, pace stream.Pace) (*Script, error) {
	type place struct{ conversation, turn int }
	prompts := map[place]string{}
	rec, err := recording.Open(name, r, limits, func(c *recording.Conversation, turn int, body string) error {
		messages := gjson.Get(body, "messages").Array()
		text := opening(messages)
		if turn > 1 {
			text = further(messages)
		}
		prompts[place{c.Number, turn}] = text
		return nil
	})
	if err != nil {
		return nil, err
	}
	t := &Script{Source: name, Problems: rec.Problems}
	for _, c := range rec.Conversations {
		own := &Conversation{Number: c.Number, Opening: prompts[place{c.Number, 1}]}
		for i, turn := range c.Turns {
			if text := prompts[place{c.Number, i + 1}]; i > 0 && text != "" && own.Answers[i-1].ends() {
				own.Then = append(own.Then, text)
			}
			own.Answers = append(own.Answers, answerOf(turn, pace))
		}
		t.Conversations = append(t.Conversations, own)
	}
	return t, nil
}

func answerOf(turn *recording.Turn, pace stream.Pace) Answer {
	a := NewAnswer(replay.Paced(turn, pace))
	a.Results = map[string]recording.Result{}
	for _, r := range turn.Results {
		a.Results[r.Call] = r
	}
	if turn.Ending != recording.Whole {
		a.Whole, a.Why = false, turn.Why
	}
	return a
}

// NewAnswer makes an answer of a stream, recorded results apart.
func NewAnswer(events []stream.Event) Answer {
	a := Answer{Events: events}
	var blocks message.Assembler
	for _, e := range events {
		if _, err := blocks.Add(e.Data); err != nil {
			a.Why = err.Error()
			break
		}
	}
	reply, err := blocks.End()
	a.Reply, a.Whole = reply, err == nil && a.Why == ""
	if err != nil && a.Why == "" {
		a.Why = err.Error()
	}
	return a
}

// opening is the text of the first user message, by which conversations are distinguished.
func opening(messages []gjson.Result) string {
	for _, m := range messages {
		if m.Get("role").Str == "user" {
			return plain(m.Get("content"))
		}
	}
	return ""
}

// further is the text of a message with which the user goes on, or "".
func further(messages []gjson.Result) string {
	if len(messages) == 0 {
		return ""
	}
	last := messages[len(messages)-1]
	results := slices.ContainsFunc(blocks(last), func(b gjson.Result) bool { return b.Get("type").Str == "tool_result" })
	if last.Get("role").Str != "user" || results {
		return ""
	}
	return plain(last.Get("content"))
}

// plain is the text of a content: a string, or the texts of its blocks.
func plain(content gjson.Result) string {
	if content.Type == gjson.String {
		return content.Str
	}
	var parts []string
	for _, b := range content.Array() {
		if b.Get("type").Str == "text" {
			parts = append(parts, b.Get("text").String())
		}
	}
	return strings.Join(parts, "\n")
}

// Models are the names that the recorded answers carry, each once, sorted.
func (t *Script) Models() []string {
	names := map[string]bool{}
	for _, c := range t.Conversations {
		for _, a := range c.Answers {
			names[a.Reply.Model] = true
		}
	}
	delete(names, "")
	return slices.Sorted(maps.Keys(names))
}

// FromScenario gives the answers of a scenario's model: its cassette, or its scripted
// turns. Errors are those of the scenario's files.
func FromScenario(sc *scenario.Scenario, pace stream.Pace) (*Script, error) {
	data, err := sc.CassetteFile()
	if err != nil {
		return nil, err
	}
	if data != nil {
		return FromRecording(sc.Cassette(), bytes.NewReader(data), recording.Limits{}, pace)
	}
	t := &Script{Source: sc.File()}
	for i, s := range sc.Scripts() {
		c := &Conversation{Number: i + 1, For: s.For}
		if s.For == "" {
			c.Opening, c.Then = sc.Prompt, sc.Then
		}
		for _, events := range s.Answers {
			c.Answers = append(c.Answers, NewAnswer(events))
		}
		t.Conversations = append(t.Conversations, c)
	}
	return t, nil
}
