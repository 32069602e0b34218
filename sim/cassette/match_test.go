package cassette_test

import (
	"fmt"
	"strings"
	"testing"

	vcr "github.com/dnaeon/go-vcr/v2/cassette"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/sim/cassette"
	"toolbench/sim/stream"
)

// of is a request with members, of which each is a line where requests are compared.
func of(members ...string) string {
	return `{"model":"m","messages":[` + `],` + strings.Join(members, ",") + `}`
}

// How much two requests are alike is the share of the lines that both have: brackets do not
// count, and neither does which of them is longer.
func TestHowMuchARequestIsAlike(t *testing.T) {
	recorded := of(`"a":1`, `"b":2`, `"c":3`, `"d":4`, `"list":[[],{}]`)
	p := player(t, recording([]string{recorded}, turn("a")), cassette.Options{Wait: instantly})
	// Of 8 lines and of 10 have both in common: the method, the model, a, b, c and list.
	miss := missOf(t, p, of(`"a":1`, `"b":2`, `"c":3`, `"list":[[],{}]`, `"e":5`, `"f":6`, `"g":7`))
	assert.Equal(t, cassette.Differs, miss.Kind)
	assert.InDelta(t, 2*7.0/(8+10), miss.Similarity, 1e-9)
	assert.ErrorContains(t, miss, "interaction 1 is nearest (77 % alike)")
	assert.Equal(t, 1.0, similar(t, recorded, strings.Replace(recorded, `[[],{}]`, `[{},[]]`, 1)), "brackets alone differ")
}

func similar(t *testing.T, recorded, live string) float64 {
	p := player(t, recording([]string{recorded}, turn("a")), cassette.Options{Wait: instantly})
	return missOf(t, p, live).Similarity
}

// Of two that are as much alike the first is the nearest.
func TestTheFirstOfEquallyNear(t *testing.T) {
	one, two := of(`"a":1`, `"b":2`, `"c":3`, `"d":4`), of(`"a":1`, `"b":2`, `"c":3`, `"e":5`)
	p := player(t, recording([]string{one, two}, turn("a"), turn("b")), cassette.Options{Wait: instantly})
	assert.Equal(t, 1, missOf(t, p, of(`"a":1`, `"b":2`, `"c":3`, `"f":6`)).Nearest)
}

// A difference of up to 80 lines is shown whole, and of a longer one it is said how much is left.
func TestADiffIsCutAtEightyLines(t *testing.T) {
	text := func(word string, n int) string {
		return `{"model":"m","messages":[{"role":"user","content":"` + strings.Repeat(word+`\n`, n) + `"}],"a":1,"b":2,"c":3,"d":4,"e":5,"f":6,"g":7,"h":8,"i":9,"j":10}`
	}
	diff := func(n int) string {
		same := strings.Repeat(`same\n`, 300)
		p := player(t, recording([]string{strings.Replace(text("one", n), `content":"`, `content":"`+same, 1)}, turn("a")), cassette.Options{Wait: instantly})
		return missOf(t, p, strings.Replace(text("two", n), `content":"`, `content":"`+same, 1)).Diff
	}
	// Beside n lines of each there are two names, a place, and three lines around it.
	assert.Equal(t, 77, strings.Count(diff(34), "\n"))
	assert.NotContains(t, diff(35), "more lines")
	assert.True(t, strings.HasSuffix(diff(45), fmt.Sprintf("... %d more lines\n", 2*45+9+1-80)), diff(45)[len(diff(45))-60:])
}

// Long texts are broken behind a blank where one is near, and nothing of them acts on a terminal.
func TestLongTextsAreBrokenForReading(t *testing.T) {
	long := strings.Repeat("word ", 30) + strings.Repeat("x", 120) + "\u007f\u0085\u009f end"
	prompt := func(word string) string {
		return `{"model":"m","system":"` + long + word + `","messages":[],"a":1,"b":2,"c":3,"d":4}`
	}
	p := player(t, recording([]string{prompt("one")}, turn("a")), cassette.Options{Wait: instantly})
	diff := missOf(t, p, prompt("two")).Diff
	for line := range strings.Lines(diff) {
		assert.LessOrEqual(t, len(strings.TrimLeft(line[1:], " ")), 130, line)
	}
	assert.Contains(t, diff, strings.TrimSuffix(strings.Repeat("word ", 20), " "))
	assert.Contains(t, diff, `\x7f\u0085\u009f`)
	assert.NotContains(t, diff, "\u0085")

	c := recording([]string{"one\x1b two"}, turn("a"))
	c.Interactions[0].Request.URL = "https://recorded.example.com/page"
	req := again(t, cassette.Interaction{Request: vcr.Request{Method: "POST", URL: "https://recorded.example.com/page", Body: "one\x1b three"}})
	_, err := player(t, c, cassette.Options{Wait: instantly}).RoundTrip(req)
	assert.ErrorContains(t, err, `-one\x1b two`)
}

