package recording

import (
	"cmp"
	"container/list"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"toolbench/sim/cassette"
	"toolbench/sim/dialect"
	"toolbench/sim/stream"
)

// chains puts exchanges together into conversations. A request that repeats what was sent in a conversation, and goes
// on, belongs to it: clients send the whole history every time.
type chains struct {
	s     *scanner
	at    map[prefix][]*thread
	calls map[string]*thread
	// made are the ids of the calls so far.
	made map[string]bool
	// answers has the threads by the id of their last answer, and of their conversation.
	answers map[string]*thread
	// order has the thread that went on last at its front.
	order *list.List
	tools map[prefix][]Definition
	// waiting are the threads whose turn waits for results, oldest first.
	waiting []*thread
	// ran is when calls ran, by id, where a log has it.
	ran map[string]toolRun
	// held are the threads that a provider keeps, by id, heldBytes is what was read about them.
	held      map[string]*heldThread
	heldBytes int64
	// batched are the requests of batches, by their names, with the answers that were fetched.
	batched map[string]*exchange
}

// toolRun is when a call's result was there, and how long its tool ran.
type toolRun struct {
	done time.Time
	took time.Duration
}

// answer gives a turn a result of one of its calls, with its times, unless it has one.
func (c *chains) answer(t *Turn, r Result) {
	if t.place(r.Call) < 0 || t.Result(r.Call) != nil {
		return
	}
	if at, ok := c.ran[r.Call]; ok && !t.Sent.IsZero() {
		r.At, r.Took = Moment{since(t.Sent, at.done), true}, Moment{at.took.Truncate(stream.Tick), true}
	}
	t.Results = append(t.Results, r)
}

// thread is a conversation as far as it has come.
type thread struct {
	c     *Conversation
	turns int
	// sent is what the last request sent, n its number of messages.
	sent prefix
	n    int
	// tools identifies those of the last request.
	tools prefix
	// turn waits for the next request, which has its results.
	turn *Turn
	// ids are the last answer's calls, by which it is known when it is sent back;
	// empty: it had no content, and so will not be.
	ids   []string
	empty bool
	// answer is the last answer's own id, conversation the provider's id of all of them.
	answer, conversation string
	// failed: the last request got no whole answer, so that it may be sent again.
	failed bool
	place  *list.Element
}

func (s *scanner) chains() *chains {
	return &chains{s: s, at: map[prefix][]*thread{}, calls: map[string]*thread{}, made: map[string]bool{}, answers: map[string]*thread{}, order: list.New(), tools: map[prefix][]Definition{}, held: map[string]*heldThread{}, batched: map[string]*exchange{}}
}

// maxThreads is how many conversations may still go on at once.
const maxThreads = 4096

// take adds an exchange, in the order in which they were made.
func (c *chains) take(x *exchange) error {
	body, err := cassette.Decode(x.request, "", c.s.limits.Part)
	if err != nil {
		body = nil
	}
	if took, err := c.assistant(x, body); took || err != nil {
		return err
	}
	req, ok := parseRequest(x.url, body)
	if !ok && (len(body) > 0 && !dialect.Asks(x.url) || strings.HasSuffix(strings.SplitN(x.url, "?", 2)[0], "/count_tokens")) {
		c.s.ignore(other(x.url))
		return nil
	}
	if !ok {
		req = &request{prefix: make([]prefix, 1)}
	}
	x.ids, x.model = req.ids, strings.Clone(req.model)
	r, err := x.read(c.s.limits.Part)
	if c.s.handler.Exchange != nil && ok && !x.made {
		if err := c.s.handler.Exchange(x.whole(body, req, r, err)); err != nil {
			return err
		}
	}
	switch {
	case err == nil:
		if gjson.GetBytes(body, "n").Int() > 1 || gjson.GetBytes(body, "generationConfig.candidateCount").Int() > 1 {
			c.s.ignore("answers with several choices, but for their first")
		}
		return c.answered(x, req, r)
	case errors.Is(err, errNoModel) && (!dialect.Asks(x.url) || !ok && x.status < 400):
		c.s.ignore(other(x.url))
		return nil
	}
	return c.refused(x, req, err)
}

// refused is a request that got no answer of a model: an error in place of a stream, or a body that cannot be read.
func (c *chains) refused(x *exchange, req *request, cause error) error {
	p := Problem{Kind: Unreadable, Text: "the response cannot be read: " + cause.Error(), Line: x.line, Interaction: x.number}
	switch {
	case errors.Is(cause, cassette.ErrExpands):
		p.Kind = TooLarge
	case x.status >= 400, errors.Is(cause, errNoModel):
		p.Kind, p.Text = ErrorEvent, x.failure(c.s.limits.Part)
	}
	if p.Text == "" {
		p.Kind, p.Text = Malformed, "the response is no message of a model"
	}
	c.s.problem(p)
	return c.failed(x, req)
}

// failed notes a request without a turn, which may be sent again.
func (c *chains) failed(x *exchange, req *request) error {
	t, err := c.find(x, req)
	if err == nil {
		t.failed, t.ids, t.empty = true, nil, true
	}
	return err
}

