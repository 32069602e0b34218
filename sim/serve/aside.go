package serve

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"toolbench/sim/stream"
)

// aside is why a request that goes on with no session is no turn of an agent, or "": agents
// also ask for titles and summaries, and look whether there is quota left. Such a request
// never takes the answer of a conversation.
func (d *router) aside(req *request) string {
	switch {
	case req.maxTokens == 1:
		return "a probe: max_tokens is 1"
	case len(req.tools) > 0:
		return ""
	case d.script.calls():
		return withoutTools
	case besideWords.MatchString(plain(req.system)), !d.recordedOpening(opening(req.messages)) && req.besides():
		return "a request that words a title, a summary or the like"
	}
	return ""
}

const withoutTools = "a request without tools: a title, a summary or the like"

// asideWithin is the same of a request that brings a session's messages along: one without
// tools where the session has them, and not with the results of its calls.
func (s *session) asideWithin(req *request) string {
	switch first := s.log[0].req; {
	case len(req.tools) > 0 || req.bringsResults():
		return ""
	case len(first.tools) > 0 && (s.remaining() || req.besides()):
		return withoutTools
	case len(first.tools) == 0 && req.system.Raw != first.system.Raw && besideWords.MatchString(plain(req.system)):
		return "a request that words a title, a summary or the like"
	}
	return ""
}

// remaining reports whether calls are still to come, so that a client needs its tools.
func (s *session) remaining() bool {
	return slices.ContainsFunc(s.conv.Answers[min(s.next, len(s.conv.Answers)):], func(a Answer) bool { return len(a.Calls()) > 0 })
}

// besideWords are those of requests that are no turn, in the system prompt or the message.
var besideWords = regexp.MustCompile(`(?i)\b(titles?|quota)\b|\bname for (this|the) (session|conversation|chat)|\bsummar\w+ (of )?(this|the|our) (session|conversation|chat)|\bnew (conversation )?topic\b`)

// besides reports whether a request words what is no turn of an agent.
func (r *request) besides() bool {
	return besideWords.MatchString(plain(r.system)) || besideWords.MatchString(plain(r.messages[len(r.messages)-1].Get("content")))
}

// bringsResults reports whether the last message is results of calls and nothing else.
func (r *request) bringsResults() bool {
	list := blocks(r.messages[len(r.messages)-1])
	return len(list) > 0 && !slices.ContainsFunc(list, func(b gjson.Result) bool { return b.Get("type").Str != "tool_result" })
}

// recordedOpening reports whether a conversation begins so: then its words are the user's.
func (d *router) recordedOpening(text string) bool {
	return slices.ContainsFunc(d.script.Conversations, func(c *Conversation) bool {
		own := c.Opening
		if d.world != nil {
			own = d.world(own)
		}
		return own != "" && own == text || c.For != "" && strings.Contains(text, c.For)
	})
}

// giveBack frees the conversation that only a request without tools has had, for a client
// that comes with tools: the other was no turn, though nothing showed it.
func (d *router) giveBack(req *request) {
	if len(req.tools) == 0 {
		return
	}
	for i, s := range d.sessions {
		alone := !slices.ContainsFunc(s.log, func(x exchange) bool { return len(x.req.tools) > 0 || x.req.replies() > 0 })
		if alone && s.opening != opening(req.messages) {
			d.sessions = slices.Delete(d.sessions, i, i+1)
			d.turns -= len(s.log)
			delete(d.used, s.from)
			d.asides = append(d.asides, "a request without tools, before one with them")
			return
		}
	}
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
