package host_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/toolsys/host"
)

// What bubblewrap is asked for is held also where it is not installed: another program in its place
// writes down what it is given.
func TestBubblewrapIsAskedToCloseTheNetworkUnlessItIsLeftOpen(t *testing.T) {
	dir := host.Follow(t.TempDir())
	text := "#!/bin/sh\nprintf '%s ' \"$@\" > '" + dir + "/asked'\nwhile [ \"$1\" != -- ]; do shift; done\nshift\nexec \"$@\"\n"
	require.NoError(t, os.WriteFile(filepath.Join(dir, "bwrap"), []byte(text), 0o755))
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	for _, open := range []bool{false, true} {
		s, err := host.NewShell(host.ShellConfig{Sandbox: &host.Sandbox{By: "bwrap", Writable: []string{dir}, Network: open}})
		require.NoError(t, err)
		require.NoError(t, runIn(t.Context(), s, dir, "true").err)
		require.NoError(t, s.Close())
		asked, err := os.ReadFile(filepath.Join(dir, "asked"))
		require.NoError(t, err)
		assert.Contains(t, string(asked), "--ro-bind / / ")
		assert.Contains(t, string(asked), "--bind "+dir+" "+dir+" ")
		assert.Equal(t, !open, strings.Contains(string(asked), "--unshare-net "))
	}
}
