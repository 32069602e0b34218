package serve

import (
	"fmt"
	"slices"
	"time"

	"toolbench/sim/stream"
)

// aside is why a request that goes on with no session is no turn of an agent, or "": agents
// also ask for titles and summaries, and look whether there is quota left. Such a request
// never takes the answer of a conversation.
func (d *router) aside(req *request) string {
	switch {
	case req.maxTokens == 1:
		return "a probe: max_tokens is 1"
	case len(req.tools) == 0 && d.script.calls():
		return "a request without tools: a title, a summary or the like"
	}
	return ""
}

// calls reports whether a conversation has calls, for which a client needs tools.
func (t *Script) calls() bool {
	return slices.ContainsFunc(t.Conversations, func(c *Conversation) bool {
		return slices.ContainsFunc(c.Answers, func(a Answer) bool { return len(a.Calls()) > 0 })
	})
}

// asideAnswer is the answer to a request that is no turn: a word.
func asideAnswer(req *request) *Answer {
	a := NewAnswer(stream.Script(stream.Turn{
		ID: "msg_aside", Model: req.model, End: time.Millisecond,
		Blocks: []stream.Block{{Kind: stream.Text, Text: "Session"}},
	}))
	return &a
}

// Line is one thing that happened while serving, for a log that is read as it grows.
type Line struct {
	// At counts from the start. Conversation is 0 where it is none.
	At           time.Duration
	Conversation int
	// What is request, aside or refused.
	What, Text string
}

// story is a request and its answer in a line.
func (s *session) story(place int) string {
	x := s.log[place]
	text := fmt.Sprintf("%d results", len(resultsAfter(x.req, x.req.lastReply())))
	switch {
	case x.answer < 0:
		return text + ", no answer is left"
	case x.resent:
		text += ", asked again"
	case x.broken:
		text += ", the answer fails on its way"
	}
	text += fmt.Sprintf(", answer %d of %d", x.answer+1, len(s.conv.Answers))
	for _, call := range s.conv.Answers[x.answer].Calls() {
		text += " " + call.Name + "(" + call.ID + ")"
	}
	return text
}
