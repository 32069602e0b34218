package cassette_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"html"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"toolbench/sim/cassette"
	"toolbench/sim/secret"
)

// anyKey draws a secret that no pattern matches.
var anyKey = rapid.OneOf(
	rapid.StringMatching(`[A-Za-z0-9]{16,48}`),
	rapid.StringMatching(`[A-Za-z0-9_.+/=~-]{14,40}`),
	rapid.StringMatching(`[A-Za-z][A-Za-z0-9 "'\\<>&%?#:;,!$()\[\]{}|^@*]{14,30}[A-Za-z]`),
)

// record records one exchange through the real recorder, and gives the file's text.
func (x *exchange) record(t need, dir string, secrets ...string) string {
	return recorded(t, filepath.Join(dir, "c.yaml"), x.model(), func(rt http.RoundTripper) { x.send(t, rt) }, secrets...)
}

// model answers with the exchange's answer.
func (x *exchange) model() http.RoundTripper {
	return transport(func(req *http.Request) (*http.Response, error) {
		if _, err := io.Copy(io.Discard, req.Body); err != nil {
			return nil, err
		}
		return &http.Response{Status: "200 OK", StatusCode: 200, Header: x.got, Body: io.NopCloser(strings.NewReader(x.answer)), Request: req}, nil
	})
}

// journal records it as it goes through, as a proxy does.
func (x *exchange) journal(t need, dir string, secrets ...string) string {
	file := filepath.Join(dir, "j.yaml")
	var known []secret.Known
	for _, s := range secrets {
		known = append(known, secret.Known{Name: "KEY", Value: s})
	}
	j, err := cassette.NewJournal(file, x.model(), known)
	require.NoError(t, err)
	x.send(t, j)
	require.NoError(t, j.Close(context.Background()))
	return read(t, file)
}

func (x *exchange) send(t need, rt http.RoundTripper) {
	req, err := http.NewRequest(http.MethodPost, x.url, strings.NewReader(x.body))
	require.NoError(t, err)
	req.Header = x.sent.Clone()
	resp, err := rt.RoundTrip(req)
	require.NoError(t, err)
	_, err = io.Copy(io.Discard, resp.Body)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
}

// A secret that is known reaches no file: not in any form, at any place, whether one
// reads the file as it is or undoes whatever was done to it.
func TestAKnownSecretNeverReachesTheDisk(t *testing.T) {
	require.GreaterOrEqual(t, len(forms), 50)
	dir := t.TempDir()
	checks := 0
	rapid.Check(t, func(rt *rapid.T) {
		key := anyKey.Draw(rt, "key")
		at := rapid.SampledFrom(places).Draw(rt, "place")
		for range 3 {
			f := rapid.SampledFrom(forms).Draw(rt, "form")
			x := ordinary()
			at.put(x, f.write(key))
			files := map[string]string{"recorder": x.record(rt, dir, key)}
			if checks%3 == 0 {
				files["journal"] = x.journal(rt, dir, key)
			}
			for way, file := range files {
				if how, found := find(file, key, strings.ToUpper(key), strings.ToLower(key)); found {
					rt.Fatalf("%s, %s, %s: %q is in the file, %s:\n%s", way, at.name, f.name, key, how, file)
				}
			}
			checks++
		}
	})
	t.Logf("%d forms, %d places, %d recordings", len(forms), len(places), checks)
}

var (
	runs64  = regexp.MustCompile(`[A-Za-z0-9+/_-]{8,}`)
	runsHex = regexp.MustCompile(`[0-9A-Fa-f]{8,}`)
	deltas  = regexp.MustCompile(`"(?:text|partial_json|thinking)":("(?:[^"\\]|\\.)*")`)
	escapes = regexp.MustCompile(`\\u00([0-9A-Fa-f]{2})|\\x([0-9A-Fa-f]{2})|=([0-9A-F]{2})`)
	breaks  = regexp.MustCompile(`\\?(=?\r?\n|\\r\\n|\\n)\s*`)
)

