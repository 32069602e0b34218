package host_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/toolsys/builtin/shell"
	"toolbench/toolsys/host"
)

func terminal(t *testing.T, s *host.Shell, dir string) (typed func(keys string) shell.Screen, term shell.Terminal) {
	t.Helper()
	term, err := s.Terminal(t.Context(), shell.TerminalRequest{Dir: dir, Env: theirs, Cols: 80, Rows: 10})
	require.NoError(t, err)
	return func(keys string) shell.Screen {
		t.Helper()
		require.NoError(t, term.Type(t.Context(), keys))
		screen, err := term.Screen(t.Context(), 5*time.Second)
		require.NoError(t, err)
		return screen
	}, term
}

// eventually looks at the screen until it holds a text: a loaded machine may pause in between.
func eventually(t *testing.T, term shell.Terminal, text string) shell.Screen {
	t.Helper()
	var last shell.Screen
	require.Eventually(t, func() bool {
		var err error
		last, err = term.Screen(context.Background(), time.Second)
		return err == nil && strings.Contains(last.Text, text)
	}, time.Minute, 50*time.Millisecond, text)
	return last
}

func TestATerminalIsARealOneAndIsKept(t *testing.T) {
	s := newShell(t, host.ShellConfig{})
	dir := host.Follow(t.TempDir())
	typed, term := terminal(t, s, dir)
	typed("PS1='wai''ting> '; mkdir sub; cd sub; X=kept; test -t 0 && echo a-terminal; stty size\r")
	assert.Contains(t, eventually(t, term, "10 80").Text, "a-terminal")
	typed("clear; pwd; echo $X\r")
	eventually(t, term, "kept")
	typed("clear; read -p 'Na''me? ' name; echo hello $name\r") // the line that is typed does not have what is waited for
	screen := eventually(t, term, "Name?")
	assert.Equal(t, 7, screen.Col, "the cursor stands where the answer goes")
	typed("Ada\r")
	eventually(t, term, "hello Ada")
	typed(`clear; bash -c "echo rea''dy; exec sleep 1000"` + "\r")
	eventually(t, term, "ready") // in the foreground: before it is, Ctrl-C would be the shell's
	typed("\x03")
	eventually(t, term, "waiting>") // what is typed before may be lost with the command
	typed("echo $?\r")
	eventually(t, term, "130")
	typed(`clear; bash -c "printf '\033[3;5Hhe''re\033[1;1H'; exec sleep 1000"` + "\r")
	screen = eventually(t, term, "here")
	assert.Equal(t, "    here", strings.Split(screen.Text, "\n")[2], "the screen is drawn as a terminal draws it")
	typed("\x03")
	eventually(t, term, "waiting>")
	typed("exit\r")
	require.Eventually(t, func() bool {
		screen, err := term.Screen(t.Context(), time.Second)
		return err == nil && screen.Ended
	}, time.Minute, 50*time.Millisecond)
	require.NoError(t, term.Close())
	assert.Error(t, term.Type(t.Context(), "x"))
}

// Jobs of an interactive shell have process groups of their own; all of them end.
func TestATerminalEndsWithAllThatRunsInIt(t *testing.T) {
	for name, end := range map[string]func(*host.Shell, shell.Terminal) error{
		"by itself":      func(_ *host.Shell, term shell.Terminal) error { return term.Close() },
		"with the shell": func(s *host.Shell, _ shell.Terminal) error { return s.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			s := newShell(t, host.ShellConfig{Grace: 300 * time.Millisecond})
			typed, term := terminal(t, s, host.Follow(t.TempDir()))
			typed("(trap '' HUP TERM; exec sleep 1000) & echo jo''b=$!.; echo she''ll=$$.\r")
			text := eventually(t, term, "shell=").Text
			number := func(name string) string {
				at := strings.LastIndex(text, name+"=") + len(name) + 1
				return text[at : at+strings.IndexByte(text[at:], '.')]
			}
			require.NoError(t, end(s, term))
			gone(t, number("job"))
			gone(t, number("shell"))
		})
	}
}

func TestATerminalIsInTheSandbox(t *testing.T) {
	confined(t, false, func(t *testing.T, s *host.Shell, inside, outside string) {
		typed, term := terminal(t, s, inside)
		typed("echo x > ok; echo x > ../outside/new; echo code=$?\r")
		eventually(t, term, "code=1")
		assert.FileExists(t, filepath.Join(inside, "ok"))
		assert.NoFileExists(t, filepath.Join(outside, "new"))
	})
}

func TestAClosedShellOpensNoTerminal(t *testing.T) {
	s := newShell(t, host.ShellConfig{})
	require.NoError(t, s.Close())
	_, err := s.Terminal(t.Context(), shell.TerminalRequest{Dir: "/", Cols: 80, Rows: 24})
	assert.ErrorIs(t, err, host.ErrClosed)
}

// What a program prints is anybody's text, such as a file that is shown: it neither ends this process nor keeps it from answering.
func TestATerminalBearsWhateverIsPrinted(t *testing.T) {
	for name, printed := range map[string]string{
		"a number below zero": `\033[-5@\033[-7P`,
		"a huge number":       `\033[99999999999I`,
		"questions":           `$(yes "^[[6n" | head -c 400000)`,
		"part of a character": `\xe2\x82`,
	} {
		t.Run(name, func(t *testing.T) {
			_, term := terminal(t, newShell(t, host.ShellConfig{}), host.Follow(t.TempDir()))
			printed = strings.ReplaceAll(printed, "^[", "$(printf '\\033')")
			require.NoError(t, term.Type(t.Context(), `stty raw -echo; printf "`+printed+`"; sleep 0.3; printf '\xac\033[Hstill''here'; exec sleep 1000`+"\r"))
			screen := eventually(t, term, "stillhere")
			assert.Equal(t, name == "part of a character", strings.Contains(screen.Text, "€"))
			if name == "questions" {
				short, end := context.WithTimeout(t.Context(), time.Second)
				defer end()
				assert.Error(t, term.Type(short, strings.Repeat("x", 1<<20)), "nobody reads")
			}
			require.NoError(t, term.Close())
		})
	}
}
