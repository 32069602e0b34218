package serve_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"toolbench/sim/cassette"
	"toolbench/sim/serve"
	"toolbench/sim/stream"
)

// call is a scripted tool_use block.
func call(id, name, input string, at time.Duration) stream.Block {
	return stream.Block{Kind: stream.ToolUse, ID: id, Name: name, Input: json.RawMessage(input), At: at}
}

// weather is a conversation with two calls in parallel, one more, and an end.
func weather() *serve.Script {
	return scriptOf(
		stream.Turn{ID: "msg_1", Blocks: []stream.Block{
			{Kind: stream.Thinking, Text: "Two cities.", Signature: "c2ln"},
			{Kind: stream.Text, Text: "Looking."},
			call("call_a", "weather", `{"city":"Oslo"}`, time.Second), call("call_b", "weather", `{"city":"Rome"}`, 2*time.Second),
		}},
		stream.Turn{ID: "msg_2", Blocks: []stream.Block{call("call_c", "weather", `{"city":"Bern"}`, time.Second)}},
		stream.Turn{ID: "msg_3", Blocks: []stream.Block{{Kind: stream.Text, Text: "All dry."}}},
	)
}

func scriptOf(turns ...stream.Turn) *serve.Script {
	c := &serve.Conversation{Number: 1}
	for _, t := range turns {
		c.Answers = append(c.Answers, serve.NewAnswer(stream.Script(t)))
	}
	return &serve.Script{Source: "weather", Conversations: []*serve.Conversation{c}}
}

// client sends what a client of this API would, and lets a test change it.
type client struct {
	t        *testing.T
	s        *serve.Server
	tools    string
	messages []string
}

func newClient(t *testing.T, tp *serve.Script, o serve.Options) *client {
	return &client{t: t, s: serve.New(tp, o), tools: `[{"name":"weather","input_schema":{"type":"object"}}]`}
}

func (c *client) say(messages ...string) { c.messages = append(c.messages, messages...) }

// ask sends the conversation and gives the answer.
func (c *client) ask(more string) *httptest.ResponseRecorder {
	c.t.Helper()
	body := `{"model":"m","max_tokens":9,` + more + `"tools":` + c.tools + `,"messages":[` + strings.Join(c.messages, ",") + `]}`
	require.True(c.t, json.Valid([]byte(body)), body)
	w := httptest.NewRecorder()
	c.s.ServeHTTP(w, httptest.NewRequest("POST", "http://localhost/v1/messages", strings.NewReader(body)))
	return w
}

// turn asks, and keeps the answer as the assistant's message.
func (c *client) turn() {
	c.t.Helper()
	w := c.ask("")
	require.Equal(c.t, http.StatusOK, w.Code, w.Body.String())
	c.say(`{"role":"assistant","content":` + gjson.Get(w.Body.String(), "content").Raw + `}`)
}

func user(content string) string { return `{"role":"user","content":` + content + `}` }

func result(id, text string) string {
	return `{"type":"tool_result","tool_use_id":"` + id + `","content":"` + text + `"}`
}

// check finds a check of the only session.
func (c *client) check(name string) serve.Check {
	c.t.Helper()
	r := c.s.Report()
	require.Len(c.t, r.Sessions, 1)
	for _, ch := range r.Sessions[0].Checks {
		if ch.Name == name {
			return ch
		}
	}
	c.t.Fatal("no such check: " + name)
	return serve.Check{}
}

