package serve

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"toolbench/sim/dialect"
	"toolbench/toolsys/jsonscan"
	"toolbench/toolsys/message"
)

// sent is one result that a client sent.
type sent struct {
	id      string
	message int // its place among the messages
	index   int // its place in that message
	text    string
	isError bool
}

// resultsAfter are the results in the messages behind a place.
func resultsAfter(req *request, at int) []sent {
	var out []sent
	for m := at + 1; m < len(req.messages); m++ {
		for i, b := range blocks(req.messages[m]) {
			if b.Get("type").Str == "tool_result" {
				out = append(out, sent{id: b.Get("tool_use_id").Str, message: m, index: i, text: plain(b.Get("content")), isError: b.Get("is_error").Bool()})
			}
		}
	}
	return out
}

// results checks that each call has exactly one, and that there is none for anything else (H2).
func (c *checker) results() {
	c.eachReaction(func(r reaction) {
		count := map[string]int{}
		for _, s := range resultsAfter(r.req, r.at) {
			count[s.id]++
			if !isCall(r.answer, s.id) {
				c.report(r.turn, "a result for %q, which no call of the message has as its id", s.id)
			}
		}
		for _, call := range r.answer.Calls() {
			switch n := count[call.ID]; {
			case n == 0:
				c.report(r.turn, "%s %s has no result", call.Name, call.ID)
			case n > 1:
				c.report(r.turn, "%s %s has %d results", call.Name, call.ID, n)
			}
		}
	})
	c.unanswered()
}

// unanswered reports a client that went away after the last answer, although it has calls and more was recorded.
func (c *checker) unanswered() {
	if len(c.log) == 0 {
		return
	}
	last := c.log[len(c.log)-1]
	if last.answer < 0 || last.broken || last.answer == len(c.conv.Answers)-1 || !c.conv.Answers[last.answer].Whole {
		return
	}
	for _, call := range c.conv.Answers[last.answer].Calls() {
		c.tested = true
		c.report(last.answer+1, "%s %s has no result: no request came any more", call.Name, call.ID)
	}
}

// cut reports a client that answers a call of an answer that did not come to its end: it has run
// what the model may not have meant. The API takes it.
func (c *checker) cut() {
	for i := 1; i < len(c.log); i++ {
		before := c.log[i-1]
		if before.answer < 0 || !before.broken {
			continue
		}
		c.tested = true
		a := &c.conv.Answers[before.answer]
		for _, s := range resultsAfter(c.log[i].req, c.log[i].req.lastReply()) {
			if isCall(a, s.id) {
				c.report(before.answer+1, "%s has a result, though its answer was cut off", s.id)
			}
		}
	}
}

func isCall(a *Answer, id string) bool {
	return slices.ContainsFunc(a.Calls(), func(b message.Block) bool { return b.ID == id })
}

// order checks that results stand in the order of their calls (I3, H5).
func (c *checker) order() {
	c.eachReaction(func(r reaction) {
		var want, found []string
		results := resultsAfter(r.req, r.at)
		for _, call := range r.answer.Calls() {
			if slices.ContainsFunc(results, func(s sent) bool { return s.id == call.ID }) && !slices.Contains(want, call.ID) {
				want = append(want, call.ID)
			}
		}
		for _, s := range results {
			if slices.Contains(want, s.id) && !slices.Contains(found, s.id) {
				found = append(found, s.id)
			}
		}
		if !slices.Equal(want, found) {
			c.report(r.turn, "the calls are %v, their results %v", want, found)
		}
	})
}