// answered is a request with its answer.
func (c *chains) answered(x *exchange, req *request, r reply) error {
	var t *thread
	var err error
	turns := 0
	out := responses{limit: c.s.limits.Part, pace: r.pace}
	out.trouble = func(k Kind, text string) {
		c.s.problem(Problem{Kind: k, Text: text, Line: x.line, Interaction: x.number})
	}
	out.done = func(turn *Turn) error {
		if turns++; turns == 1 {
			if t, err = c.find(x, req); err != nil {
				return err
			}
		}
		return c.continued(t, x, req, r, turn)
	}
	for _, e := range r.events {
		if err := out.add(e, x.line); err != nil {
			return err
		}
	}
	switch {
	case out.turn == nil && r.cut != "":
		c.s.problem(Problem{Kind: CutStream, Text: r.cut, Line: x.line, Interaction: x.number})
	case out.turn == nil && r.malformed != "":
		c.s.problem(Problem{Kind: Malformed, Text: r.malformed, Line: x.line, Interaction: x.number})
	case out.turn != nil && r.malformed != "":
		out.markIncomplete(Broken, r.malformed)
	}
	if err := out.end(cmp.Or(r.cut, "the body ends before message_stop")); err != nil {
		return err
	}
	if turns == 0 {
		return c.failed(x, req)
	}
	return nil
}

// continued makes a turn the last of its thread.
func (c *chains) continued(t *thread, x *exchange, req *request, r reply, turn *Turn) error {
	if t.c == nil {
		var err error
		if t.c, err = c.s.begin("", ""); err != nil {
			return err
		}
	}
	if err := c.settle(t, passedOver); err != nil { // a body with several messages
		return err
	}
	if t.turns++; t.turns == 1 {
		c.earlier(req)
	}
	turn.Number, turn.Interaction, turn.Sent = t.turns, x.number, x.sent
	turn.Streamed = r.streamed
	turn.API = cmp.Or(r.api, req.api)
	turn.Model = cmp.Or(turn.Model, strings.Clone(req.model), dialect.Model(x.url))
	turn.Tools, turn.UserTexts = c.offered(req), req.userTexts()
	if turn.Usage = r.usage; turn.Usage == nil && r.streamed {
		turn.Usage = usageOf(turn.Events)
	}
	turn.ToolsChanged = t.turns > 1 && t.tools != req.toolsID && len(req.messages) > 0
	if len(req.messages) > 0 {
		t.tools = req.toolsID
	}
	if !turn.First.Known {
		turn.First = r.first
	}
	if err := c.s.asked(t.c, turn.Number, req); err != nil {
		return err
	}
	t.failed = turn.Ending != Whole
	t.ids, t.empty = nil, !slices.ContainsFunc(turn.Events, func(e stream.Event) bool { return gjson.GetBytes(e.Data, "delta.text").String() != "" })
	for _, call := range turn.Calls {
		if !call.Cut {
			t.ids = append(t.ids, call.ID)
		}
	}
	delete(c.answers, t.answer)
	t.answer, t.conversation = turn.ID, cmp.Or(req.conversation, t.conversation)
	c.answers[t.answer], c.answers[t.conversation] = t, t
	if len(turn.Calls) == 0 {
		return c.s.emit(t.c, turn)
	}
	t.turn = turn
	for _, id := range t.ids {
		c.calls[id], c.made[id] = t, true
	}
	c.waiting = append(c.waiting, t)
	if len(c.waiting) > c.s.limits.Waiting {
		return c.settle(c.waiting[0], "no request within the next "+fmt.Sprint(c.s.limits.Waiting)+" conversations answers it")
	}
	return nil
}

// earlier counts the calls of a conversation's first request whose answers nobody recorded.
func (c *chains) earlier(req *request) {
	for _, id := range req.calls() {
		if !c.made[id] {
			c.s.ignore("calls of answers before the first that is recorded")
		}
	}
	if len(c.made) > maxPlaces {
		clear(c.made)
	}
}

// results gives the waiting turn its results: all that stand after its message.
func (c *chains) results(t *thread, req *request, from int) error {
	if t.turn == nil {
		return nil
	}
	if from < len(req.messages) {
		ids := map[string]string{}
		if from >= 0 {
			ids = t.renamed(req.messages[from])
		}
		for _, r := range resultsIn(req.messages[from+1:]) {
			if t.turn.place(r.Call) < 0 {
				r.Call = ids[r.Call]
			}
			c.answer(t.turn, r)
		}
	}
	switch {
	case len(req.messages) == 0:
		return c.settle(t, "the recording does not hold the request that would answer it")
	case from == len(req.messages):
		return c.settle(t, "the request was sent again")
	}
	return c.settle(t, passedOver)
}

// settle hands the waiting turn on.
func (c *chains) settle(t *thread, reason string) error {
	turn := t.turn
	if turn == nil {
		return nil
	}
	t.turn = nil
	for _, id := range t.ids {
		if c.calls[id] == t {
			delete(c.calls, id)
		}
	}
	c.waiting = slices.DeleteFunc(c.waiting, func(w *thread) bool { return w == t })
	turn.settle(reason)
	return c.s.emit(t.c, turn)
}

// end hands on what still waits.
func (c *chains) end() error {
	for len(c.waiting) > 0 {
		if err := c.settle(c.waiting[0], atTheEnd); err != nil {
			return err
		}
	}
	return nil
}

// offered gives a request's tools; equal ones are one list.
func (c *chains) offered(req *request) []Definition {
	if len(req.messages) == 0 {
		return nil
	}
	if known, ok := c.tools[req.toolsID]; ok {
		return known
	}
	if len(c.tools) >= maxToolLists {
		clear(c.tools)
	}
	tools := mapped(req.offered.Array(), definition)
	c.tools[req.toolsID] = tools
	return tools
}

// maxToolLists is how many lists of tools are remembered to be compared.
const maxToolLists = 64
