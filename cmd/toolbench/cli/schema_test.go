package cli_test

import (
	"bytes"
	"context"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/cmd/toolbench/cli"
)

// output runs a command line on the real bench.
func output(t *testing.T, args ...string) []byte {
	t.Helper()
	var out, errs bytes.Buffer
	code := cli.Main(context.Background(), cli.Process{Args: args, Stdout: &out, Stderr: &errs}, cli.Scenarios())
	require.Equal(t, cli.ExitHeld, code, errs.String())
	return out.Bytes()
}

func TestARealRunsReportFitsThePublishedSchema(t *testing.T) {
	schema, err := jsonschema.UnmarshalJSON(bytes.NewReader(output(t, "schema", "run")))
	require.NoError(t, err)
	c := jsonschema.NewCompiler()
	require.NoError(t, c.AddResource("run.json", schema))
	compiled, err := c.Compile("run.json")
	require.NoError(t, err)
	report, err := jsonschema.UnmarshalJSON(bytes.NewReader(output(t, "run", "-g", "headline", "--format", "json")))
	require.NoError(t, err)
	assert.NoError(t, compiled.Validate(report))
}

func TestARealRunIsTheSameEachTime(t *testing.T) {
	output(t, "run", "latency-hiding-headline", "--repeat-each", "5")
}
