package serve_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"toolbench/sim/serve"
	"toolbench/sim/stream"
)

func TestBeyondTheEnd(t *testing.T) {
	t.Run("of a recording that ends with words it is the client's fault", func(t *testing.T) {
		c := newClient(t, scriptOf(stream.Turn{Blocks: []stream.Block{{Kind: stream.Text, Text: "Hello."}}}), serve.Options{})
		c.say(user(`"Hi"`))
		c.turn()
		c.say(user(`"And?"`))
		w := c.ask("")
		assert.Equal(t, http.StatusBadRequest, w.Code)
		assert.Contains(t, w.Body.String(), "no answer left: all 1 were given")
		assert.False(t, held(c.s))
	})
	t.Run("of a recording that ends with calls it is not, and their results are checked", func(t *testing.T) {
		c := newClient(t, scriptOf(stream.Turn{Blocks: []stream.Block{call("c1", "weather", "{}", 0)}}), serve.Options{})
		c.say(user(`"Hi"`))
		c.turn()
		c.say(user("[" + result("c1", "dry") + "]"))
		w := c.ask("")
		assert.Equal(t, http.StatusBadRequest, w.Code)
		assert.Contains(t, w.Body.String(), "the recording ends here")
		assert.True(t, held(c.s))
		assert.True(t, c.s.State().Done)
		assert.Equal(t, serve.Held, c.check("results").Status)
	})
	t.Run("a client that never answers its calls", func(t *testing.T) {
		c := newClient(t, weather(), serve.Options{})
		c.say(user(`"Hi"`))
		c.turn()
		assert.Equal(t, serve.Failed, c.check("results").Status)
		assert.Contains(t, c.check("results").Findings[0].Text, "no request came any more")
	})
	t.Run("nothing asked is not held", func(t *testing.T) {
		assert.False(t, held(serve.New(weather(), serve.Options{})))
	})
}

// The same request again has the same answer; a stream that failed is followed by
// what the recorder's client got on its second try.
func TestRetries(t *testing.T) {
	c := newClient(t, weather(), serve.Options{})
	c.say(user(`"How is it?"`))
	first, again := c.ask(""), c.ask("")
	assert.Equal(t, first.Body.String(), again.Body.String())
	assert.Equal(t, 1, c.s.Report().Sessions[0].Resent)

	failing := scriptOf(
		stream.Turn{Blocks: []stream.Block{{Kind: stream.Text, Text: "He"}}, Error: &stream.Error{Type: "overloaded_error", Message: "Overloaded"}},
		stream.Turn{Blocks: []stream.Block{{Kind: stream.Text, Text: "Hello."}}},
	)
	c = newClient(t, failing, serve.Options{})
	c.say(user(`"Hi"`))
	w := c.ask("")
	assert.Equal(t, 529, w.Code)
	assert.Equal(t, "overloaded_error", gjson.Get(w.Body.String(), "error.type").Str)
	assert.Equal(t, "Hello.", gjson.Get(c.ask("").Body.String(), "content.0.text").Str)
	assert.True(t, held(c.s))
}

// A stream that was cut ends as a lost connection, not as a good end.
func TestACutStreamIsALostConnection(t *testing.T) {
	s := httptest.NewServer(serve.New(scriptOf(stream.Turn{Blocks: []stream.Block{{Kind: stream.Text, Text: "Hello."}}, CutAfter: 3}), serve.Options{}))
	defer s.Close()
	resp, err := http.Post(s.URL+"/v1/messages", "application/json", strings.NewReader(`{"stream":true,"messages":[{"role":"user","content":"Hi"}]}`))
	require.NoError(t, err)
	defer resp.Body.Close()
	_, err = io.ReadAll(resp.Body)
	assert.ErrorIs(t, err, io.ErrUnexpectedEOF)
}

// Conversations are distinguished by their first user message, else taken in turn.
func TestSeveralConversations(t *testing.T) {
	conv := func(n int, opening, matching, text string) *serve.Conversation {
		return &serve.Conversation{Number: n, Opening: opening, For: matching, Answers: []serve.Answer{serve.NewAnswer(stream.Script(stream.Turn{Blocks: []stream.Block{{Kind: stream.Text, Text: text}}}))}}
	}
	tp := &serve.Script{Conversations: []*serve.Conversation{conv(1, "one", "", "first"), conv(2, "two", "", "second"), conv(3, "", "sub:", "third")}}
	for _, again := range []bool{false, true} {
		s := serve.New(tp, serve.Options{Again: again})
		ask := func(text string) string {
			w := httptest.NewRecorder()
			s.ServeHTTP(w, httptest.NewRequest("POST", "http://localhost/v1/messages", strings.NewReader(`{"messages":[{"role":"user","content":"`+text+`"}]}`)))
			return gjson.Get(w.Body.String(), "content.0.text").Str + gjson.Get(w.Body.String(), "error.message").Str
		}
		assert.Equal(t, "second", ask("two"))
		assert.Equal(t, "third", ask("sub: look"))
		assert.Equal(t, "first", ask("something else"))
		if assert.True(t, s.State().Done); again {
			assert.Equal(t, "second", ask("two"))
			assert.Equal(t, "first", ask("three"))
			continue
		}
		assert.Contains(t, ask("three"), "all 3 conversations were served")
	}
}

// A client may begin in the middle, with what was recorded before.
func TestAClientInTheMiddle(t *testing.T) {
	c := newClient(t, weather(), serve.Options{})
	c.say(user(`"Hi"`), `{"role":"assistant","content":[{"type":"tool_use","id":"call_c","name":"weather","input":{"city":"Bern"}}]}`, user("["+result("call_c", "dry")+"]"))
	assert.Equal(t, "All dry.", gjson.Get(c.ask("").Body.String(), "content.0.text").Str)
}