// TestAnAnswerMayComeBackInParts has each call of a message come back in a message of its own, with
// its result behind it, as Google's kit for JavaScript does with what it streams, or without.
func TestAnAnswerMayComeBackInParts(t *testing.T) {
	call := func(content, id, city string) string {
		return `{"role":"assistant","content":[` + content + `{"type":"tool_use","id":"` + id + `","name":"weather","input":{"city":"` + city + `"}}]}`
	}
	first := call(`{"type":"thinking","thinking":"Two cities.","signature":"c2ln"},{"type":"text","text":"Looking."},`, "call_a", "Oslo")
	a, b := result("call_a", "wet"), result("call_b", "dry")
	for name, history := range map[string][]string{
		"results between":    {first, user("[" + a + "]"), call("", "call_b", "Rome"), user("[" + b + "]")},
		"results behind all": {first, call("", "call_b", "Rome"), user("[" + a + "," + b + "]")},
	} {
		t.Run(name, func(t *testing.T) {
			c := newClient(t, weather(), serve.Options{})
			c.say(user(`"How is it?"`))
			require.Equal(t, http.StatusOK, c.ask("").Code)
			c.say(history...)
			c.turn()
			c.say(user("[" + result("call_c", "dry") + "]"))
			c.turn()
			s := requireHeld(t, c.s)
			assert.Equal(t, []int{3, 3, 3}, []int{s.Answers, s.Calls, s.Results})
			assert.Equal(t, name == "results between", len(s.Notes) == 1, s.Notes)
		})
	}
	c := newClient(t, weather(), serve.Options{})
	c.say(user(`"How is it?"`))
	require.Equal(t, http.StatusOK, c.ask("").Code)
	c.say(first, user("["+b+"]"), call("", "call_b", "Rome"), user("["+a+"]"))
	c.turn()
	assert.Len(t, c.check("placement").Findings, 2, "each result belongs behind its own call")
}

func TestAGoodClientPassesEveryCheck(t *testing.T) {
	c := newClient(t, weather(), serve.Options{})
	c.say(user(`"How is it?"`))
	c.turn()
	c.say(user("[" + result("call_a", "wet") + "," + result("call_b", "dry") + "]"))
	c.turn()
	c.say(user("[" + result("call_c", "dry") + "]"))
	assert.False(t, c.s.State().Done)
	c.turn()
	assert.True(t, c.s.State().Done)
	r := c.s.Report()
	assert.True(t, r.Held())
	require.Len(t, r.Sessions, 1)
	s := r.Sessions[0]
	assert.Equal(t, []int{3, 3, 3, 3, 3, 0}, []int{s.Requests, s.Answers, s.Of, s.Calls, s.Results, s.Resent})
	assert.Len(t, s.Latencies, 2)
	for _, ch := range s.Checks {
		assert.NotEqual(t, serve.Failed, ch.Status, ch.Name)
	}
	assert.Equal(t, serve.Untested, c.check("recorded").Status, "a script has no recorded results")
	assert.Equal(t, serve.Untested, c.check("cache").Status)
}

