package cli_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/reports"
)

// churned is a recording of the suite whose tools change from turn to turn.
const churned = "../../../fixtures/cassettes/pool-server-churn.yaml"

func TestRecordedSessionsFitThePublishedSchemas(t *testing.T) {
	for _, command := range []string{"cache", "tokens"} {
		schema := output(t, command, "--schema")
		fits(t, schema, output(t, command, "--recording", churned, "--format", "json"))
		fits(t, schema, output(t, command, "--recording", written(t, "log.jsonl", recorded), "--format", "json"))
	}
}

func TestARecordingThatCannotBeReadIsRefusedWithItsName(t *testing.T) {
	huge := filepath.Join(t.TempDir(), "huge.yaml")
	file, err := os.Create(huge)
	require.NoError(t, err)
	require.NoError(t, file.Truncate(1<<30))
	require.NoError(t, file.Close())
	for _, command := range []string{"cache", "tokens"} {
		for path, why := range map[string]string{
			written(t, "words.txt", "just words"):   "not a recording",
			written(t, "empty.yaml", ""):            "not a recording",
			written(t, "list.json", `{"tools":[]}`): "not a recording",
			filepath.Join(t.TempDir(), "gone.yaml"): "no such file",
			huge:                                    "huge.yaml",
			t.TempDir():                             "none of 0 files",
		} {
			code, errs := refused(t, command, "--recording", path)
			assert.Equal(t, 2, code, path)
			assert.Contains(t, errs, why)
			assert.Contains(t, errs, filepath.Base(path))
		}
	}
	code, errs := refused(t, "cache", "session.yaml")
	assert.Equal(t, 2, code)
	assert.Contains(t, errs, "--recording session.yaml")
}

// Transcripts hold no tools: that is said, and is no error.
func TestATranscriptIsCountedAsFarAsItGoes(t *testing.T) {
	log := written(t, "log.jsonl", recorded)
	assert.Contains(t, string(output(t, "tokens", "--recording", log)), "recorded without requests, as transcripts")
	assert.NotContains(t, string(output(t, "tokens", "--recording", log)), "automatic mode")
	assert.NotEmpty(t, output(t, "cache", "--recording", log))
}

// Everything real is counted, in both commands, and fits the schemas.
func TestEveryRecordingBesideTheProjectIsCounted(t *testing.T) {
	corpus := filepath.Join("..", "..", "..", "..", "shared", "corpus")
	if _, err := os.Stat(corpus); err != nil {
		t.Skip("no recordings beside the project")
	}
	for _, command := range []string{"cache", "tokens"} {
		fits(t, output(t, command, "--schema"), output(t, command, "--recording", corpus, "--format", "json"))
		for _, width := range []string{"40", "60", "80"} {
			for line := range strings.Lines(string(output(t, command, "--recording", corpus, "--width", width))) {
				n, err := strconv.Atoi(width)
				require.NoError(t, err)
				assert.LessOrEqual(t, reports.Width(strings.TrimSuffix(line, "\n")), n, line)
			}
		}
	}
}
