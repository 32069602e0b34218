package serve

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"toolbench/sim/cassette"
	"toolbench/sim/dialect"
	"toolbench/sim/stream"
	"toolbench/toolsys/message"
)

// router decides which answer a request gets. It has no clock, no goroutine and no
// lock: whoever drives it sees to that.
type router struct {
	script *Script
	// again: a conversation that was served may be served once more.
	again    bool
	used     map[*Conversation]bool
	names    Names
	world    func(string) string
	fault    func(turn int) cassette.Fault // what goes wrong with its answer
	sessions []*session
	// asides are the requests that were no turn of an agent, each with why.
	asides  []string
	refused []Refusal
	turns   int // requests of agents' turns
	kept    int // bytes of bodies that are kept for the checks
}

// session is one client's conversation as far as it has come.
type session struct {
	// conv is the conversation in the client's words: with the names of its tools. From is the script's.
	conv, from *Conversation
	naming     naming
	// api is the client's; ids are the script's of calls, by those that the client gets.
	api     dialect.API
	ids     map[string]string
	opening string
	// base is how many assistant messages the first request brought along, next the
	// place of the answer that comes next.
	base, first, next int
	last              [sha256.Size]byte
	log               []exchange
}

// exchange is one request with the answer it was given.
type exchange struct {
	req *request
	// answer is its place in the conversation, -1 when there was none left.
	answer int
	// resent: the same request again, and the same answer. Broken: the answer failed on
	// its way, so that it is still to be given.
	resent, broken bool
	arrived, ended time.Duration
}

// maxKept bounds what is kept of the requests' bodies.
const maxKept = 1 << 30

// reply is an answer that is to be given.
type reply struct {
	session *session // nil for an aside
	place   int      // in the session's log
	answer  *Answer
	fault   cassette.Fault
	aside   string // why the request is no turn of an agent
}

// id is what the request is called in the answer's headers.
func (t reply) id() string {
	if t.session == nil {
		return "req_aside"
	}
	return fmt.Sprintf("req_%d_%d", t.session.conv.Number, t.place+1)
}

// route gives a request its answer, or a refusal worded for the client. Retry: the
// client marks the request as sent once more.
func (d *router) route(req *request, retry bool, at time.Duration) (reply, error) {
	if d.kept += len(req.body); d.kept > maxKept {
		return reply{}, d.refuse(req, fmt.Sprintf("more than %d bytes of requests were sent: start the server again", maxKept))
	}
	sum := sha256.Sum256(req.body)
	s := d.find(req, sum, retry)
	why := ""
	if s == nil {
		why = d.aside(req)
	} else if s.last != sum {
		why = s.asideWithin(req)
	}
	if why != "" {
		d.asides = append(d.asides, why)
		word := stream.Turn{ID: "msg_aside", Model: req.model, End: time.Millisecond, Blocks: []stream.Block{{Kind: stream.Text, Text: "Session"}}}
		return reply{answer: new(NewAnswer(stream.Script(word))), aside: why}, nil
	}
	if s == nil {
		var err error
		if s, err = d.open(req); err != nil {
			return reply{}, err
		}
	}
	if a := s.cut(); a != nil && req.repeats(a) {
		s.next++ // the client goes on as if it had been whole
	}
	x := exchange{req: req, answer: s.next, arrived: at}
	if n := len(s.log); n > 0 && s.last == sum && !s.log[n-1].broken && s.log[n-1].answer >= 0 && s.conv.Answers[s.log[n-1].answer].Whole {
		x.answer, x.resent = s.log[n-1].answer, true
	}
	if x.answer >= len(s.conv.Answers) {
		x.answer = -1
	}
	t := reply{session: s, place: len(s.log)}
	if x.answer >= 0 {
		t.answer = &s.conv.Answers[x.answer]
		d.turns++
		t.fault = d.fault(d.turns)
		x.broken = t.fault.Breaks(t.answer.Events)
	}
	s.log = append(s.log, x)
	s.last = sum
	if x.answer < 0 {
		return reply{}, s.over(d, req)
	}
	if !x.resent && !x.broken {
		s.next++
	}
	return t, nil
}

