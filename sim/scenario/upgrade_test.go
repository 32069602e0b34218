package scenario_test

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/sim/scenario"
	"toolbench/sim/secret"
)

// one is a file of go-vcr v1, two one of v4.
const (
	one = `---
version: 1
interactions:
- request:
    body: '{}'
    form: {}
    headers: {}
    url: https://api.example.com/v1/messages
    method: POST
  response:
    body: |+
      event: ping
      data: {"type": "ping"}

    headers:
      Content-Type:
      - text/event-stream
    status: 200 OK
    code: 200
    duration: ""
`
	two = `# made by hand
---
version: 2
interactions:
    - id: 0
      request:
        proto: HTTP/1.1
        content_length: 2
        host: api.example.com
        body: '{}'
        url: https://api.example.com/v1/messages
        method: POST
      response:
        proto: HTTP/2.0
        content_length: -1
        uncompressed: true
        body: !!binary AAECAw==
        headers: {}
        status: 200 OK
        code: 200
        duration: 1.5s
`
)

const unversioned = `# What it is about.

name: greet   # short
about: A greeting.
stream:
  turns:
    - text: Hello.
`

func TestCassettesOfEveryVersionAreLifted(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		from int
		old  []string
		has  []string
	}{
		"v1": {one, 1, []string{"1 without a duration", "1 without event times"}, []string{"duration: 0s", "X-Toolbench-Event-Offsets", "event: ping"}},
		"v4": {two, 2, []string{"format 2", "1 without event times"}, []string{"# made by hand\n---\nversion: 1\n", `- "1500000"`, "duration: 1.5s", `body: "\0\x01\x02\x03"`}},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := scenario.Upgrade("c.yaml", []byte(c.text))
			require.NoError(t, err)
			assert.Equal(t, scenario.KindCassette, r.Kind)
			assert.Equal(t, []int{c.from, 1}, []int{r.From, r.To})
			assert.Equal(t, c.old, r.Old)
			for _, has := range c.has {
				assert.Contains(t, string(r.Text), has)
			}
			again, err := scenario.Upgrade("c.yaml", r.Text)
			require.NoError(t, err)
			assert.Empty(t, again.Old, "what was lifted is current")
			assert.Equal(t, r.Text, again.Text)
		})
	}
}

// A cassette that another program recorded keeps no secret, and what was blanked is
// reported with its place.
func TestSecretsOfAnOldCassetteAreBlankedAndReported(t *testing.T) {
	const key = "sk-ant-api03-abcdefgh"
	leaking := strings.NewReplacer("headers: {}\n    url", "headers:\n      X-Api-Key:\n      - plain-key\n      User-Agent:\n      - me\n    url",
		"body: '{}'", `body: '{"a": "`+key+`", "b": "`+key+`"}'`, "v1/messages", "v1/messages?sig=x9Kq2Lm8",
		`{"type": "ping"}`, `{"type": "ping", "hook": "https://hooks.slack.com/services/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"}`).Replace(one)
	r, err := scenario.Upgrade("c.yaml", []byte(leaking))
	require.NoError(t, err)
	assert.Equal(t, []string{"1 without a duration", "1 without event times", "5 secrets"}, r.Old)
	assert.Equal(t, []secret.Count{
		{Kind: "Anthropic key", Where: "interaction 1 (line 4), request body", Times: 2},
		{Kind: "X-Api-Key", Where: "interaction 1 (line 4), request headers", Times: 1},
		{Kind: "value of a telling name", Where: "interaction 1 (line 4), request URL", Times: 1},
		{Kind: "webhook", Where: "interaction 1 (line 4), response body", Times: 1},
	}, r.Secrets)
	for _, gone := range []string{key, "plain-key", "x9Kq2Lm8"} {
		assert.NotContains(t, string(r.Text), gone)
	}
	assert.Contains(t, string(r.Text), "User-Agent", "what is no secret stays")
	again, err := scenario.Upgrade("c.yaml", r.Text)
	require.NoError(t, err)
	assert.Empty(t, again.Old)
	assert.Empty(t, again.Secrets)
}

// A body that is compressed hides what is in it, and a current file may have a secret too.
func TestSecretsOfACompressedBodyAreBlanked(t *testing.T) {
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, err := w.Write([]byte(`{"key": "sk-ant-api03-abcdefgh"}`))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	text := strings.NewReplacer("headers: {}\n        status", "headers:\n            Content-Encoding:\n                - gzip\n        status",
		"AAECAw==", base64.StdEncoding.EncodeToString(packed.Bytes())).Replace(two)
	r, err := scenario.Upgrade("c.yaml", []byte(text))
	require.NoError(t, err)
	assert.Equal(t, []secret.Count{{Kind: "Anthropic key", Where: "interaction 1 (line 5), response body", Times: 1}}, r.Secrets)
	assert.Contains(t, string(r.Text), `body: '{"key": "[redacted]"}'`)

	clean, err := scenario.Upgrade("c.yaml", []byte(one))
	require.NoError(t, err)
	leaking := strings.Replace(string(clean.Text), "body: '{}'", "body: sk-ant-api03-abcdefgh", 1)
	r, err = scenario.Upgrade("c.yaml", []byte(leaking))
	require.NoError(t, err)
	assert.Equal(t, []string{"1 secret"}, r.Old)
}

