package serve

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"toolbench/sim/cassette"
	"toolbench/sim/dialect"
)

// maxFindings is how many findings of a check are listed one by one.
const maxFindings = 10

// Weight is what a violation comes to.
type Weight string

// The weights: the API refuses the request, it costs tokens or the prompt cache, it is a
// matter of taste, or the script does not fit the client.
const (
	Refused Weight = "refused"
	Costs   Weight = "costs"
	Taste   Weight = "taste"
	Setup   Weight = "setup"
)

// demands are the checks, in the order in which they are reported: that the client has the
// tools that are called, what the API demands, and what keeps a cached prefix alive.
var demands = []struct {
	name, demand string
	weight       Weight
	run          func(*checker)
}{
	{"offered", "each tool that is called was offered", Setup, (*checker).offered},
	{"request", "the API takes the request: names, schemas, ids, max_tokens", Refused, (*checker).requests},
	{"results", "each call has exactly one result", Refused, (*checker).results},
	{"cut", "an answer that was cut off is asked for again, and none of its calls answered", Taste, (*checker).cut},
	{"order", "results stand in call order", Taste, (*checker).order},
	{"placement", "results stand at the front of the message after their calls", Refused, (*checker).placement},
	{"roles", "messages are of the user and the assistant, the user first", Refused, (*checker).roles},
	{"echo", "reasoning comes back with its signature, calls with their ids", Refused, (*checker).echo},
	{"words", "texts, names and inputs come back as the model wrote them", Taste, (*checker).words},
	{"tools", "the tools array keeps its bytes", Costs, (*checker).tools},
	{"cache", "at most 4 cache breakpoints, and none moves back", Costs, (*checker).cache},
	{"recorded", "results are those that were recorded", Taste, (*checker).recorded},
}

// leftOut are the checks that mean nothing for an API. Chat Completions, Responses and Ollama
// have no mark for results that are errors either.
var leftOut = map[dialect.API][]string{
	dialect.Chat:      {"cache", "errors of results"},
	dialect.Responses: {"placement", "cache", "errors of results"},
	dialect.Gemini:    {"cache", "ids of calls"},
	dialect.Ollama:    {"cache", "ids of calls", "errors of results"},
}