// over refuses what goes beyond the recording. A last answer with calls has to be
// answered, so that one such request is no fault of the client's.
func (s *session) over(d *router, req *request) error {
	n := len(s.conv.Answers)
	text := fmt.Sprintf("conversation %d has no answer left: all %d were given", s.conv.Number, n)
	if len(s.conv.Answers[n-1].Calls()) > 0 && s.beyond() == 1 {
		return fmt.Errorf("%s; the recording ends here", text)
	}
	return d.refuse(req, text)
}

// beyond counts the requests that got no answer.
func (s *session) beyond() int {
	n := 0
	for _, x := range s.log {
		if x.answer < 0 {
			n++
		}
	}
	return n
}

func (d *router) refuse(req *request, text string) error {
	d.refused = append(d.refused, Refusal{Text: text, Opening: message.Line(opening(req.messages), 81)})
	return fmt.Errorf("%s", text)
}

// find gives the session that a request goes on with: the one that was asked the very same, the one whose last answer
// it sends back, even one that was cut, else the one that begins alike and has come as far.
func (d *router) find(req *request, sum [sha256.Size]byte, retry bool) *session {
	begins := opening(req.messages)
	for _, fits := range []func(s *session) bool{
		func(s *session) bool { return s.last == sum && (retry || len(s.log) > 1 || !d.fresh(begins)) },
		func(s *session) bool { a := s.lastCommitted(); return a != nil && req.repeats(a) },
		func(s *session) bool { a := s.cut(); return a != nil && req.repeats(a) },
		func(s *session) bool {
			lost := s.log[len(s.log)-1].broken && !d.fresh(begins) // it may be asked for in another way, without a stream
			return (s.next > s.first || lost) && s.opening == begins && len(req.replies(0)) == s.expected()
		},
	} {
		for _, s := range slices.Backward(d.sessions) {
			if fits(s) {
				return s
			}
		}
	}
	return nil
}

// fresh reports whether a conversation was recorded for this opening and not served yet:
// then the same first request is another conversation, not the same one again.
func (d *router) fresh(begins string) bool {
	return slices.ContainsFunc(d.script.Conversations, func(c *Conversation) bool { return !d.used[c] && c.Opening != "" && c.Opening == begins })
}

// cut is the answer that failed on its way the last time, if it has calls.
func (s *session) cut() *Answer {
	if n := len(s.log); n == 0 || !s.log[n-1].broken || s.log[n-1].answer != s.next {
		return nil
	}
	if a := &s.conv.Answers[s.next]; len(a.Calls()) > 0 {
		return a
	}
	return nil
}

// lastCommitted is the last answer that the client has to send back.
func (s *session) lastCommitted() *Answer {
	for i := s.next - 1; i >= s.first; i-- {
		if a := &s.conv.Answers[i]; a.committed() {
			return a
		}
	}
	return nil
}

// expected is how many assistant messages the next request should bring.
func (s *session) expected() int {
	n := s.base
	for i := s.first; i < s.next; i++ {
		if s.conv.Answers[i].committed() {
			n++
		}
	}
	return n
}

// open begins a session: with the conversation the request already is in the middle
// of, the one that was recorded for its first user message, or the next.
func (d *router) open(req *request) (*session, error) {
	c, first := d.within(req)
	if c = cmp.Or(c, d.choose(opening(req.messages))); c == nil {
		d.giveBack(req)
		c = d.choose(opening(req.messages))
	}
	if c == nil {
		return nil, d.refuse(req, fmt.Sprintf("all %d conversations were served: start the server again, or with --again", len(d.script.Conversations)))
	}
	d.used[c] = true
	s := &session{from: c, opening: opening(req.messages), base: len(req.replies(0)), first: first, next: first}
	s.naming = d.names.name(c, req.tools)
	s.conv = c.inWords(s.naming, d.world)
	if s.api = req.api; s.api.Names() {
		s.conv, s.ids = s.conv.withoutIDs()
	}
	d.sessions = append(d.sessions, s)
	return s, nil
}