// Each way to send results wrongly is named, at the turn, and by the right check.
func TestWhatAClientDoesWrongIsNamed(t *testing.T) {
	a, b := result("call_a", "wet"), result("call_b", "dry")
	for name, try := range map[string]struct {
		check, says string
		change      func(c *client)
	}{
		"missing": {"results", "weather call_b has no result", func(c *client) { c.say(user("[" + a + "]")) }},
		"unknown": {"results", `"call_x", which no call`, func(c *client) { c.say(user("[" + a + "," + b + "," + result("call_x", "") + "]")) }},
		"twice":   {"results", "call_a has 2 results", func(c *client) { c.say(user("[" + a + "," + a + "," + b + "]")) }},
		"swapped": {"order", "[call_a call_b], their results [call_b call_a]", func(c *client) { c.say(user("[" + b + "," + a + "]")) }},
		"apart": {"placement", "call_b stands in messages.4; it belongs right after the call, into messages.2", func(c *client) {
			c.say(user("["+a+"]"), `{"role":"system","content":"more"}`, user("["+b+"]"))
		}},
		"words between": {"placement", "call_b stands behind other content in messages.3", func(c *client) {
			c.say(user("["+a+`,{"type":"text","text":"here"}]`), user("["+b+"]"))
		}},
		"another role": {"roles", `messages.3 has the role "tool"`, func(c *client) {
			c.say(user("["+a+","+b+"]"), `{"role":"tool","content":"more"}`)
		}},
		"two tools of one name": {"request", `tools.1: the name "weather" is taken`, func(c *client) {
			c.tools = `[{"name":"weather","input_schema":{"type":"object"}},` + c.tools[1:]
			c.say(user("[" + a + "," + b + "]"))
		}},
		"a name the API refuses": {"request", `the name "a.b" is not`, func(c *client) {
			c.tools = `[{"name":"a.b","input_schema":{"type":"object"}},` + c.tools[1:]
			c.say(user("[" + a + "," + b + "]"))
		}},
		"a schema the API refuses": {"request", `input_schema of x is not of type object`, func(c *client) {
			c.tools = `[{"name":"x","input_schema":{"anyOf":[]}},` + c.tools[1:]
			c.say(user("[" + a + "," + b + "]"))
		}},
		"no schema": {"request", `x has no input_schema`, func(c *client) {
			c.tools = `[{"name":"x"},` + c.tools[1:]
			c.say(user("[" + a + "," + b + "]"))
		}},
		"an id reused": {"request", `messages.3: the id "call_a" is taken`, func(c *client) {
			c.say(user("["+a+","+b+"]"), `{"role":"assistant","content":[{"type":"tool_use","id":"call_a","name":"weather","input":{}}]}`, user("["+a+"]"))
		}},
		"a reference to nothing": {"request", `the reference to "gone" leads to no tool`, func(c *client) {
			c.say(user("[" + a + `,{"type":"tool_result","tool_use_id":"call_b","content":[{"type":"tool_reference","tool_name":"gone"}]}]`))
		}},
		"text first": {"placement", "stands behind other content", func(c *client) {
			c.say(user(`[{"type":"text","text":"here"},` + a + "," + b + "]"))
		}},
		"input rewritten": {"words", `input was "{\"city\":\"Rome\"}", is`, func(c *client) {
			c.messages[1] = strings.Replace(c.messages[1], "Rome", "Roma", 1)
			c.say(user("[" + a + "," + b + "]"))
		}},
		"thinking dropped": {"echo", "content.0 (thinking) did not come back", func(c *client) {
			c.messages[1] = `{"role":"assistant","content":[` + strings.SplitN(c.messages[1], "},", 2)[1]
			c.say(user("[" + a + "," + b + "]"))
		}},
		"signature changed": {"echo", `content.0 (thinking) came back changed: signature was "c2ln", is "bm8="`, func(c *client) {
			c.messages[1] = strings.Replace(c.messages[1], "c2ln", "bm8=", 1)
			c.say(user("[" + a + "," + b + "]"))
		}},
		"another id": {"echo", `id was "call_b", is "call_x"`, func(c *client) {
			c.messages[1] = strings.Replace(c.messages[1], "call_b", "call_x", 1)
			c.say(user("[" + a + "," + b + "]"))
		}},
		"text dropped": {"words", "content.1 (text) did not come back", func(c *client) {
			c.messages[1] = strings.Replace(c.messages[1], `{"type":"text","text":"Looking."},`, "", 1)
			c.say(user("[" + a + "," + b + "]"))
		}},
		"name rewritten": {"words", `name was "weather", is "Weather"`, func(c *client) {
			c.messages[1] = strings.Replace(c.messages[1], `"name":"weather"`, `"name":"Weather"`, 1)
			c.say(user("[" + a + "," + b + "]"))
		}},
		"tools reordered": {"tools", `byte 10: tools.0 was "weather" and is "other"`, func(c *client) {
			c.tools = `[{"name":"other","input_schema":{"type":"object"}},` + c.tools[1:]
			c.say(user("[" + a + "," + b + "]"))
		}},
		"tool changed": {"tools", `tools.0 "weather" differs at its byte 41`, func(c *client) {
			c.tools = strings.Replace(c.tools, `"type":"object"`, `"type": "object"`, 1)
			c.say(user("[" + a + "," + b + "]"))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			c := newClient(t, weather(), serve.Options{})
			c.say(user(`"How is it?"`))
			c.turn()
			try.change(c)
			c.turn()
			ch := c.check(try.check)
			assert.Equal(t, serve.Failed, ch.Status)
			require.NotEmpty(t, ch.Findings)
			assert.Equal(t, 1, ch.Findings[0].Turn)
			assert.Contains(t, ch.Findings[0].Text, try.says)
			r := c.s.Report()
			assert.False(t, r.Held())
		})
	}
}

