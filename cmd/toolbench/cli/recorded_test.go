package cli_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// tape is a recording of the suite whose tools change from turn to turn.
const tape = "../../../fixtures/cassettes/pool-server-churn.yaml"

func TestRecordedSessionsFitThePublishedSchemas(t *testing.T) {
	for _, command := range []string{"cache", "tokens"} {
		schema := output(t, command, "--schema")
		fits(t, schema, output(t, command, "--recording", tape, "--format", "json"))
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
	code, errs := refused(t, "cache", "tape.yaml")
	assert.Equal(t, 2, code)
	assert.Contains(t, errs, "--recording tape.yaml")
}