// within finds the answer that the request's last assistant message is, and gives the place behind it.
func (d *router) within(req *request) (*Conversation, int) {
	at := req.lastReply()
	if at < 0 {
		return nil, 0
	}
	last := *req
	last.messages = req.messages[at:]
	for _, c := range d.script.Conversations {
		for i := range c.Answers {
			if a := &c.Answers[i]; len(a.Calls()) > 0 && last.repeats(a) {
				return c, i + 1
			}
		}
	}
	return nil, 0
}

func (d *router) choose(begins string) *Conversation {
	fits := []func(*Conversation) bool{
		func(c *Conversation) bool { return c.For != "" && strings.Contains(begins, c.For) },
		func(c *Conversation) bool { return c.For == "" && c.Opening != "" && c.Opening == begins },
		func(c *Conversation) bool { return c.For == "" },
	}
	for _, usedUp := range []bool{false, true} {
		for _, fit := range fits {
			for _, c := range d.script.Conversations {
				if d.used[c] == usedUp && fit(c) {
					return c
				}
			}
		}
		if !d.again {
			return nil
		}
	}
	return nil
}

// done reports whether every conversation was served to its end, and, where that end has calls, answered.
func (d *router) done() bool {
	complete := map[*Conversation]bool{}
	for _, s := range d.sessions {
		n := len(s.conv.Answers)
		if s.next >= n && (len(s.conv.Answers[n-1].Calls()) == 0 || s.beyond() > 0) {
			complete[s.from] = true
		}
	}
	return len(complete) == len(d.script.Conversations)
}

// turnsEnded counts the answers of the first session, given whole, with which a turn of the agent is over.
func (d *router) turnsEnded() int {
	over := map[int]bool{}
	for _, s := range d.sessions[:min(1, len(d.sessions))] {
		for _, x := range s.log {
			if x.answer >= 0 && !x.broken && x.ended > 0 && s.conv.Answers[x.answer].ends() {
				over[x.answer] = true
			}
		}
	}
	return len(over)
}

// aside is why a request that goes on with no session is no turn of an agent, or "": agents also ask for titles and
// summaries, and look whether there is quota left. Such a request never takes the answer of a conversation.
func (d *router) aside(req *request) string {
	switch {
	case req.maxTokens == 1:
		return "a probe: max_tokens is 1"
	case len(req.tools) > 0:
		return ""
	case slices.ContainsFunc(d.script.Conversations, func(c *Conversation) bool { return haveCalls(c.Answers) }):
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
	last := blocks(req.messages[len(req.messages)-1])
	switch first := s.log[0].req; {
	case len(req.tools) > 0 || len(last) > 0 && !slices.ContainsFunc(last, notResult):
		return ""
	case len(first.tools) > 0 && (haveCalls(s.conv.Answers[min(s.next, len(s.conv.Answers)):]) || req.besides()):
		return withoutTools
	case len(first.tools) == 0 && req.system.Raw != first.system.Raw && besideWords.MatchString(plain(req.system)):
		return "a request that words a title, a summary or the like"
	}
	return ""
}

// besideWords are those of requests that are no turn, in the system prompt or the message.
var besideWords = regexp.MustCompile(`(?i)\b(titles?|quota)\b|\bname for (this|the) (session|conversation|chat)|\bsummar\w+ (of )?(this|the|our) (session|conversation|chat)|\bnew (conversation )?topic\b`)

// besides reports whether a request words what is no turn of an agent.
func (r *request) besides() bool {
	return besideWords.MatchString(plain(r.system)) || besideWords.MatchString(plain(r.messages[len(r.messages)-1].Get("content")))
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
		alone := !slices.ContainsFunc(s.log, func(x exchange) bool { return len(x.req.tools) > 0 || x.req.lastReply() >= 0 })
		if alone && s.opening != opening(req.messages) {
			d.sessions = slices.Delete(d.sessions, i, i+1)
			d.turns -= len(s.log)
			delete(d.used, s.from)
			d.asides = append(d.asides, "a request without tools, before one with them")
			return
		}
	}
}

// haveCalls reports whether answers have calls, for which a client needs tools.
func haveCalls(answers []Answer) bool {
	return slices.ContainsFunc(answers, func(a Answer) bool { return len(a.Calls()) > 0 })
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