// What a client leaves out, or adds, is named by itself: what stands behind it came back as it was.
func TestABlockThatIsLeftOutIsNamedAlone(t *testing.T) {
	const text, a, b = `{"type":"text","text":"Looking."}`, `"id":"call_a"`, `"id":"call_b"`
	for name, try := range map[string]struct {
		check, found string
		change       func(said string) string
	}{
		"text": {"words", "content.1 (text) did not come back", func(said string) string { return strings.Replace(said, text+",", "", 1) }},
		"the first call": {"words", "content.2 (tool_use) did not come back", func(said string) string {
			return said[:strings.Index(said, text)+len(text)] + "," + callOf(said, b) + "]}"
		}},
		"the second call": {"words", "content.3 (tool_use) did not come back", func(said string) string { return strings.Replace(said, ","+callOf(said, b), "", 1) }},
		"a call too many": {"echo", "content.2 (tool_use) came back, but was never sent", func(said string) string {
			return strings.Replace(said, callOf(said, a), strings.Replace(callOf(said, a), "call_a", "call_x", 1)+","+callOf(said, a), 1)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			c := newClient(t, weather(), serve.Options{})
			c.say(user(`"How is it?"`))
			c.turn()
			c.messages[1] = try.change(c.messages[1])
			c.say(user("[" + result("call_a", "wet") + "," + result("call_b", "dry") + "]"))
			c.turn()
			ch := c.check(try.check)
			require.Len(t, ch.Findings, 1, "%v", ch.Findings)
			assert.Equal(t, try.found, ch.Findings[0].Text)
		})
	}
}

// callOf is the call with an id in a message.
func callOf(said, id string) string {
	for _, b := range gjson.Get(said, "content").Array() {
		if strings.Contains(b.Raw, id) {
			return b.Raw
		}
	}
	return ""
}

// What the API takes is no fault: the user's messages in a row are one, who called a tool
// may be left out of the echo, and a deferred tool may join the end of the list.
func TestWhatTheAPITakesIsNoFault(t *testing.T) {
	turn := stream.Script(stream.Turn{ID: "msg_1", Blocks: []stream.Block{call("call_a", "weather", `{}`, 0), call("call_b", "weather", `{}`, 0)}})
	for i := range turn {
		turn[i].Data = bytes.Replace(turn[i].Data, []byte(`"name":"weather"`), []byte(`"name":"weather","caller":{"type":"direct"}`), 1)
	}
	end := stream.Script(stream.Turn{ID: "msg_2", Blocks: []stream.Block{{Kind: stream.Text, Text: "All dry."}}})
	script := &serve.Script{Conversations: []*serve.Conversation{{Number: 1, Answers: []serve.Answer{serve.NewAnswer(turn), serve.NewAnswer(end)}}}}
	c := newClient(t, script, serve.Options{})
	c.say(user(`"How is it?"`))
	c.turn()
	require.Contains(t, c.messages[1], "caller")
	c.messages[1] = strings.ReplaceAll(c.messages[1], `,"caller":{"type":"direct"}`, "")
	require.NotContains(t, c.messages[1], "caller")
	c.say(user("["+result("call_a", "wet")+"]"), user("["+result("call_b", "dry")+`,{"type":"text","text":"And?"}]`))
	c.tools = strings.TrimSuffix(c.tools, "]") + `,{"name":"late","defer_loading":true,"input_schema":{"type":"object"}}]`
	c.turn()
	for _, ch := range c.s.Report().Sessions[0].Checks {
		assert.NotEqual(t, serve.Failed, ch.Status, "%s: %v", ch.Name, ch.Findings)
	}
}

// A set of tools that the API itself defines has no name, and the calls of its members name it; they are of no other set.
func TestTheAPIsSetsOfToolsHaveNoName(t *testing.T) {
	for tools, want := range map[string]string{
		`[{"type":"browser_toolset_20260801","configs":{}},{"type":"mcp_toolset","mcp_server_name":"s"},{"name":"weather","input_schema":{"type":"object"}}]`: "",
		`[{"type":"computer_toolset_20260801"},{"name":"weather","input_schema":{"type":"object"}}]`:                                                          "click of the toolset browser is called and was not offered; offered are computer toolset, weather",
		`[{"name":"click","input_schema":{"type":"object"}},{"name":"browser","input_schema":{"type":"object"}}]`:                                             "click of the toolset browser is called and was not offered; offered are click, browser",
		`[{"type":"custom","input_schema":{"type":"object"}},{"type":"browser_toolset_20260801"}]`:                                                            `tools.0: the name "" is not`,
	} {
		turn := stream.Script(stream.Turn{ID: "msg_1", Blocks: []stream.Block{{Kind: stream.ToolUse, ID: "call_a", Name: "click", Toolset: "browser", Input: json.RawMessage(`{"x":1}`)}}})
		end := stream.Script(stream.Turn{ID: "msg_2", Blocks: []stream.Block{{Kind: stream.Text, Text: "Done."}}})
		script := &serve.Script{Conversations: []*serve.Conversation{{Number: 1, Answers: []serve.Answer{serve.NewAnswer(turn), serve.NewAnswer(end)}}}}
		c := newClient(t, script, serve.Options{})
		c.tools = tools
		c.say(user(`"Click."`))
		c.turn()
		require.Equal(t, "browser", gjson.Get(c.messages[1], "content.0.toolset_name").Str)
		c.say(user("[" + result("call_a", "ok") + "]"))
		c.turn()
		var found []string
		for _, ch := range c.s.Report().Sessions[0].Checks {
			for _, f := range ch.Findings {
				found = append(found, f.Text)
			}
		}
		if want == "" {
			assert.Empty(t, found, tools)
		} else {
			assert.Contains(t, strings.Join(found, "\n"), want, tools)
		}
	}
}

