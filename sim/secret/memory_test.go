package secret

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// conversation gives the bodies of a conversation's requests, each of which repeats those before it.
func conversation(n int) []string {
	var bodies, messages []string
	for i := range n {
		text := fmt.Sprintf(`{"role":"user","content":"line %d \"quoted\" and %s"}`, i, strings.Repeat("some words of prose, ", 20))
		if i%7 == 3 {
			text = fmt.Sprintf(`{"role": "user", "content": [{"type":"text","text":"password: Zx8Kq2Lm%d"}]}`, i)
		}
		messages = append(messages, text)
		bodies = append(bodies, `{"model":"m","tools":[ {"name":"a"}, {"name":"b"} ],"messages":[`+strings.Join(messages, " , ")+`],"metadata":{"api_key":"Zx8Kq2Lm9Pw4Zx8Kq2Lm9Pw4"}}`)
	}
	return bodies
}

// What is remembered changes neither what is blanked nor what is reported of it.
func TestAMemoryBlanksAsItsFinder(t *testing.T) {
	for name, finder := range map[string]*Finder{"plain": New(), "values": New(Known{"A", "line 5"}), "the name of a list is a value": New(Known{"A", "line 5"}, Known{"B", "messages"})} {
		m := finder.Remember()
		for _, body := range append(conversation(20), "no JSON: password=Zx8Kq2Lm9", `{"messages":"password=Zx8Kq2Lm9"}`, `{"input":["password=Zx8Kq2Lm9",1],"tools":[]}`, `["password=Zx8Kq2Lm9"]`, "") {
			var want, got Tally
			assert.Equal(t, finder.Text(body, want.At("body")), m.Body(body, got.At("body")), name)
			assert.Equal(t, want.Counts(), got.Counts(), "%s: %s", name, body)
		}
	}
}

// A memory searches each message of a conversation once, so that the time of its requests
// does not grow with the square of their number.
func TestAMemorySearchesWhatIsRepeatedOnce(t *testing.T) {
	m := New().Remember()
	bodies := conversation(30)
	for _, body := range bodies {
		m.Body(body, nil)
	}
	assert.Equal(t, 30+2+1, len(m.found), "messages, tools, and what is left of those with a password")
	assert.Less(t, m.size, len(bodies[29]))
}

// What is remembered is bounded, whatever is sent.
func TestAMemoryForgets(t *testing.T) {
	m := New().Remember()
	m.size = maxRemembered - 10
	m.Body(`{"messages":[{"a":1}]}`, nil)
	assert.Len(t, m.found, 1)
	m.Body(`{"messages":[{"a":12345}]}`, nil)
	assert.Equal(t, map[string][]span{`{"a":12345}`: nil}, m.found)
	assert.Equal(t, len(`{"a":12345}`), m.size)
}
