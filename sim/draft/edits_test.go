package draft_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"
	"gopkg.in/yaml.v3"

	"toolbench/sim/draft"
	"toolbench/sim/replay"
	"toolbench/sim/scenario/check"
	"toolbench/sim/stream"
)

// edit changes a cassette; it reports whether there was something to change.
type edit func(t *testing.T, interactions []any) bool

// edited gives the outcome of a draft whose cassette was changed.
func edited(t *testing.T, dir string, d draft.Draft, by edit) (check.Result, bool) {
	t.Helper()
	file := filepath.Join(dir, filepath.FromSlash(d.Cassette))
	before, err := os.ReadFile(file)
	require.NoError(t, err)
	defer func() { require.NoError(t, os.WriteFile(file, before, 0o600)) }()
	var doc map[string]any
	require.NoError(t, yaml.Unmarshal(before, &doc))
	if !by(t, doc["interactions"].([]any)) {
		return check.Result{}, false
	}
	after, err := yaml.Marshal(doc)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(file, after, 0o600))
	return play(t, dir, d.File), true
}

func part(interaction any, name string) map[string]any {
	return interaction.(map[string]any)[name].(map[string]any)
}

// inStream changes the first stream that an edit of events takes to.
func inStream(change func(events []stream.Event) bool) edit {
	return func(t *testing.T, interactions []any) bool {
		for _, i := range interactions {
			response := part(i, "response")
			events, err := stream.Decode([]byte(response["body"].(string)))
			require.NoError(t, err)
			if change(events) {
				response["body"] = string(stream.Bytes(events))
				return true
			}
		}
		return false
	}
}

// dropCall makes pings of a call's events, so that nothing else moves.
var dropCall = inStream(func(events []stream.Event) bool {
	index := ""
	for i, e := range events {
		v := gjson.ParseBytes(e.Data)
		if index == "" && v.Get("content_block.type").Str == "tool_use" {
			index = v.Get("index").Raw
		}
		if index != "" && v.Get("index").Raw == index {
			events[i] = stream.Event{Type: "ping", Data: []byte(`{"type":"ping"}`)}
		}
	}
	return index != ""
})

// changeInput gives a call another input.
var changeInput = inStream(func(events []stream.Event) bool {
	done := false
	for i, e := range events {
		if gjson.GetBytes(e.Data, "delta.type").Str != "input_json_delta" {
			if done && e.Type == "content_block_stop" {
				return true
			}
			continue
		}
		text := `""`
		if !done {
			text = `"{\"changed\":true}"`
		}
		done = true
		index := gjson.GetBytes(e.Data, "index").Raw
		events[i].Data = []byte(`{"type":"content_block_delta","index":` + index + `,"delta":{"type":"input_json_delta","partial_json":` + text + `}}`)
	}
	return done
})

// swapResults puts the second of two results first, in the request that has them.
func swapResults(t *testing.T, interactions []any) bool {
	for _, i := range interactions {
		request := part(i, "request")
		var body map[string]any
		require.NoError(t, json.Unmarshal([]byte(request["body"].(string)), &body))
		messages := body["messages"].([]any)
		for _, m := range messages {
			content, ok := m.(map[string]any)["content"].([]any)
			if !ok || len(content) < 2 || kind(content[0]) != "tool_result" || kind(content[1]) != "tool_result" {
				continue
			}
			content[0], content[1] = content[1], content[0]
			raw, err := json.Marshal(body)
			require.NoError(t, err)
			request["body"] = string(raw)
			return true
		}
	}
	return false
}

func kind(block any) string {
	text, _ := block.(map[string]any)["type"].(string)
	return text
}

