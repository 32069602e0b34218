package host_test

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/toolsys/builtin/shell"
	"toolbench/toolsys/host"
)

// confined runs a test with each sandbox that this machine has.
func confined(t *testing.T, network bool, test func(t *testing.T, s *host.Shell, inside, outside string)) {
	for _, by := range []string{"bwrap", "landlock"} {
		t.Run(by, func(t *testing.T) {
			top := host.Follow(t.TempDir())
			dirs := map[string]string{}
			for _, name := range []string{"inside", "outside", "temp"} {
				dirs[name] = filepath.Join(top, name)
				require.NoError(t, os.Mkdir(dirs[name], 0o777))
			}
			t.Setenv("TMPDIR", dirs["temp"])
			s, err := host.NewShell(host.ShellConfig{Sandbox: &host.Sandbox{By: by, Writable: []string{dirs["inside"]}, Network: network}})
			if err != nil {
				require.ErrorIs(t, err, host.ErrNoSandbox)
				t.Skip(err)
			}
			t.Cleanup(func() { require.NoError(t, s.Close()) })
			test(t, s, dirs["inside"], dirs["outside"])
		})
	}
}

func TestASandboxForbidsWritingOutsideOfTheRoots(t *testing.T) {
	confined(t, false, func(t *testing.T, s *host.Shell, inside, outside string) {
		require.NoError(t, os.WriteFile(filepath.Join(outside, "old"), []byte("old"), 0o666))
		require.NoError(t, os.Symlink(outside, filepath.Join(inside, "link")))
		for script, mayRun := range map[string]bool{
			"echo x > new && mkdir sub && mv new sub/moved && rm sub/moved && rmdir sub": true,
			"echo x > ../temp/new":                      true,
			"mktemp -p ../temp":                         true,
			"cat ../outside/old":                        true,
			"echo x > /dev/null":                        true,
			"ls / && test -r /etc/passwd":               true,
			"echo x > ../outside/new":                   false,
			"echo x >> ../outside/old":                  false,
			": > ../outside/old":                        false,
			"rm ../outside/old":                         false,
			"mv ../outside/old here":                    false,
			"ln ../outside/old here":                    false,
			"mkdir ../outside/sub":                      false,
			"echo x > link/new":                         false,
			"ln -s ../outside/new a; echo x > a":        false,
			"cp ../outside/old /etc/new-file-of-a-test": false,
		} {
			got := runIn(t.Context(), s, inside, script)
			require.NoError(t, got.err)
			assert.Equal(t, mayRun, got.Code == 0, "%s: %s", script, got.stderr)
			assert.Contains(t, got.Forbidden, "writing outside of "+inside)
		}
		left, err := os.ReadDir(outside)
		require.NoError(t, err)
		assert.Len(t, left, 1)
		old, err := os.ReadFile(filepath.Join(outside, "old"))
		require.NoError(t, err)
		assert.Equal(t, "old", string(old))
	})
}

func TestASandboxForbidsTheNetworkUnlessItIsLeftOpen(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	connect := "exec 5<>/dev/tcp/" + strings.Replace(l.Addr().String(), ":", "/", 1)
	for _, open := range []bool{false, true} {
		confined(t, open, func(t *testing.T, s *host.Shell, inside, _ string) {
			if !open && !strings.Contains(s.Confined(), "TCP") && !strings.Contains(s.Confined(), "network") {
				t.Skip("this kernel cannot close the network: " + s.Confined())
			}
			got := runIn(t.Context(), s, inside, connect)
			require.NoError(t, got.err)
			assert.Equal(t, open, got.Code == 0, got.stderr)
		})
	}
}

// What holds of a command without a sandbox holds of one within.
func TestACommandInASandboxIsACommand(t *testing.T) {
	confined(t, false, func(t *testing.T, s *host.Shell, inside, outside string) {
		require.NoError(t, os.Mkdir(filepath.Join(inside, "sub"), 0o777))
		got := runIn(t.Context(), s, inside, "cd sub; export A=1; echo out; echo err >&2; exit 7")
		require.NoError(t, got.err)
		assert.Equal(t, []any{"out\n", "err\n", 7, filepath.Join(inside, "sub"), "1"}, []any{got.stdout, got.stderr, got.Code, got.Dir, got.Env["A"]})
		assert.Equal(t, "yes", got.Env["GIVEN"])

		long := runIn(t.Context(), s, inside, ": "+strings.Repeat("x", 300<<10)+"; echo $#")
		require.NoError(t, long.err)
		assert.Equal(t, "0\n", long.stdout)

		ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		defer cancel()
		stopped := runIn(ctx, s, inside, "sleep 100 & echo $! > left; echo $$; wait")
		require.ErrorIs(t, stopped.err, context.DeadlineExceeded)
		gone(t, stopped.stdout)
		left, err := os.ReadFile(filepath.Join(inside, "left"))
		require.NoError(t, err)
		gone(t, string(left))

		behind := runIn(t.Context(), s, inside, "sleep 100 >/dev/null 2>&1 & echo $!")
		require.NoError(t, behind.err)
		require.NoError(t, s.Close())
		gone(t, behind.stdout)
	})
}

func TestACommandThatWasAllowedToGoesRoundTheSandbox(t *testing.T) {
	confined(t, false, func(t *testing.T, s *host.Shell, inside, outside string) {
		require.NotNil(t, s.Sandbox())
		assert.Empty(t, s.Sandbox()("rm -rf /"), "the system holds it, so nothing is refused beforehand")
		var out strings.Builder
		exit, err := s.Run(t.Context(), shell.Request{Script: "echo x > ../outside/new", Dir: inside, Env: theirs, Stdout: &out, Stderr: &out, Unsandboxed: true})
		require.NoError(t, err)
		assert.Zero(t, exit.Code, out.String())
		assert.Empty(t, exit.Forbidden)
		assert.FileExists(t, filepath.Join(outside, "new"))
	})
}

func TestASandboxThatCannotBeIsAnError(t *testing.T) {
	_, err := host.NewShell(host.ShellConfig{Sandbox: &host.Sandbox{By: "wishes"}})
	require.ErrorIs(t, err, host.ErrNoSandbox)
	_, err = host.NewShell(host.ShellConfig{Sandbox: &host.Sandbox{Writable: []string{"/no/such/folder"}}})
	require.ErrorContains(t, err, "/no/such/folder")
	s := newShell(t, host.ShellConfig{})
	assert.Nil(t, s.Sandbox(), "without a sandbox nobody is asked about going round it")
	assert.Empty(t, s.Confined())
}