// Who rewrites words is told that the API takes it, and only one check fails. An input that
// gains what its schema has as default says the same, which is a note.
func TestWhatTheAPITakesIsNotCalledRefused(t *testing.T) {
	for more, want := range map[string]struct{ status, note string }{
		`,"units":"metric"`:   {"held", `weather comes back with units: "metric", which its schema has as the default`},
		`,"units":"imperial"`: {"failed", ""},
		`,"days":1`:           {"failed", ""},
	} {
		c := newClient(t, weather(), serve.Options{})
		c.tools = `[{"name":"weather","input_schema":{"type":"object","properties":{"city":{},"units":{"default":"metric"},"days":{}}}}]`
		c.say(user(`"How is it?"`))
		c.turn()
		c.messages[1] = strings.Replace(c.messages[1], `"Oslo"`, `"Oslo"`+more, 1)
		c.say(user("[" + result("call_a", "wet") + "," + result("call_b", "dry") + "]"))
		c.turn()
		words := c.check("words")
		assert.Equal(t, []any{want.status, serve.Taste, serve.Held}, []any{string(words.Status), words.Weight, c.check("echo").Status}, "%s: %v", more, words.Findings)
		if notes := c.s.Report().Sessions[0].Notes; want.note != "" {
			assert.Equal(t, []string{want.note}, notes)
		} else {
			assert.Empty(t, notes)
		}
	}
}

// A number may be written in another way, but a client that holds it in 64 bits rounds long ids.
func TestNumbersComeBackToTheLastDigit(t *testing.T) {
	for sent, back := range map[string]struct {
		number string
		status serve.Status
	}{
		"12345678901234567891":  {"12345678901234567000", serve.Failed},
		"9007199254740993":      {"9007199254740992", serve.Failed},
		"0.1234567890123456789": {"0.12345678901234568", serve.Failed},
		"1.0":                   {"1", serve.Held},
		"1e20":                  {"100000000000000000000", serve.Held},
		"-0.50":                 {"-5e-1", serve.Held},
		"1e-999999999":          {"1e-999999999", serve.Held},
		"1e999999999":           {"2e999999999", serve.Failed},
	} {
		input := `{"of":[{"id":` + sent + `}]}`
		c := newClient(t, scriptOf(stream.Turn{Blocks: []stream.Block{call("call_a", "weather", input, 0)}}, stream.Turn{Blocks: []stream.Block{{Kind: stream.Text, Text: "Dry."}}}), serve.Options{})
		c.say(user(`"How is it?"`))
		c.turn()
		require.Contains(t, c.messages[1], sent)
		c.messages[1] = strings.Replace(c.messages[1], sent, back.number, 1)
		c.say(user("[" + result("call_a", "wet") + "]"))
		c.turn()
		assert.Equal(t, back.status, c.check("words").Status, "%s comes back as %s", sent, back.number)
	}
}