// A scenario stays byte for byte, so its secrets are named and left.
func TestSecretsOfAScenarioAreNamed(t *testing.T) {
	text := strings.Replace(unversioned, "Hello.", "sk-ant-api03-abcdefgh", 1)
	r, err := scenario.Upgrade("s.yaml", []byte(text))
	require.NoError(t, err)
	assert.Contains(t, string(r.Text), "sk-ant-api03-abcdefgh")
	assert.Equal(t, []secret.Count{{Kind: "Anthropic key", Where: "line 7", Times: 1}}, r.Secrets)
}

func TestAScenarioGetsItsFormatAndKeepsTheRest(t *testing.T) {
	r, err := scenario.Upgrade("s.yaml", []byte(unversioned))
	require.NoError(t, err)
	assert.Equal(t, scenario.KindScenario, r.Kind)
	assert.Equal(t, strings.Replace(unversioned, "name:", "format: 1\nname:", 1), string(r.Text))
	again, err := scenario.Upgrade("s.yaml", r.Text)
	require.NoError(t, err)
	assert.Empty(t, again.Old)
}

// The line goes where the file's own style and line endings have it.
func TestAScenarioGetsItsFormatInItsOwnStyle(t *testing.T) {
	flow := "name: a, about: It holds., stream: {turns: [{text: Hello., end: 1s}]}}\n"
	windows := strings.ReplaceAll(unversioned, "\n", "\r\n")
	for text, want := range map[string]string{
		"{" + flow:                   "{format: 1, " + flow,
		"\ufeff{\"name\"" + flow[4:]: "\ufeff{format: 1, \"name\"" + flow[4:],
		"# {\n--- {\n  " + flow:      "# {\n--- {\n  format: 1, " + flow,
		"# {\n" + flow[:7] + "\nabout: It holds.\nstream: {turns: [{text: Hello., end: 1s}]}\n": "# {\nformat: 1\n" + flow[:7] + "\nabout: It holds.\nstream: {turns: [{text: Hello., end: 1s}]}\n",
		"  name: a\n  about: It holds.\n  stream: {turns: [{text: Hello., end: 1s}]}\n":         "  format: 1\n  name: a\n  about: It holds.\n  stream: {turns: [{text: Hello., end: 1s}]}\n",
		windows: strings.Replace(windows, "name:", "format: 1\r\nname:", 1),
	} {
		r, err := scenario.Upgrade("s.yaml", []byte(text))
		require.NoError(t, err, text)
		assert.Equal(t, want, string(r.Text))
	}
}

func TestWhatCannotBeLiftedIsSaid(t *testing.T) {
	for want, text := range map[string]string{
		"x.yaml:3:9: format 9 is newer than this program, which reads up to 1; use a newer toolbench": strings.Replace(unversioned, "name:", "format: 9\nname:", 1),
		`x.yaml:2:10: has format version "7"; 1 and 2 are known`:                                      strings.Replace(one, "version: 1", "version: 7", 1),
		"neither a cassette of go-vcr nor a scenario":                                                 "a: 1\n",
		"x.yaml: it is neither": "{",
		"a scenario: x.yaml:2:1: mapping key \"name\" already defined at [1:1]; keep one of the two": "name: a\nname: b\n",
		"looks like vcrpy's": "interactions:\n- request: {uri: x}\n  response: {status: {code: 200}}\nversion: 1\n",
		"unknown field":      unversioned + "nope: 1\n",
		"was cut off":        one[:strings.Index(one, "  response")],
	} {
		_, err := scenario.Upgrade("x.yaml", []byte(text))
		assert.ErrorContains(t, err, want)
	}
}

// Everything the bench comes with is current or can be lifted, and so can what others
// recorded.
func TestRealFilesAreLifted(t *testing.T) {
	var lifted, files int
	for _, pattern := range []string{"../../fixtures/cassettes/*.yaml", "../../scenarios/*.yaml", "../../../shared/corpus/*/*.yaml"} {
		names, err := filepath.Glob(pattern)
		require.NoError(t, err)
		for _, name := range names {
			data, err := os.ReadFile(name)
			require.NoError(t, err)
			r, err := scenario.Upgrade(name, data)
			if err != nil {
				assert.Contains(t, name, "corpus", err)
				continue
			}
			files++
			if strings.Contains(name, "cassettes") {
				assert.Empty(t, r.Old, name)
			}
			again, err := scenario.Upgrade(name, r.Text)
			require.NoError(t, err)
			assert.Empty(t, again.Old, name)
			if len(r.Old) > 0 {
				lifted++
			}
		}
	}
	t.Logf("%d files, %d of them lifted", files, lifted)
	assert.Greater(t, files, 100)
}

// The line that an upgrade writes on top moves nothing in the file that a person has open.
func TestAnErrorOfAnUpgradeHasItsPlaceInTheFile(t *testing.T) {
	_, err := scenario.Upgrade("a.yaml", []byte("name: a\nabout: A.\nstream: {turns: [{text: Done.}]}\nduration: {}\n"))
	assert.ErrorContains(t, err, `a.yaml:4:1: unknown field "duration"`)
}
