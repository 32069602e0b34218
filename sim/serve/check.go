package serve

import (
	"fmt"

	"toolbench/sim/cassette"
)

// maxFindings is how many findings of a check are told one by one.
const maxFindings = 10

// promises are the checks, in the order in which they are reported. What they say is
// what the API demands, or, for tools and cache, what keeps a cached prefix alive.
var promises = []struct {
	name, promise string
	run           func(*checker)
}{
	{"results", "each call has exactly one result", (*checker).results},
	{"order", "results stand in call order", (*checker).order},
	{"placement", "results stand at the front of the message after their calls", (*checker).placement},
	{"roles", "user and assistant take turns", (*checker).roles},
	{"echo", "the assistant's message comes back unchanged", (*checker).echo},
	{"tools", "the tools array keeps its bytes", (*checker).tools},
	{"cache", "at most 4 cache breakpoints, and none moves back", (*checker).cache},
	{"recorded", "results are those that were recorded", (*checker).recorded},
}

// review holds a sequence of requests against the promises. It is a pure function of
// the session's log.
func review(s *session, strict bool) SessionReport {
	out := SessionReport{Conversation: s.conv.Number, Opening: compared(s), Of: len(s.conv.Answers)}
	var sound []exchange // without repeats
	for _, x := range s.log {
		out.Requests++
		if x.resent {
			out.Resent++
			sound[len(sound)-1].ended = x.ended
			continue
		}
		if x.answer >= 0 {
			out.Answers++
			out.Calls += len(s.conv.Answers[x.answer].Calls())
		}
		sound = append(sound, x)
	}
	for _, p := range promises {
		c := &checker{conv: s.conv, log: sound}
		p.run(c)
		out.Checks = append(out.Checks, c.verdict(p.name, p.promise, strict))
	}
	out.Results, out.Latencies = reactions(s.conv, sound)
	if n := len(sound); n > 0 {
		for _, p := range breakpoints(sound[n-1].req) {
			out.Breakpoints = append(out.Breakpoints, p.String())
		}
	}
	return out
}

func compared(s *session) string {
	switch {
	case s.conv.Opening == "":
		return "unknown"
	case s.conv.Opening == s.opening:
		return "same"
	}
	return "other"
}

// checker collects what one check finds.
type checker struct {
	conv     *Conversation
	log      []exchange
	tested   bool
	findings []Finding
	more     int
}

func (c *checker) find(turn int, format string, args ...any) {
	if len(c.findings) == maxFindings {
		c.more++
		return
	}
	c.findings = append(c.findings, Finding{turn, cassette.Blank(fmt.Sprintf(format, args...))})
}

func (c *checker) verdict(name, promise string, strict bool) Check {
	out := Check{Name: name, Promise: promise, Status: Held, Findings: c.findings, More: c.more}
	switch {
	case len(c.findings) > 0 && name == "recorded" && !strict:
		out.Status = Differs
	case len(c.findings) > 0:
		out.Status = Failed
	case !c.tested:
		out.Status = Untested
	}
	return out
}

// reaction is a request that comes after an answer which was committed.
type reaction struct {
	turn   int // of the answer, from 1
	answer *Answer
	req    *request
	// at is the place of the answer among the messages, -1 when it did not come back.
	at int
}

// react calls f for each request that has to send an answer back.
func (c *checker) react(f func(r reaction)) {
	for i := 1; i < len(c.log); i++ {
		before := c.log[i-1]
		if before.answer < 0 || !c.conv.Answers[before.answer].spoken() {
			continue
		}
		r := reaction{turn: before.answer + 1, answer: &c.conv.Answers[before.answer], req: c.log[i].req}
		r.at = r.req.lastSaid()
		c.tested = true
		f(r)
	}
}

// reactions counts the results that came, and the time that clients took for them.
func reactions(conv *Conversation, log []exchange) (results int, took []Latency) {
	for i := 1; i < len(log); i++ {
		before := log[i-1]
		if before.answer < 0 {
			continue
		}
		a := &conv.Answers[before.answer]
		calls := len(a.Calls())
		if calls == 0 || !a.Whole {
			continue
		}
		results += len(resultsAfter(log[i].req, log[i].req.lastSaid()))
		took = append(took, Latency{Turn: before.answer + 1, Calls: calls, Took: max(0, log[i].arrived-before.ended)})
	}
	return results, took
}