// Results of an answer that was cut off are named, at the first answer and behind others, and
// the conversation goes on. Who asks for the answer again has done right.
func TestResultsOfACutAnswerAreNamed(t *testing.T) {
	for _, at := range []int{1, 2} {
		for _, goesOn := range []bool{true, false} {
			c := newClient(t, weather(), serve.Options{Fault: func(n int) (f cassette.Fault) {
				if n == at {
					f.CutAfter = 12
				}
				return f
			}})
			c.say(user(`"How is it?"`))
			if at == 2 {
				c.turn()
				c.say(user("[" + result("call_a", "wet") + "," + result("call_b", "dry") + "]"))
			}
			require.PanicsWithError(t, http.ErrAbortHandler.Error(), func() { c.ask("") })
			id := []string{"call_a", "call_c"}[at-1]
			if goesOn {
				c.say(`{"role":"assistant","content":[{"type":"tool_use","id":"`+id+`","name":"weather","input":{}}]}`, user("["+result(id, "wet")+"]"))
			}
			c.turn()
			cut := c.check("cut")
			assert.Equal(t, serve.Taste, cut.Weight)
			if !goesOn {
				assert.Equal(t, serve.Held, cut.Status)
				continue
			}
			assert.Equal(t, serve.Failed, cut.Status)
			require.Len(t, cut.Findings, 1)
			assert.Equal(t, serve.Finding{Turn: at, Text: id + " has a result, though its answer was cut off"}, cut.Findings[0])
			assert.Equal(t, 1, len(c.s.Report().Sessions))
		}
	}
}

func TestCacheBreakpoints(t *testing.T) {
	mark := func(text string) string {
		return `[{"type":"text","text":"` + text + `","cache_control":{"type":"ephemeral"}}]`
	}
	c := newClient(t, weather(), serve.Options{})
	c.tools = strings.Replace(c.tools, `{"name"`, `{"cache_control":{"type":"ephemeral"},"name"`, 1)
	c.say(user(mark("How is it?")))
	c.turn()
	assert.Equal(t, []string{"tools.0", "messages.0.content.0"}, c.s.Report().Sessions[0].Breakpoints)
	c.say(user("[" + result("call_a", "wet") + "," + result("call_b", "dry") + "]"))
	c.turn()
	assert.Equal(t, serve.Held, c.check("cache").Status)
	c.messages[0] = user(`[{"type":"text","text":"How is it?"}]`)
	c.say(user("[" + result("call_c", "dry") + "]"))
	c.turn()
	require.Len(t, c.check("cache").Findings, 1)
	assert.Equal(t, "the last breakpoint moved back from messages.0.content.0 to tools.0", c.check("cache").Findings[0].Text)
	assert.Equal(t, serve.Held, c.check("tools").Status, "a breakpoint is no part of a tool")
}

// Streams come at their recorded times, sped up on demand; one who wants no stream
// has the message when the stream would be over.
func TestAnswersComeAtTheirTimes(t *testing.T) {
	for _, try := range []struct {
		speed float64
		more  string
		took  time.Duration
	}{{1, `"stream":true,`, 2 * time.Second}, {2, `"stream":true,`, time.Second}, {0, `"stream":true,`, 0}, {1, "", 2 * time.Second}} {
		synctest.Test(t, func(t *testing.T) {
			c := newClient(t, weather(), serve.Options{Speed: try.speed})
			c.say(user(`"How is it?"`))
			began := time.Now()
			w := c.ask(try.more)
			assert.Equal(t, try.took, time.Since(began))
			if try.more != "" {
				assert.Equal(t, stream.Bytes(weather().Conversations[0].Answers[0].Events), w.Body.Bytes())
				return
			}
			got := gjson.Parse(w.Body.String())
			assert.Equal(t, "message", got.Get("type").Str)
			assert.Equal(t, "tool_use", got.Get("stop_reason").Str)
			assert.Equal(t, "Rome", got.Get("content.3.input.city").Str)
		})
	}
}