// placement checks that all results stand right behind their calls, before anything else, as
// the API wants them. It reads the user's messages in a row as one.
func (c *checker) placement() {
	c.eachReaction(func(r reaction) {
		parts, fronts := r.parts(), map[int]map[int]int{}
		for _, s := range resultsAfter(r.req, r.at) {
			call := cmp.Or(parts[s.id], r.at)
			if fronts[call] == nil {
				fronts[call] = r.req.resultsBehind(call)
			}
			front, follows := fronts[call][s.message]
			switch {
			case !follows:
				c.report(r.turn, "the result of %s stands in messages.%d; it belongs right after the call, into messages.%d of the user", s.id, s.message, call+1)
			case s.index >= front:
				c.report(r.turn, "the result of %s stands behind other content in messages.%d; results come first", s.id, s.message)
			}
		}
	})
}

// resultsBehind has, for each of the user's messages right behind a place and the assistant's
// further messages there, how many results stand at its front with nothing else before them.
func (r *request) resultsBehind(at int) map[int]int {
	front, other := map[int]int{}, false
	role := func(i int) string { return r.messages[i].Get("role").Str }
	i := at + 1
	for i < len(r.messages) && role(i) == "assistant" {
		i++
	}
	for ; i < len(r.messages) && role(i) == "user"; i++ {
		front[i] = 0
		if !other {
			list := blocks(r.messages[i])
			first := slices.IndexFunc(list, notResult)
			other = first >= 0
			front[i] = map[bool]int{true: first, false: len(list)}[other]
		}
	}
	return front
}

func notResult(b gjson.Result) bool { return b.Get("type").Str != "tool_result" }

// roles checks that the user's message is the first. The API takes messages of one role in a row.
func (c *checker) roles() {
	for _, x := range c.log {
		c.tested = true
		for i, m := range x.req.messages {
			switch role := m.Get("role").Str; {
			case i == 0 && role == "assistant":
				c.report(max(0, x.answer), "messages.0 is the assistant's")
			case role != "user" && role != "assistant" && role != "system":
				c.report(max(0, x.answer), "messages.%d has the role %q", i, role)
			}
		}
	}
}

// recorded checks that the results are those that the recorder's client sent.
func (c *checker) recorded() {
	c.eachReaction(func(r reaction) {
		for _, s := range resultsAfter(r.req, r.at) {
			want, known := r.answer.Results[s.id]
			switch {
			case !known:
			case want.IsError != s.isError && !slices.Contains(leftOut[c.api], "errors of results"):
				c.report(r.turn, "the result of %s has is_error %t; recorded was %t", s.id, s.isError, want.IsError)
			case want.Text != s.text:
				was, is := excerpts(want.Text, s.text)
				c.report(r.turn, "the result of %s differs: recorded %q, sent %q", s.id, was, is)
			}
		}
	})
	c.tested = c.tested && slices.ContainsFunc(c.conv.Answers, func(a Answer) bool { return len(a.Results) > 0 })
}

// excerpts shows where two texts first differ, with a little of what is before.
func excerpts(a, b string) (string, string) {
	x, y := []rune(a), []rune(b)
	const before, length = 20, 60
	from := max(0, common(x, y)-before)
	cut := func(r []rune) string {
		text := string(r[min(from, len(r)):min(len(r), from+length)])
		if from > 0 {
			text = "…" + text
		}
		if from+length < len(r) {
			text += "…"
		}
		return text
	}
	return cut(x), cut(y)
}

// echo checks that reasoning and calls come back as they were, as does what the provider itself
// ran: the API holds reasoning against its signature and results against the ids of calls.
// Members that carry nothing, and cache breakpoints, may come and go.
func (c *checker) echo() {
	c.eachEcho(func(b gjson.Result) bool { return b.Get("type").Str != "text" }, func(_ *request, sent, back gjson.Result) string {
		if kind := sent.Get("type").Str; kind == "tool_use" && kind == back.Get("type").Str {
			if id := back.Get("id").Str; id != sent.Get("id").Str {
				return fmt.Sprintf("id was %q, is %q", sent.Get("id").Str, id)
			}
			if sealed := sent.Get(dialect.Signature); c.api == dialect.Gemini && sealed.Exists() && sealed.Str != back.Get(dialect.Signature).Str {
				return dialect.Signature + " is gone or another"
			}
			return ""
		}
		return changed(sent, back)
	})
}