// find looks for the spellings of a secret in a file the way somebody would who wants it: in
// the texts of the cassette, and in all that comes of undoing escapes and encodings.
func find(file string, spellings ...string) (how string, found bool) {
	holds := func(text string) bool {
		return slices.ContainsFunc(spellings, func(key string) bool { return strings.Contains(text, key) })
	}
	c, err := load(file)
	if err != nil {
		return "it cannot be loaded: " + err.Error(), true
	}
	if holds(file) {
		return "as it is", true
	}
	todo := map[string]string{}
	for _, i := range c.Interactions {
		todo["in the request"] = i.Request.Body
		todo["in the URL"] = i.Request.URL
		todo["in the answer"] = i.Response.Body
		todo["spelled"] = join(i.Response.Body)
		todo["in a header"] = strings.Join(slices.Concat(i.Response.Headers["Location"], i.Request.Headers["X-Api-Key"]), " ")
	}
	for steps := range 3 {
		next := map[string]string{}
		for how, text := range todo {
			if holds(text) {
				return how, true
			}
			if steps == 2 {
				continue
			}
			for step, undone := range undo(text) {
				if undone != text {
					next[how+", "+step] = undone
				}
			}
		}
		todo = next
	}
	return "", false
}

func join(body string) string {
	var b strings.Builder
	for _, m := range deltas.FindAllStringSubmatch(body, -1) {
		var s string
		if json.Unmarshal([]byte(m[1]), &s) == nil {
			b.WriteString(s)
		}
	}
	return b.String()
}

func undo(text string) map[string]string {
	out := map[string]string{
		"HTML": html.UnescapeString(text), "joined": breaks.ReplaceAllString(text, ""),
		"unquoted": strings.NewReplacer(`\\`, `\`, `\"`, `"`, `\n`, "\n").Replace(text),
		"escapes": escapes.ReplaceAllStringFunc(text, func(s string) string {
			b, err := hex.DecodeString(s[len(s)-2:])
			if err != nil {
				return s
			}
			return string(b)
		}),
		"base64": every(runs64, text, decode64), "hex": every(runsHex, text, func(s string) []byte {
			b, _ := hex.DecodeString(s[:len(s)/2*2])
			return b
		}),
	}
	if s, err := url.PathUnescape(text); err == nil {
		out["URL"] = s
	}
	if s, err := url.QueryUnescape(text); err == nil {
		out["query"] = s
	}
	return out
}

func every(runs *regexp.Regexp, text string, decode func(string) []byte) string {
	var b bytes.Buffer
	for _, run := range runs.FindAllString(text, -1) {
		b.Write(decode(run))
		b.WriteByte(0)
	}
	return b.String()
}

// decode64 decodes at every alignment.
func decode64(run string) []byte {
	run = strings.NewReplacer("-", "+", "_", "/").Replace(run)
	var out []byte
	for skip := range 4 {
		part := run[min(skip, len(run)):]
		b, _ := base64.RawStdEncoding.DecodeString(part[:len(part)/4*4])
		out = append(append(out, b...), 0)
	}
	return out
}

// Blanked recordings stay matchable: the run with its real key finds its answers.
func TestARequestWithItsSecretMatchesTheBlankedRecording(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(rt *rapid.T) {
		key := anyKey.Draw(rt, "key")
		f := rapid.SampledFrom(forms).Draw(rt, "form")
		for range 3 {
			at := rapid.SampledFrom(places).Draw(rt, "place")
			x := ordinary()
			at.put(x, f.write(key))
			x.record(rt, dir, key)
			c, err := cassette.LoadFile(os.DirFS(dir), "c.yaml", cassette.Limits{})
			require.NoError(rt, err)
			if x.sent.Get("Content-Encoding") != "" {
				x.body = saying(f.write(key)) // who replays need not pack it
			}
			p := player(rt, c, cassette.Options{Wait: instantly, Secrets: []string{key}})
			x.send(rt, p)
			assert.Empty(rt, p.Leftover())
		}
	})
}