func TestWhatCannotBeAnsweredIsAnErrorOfTheAPI(t *testing.T) {
	s := serve.New(weather(), serve.Options{})
	post := func(path, body string) (int, gjson.Result) {
		w := httptest.NewRecorder()
		s.ServeHTTP(w, httptest.NewRequest("POST", "http://localhost"+path, strings.NewReader(body)))
		return w.Code, gjson.Parse(w.Body.String())
	}
	code, v := post("/v1/messages", `{"messages":`)
	assert.Equal(t, http.StatusBadRequest, code)
	assert.Equal(t, "error", v.Get("type").Str)
	assert.Equal(t, "invalid_request_error", v.Get("error.type").Str)
	code, v = post("/v1/messages", `{"messages":[{"role":"user"}]}`)
	assert.Equal(t, http.StatusBadRequest, code)
	assert.Contains(t, v.Get("error.message").Str, "messages.0")
	code, v = post("/v1/complete", `{}`)
	assert.Equal(t, http.StatusNotFound, code)
	assert.Equal(t, "not_found_error", v.Get("error.type").Str)
	code, v = post("/v1/messages", `{"pad":"`+strings.Repeat("x", serve.MaxBody)+`"}`)
	assert.Equal(t, http.StatusRequestEntityTooLarge, code)
	assert.Equal(t, "request_too_large", v.Get("error.type").Str)
	code, v = post("/v1/messages/count_tokens", `{"messages":[{"role":"user","content":"four and four"}]}`)
	assert.Equal(t, http.StatusOK, code)
	assert.Positive(t, v.Get("input_tokens").Int())
	w := httptest.NewRecorder()
	s.ServeHTTP(w, httptest.NewRequest("GET", "http://localhost/v1/models", nil))
	assert.Equal(t, "scripted", gjson.Get(w.Body.String(), "data.0.id").Str)
	assert.False(t, held(s), "requests were refused")
}

func held(s *serve.Server) bool {
	r := s.Report()
	return r.Held()
}

func FuzzNoRequestBreaksTheServer(f *testing.F) {
	f.Add([]byte(`{"messages":[{"role":"user","content":"Hi"}]}`))
	f.Add([]byte(`{"stream":true,"tools":[1,{}],"system":[{}],"messages":[{"role":"assistant","content":[{"type":"tool_use","id":"call_a"}]},{"role":"x","content":[{},{"type":"tool_result"}]}]}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		s := serve.New(weather(), serve.Options{})
		for range 3 {
			w := httptest.NewRecorder()
			s.ServeHTTP(w, httptest.NewRequest("POST", "http://localhost/v1/messages", bytes.NewReader(body)))
			if w.Code != http.StatusOK && !json.Valid(w.Body.Bytes()) {
				t.Fatalf("%d: %s", w.Code, w.Body)
			}
		}
		r := s.Report()
		_ = r.Held()
	})
}

// A client that would leave the conversation to the server is asked for all of it.
func TestThreadsAreRefusedInTheSDKsOwnWords(t *testing.T) {
	c := newClient(t, weather(), serve.Options{})
	c.say(user(`"Hi"`))
	w := c.ask(`"thread":{"type":"create"},`)
	assert.Equal(t, http.StatusBadRequest, w.Code)
	assert.Equal(t, "thread_unsupported_request", gjson.Get(w.Body.String(), "error.details.error_code").Str)
	c.turn()
	r := c.s.Report()
	assert.Empty(t, r.Refused)
}

// A client may send what it likes: the report on it is made at once, not in a time that grows
// with the square of the results, of the references or of the tools.
func TestAReportOnManyResultsIsMadeAtOnce(t *testing.T) {
	const many = 30_000
	c := newClient(t, weather(), serve.Options{})
	c.say(user(`"How is it?"`))
	c.turn()
	tools, results := []string{`{"name":"weather","input_schema":{"type":"object"}}`}, []string{result("call_a", "wet"), result("call_b", "dry")}
	var messages, references []string
	for i := range many {
		tools = append(tools, fmt.Sprintf(`{"name":"tool_%d","input_schema":{"type":"object"}}`, i))
		results = append(results, result(fmt.Sprint("other_", i), ""))
		messages = append(messages, user("["+result(fmt.Sprint("more_", i), "")+"]"))
		references = append(references, fmt.Sprintf(`{"type":"tool_reference","tool_name":"none_%d"}`, i))
	}
	results = append(results, `{"type":"tool_result","tool_use_id":"call_b","content":[`+strings.Join(references, ",")+"]}")
	c.tools = "[" + strings.Join(tools, ",") + "]"
	c.say(user("[" + strings.Join(results, ",") + "]"))
	c.say(messages...)
	require.Equal(t, http.StatusOK, c.ask("").Code)
	made := make(chan serve.Report, 1)
	go func() { made <- c.s.Report() }()
	select {
	case r := <-made:
		assert.Len(t, r.Sessions, 1)
	case <-time.After(30 * time.Second):
		t.Fatal("it is still being made")
	}
}
