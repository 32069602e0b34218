package cassette_test

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"toolbench/sim/cassette"
	"toolbench/sim/secret"
)

// conversation gives the request bodies of turns that each repeat those before, with definitions
// of tools behind the messages.
func conversation(who string, turns int) []string {
	var messages []string
	tools := strings.Repeat(`{"name":"tool","description":"`+who+` does what it is for"},`, 400)
	bodies := make([]string, turns)
	for i := range bodies {
		messages = append(messages, fmt.Sprintf(`{"role":"user","content":"%s turn %d: %s"}`, who, i, strings.Repeat("étude ", 500)))
		bodies[i] = `{"model":"m","messages":[` + strings.Join(messages, ",") + `],"tools":[` + strings.TrimSuffix(tools, ",") + `]}`
	}
	return bodies
}

func sent(c *cassette.Cassette) []string {
	var bodies []string
	for _, i := range c.Interactions {
		bodies = append(bodies, i.Request.Body)
	}
	return bodies
}

// A cassette grows with what is new in its requests, not with what each repeats, whoever writes it,
// and has all of them for whoever reads it.
func TestACassetteHasWhatIsNewInARequest(t *testing.T) {
	one, two := conversation("one", 40), conversation("two", 40)
	var bodies []string
	for i := range one {
		bodies = append(bodies, one[i], two[i]) // agents that work beside each other
	}
	rt := transport(func(req *http.Request) (*http.Response, error) {
		if _, err := io.Copy(io.Discard, req.Body); err != nil {
			return nil, err
		}
		return answer(http.Header{"Content-Type": {"application/json"}}, "{}")(req)
	})
	each := func(rt http.RoundTripper, bodies []string) {
		for _, body := range bodies {
			_, err := io.ReadAll(mustAsk(t, rt, body).Body)
			require.NoError(t, err)
		}
	}
	dir := t.TempDir()
	recordings := map[string]func(string){
		"recorder": func(file string) { recorded(t, file, rt, func(rt http.RoundTripper) { each(rt, bodies) }) },
		"recorder that goes on": func(file string) {
			recorded(t, file, rt, func(rt http.RoundTripper) { each(rt, bodies[:50]) })
			rec, err := cassette.RecordAfter(file, rt, secret.New(), loaded(t, file))
			require.NoError(t, err)
			each(rec, bodies[50:])
			require.NoError(t, rec.Stop())
		},
		"journal": func(file string) {
			j, err := cassette.NewJournal(file, rt, nil)
			require.NoError(t, err)
			for _, body := range bodies {
				resp := mustAsk(t, j, body)
				_, err := io.ReadAll(resp.Body)
				require.NoError(t, err)
				require.NoError(t, resp.Body.Close())
			}
			require.NoError(t, j.Close(t.Context()))
		},
	}
	for name, record := range recordings {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(dir, strings.ReplaceAll(name, " ", "-")+".yaml")
			record(file)
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			assert.Less(t, len(text), 4*(len(one[39])+len(two[39])), "all requests together have %d bytes", len(strings.Join(bodies, "")))
			c := loaded(t, file)
			require.True(t, slices.Equal(bodies, sent(c)))
			assert.Empty(t, c.Interactions[5].Request.Headers.Get(cassette.SharedHeader))
			again, err := c.YAML()
			require.NoError(t, err)
			assert.Less(t, len(again), len(text)+len(text)/10)
		})
	}
	p := player(t, loaded(t, filepath.Join(dir, "journal.yaml")), cassette.Options{Wait: instantly})
	each(p, bodies)
	assert.Empty(t, p.Leftover())
}

// A body whose rest was changed by hand is an error that names its line and what to do.
func TestABodyWhoseRestWasChangedIsAnError(t *testing.T) {
	file := filepath.Join(t.TempDir(), "c.yaml")
	text := recorded(t, file, answer(http.Header{}, "{}"), func(rt http.RoundTripper) {
		for _, body := range conversation("one", 3) {
			mustAsk(t, rt, body)
		}
	})
	value := regexp.MustCompile(`(` + cassette.SharedHeader + `:\n\s+- ).*`)
	changed := []string{strings.Replace(text, "turn 0", "turn 10", 1)}
	for _, other := range []string{"what", "2 5 5 00000000", "1 -5 5 00000000", "1 5 -5 00000000", "1 9999999 1 00000000", "1 20000 9999999 00000000", "0 0 0 00000000"} {
		changed = append(changed, value.ReplaceAllString(text, "${1}"+other))
	}
	for _, text := range changed {
		_, err := cassette.Load("c.yaml", strings.NewReader(text), cassette.Limits{})
		require.ErrorIs(t, err, cassette.ErrInvalid)
		assert.ErrorContains(t, err, "is written as a part of an earlier one")
		assert.ErrorContains(t, err, "take out the body and the header")
		assert.Regexp(t, `^c.yaml:\d+`, err.Error())
	}
	c, err := cassette.Load("c.yaml", strings.NewReader(strings.ReplaceAll(text, "turn 0", "turn 9")), cassette.Limits{})
	require.NoError(t, err)
	assert.Contains(t, c.Interactions[2].Request.Body, "turn 9", "what is as long as before is read")
}

// Bodies that a small file blows up to more than the limit are an error.
func TestSharedBodiesAreBounded(t *testing.T) {
	var b strings.Builder
	b.WriteString("---\nversion: 1\ninteractions:\n")
	item := "- request:\n    body: %q\n    url: https://e.org/v1/messages\n    method: POST\n    headers: {%s: [%q]}\n  response: {code: 200, body: '{}'}\n"
	bodies := cassette.Bodies{}
	for i := range 2000 {
		h := http.Header{}
		short := bodies.Shorten(h, strings.Repeat("x", 100_000)+fmt.Sprint(i))
		fmt.Fprintf(&b, item, short, cassette.SharedHeader, h.Get(cassette.SharedHeader))
	}
	_, err := cassette.Load("c.yaml", strings.NewReader(b.String()), cassette.Limits{Bytes: 10 << 20})
	require.ErrorIs(t, err, cassette.ErrTooLarge)
}

// What is written of a body and the bodies before it give it back, and it stays text.
func TestPropertyABodyComesBackWhole(t *testing.T) {
	pieces := rapid.SampledFrom([]string{"a", "é", "€", "𝄞", strings.Repeat("same ", 5000), strings.Repeat("€", 9000), "{", "}\n"})
	rapid.Check(t, func(t *rapid.T) {
		var write, read cassette.Bodies
		for _, parts := range rapid.SliceOfN(rapid.SliceOfN(pieces, 0, 6), 0, 20).Draw(t, "bodies") {
			body, h := strings.Join(parts, ""), http.Header{}
			short := write.Shorten(h, body)
			require.True(t, utf8.ValidString(short))
			whole, err := read.Restore(h, short)
			require.NoError(t, err)
			require.Equal(t, body, whole)
			require.Empty(t, h)
		}
	})
}

// Headers of other requests are left as they are, also of a body that nobody shares.
func TestSmallBodiesStayAsTheyAre(t *testing.T) {
	var b cassette.Bodies
	for _, body := range slices.Concat(conversation("one", 1), conversation("other", 1), []string{"{}", "{}"}) {
		h := http.Header{"Accept": {"*/*"}}
		assert.Equal(t, body, b.Shorten(h, body))
		assert.Equal(t, http.Header{"Accept": {"*/*"}}, h)
	}
}