// review checks a sequence of requests. It is a pure function of the session's log.
func review(s *session, strict bool) SessionReport {
	out := SessionReport{Conversation: s.conv.Number, Opening: compared(s), Of: len(s.conv.Answers), API: string(s.api), Notes: slices.Clone(s.naming.notes)}
	var log []exchange // without repeats
	for _, x := range s.log {
		out.Requests++
		if x.resent {
			out.Resent++
			log[len(log)-1].ended = x.ended
			continue
		}
		if x.answer >= 0 && !x.broken {
			out.Answers++
			out.Calls += len(s.conv.Answers[x.answer].Calls())
		}
		log = append(log, x)
	}
	if left := leftOut[s.api]; len(left) > 0 {
		out.Notes = append(out.Notes, fmt.Sprintf("left out for %s, which has no such thing: %s", s.api, strings.Join(left, ", ")))
	}
	for _, p := range demands {
		if slices.Contains(leftOut[s.api], p.name) {
			continue
		}
		c := &checker{conv: s.conv, log: log, api: s.api}
		p.run(c)
		check := c.result(p.name, p.demand, strict)
		check.Weight = p.weight
		for _, n := range c.notes {
			if !slices.Contains(out.Notes, n) {
				out.Notes = append(out.Notes, n)
			}
		}
		out.Checks = append(out.Checks, check)
	}
	out.Results, out.Latencies = (&checker{conv: s.conv, log: log}).reactions()
	if n := len(log); n > 0 {
		for _, p := range breakpoints(log[n-1].req) {
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
	api      dialect.API
	conv     *Conversation
	log      []exchange
	tested   bool
	findings []Finding
	more     int
	notes    []string // remarks that are no faults
}

// report notes a finding, once however many requests of a turn show it.
func (c *checker) report(turn int, format string, args ...any) {
	found := Finding{turn, cassette.Blank(fmt.Sprintf(format, args...))}
	switch {
	case slices.Contains(c.findings, found):
	case len(c.findings) == maxFindings:
		c.more++
	default:
		c.findings = append(c.findings, found)
	}
}

func (c *checker) result(name, demand string, strict bool) Check {
	out := Check{Name: name, Demand: demand, Status: Held, Findings: c.findings, More: c.more}
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

// reaction is a request that follows a complete answer, and so has to send it back.
type reaction struct {
	turn   int // of the answer, from 1
	answer *Answer
	req    *request
	// at is the place of the answer's first message, -1 when it did not come back.
	at int
	// took is the client's own time between the answer and the request.
	took time.Duration
}

// parts are the places of the messages that have the calls: the first one, where several have it.
func (r reaction) parts() map[string]int {
	places := map[string]int{}
	for _, at := range slices.Backward(r.req.replies(r.at)) {
		for _, call := range callsOf(r.req.messages[at]) {
			places[call] = at
		}
	}
	return places
}

// eachReaction calls f for each request that has to send an answer back.
func (c *checker) eachReaction(f func(r reaction)) {
	for i := 1; i < len(c.log); i++ {
		before := c.log[i-1]
		if before.answer < 0 || before.broken || !c.conv.Answers[before.answer].committed() {
			continue
		}
		r := reaction{turn: before.answer + 1, answer: &c.conv.Answers[before.answer], req: c.log[i].req, took: max(0, c.log[i].arrived-before.ended)}
		r.at = r.req.firstOf(r.answer)
		c.tested = true
		f(r)
	}
}

// reactions counts the results that came, and the time that clients took for them.
func (c *checker) reactions() (results int, took []Latency) {
	c.eachReaction(func(r reaction) {
		if calls := len(r.answer.Calls()); calls > 0 {
			results += len(resultsAfter(r.req, r.at))
			took = append(took, Latency{Turn: r.turn, Calls: calls, Took: r.took})
		}
	})
	return results, took
}

// Report is what the client did with what it was served.
type Report struct {
	Source        string
	Conversations int
	Sessions      []SessionReport
	// Refused are requests that had no answer, the client's fault or not.
	Refused []Refusal
	// Unserved are conversations nobody asked for, by number.
	Unserved []int
	// Asides are the requests that were no turn of an agent, each with why; they were given
	// an answer that means nothing.
	Asides []string
}

// Refusal is a request that got an error.
type Refusal struct {
	Text    string `json:"text"`
	Opening string `json:"opening,omitempty" jsonschema:"The beginning of the first user message."`
}

// SessionReport is one client's conversation.
type SessionReport struct {
	Conversation int       `json:"conversation" jsonschema:"The recorded conversation that was served." minimum:"1"`
	Opening      string    `json:"opening" jsonschema:"How the first user message compares with the recorded one." enum:"same,other,unknown"`
	API          string    `json:"api" jsonschema:"The API that the client speaks." enum:"messages,converse,chat-completions,responses,generate-content,ollama-chat"`
	Requests     int       `json:"requests"`
	Resent       int       `json:"resent" jsonschema:"Requests that repeat the one before, byte for byte, and got the same answer."`
	Answers      int       `json:"answers" jsonschema:"Answers that were given."`
	Of           int       `json:"answers_recorded"`
	Calls        int       `json:"calls" jsonschema:"Calls in the answers that were given."`
	Results      int       `json:"results" jsonschema:"Results that came back."`
	Checks       []Check   `json:"checks"`
	Breakpoints  []string  `json:"breakpoints" jsonschema:"Places of the last request's cache breakpoints, in the order of the prompt."`
	Notes        []string  `json:"notes,omitempty" jsonschema:"What was guessed, left out, or is worth a word."`
	Latencies    []Latency `json:"-"`
}

// Latency is the client's own time: from the end of an answer with calls to the next
// request, which has their results.
type Latency struct {
	Turn, Calls int
	Took        time.Duration
}

// Status is what came of a check.
type Status string

// The outcomes of a check.
const (
	Held   Status = "held"
	Failed Status = "failed"
	// Differs is no fault: a client's own tools may give other results.
	Differs Status = "differs"
	// Untested: nothing came that could be checked.
	Untested Status = "untested"
)

// Check is one demand and what was found.
type Check struct {
	Name     string    `json:"name" enum:"offered,request,results,cut,order,placement,roles,echo,words,tools,cache,recorded"`
	Demand   string    `json:"check" jsonschema:"What is demanded of a client, in words."`
	Weight   Weight    `json:"weight" jsonschema:"What a violation comes to: the API refuses the request; it costs tokens or the prompt cache; it is a matter of taste; or the script does not fit the client." enum:"refused,costs,taste,setup"`
	Status   Status    `json:"status" jsonschema:"differs: results are not the recorded ones, which is a failure with --strict only; untested: nothing came that could be checked." enum:"held,failed,differs,untested"`
	Findings []Finding `json:"findings" jsonschema:"What contradicts the demand; at most 10 are listed."`
	More     int       `json:"more_findings,omitempty"`
}

// Finding contradicts a demand. Turn is the answer, from 1, to which the request at
// fault reacts; 0: the first request.
type Finding struct {
	Turn int    `json:"after_answer" jsonschema:"The answer to which the request at fault reacts, from 1; 0: the first request."`
	Text string `json:"text"`
}

// String is the finding with its place.
func (f Finding) String() string {
	if f.Turn == 0 {
		return "at the first request: " + f.Text
	}
	return fmt.Sprintf("after answer %d: %s", f.Turn, f.Text)
}

// Held reports whether every check held and no request was refused. That nothing was asked is not held either.
func (r *Report) Held() bool {
	failed := func(s SessionReport) bool {
		return slices.ContainsFunc(s.Checks, func(c Check) bool { return c.Status == Failed })
	}
	return len(r.Sessions) > 0 && len(r.Refused) == 0 && !slices.ContainsFunc(r.Sessions, failed)
}

// offered checks that the tools called are offered: a client can only run those that it has.
func (c *checker) offered() {
	for _, x := range c.log {
		if x.answer < 0 {
			continue
		}
		var names []string
		for _, t := range x.req.tools {
			set, _, _ := strings.Cut(t.Get("type").Str, "_toolset_")
			names = append(names, cmp.Or(toolName(t), set+" toolset"))
		}
		for _, call := range c.conv.Answers[x.answer].Calls() {
			set := gjson.GetBytes(call.Extra, "toolset_name").Str
			switch c.tested = true; {
			case set != "" && !slices.Contains(names, set+" toolset"):
				c.report(x.answer, "%s of the toolset %s is called and was not offered; offered are %s", call.Name, set, list(names))
			case set == "" && !slices.Contains(names, call.Name):
				c.report(x.answer, "%s is called and was not offered; offered are %s; say which stands for it with --map %s=NAME",
					call.Name, list(names), call.Name)
			}
		}
	}
}

// list names a few of many.
func list(names []string) string {
	const most = 12
	switch n := len(names); {
	case n == 0:
		return "no tools at all"
	case n > most:
		return strings.Join(names[:most], ", ") + " and others"
	}
	return strings.Join(names, ", ")
}

// allowedNames are what an API takes as the name of a tool.
var allowedNames = map[dialect.API]*regexp.Regexp{
	dialect.Messages:  regexp.MustCompile(`^[a-zA-Z0-9_-]{1,128}$`),
	dialect.Converse:  regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`),
	dialect.Chat:      regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`),
	dialect.Responses: regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`),
	dialect.Ollama:    regexp.MustCompile(`^.+$`),
	dialect.Gemini:    regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}$`),
}

// requests checks what the API looks at before it looks at the conversation.
func (c *checker) requests() {
	for _, x := range c.log {
		c.tested = true
		report := func(format string, args ...any) { c.report(max(0, x.answer), format, args...) }
		if c.api == dialect.Messages && x.req.maxTokens < 1 {
			report("max_tokens is missing")
		}
		checkIDs(x.req, c.checkTools(x.req.tools, report), report)
	}
}

func (c *checker) checkTools(tools []gjson.Result, report func(string, ...any)) map[string]bool {
	names, allowed := map[string]bool{}, allowedNames[c.api]
	for i, t := range tools {
		name := toolName(t)
		switch kind := t.Get("type").Str; {
		case name == "" && c.api == dialect.Messages && strings.Contains(kind, "_toolset"): // of the API's own
		case names[name]:
			report("tools.%d: the name %q is taken", i, name)
		case !allowed.MatchString(name):
			report("tools.%d: the name %q is not %s", i, name, allowed)
		case kind != "" && kind != "custom":
		case c.api != dialect.Messages && !schemaOf(t).Exists(): // a tool without arguments
		case !schemaOf(t).IsObject():
			report("tools.%d: %s has no input_schema", i, name)
		case schemaOf(t).Get("type").Str != "object":
			report("tools.%d: the input_schema of %s is not of type object", i, name)
		}
		names[name] = true
	}
	return names
}

// checkIDs checks that the ids of calls are distinct, and that a reference leads to a tool.
func checkIDs(r *request, tools map[string]bool, report func(string, ...any)) {
	seen := map[string]bool{}
	for i, m := range r.messages {
		for _, b := range blocks(m) {
			switch id := b.Get("id").Str; b.Get("type").Str {
			case "tool_use":
				if seen[id] {
					report("messages.%d: the id %q is taken", i, id)
				}
				seen[id] = true
			case "tool_result":
				for _, part := range b.Get("content").Array() {
					name := part.Get("tool_name").Str
					if part.Get("type").Str == "tool_reference" && !tools[name] {
						report("messages.%d: the reference to %q leads to no tool of the request", i, name)
					}
				}
			}
		}
	}
}
