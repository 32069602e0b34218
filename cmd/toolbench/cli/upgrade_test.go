package cli_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"toolbench/cmd/toolbench/cli"
)

const oldCassette = "---\nversion: 2\ninteractions:\n    - id: 0\n      request:\n        body: '{}'\n        url: https://api.example.com/v1/messages\n        method: POST\n" +
	"      response:\n        body: hi\n        headers: {}\n        status: 200 OK\n        code: 200\n        duration: 1.5s\n"

const oldScenario = "# greets\nname: greet # short\nabout: A greeting.\nstream: {turns: [{text: Hello.}]}\n"

func TestUpgradeLiftsOnceAndChecksWithoutWriting(t *testing.T) {
	d := newWorkdir(t)
	for name, text := range map[string]string{"a/c.yaml": oldCassette, "a/s.yaml": oldScenario, "a/other.yaml": "x: 1\n", "a/notes.txt": "x"} {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(d.dir, name)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(d.dir, name), []byte(text), 0o644))
	}
	assert.Equal(t, cli.ExitFailed, d.run(t.Context(), "upgrade", "--check", "a"))
	assert.Contains(t, d.errs, "2 of 2 files are old")
	assert.Equal(t, oldCassette, d.read("a/c.yaml"), "--check writes nothing")

	require.Equal(t, cli.ExitHeld, d.run(t.Context(), "upgrade", "a", "--format", "json"), d.errs)
	fits(t, output(t, "upgrade", "--schema"), []byte(d.out))
	assert.Equal(t, `["upgraded","upgraded"]`, gjson.Get(d.out, "files.#.status").Raw)
	assert.EqualValues(t, 1, gjson.Get(d.out, "skipped").Int())
	assert.Equal(t, strings.Replace(oldScenario, "name:", "format: 1\nname:", 1), d.read("a/s.yaml"))
	assert.Contains(t, d.read("a/c.yaml"), "version: 1")

	before := d.read("a/c.yaml")
	require.Equal(t, cli.ExitHeld, d.run(t.Context(), "upgrade", "a"), d.errs)
	assert.Equal(t, before, d.read("a/c.yaml"), "a second time changes nothing")
	assert.Contains(t, d.out, "2 current, 0 upgraded")
	assert.Equal(t, cli.ExitHeld, d.run(t.Context(), "upgrade", "--check", "a"))
	entries, err := os.ReadDir(filepath.Join(d.dir, "a"))
	require.NoError(t, err)
	assert.Len(t, entries, 4, "nothing is left beside them")
}

func TestUpgradeReportsSecretsWithTheirPlaces(t *testing.T) {
	d := newWorkdir(t)
	leaking := strings.Replace(oldCassette, "body: hi", "body: sk-ant-api03-abcdefgh", 1)
	scenario := strings.Replace(oldScenario, "Hello.", "sk-ant-api03-abcdefgh", 1)
	require.NoError(t, os.WriteFile(filepath.Join(d.dir, "c.yaml"), []byte(leaking), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(d.dir, "s.yaml"), []byte(scenario), 0o644))
	assert.Equal(t, cli.ExitFailed, d.run(t.Context(), "upgrade", "--check", "."))
	assert.Contains(t, d.errs, "c.yaml: interaction 1 (line 4), response body: Anthropic key: to be blanked")
	assert.Equal(t, leaking, d.read("c.yaml"))

	require.Equal(t, cli.ExitHeld, d.run(t.Context(), "upgrade", ".", "--format", "json"), d.errs)
	fits(t, output(t, "upgrade", "--schema"), []byte(d.out))
	assert.Equal(t, "interaction 1 (line 4), response body", gjson.Get(d.out, "files.0.secrets.0.where").Str)
	assert.Contains(t, d.errs, "c.yaml: interaction 1 (line 4), response body: Anthropic key: blanked")
	assert.Contains(t, d.errs, "s.yaml: line 4: Anthropic key: left as it is; a scenario stays byte for byte, so remove it by hand")
	assert.NotContains(t, d.read("c.yaml"), "sk-ant")
	assert.Contains(t, d.read("s.yaml"), "sk-ant")
}

func TestUpgradeRefusesWhatItCannotLift(t *testing.T) {
	d := newWorkdir(t)
	for name, text := range map[string]string{"newer.yaml": "format: 7\n" + oldScenario, "newer-c.yaml": strings.Replace(oldCassette, "version: 2", "version: 9", 1), "other.yaml": "x: 1\n"} {
		require.NoError(t, os.WriteFile(filepath.Join(d.dir, name), []byte(text), 0o644))
		assert.Equal(t, cli.ExitUsage, d.run(t.Context(), "upgrade", name), name)
		assert.Equal(t, text, d.read(name))
		assert.Equal(t, 1, strings.Count(d.errs, name), d.errs)
	}
	for says, args := range map[string][]string{"newer.yaml:1:9: format 7 is newer than this program": {"newer.yaml"}, `newer-c.yaml:2:10: has format version "9"`: {"newer-c.yaml"}, "neither a cassette": {"other.yaml"}, "name a file": {}, "nowhere": {"nowhere"}} {
		assert.Equal(t, cli.ExitUsage, d.run(t.Context(), append([]string{"upgrade"}, args...)...))
		assert.Contains(t, d.errs, says)
	}
}

func TestUpgradeTablesFitTheirWidth(t *testing.T) {
	d := newWorkdir(t)
	require.NoError(t, os.WriteFile(filepath.Join(d.dir, "a-rather-long-name-of-a-cassette-in-a-folder.yaml"), []byte(oldCassette), 0o644))
	for _, width := range []string{"40", "60", "80"} {
		wide, err := strconv.Atoi(width)
		require.NoError(t, err)
		assert.Equal(t, cli.ExitFailed, d.run(t.Context(), "upgrade", "--check", ".", "--width", width))
		for line := range strings.Lines(d.out) {
			assert.LessOrEqual(t, len([]rune(strings.TrimSuffix(line, "\n"))), wide, line)
		}
	}
}
