package cli_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/cmd/toolbench/cli"
)

// fits holds a report against the schema that its own command prints.
func fits(t *testing.T, schema, report []byte) {
	t.Helper()
	parsed, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema))
	require.NoError(t, err)
	c := jsonschema.NewCompiler()
	require.NoError(t, c.AddResource("report.json", parsed))
	compiled, err := c.Compile("report.json")
	require.NoError(t, err)
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(report))
	require.NoError(t, err)
	assert.NoError(t, compiled.Validate(value))
}

func TestTokensAndCacheFitTheirPublishedSchemas(t *testing.T) {
	fits(t, output(t, "tokens", "--schema"), output(t, "tokens", "--builtin", "--format", "json"))
	fits(t, output(t, "cache", "--schema"), output(t, "cache", "--format", "json"))
}

func TestARequestsToolsAndAServersListingCostAlikeButForTheName(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	full := func(path string) (n int) {
		var r struct {
			Worst []struct {
				Schema int `json:"schema_tokens"`
			} `json:"worst"`
		}
		require.NoError(t, json.Unmarshal(output(t, "tokens", "--catalog", path, "--format", "json"), &r))
		require.Len(t, r.Worst, 1)
		return r.Worst[0].Schema
	}
	const schema = `{"type":"object","properties":{"a":{"type":"string"}}}`
	listing := full(write("listing.json", `{"result":{"tools":[{"name":"x","inputSchema":`+schema+`}]}}`))
	assert.Equal(t, listing, full(write("chat.json", `[{"type":"function","function":{"name":"x","parameters":`+schema+`}}]`)))
	assert.Equal(t, listing, full(write("messages.json", `[{"name":"x","input_schema":`+schema+`}]`)))
}

func TestAHugeCatalogueIsRefusedUnread(t *testing.T) {
	path := filepath.Join(t.TempDir(), "huge.json")
	file, err := os.Create(path)
	require.NoError(t, err)
	require.NoError(t, file.Truncate(1<<30))
	require.NoError(t, file.Close())
	code, errs := refused(t, "tokens", "--catalog", path)
	assert.Equal(t, 2, code)
	assert.Contains(t, errs, "more than 64 MB")
}

// refused runs a command line that must not succeed.
func refused(t *testing.T, args ...string) (code int, errs string) {
	t.Helper()
	var out, said bytes.Buffer
	code = cli.Main(t.Context(), cli.Process{Args: args, Stdout: &out, Stderr: &said}, cli.Scenarios())
	require.NotEqual(t, cli.ExitHeld, code)
	return code, said.String()
}