// A draft notices when a call is dropped or changed, or results are reordered, and
// reports it in words that name the place.
func TestADraftNoticesEdits(t *testing.T) {
	tried := map[string]int{}
	for _, file := range append(corpus(t), ours(t)) {
		if info, err := os.Stat(file); err != nil || info.Size() > 64<<10 {
			continue // long sessions show nothing that short ones do not
		}
		dir := t.TempDir()
		for _, d := range write(t, dir, file) {
			for name, by := range map[string]edit{"drop": dropCall, "input": changeInput, "swap": swapResults} {
				out, applies := edited(t, dir, d, by)
				if !applies {
					continue
				}
				tried[name]++
				if name == "drop" && out.Invalid { // the draft names a call that is not made any more
					assert.ErrorContains(t, out.Err, d.File+":")
					assert.ErrorContains(t, out.Err, "makes no call")
					continue
				}
				require.Equal(t, check.Failed, out.Status, "%s: %s: %v", file, name, out.Err)
				text := ""
				for _, f := range out.Failures {
					text += f.Expectation + ": " + f.Expected + " / " + f.Found + "\n"
					assert.Contains(t, f.At, d.File)
				}
				says := map[string]*regexp.Regexp{"drop": regexp.MustCompile("called|tool_use"), "input": regexp.MustCompile("changed"), "swap": regexp.MustCompile("tool_result|tool_use_id")}[name]
				assert.Regexp(t, says, text, "%s: %s", file, name)
			}
		}
	}
	t.Log(tried)
	assert.Positive(t, tried["drop"]*tried["input"]*tried["swap"])
}

// ours is a recording of this project's own, so that the property is also checked where
// those of others are missing.
func ours(t *testing.T) string {
	t.Helper()
	file := filepath.Join("..", "..", "fixtures", "cassettes", "partition-headline.yaml")
	_, err := os.Stat(file)
	require.NoError(t, err)
	return file
}

// The same holds of the file: an answer that is changed, or two that are swapped.
func TestADraftNoticesOtherAnswers(t *testing.T) {
	dir := t.TempDir()
	d := write(t, dir, ours(t))[0]
	file := filepath.Join(dir, d.File)
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	swapped := strings.NewReplacer(`"glob_1": "`, `"glob_2": "`, `"glob_2": "`, `"glob_1": "`, `hello, \" + name"`, `goodbye"`).Replace(string(text))
	require.NoError(t, os.WriteFile(file, []byte(swapped), 0o600))
	out := play(t, dir, d.File)
	assert.Equal(t, check.Failed, out.Status)
}

// What looks like a secret is nowhere in a draft, not even where the stream cut it.
func TestADraftHasNoSecrets(t *testing.T) {
	const secret = "sk-ant-api03-abcdefghijklmnop"
	turn := stream.Turn{Blocks: []stream.Block{{Kind: stream.ToolUse, ID: "c1", Name: "login", Input: json.RawMessage(`{"key":"` + secret + `"}`),
		Deltas: []stream.Delta{{Text: `{"key":"sk-ant-api`}, {Text: `03-abcdefghijklmnop"}`}}}}}
	file := filepath.Join(t.TempDir(), "secret.sse")
	require.NoError(t, os.WriteFile(file, stream.Bytes(stream.Script(turn)), 0o600))
	dir := t.TempDir()
	d := write(t, dir, file)[0]
	for _, name := range []string{d.File, d.Cassette} {
		text, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
		require.NoError(t, err)
		assert.Contains(t, string(text), "[redacted]")
		assert.NotContains(t, string(text), "abcdefghijklmnop")
		assert.NotContains(t, string(text), "sk-ant")
	}
}

// Ids of calls may look like keys. They are renamed then: blanked, two calls would be one.
func TestCallsWhoseIDsLookLikeSecretsStayApart(t *testing.T) {
	ids := []string{"tool_look_qZ3wX1eC4rV1tB5yN9uM7pD5oS", "tool_look_aF7pD5oS6iA2mN8bV3cX9uM4rV", "call-1"}
	l := &log{}
	l.says(0, "Look around.")
	for _, id := range ids {
		l.calls(1*second, "m1", id, "Look", map[string]string{"at": id[len(id)-1:]})
	}
	for _, id := range ids {
		l.result(2*second, id)
	}
	l.answers(3*second, "m2", "Done.")
	dir := t.TempDir()
	d, text := l.draft(t, dir, draft.Options{})
	assert.Equal(t, check.Passed, d.Outcome.Status)
	assert.Equal(t, 3, d.Answered)
	assert.Contains(t, strings.Join(d.Notes, "\n"), "2 calls have the ids of earlier ones, or such as look like secrets")
	for _, want := range []string{`"call-2": "result of`, `"call-3": "result of`, `"call-1": "result of call-1"`, `order: ["call-2", "call-3", "call-1"]`} {
		assert.Contains(t, text, want)
	}
	cassette, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(d.Cassette)))
	require.NoError(t, err)
	for _, id := range ids[:2] {
		assert.NotContains(t, text+string(cassette), id)
	}
}

