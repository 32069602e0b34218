package main

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"github.com/creack/pty"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/term"
)

// playing plays a scenario that takes nine seconds, slowly, in a terminal.
func playing(t *testing.T) (*terminal, *term.State) {
	cmd := exec.Command("toolbench", "play", "latency-two-turns", "--speed", "0.5")
	cmd.Env = []string{"TERM=xterm", "NO_COLOR=1", "LANG=C.UTF-8", "TOOLBENCH_CONFIG=off", "HOME=" + t.TempDir()}
	for _, key := range planted {
		cmd.Env = append(cmd.Env, key+"="+os.Getenv(key))
	}
	untouched, side, err := pty.Open() // as each is at first: the program may have changed its own already
	require.NoError(t, err)
	defer untouched.Close()
	defer side.Close()
	before, err := term.GetState(int(untouched.Fd()))
	require.NoError(t, err)
	return inTerminal(t, cmd), before
}

// left checks that a terminal is as it was, and gives the code of the program.
func (screen *terminal) left(before *term.State) int {
	screen.t.Helper()
	err := screen.cmd.Wait()
	after, stateErr := term.GetState(int(screen.Fd()))
	require.NoError(screen.t, stateErr)
	assert.Equal(screen.t, before, after, "the terminal is as it was")
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ExitCode()
	}
	require.NoError(screen.t, err)
	return 0
}

// Keys pause, go on, change the speed and quit.
func TestPlayTakesKeys(t *testing.T) {
	screen, before := playing(t)
	screen.shows("0.5x: space pauses")
	screen.types(" ")
	screen.shows("paused at 0.5x")
	screen.types("+")
	screen.shows("paused at 1x")
	screen.types("--")
	screen.shows("paused at 0.25x")
	for screen.types("n"); !screen.has("Read ") && !screen.has("Reading "); screen.types("\x1b[C") { // one step after the other, without the time
		screen.shows("paused")
	}
	screen.types("q")
	assert.Zero(t, screen.left(before))
}

// However it is stopped, the terminal is left as it was.
func TestPlayLeavesTheTerminalAsItWas(t *testing.T) {
	screen, before := playing(t)
	screen.shows("space pauses")
	screen.types("\x03")
	assert.Equal(t, 130, screen.left(before))

	for _, s := range []os.Signal{syscall.SIGINT, syscall.SIGTERM} {
		screen, before = playing(t)
		screen.shows("space pauses")
		require.NoError(t, screen.cmd.Process.Signal(s))
		assert.Equal(t, 130, screen.left(before))
	}
}
