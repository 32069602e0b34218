package cli_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
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

// What a catalogue is packed in, and how many documents a file of YAML has, does not matter to what is in it.
func TestCataloguesInAFolderAreReadInEachForm(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, text []byte) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), text, 0o600))
	}
	var gz bytes.Buffer
	z := gzip.NewWriter(&gz)
	_, err := z.Write([]byte(`[{"name":"packed","inputSchema":{}},{"name":"also","inputSchema":{}}]`))
	require.NoError(t, errors.Join(err, z.Close()))
	write("box.json.gz", gz.Bytes())
	write("sky.yaml", []byte("---\nname: today\ninputSchema: {type: object}\n---\nname: tomorrow\ninputSchema: {}\n---\n"))
	write("work.yml", []byte("name: CI\njobs: {test: {steps: [x]}}\n"))
	var r struct {
		Tools int `json:"tools"`
		Worst []struct {
			Name string `json:"name"`
		} `json:"worst"`
	}
	require.NoError(t, json.Unmarshal(output(t, "tokens", "--catalog", dir, "--format", "json"), &r))
	assert.Equal(t, 4, r.Tools)
	var names []string
	for _, w := range r.Worst {
		names = append(names, w.Name)
	}
	assert.ElementsMatch(t, []string{"mcp__box__packed", "mcp__box__also", "mcp__sky__today", "mcp__sky__tomorrow"}, names)

	write("broken.yaml", []byte("name: a\n---\n[\n"))
	code, errs := refused(t, "tokens", "--catalog", filepath.Join(dir, "broken.yaml"))
	assert.Equal(t, 2, code)
	assert.Contains(t, errs, "broken.yaml:3:1")
	var out, aside bytes.Buffer
	code = cli.Main(t.Context(), cli.Process{Args: []string{"tokens", "--catalog", dir}, Stdout: &out, Stderr: &aside}, cli.Scenarios())
	assert.Equal(t, cli.ExitHeld, code, "what is no YAML, as a template, may stand beside catalogues")
	assert.Contains(t, aside.String(), "broken.yaml:3:1", "and is named")
	write("hole.yaml", []byte("name: a\n---\n---\nname: b\n"))
	code, errs = refused(t, "tokens", "--catalog", filepath.Join(dir, "hole.yaml"))
	assert.Equal(t, 2, code)
	assert.Contains(t, errs, "hole.yaml: a document in it is empty; take it out")
	code, errs = refused(t, "tokens", "--catalog", filepath.Join(dir, "work.yml"))
	assert.Equal(t, 2, code)
	assert.Contains(t, errs, `"CI" has no schema, but "jobs", as no tool has`)
}

func TestAPackedCatalogueMayNotGrowWithoutBound(t *testing.T) {
	var gz bytes.Buffer
	z := gzip.NewWriter(&gz)
	_, err := z.Write(bytes.Repeat([]byte(" "), 65<<20))
	require.NoError(t, errors.Join(err, z.Close()))
	path := filepath.Join(t.TempDir(), "bomb.json.gz")
	require.NoError(t, os.WriteFile(path, gz.Bytes(), 0o600))
	code, errs := refused(t, "tokens", "--catalog", path)
	assert.Equal(t, 2, code)
	assert.Contains(t, errs, "bomb.json.gz: ")
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