// Providers permit names of tools that no tool here can have. Each tool has another then, and stays itself.
func TestToolsMayHaveAnyName(t *testing.T) {
	names := []string{"files.read", "files_read", "files:read", "a b/c", "wetter für", strings.Repeat("x", 200), "tool_qZ3wX1eC4rV1tB5yN9uM7pD5oS2aF7pD5"}
	l := &log{}
	l.says(0, "Look around.")
	for i, name := range names {
		l.calls(1*second, "m1", fmt.Sprint("call", i), name, map[string]string{"at": name})
	}
	for i := range names {
		l.result(2*second, fmt.Sprint("call", i))
	}
	l.answers(3*second, "m2", "Done.")
	d, text := l.draft(t, t.TempDir(), draft.Options{Safe: replay.Globs{"files.*"}})
	assert.Equal(t, check.Passed, d.Outcome.Status)
	assert.Equal(t, len(names), d.Answered)
	assert.Contains(t, strings.Join(d.Notes, "\n"), `the tool "files.read" has the name files_read_2 here`)
	for _, want := range []string{`name: "files_read"`, `name: "files_read_2"`, `name: "files_read_3"`, `name: "a_b_c"`, `name: "wetter_f_r"`} {
		assert.Contains(t, text, want)
	}
	assert.Equal(t, 1, strings.Count(text, "safe: true"), "a pattern is for the names of the recording")
	assert.NotContains(t, text, "qZ3wX1eC4rV1tB5y")
}

// Some providers count calls anew in each answer. Each call keeps its own result all the same.
func TestCallsOfOtherTurnsMayHaveTheSameID(t *testing.T) {
	l := &log{}
	l.says(0, "Look around.")
	for i, turn := range []string{"m1", "m2", "m3"} {
		l.calls(1*second, turn, "call_0", "Look", map[string]string{"at": turn})
		l.line("user", 2*second, map[string]any{"role": "user", "content": []any{map[string]any{"type": "tool_result", "tool_use_id": "call_0", "content": fmt.Sprint("result ", i)}}})
	}
	l.answers(3*second, "m4", "Done.")
	d, text := l.draft(t, t.TempDir(), draft.Options{})
	assert.Equal(t, check.Passed, d.Outcome.Status)
	assert.NotContains(t, strings.Join(d.Notes, "\n"), "is not the recorded one")
	assert.Contains(t, strings.Join(d.Notes, "\n"), "2 calls have the ids of earlier ones, or such as look like secrets: they have others here")
	for _, want := range []string{`"call_0": "result 0"`, `"call-1": "result 1"`, `"call-2": "result 2"`, `order: ["call_0", "call-1", "call-2"]`} {
		assert.Contains(t, text, want)
	}
}

func TestTheSmallestScenarioPasses(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "mine.yaml"), []byte(draft.Smallest("mine")), 0o600))
	out := play(t, dir, "mine.yaml")
	assert.Equal(t, check.Passed, out.Status, "%v %v", out.Err, out.Failures)
}

func TestNamesAreMadeOfFileNames(t *testing.T) {
	for file, want := range map[string]string{"a/My Session (2).jsonl": "my-session-2", "天气.yaml": "recording", "x.tar.gz": "x-tar",
		"2026-01-02T03-04-05_my-sk_8zXjbRzCWrL9GXiXo2vus9.eval": "2026-01-02t03-04-05-my-sk-8zxjbrzc"} {
		assert.Equal(t, want, draft.Slug(file))
	}
	assert.Equal(t, "recording", draft.Slug("null.har"), "null is no text in YAML")
	assert.Len(t, draft.Slug(strings.Repeat("a", 250)+".jsonl"), 150, "a number and an ending come behind it")
	assert.Equal(t, []string{"8zxjbrzcwrl9gxixo2vus9", "sk-8zxjbrzc"}, draft.Names("sk/8zXjbRzCWrL9GXiXo2vus9.eval")[:2], "two that are none together may be one")
	assert.Equal(t, []string{"recording", "it-works-12-recording", "tests-it-works-12-recording"}, draft.Names("tests/It works_12/recording.har"))
	assert.Len(t, draft.Names(strings.Repeat("folder/", 100)+"a.har"), 22, "a file's name has an end")
}
