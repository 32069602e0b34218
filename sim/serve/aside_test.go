package serve_test

import (
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"toolbench/sim/serve"
	"toolbench/sim/stream"
)

// Requests that are no turn never take an answer of the conversation, also of one without
// calls, whenever they come.
func TestAsidesTakeNoAnswer(t *testing.T) {
	const (
		history = user1 + `,{"role":"assistant","content":"One."},`
		user2   = `{"role":"user","content":"And then?"}`
		tools   = `"tools":[{"name":"weather","input_schema":{"type":"object"}}],`
		turn1   = `{"messages":[` + user1 + `]}`
		turn2   = `{"messages":[` + history + user2 + `]}`
		first   = `{` + tools + `"messages":[` + user1 + `]}`
		second  = `{` + tools + `"messages":[` + history + user2 + `]}`
	)
	title := `{"system":"Write a title for what follows.","messages":[{"role":"user","content":"How is it?"}]}`
	for name, c := range map[string]struct {
		requests []string
		answers  string
		asides   int
	}{
		"a title before":                     {[]string{title, turn1, turn2}, "Session One. Two.", 1},
		"a title between":                    {[]string{turn1, title, turn2}, "One. Session Two.", 1},
		"a title with the tools it may use":  {[]string{title, first, second}, "Session One. Two.", 1},
		"a title of the conversation":        {[]string{turn1, `{"system":"Write a title.","messages":[` + history + user2 + `]}`, turn2}, "One. Session Two.", 1},
		"a summary that has the history":     {[]string{first, `{"messages":[` + history + `{"role":"user","content":"Summarize this conversation."}]}`, second}, "One. Session Two.", 1},
		"a probe":                            {[]string{`{"max_tokens":1,"messages":[{"role":"user","content":"quota"}]}`, turn1, turn2}, "Session One. Two.", 1},
		"something else, before one's tools": {[]string{`{"messages":[{"role":"user","content":"Is this a question?"}]}`, first, second}, "One. One. Two.", 1},
		"the prompt words it":                {[]string{`{"messages":[{"role":"user","content":"Give it a title."}]}`}, "One.", 0},
	} {
		t.Run(name, func(t *testing.T) {
			script := scriptOf(stream.Turn{ID: "m1", Blocks: []stream.Block{{Kind: stream.Text, Text: "One."}}}, stream.Turn{ID: "m2", Blocks: []stream.Block{{Kind: stream.Text, Text: "Two."}}})
			script.Conversations[0].Opening = map[bool]string{true: "Give it a title.", false: "How is it?"}[c.asides == 0]
			s := serve.New(script, serve.Options{})
			var answers []string
			for _, body := range c.requests {
				w := httptest.NewRecorder()
				s.ServeHTTP(w, httptest.NewRequest("POST", "http://localhost/v1/messages", strings.NewReader(body)))
				require.Equal(t, 200, w.Code, w.Body.String())
				answers = append(answers, gjson.Get(w.Body.String(), "content.0.text").Str)
			}
			assert.Equal(t, c.answers, strings.Join(answers, " "))
			r := s.Report()
			assert.Len(t, r.Asides, c.asides)
			assert.Len(t, r.Sessions, 1)
			assert.Empty(t, r.Refused)
		})
	}
}

const user1 = `{"role":"user","content":"How is it?"}`