// What acts on a terminal is escaped wherever it stands, and nothing else is: quotes, letters
// of other languages and blanks stay. A line that is too long ends behind a word.
func TestOnlyWhatActsOnATerminalIsEscaped(t *testing.T) {
	prompt := func(word string) string {
		lines := `say \"hi\" there\né \"x\"\n\u0080\n\u009f\n\u007f\n` + strings.Repeat("letters ", 20)
		return `{"model":"m","system":"` + word + `\n` + lines + `","messages":[],"a":1,"b":2,"c":3,"d":4}`
	}
	p := player(t, recording([]string{prompt("one")}, turn("a")), cassette.Options{Wait: instantly})
	changed := strings.NewReplacer("one", "two", "hi", "ho", `é`, `è`, `\u0080`, `\u0080.`, `\u009f`, `\u009f.`, `\u007f`, `\u007f.`, "letters", "LETTERS").Replace(prompt("one"))
	diff := missOf(t, p, changed).Diff
	for _, line := range []string{`say "hi" there`, `é "x"`, `\u0080`, `\u009f`, `\x7f`, strings.Repeat("letters ", 12), strings.Repeat("letters ", 8)} {
		assert.Contains(t, diff, "-        "+line+"\n")
	}
}

// The query belongs to a request that is no turn of the model.
func TestAnotherQueryIsAnotherRequest(t *testing.T) {
	c := recording([]string{""}, []stream.Event{})
	c.Interactions[0].Request = vcr.Request{Method: "POST", URL: "https://recorded.example.com/page?n=1", Body: `{"a":1}`}
	p := player(t, c, cassette.Options{Wait: instantly})
	_, err := p.RoundTrip(again(t, cassette.Interaction{Request: vcr.Request{Method: "POST", URL: "https://recorded.example.com/page?n=2", Body: `{"a": 1}`}}))
	assert.Error(t, err)
}

// Counting tokens is no turn of the model: it takes no answer of one where order alone counts.
func TestCountingTokensTakesNoTurn(t *testing.T) {
	p := player(t, recording([]string{hello}, turn("a")), cassette.Options{Wait: instantly, Lenient: true})
	req := again(t, cassette.Interaction{Request: vcr.Request{Method: "POST", URL: "https://recorded.example.com/v1/messages/count_tokens", Body: bye}})
	_, err := p.RoundTrip(req)
	assert.Error(t, err)
	assert.Equal(t, turn("a")[0].Data, play(t, p, bye)[0].Data)
}

// A list is compared as JSON as well.
func TestAListMatchesHoweverItIsWritten(t *testing.T) {
	c := recording([]string{`[{"a":1,"b":2}]`}, []stream.Event{})
	c.Interactions[0].Request.URL = "https://recorded.example.com/batch"
	req := again(t, cassette.Interaction{Request: vcr.Request{Method: "POST", URL: "https://recorded.example.com/batch", Body: `[ {"b":2, "a":1} ]`}})
	resp, err := player(t, c, cassette.Options{Wait: instantly}).RoundTrip(req)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
}

// What is left is listed up to ten, and counted beyond that.
func TestWhatIsLeftIsListedUpToTen(t *testing.T) {
	for n, last := range map[int]string{10: "10 POST /v1/messages", 11: "1 more", 13: "3 more"} {
		var bodies []string
		var turns [][]stream.Event
		for i := range n {
			bodies, turns = append(bodies, of(fmt.Sprintf(`"n":%d`, i))), append(turns, turn("a"))
		}
		p := player(t, recording(bodies, turns...), cassette.Options{Wait: instantly})
		_, err := p.RoundTrip(again(t, cassette.Interaction{Request: vcr.Request{Method: "GET", URL: "https://example.com/"}}))
		require.Error(t, err)
		assert.True(t, strings.HasSuffix(err.Error(), ", "+last), err.Error())
	}
}
