package cli_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/tools/txtar"

	"toolbench/cmd/toolbench/cli"
)

// A scenario that names what does not exist is refused with the place and the name that
// was probably meant.
func TestWhatAScenarioNamesMustExist(t *testing.T) {
	archive, err := txtar.ParseFile("testdata/names.txtar")
	require.NoError(t, err)
	file, dir, b := string(archive.Files[0].Data), t.TempDir(), cli.Scenarios()
	b.Suite = fstest.MapFS{} // the embedded suite is not looked for here
	run := func(text string) (int, string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "bad.yaml"), []byte(text), 0o600))
		var out, errs bytes.Buffer
		code := cli.Main(context.Background(), cli.Process{Args: []string{"run", "bad.yaml"}, Dir: dir, Stdout: &out, Stderr: &errs}, b)
		return code, errs.String() + out.String()
	}
	code, said := run(file)
	require.Equal(t, cli.ExitHeld, code, said)
	unbreak := strings.NewReplacer(`\n`, "\n")
	for line := range strings.Lines(string(archive.Files[1].Data)) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), " | ")
		if strings.HasPrefix(line, "#") {
			continue
		}
		require.Len(t, fields, 4, line)
		changed := strings.Replace(file, unbreak.Replace(fields[0]), unbreak.Replace(fields[1]), 1)
		require.NotEqual(t, file, changed, line)
		code, said := run(changed)
		assert.Equal(t, cli.ExitUsage, code, line)
		assert.Regexp(t, "^toolbench: bad.yaml:"+fields[2]+": "+fields[3], said, line)
	}
}