// words checks that texts, names and inputs come back unchanged. The API takes what it did not write, but the model
// then reads what is not its own. An input may gain what its schema has as default.
func (c *checker) words() {
	c.eachEcho(func(b gjson.Result) bool { return b.Get("type").Str == "text" || b.Get("type").Str == "tool_use" }, func(req *request, sent, back gjson.Result) string {
		if name := sent.Get("name").Str; name != "" && name == back.Get("name").Str {
			var added string
			if back, added = withoutDefaults(sent, back, req); added != "" {
				c.notes = append(c.notes, fmt.Sprintf("%s comes back with %s, which its schema has as the default", name, added))
			}
		}
		return changed(sent, back, "id", dialect.Signature)
	})
}

// eachEcho compares the blocks of a kind in each answer with those that came back.
func (c *checker) eachEcho(of func(gjson.Result) bool, compare func(req *request, sent, back gjson.Result) string) {
	c.eachReaction(func(r reaction) {
		if r.at < 0 {
			c.report(r.turn, "the answer did not come back: the request has no assistant message")
			return
		}
		raw, err := json.Marshal(r.answer.Reply.Message)
		if err != nil {
			c.report(r.turn, "the answer cannot be compared: %s", err)
			return
		}
		parts := r.req.replies(r.at)
		if len(parts) > 1 && parts[len(parts)-1]-parts[0] >= len(parts) {
			c.notes = append(c.notes, "an answer comes back in several messages, each with results of its own: the model reads calls it made together as made one after the other")
		}
		sent, back := c.echoed(gjson.ParseBytes(raw)), c.echoed(r.req.joined(parts))
		places := func(list []gjson.Result) (at []int) {
			for i, b := range list {
				if of(b) {
					at = append(at, i)
				}
			}
			return at
		}
		for was, is := places(sent), places(back); len(was)+len(is) > 0; {
			apart := len(was) == 0 || len(is) == 0 || !pairs(sent, back, was[0], is[0])
			switch {
			case apart && len(was) > len(is):
				c.report(r.turn, "content.%d (%s) did not come back", was[0], sent[was[0]].Get("type").Str)
				was = was[1:]
			case apart && len(was) < len(is):
				c.report(r.turn, "content.%d (%s) came back, but was never sent", is[0], back[is[0]].Get("type").Str)
				is = is[1:]
			default:
				if why := compare(r.req, sent[was[0]], back[is[0]]); why != "" {
					c.report(r.turn, "content.%d (%s) came back changed: %s", was[0], sent[was[0]].Get("type").Str, why)
				}
				was, is = was[1:], is[1:]
			}
		}
	})
}

// pairs reports whether a block may have come back as another: they are of a type, and no other has the id of either.
func pairs(sent, back []gjson.Result, was, is int) bool {
	a, b := sent[was].Get("id").Str, back[is].Get("id").Str
	return sent[was].Get("type").Str == back[is].Get("type").Str && (a == b || !hasID(sent, b) && !hasID(back, a))
}

func hasID(list []gjson.Result, id string) bool {
	return slices.ContainsFunc(list, func(b gjson.Result) bool { return b.Get("id").Str == id })
}

// joined is one message with the blocks of several.
func (r *request) joined(parts []int) gjson.Result {
	if len(parts) == 1 {
		return r.messages[parts[0]]
	}
	var list []string
	for _, at := range parts {
		for _, b := range blocks(r.messages[at]) {
			list = append(list, b.Raw)
		}
	}
	return gjson.Parse(`{"content":[` + strings.Join(list, ",") + `]}`)
}

// echoed are a message's blocks, as far as the client's API has them.
func (c *checker) echoed(m gjson.Result) []gjson.Result {
	switch list := blocks(m); c.api {
	case dialect.Messages:
		return list
	case dialect.Converse:
		return slices.DeleteFunc(slices.Clone(list), func(b gjson.Result) bool { return !dialect.Given(b.Get("type").Str) })
	default:
		return essence(list)
	}
}

