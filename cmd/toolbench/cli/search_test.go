package cli_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestWhatSearchWritesFitsItsPublishedSchema(t *testing.T) {
	schema, err := jsonschema.UnmarshalJSON(bytes.NewReader(output(t, "search", "--schema")))
	require.NoError(t, err)
	c := jsonschema.NewCompiler()
	require.NoError(t, c.AddResource("search.json", schema))
	compiled, err := c.Compile("search.json")
	require.NoError(t, err)

	tools, queries := written(t, "tools.jsonl", `{"server":"s","name":"send","description":"Send a message."}`),
		written(t, "queries.jsonl", `{"query":"message","class":"plain","lang":"en","relevant":["s::send"]}`)
	for _, args := range [][]string{{"--queries", queries}, {"send a message"}, {"nothing like it"}, {"select:Gone"}} {
		args = append([]string{"search", "--catalog", tools, "--format", "json"}, args...)
		report, err := jsonschema.UnmarshalJSON(bytes.NewReader(output(t, args...)))
		require.NoError(t, err)
		assert.NoError(t, compiled.Validate(report), args)
	}
	assert.Error(t, compiled.Validate(map[string]any{"version": 1}))
}

// written is a file with a text.
func written(t *testing.T, name, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	return file
}
