package cli_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/cmd/toolbench/cli"
)

// play runs a command in a folder, with a program for batches.
func play(self, dir string, args ...string) (code int, stdout, stderr string) {
	var out, errs bytes.Buffer
	code = cli.Main(context.Background(), cli.Process{Args: args, Stdout: &out, Stderr: &errs, Dir: dir, Self: self}, cli.Scenarios())
	return code, out.String(), errs.String()
}

// What many workers find is what one process finds: the first failure with its files, while
// the ledger gets each cause once, however many parts show it.
func TestWhatManyWorkersFindIsToldAsOne(t *testing.T) {
	self := filepath.Join(t.TempDir(), "self")
	// Cases 37, 137 and 237 kill their process, the last with other words.
	script := `#!/bin/sh
if [ "$2" = --replay ]; then if grep -q 'safe: true' "$3"; then echo "panic: boom" >&2; exit 2; fi; exit 0; fi
first=${3%%:*}; rest=${3#*:}; n=${rest%%:*}
echo "{\"at\":$first}"
for bad in 37 137 237; do
if [ $first -le $bad ] && [ $((first+n)) -gt $bad ]; then
if [ $bad -lt 200 ]; then echo "panic: boom" >&2; else echo "panic: crash" >&2; fi
exit 2
fi
done
echo "{\"done\":{\"cases\":$n,\"calls\":$n,\"seen\":[]}}"
`
	require.NoError(t, os.WriteFile(self, []byte(script), 0o755))
	cases := []string{"--seed", "4", "--range", "0..300", "--engine", "des", "--format", "json=report.json"}
	one, many := t.TempDir(), t.TempDir()
	code, _, errs := play(self, one, append([]string{"fuzz"}, cases...)...)
	require.Equal(t, cli.ExitFailed, code, errs)
	code, out, errs := play(self, many, append([]string{"campaign", "--part", "50", "--workers", "2", "--findings", "found"}, cases...)...)
	assert.Equal(t, cli.ExitFailed, code, errs)
	assert.Contains(t, out, "FAILED case 37 broke crash")
	assert.Contains(t, errs, "2 causes were found")
	for _, name := range []string{"report.json", "fuzz-4-37.yaml", "fuzz-4-37.case.yaml"} {
		want, err := os.ReadFile(filepath.Join(one, name))
		require.NoError(t, err)
		got, err := os.ReadFile(filepath.Join(many, name))
		require.NoError(t, err)
		assert.Equal(t, string(want), string(got), name)
	}
	ledger, err := os.ReadFile(filepath.Join(many, "found", "ledger.json"))
	require.NoError(t, err)
	assert.Equal(t, 2, bytes.Count(ledger, []byte(`"cause"`)), string(ledger))
	kept, err := filepath.Glob(filepath.Join(many, "found", "*.case.yaml"))
	require.NoError(t, err)
	assert.Len(t, kept, 2)
}