// withoutDefaults takes from a call that came back the members of its input that were not sent
// and are what the tool's schema has as their default, and names them.
func withoutDefaults(sent, back gjson.Result, req *request) (plain gjson.Result, added string) {
	at := slices.IndexFunc(req.tools, func(t gjson.Result) bool { return toolName(t) == back.Get("name").Str })
	if at < 0 || !back.Get("input").IsObject() {
		return back, ""
	}
	kept, gone := []string{}, []string{}
	back.Get("input").ForEach(func(key, value gjson.Result) bool {
		path := gjson.Escape(key.Str)
		usual := schemaOf(req.tools[at]).Get("properties." + path + ".default")
		if !sent.Get("input."+path).Exists() && usual.Exists() && jsonscan.Equal([]byte(usual.Raw), []byte(value.Raw)) {
			gone = append(gone, key.Str+": "+value.Raw)
		} else {
			kept = append(kept, key.Raw+":"+value.Raw)
		}
		return true
	})
	if len(gone) == 0 {
		return back, ""
	}
	call := map[string]json.RawMessage{"input": json.RawMessage("{" + strings.Join(kept, ",") + "}")}
	back.ForEach(func(key, value gjson.Result) bool {
		if key.Str != "input" {
			call[key.Str] = json.RawMessage(value.Raw)
		}
		return true
	})
	return gjson.ParseBytes(dialect.JSON(call)), strings.Join(gone, ", ")
}

// essence is what other APIs have of a message sent back: its text as one, and the calls.
// Reasoning stays with the provider, or comes back sealed.
func essence(list []gjson.Result) (out []gjson.Result) {
	var said strings.Builder
	for _, b := range list {
		switch b.Get("type").Str {
		case "text":
			said.WriteString(b.Get("text").Str)
		case "tool_use":
			out = append(out, b)
		}
	}
	if said.Len() == 0 {
		return out
	}
	text := dialect.JSON(map[string]string{"type": "text", "text": said.String()})
	return append([]gjson.Result{gjson.ParseBytes(text)}, out...)
}

// changed describes the first member, of others than some, that is not what it was, "" when there is none.
func changed(sent, back gjson.Result, but ...string) string {
	if was, is := sent.Get("type").Str, back.Get("type").Str; was != is {
		return fmt.Sprintf("type was %q, is %q", was, is)
	}
	keys := slices.Clone(but)
	for _, v := range []gjson.Result{sent, back} {
		v.ForEach(func(key, value gjson.Result) bool {
			// A breakpoint is no part of the block, and who called a tool is left out by most.
			if !slices.Contains(keys, key.Str) && key.Str != "cache_control" && (key.Str != "caller" || back.Get("caller").Exists()) {
				keys = append(keys, key.Str)
			}
			return true
		})
	}
	for _, key := range keys[len(but):] {
		was, is := sent.Get(gjson.Escape(key)), back.Get(gjson.Escape(key))
		switch {
		case empty(was) && empty(is), jsonscan.Equal([]byte(was.Raw), []byte(is.Raw)):
		case !is.Exists():
			return fmt.Sprintf("%s is gone", key)
		case !was.Exists():
			return fmt.Sprintf("%s was added", key)
		default:
			a, b := excerpts(textOf(was), textOf(is))
			return fmt.Sprintf("%s was %q, is %q", key, a, b)
		}
	}
	return ""
}

func textOf(v gjson.Result) string {
	if v.Type == gjson.String {
		return v.Str
	}
	return v.Raw
}

// empty reports whether v is absent, null, or an empty list.
func empty(v gjson.Result) bool {
	return !v.Exists() || v.Type == gjson.Null || v.IsArray() && len(v.Array()) == 0
}
