package host

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/creack/pty"
	"github.com/hinshun/vt10x"

	"toolbench/toolsys/builtin/shell"
)

// still is how long nothing may change on a screen for it to count as complete.
const still = 200 * time.Millisecond

// Terminal opens a terminal with the shell in it, within the sandbox if there is one. It fits
// builtin.Deps.Terminal. The terminal ends with the shell, as commands do.
func (s *Shell) Terminal(_ context.Context, r shell.TerminalRequest) (shell.Terminal, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing.Err() != nil {
		return nil, ErrClosed
	}
	if err := s.watched(); err != nil {
		return nil, err
	}
	args := []string{s.tools.shell, "-i"}
	if s.tools.bash {
		args = []string{s.tools.shell, "--noprofile", "--norc", "-i"}
	}
	cmd := &exec.Cmd{Path: s.tools.shell, Args: args, Dir: r.Dir, Env: append(environment(r.Env), "TERM=xterm", "PS1=$ ")}
	if s.confine.apply != nil {
		s.confine.apply(cmd)
	}
	file, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: uint16(r.Rows), Cols: uint16(r.Cols)})
	if err != nil {
		return nil, err
	}
	t := &terminal{shell: s, cmd: cmd, file: file, changed: time.Now(), over: make(chan struct{})}
	t.screen = vt10x.New(vt10x.WithWriter(file), vt10x.WithSize(r.Cols, r.Rows))
	s.guard.add(cmd.Process.Pid)
	s.terminals[t] = true
	s.work.Go(t.show)
	return t, nil
}

// terminal is a shell on a pseudo-terminal.
type terminal struct {
	shell  *Shell
	cmd    *exec.Cmd
	file   *os.File
	screen vt10x.Terminal
	over   chan struct{} // the program ended, and all it printed is on the screen
	once   sync.Once

	mu      sync.Mutex
	changed time.Time
}

// show draws what the program prints, until it ends.
func (t *terminal) show() {
	defer close(t.over)
	buf := make([]byte, 32<<10)
	for {
		n, err := t.file.Read(buf)
		t.screen.Write(buf[:n])
		t.mu.Lock()
		t.changed = time.Now()
		t.mu.Unlock()
		if err != nil {
			t.cmd.Wait()
			return
		}
	}
}

// Type implements shell.Terminal.
func (t *terminal) Type(_ context.Context, keys string) error {
	t.mu.Lock()
	t.changed = time.Now() // what is typed will change the screen
	t.mu.Unlock()
	_, err := t.file.WriteString(keys)
	return err
}

// Screen implements shell.Terminal.
func (t *terminal) Screen(ctx context.Context, within time.Duration) (shell.Screen, error) {
	timeout := time.NewTimer(within)
	defer timeout.Stop()
	look := time.NewTicker(still / 8)
	defer look.Stop()
	for {
		t.mu.Lock()
		quiet := time.Since(t.changed) >= still
		t.mu.Unlock()
		if quiet {
			return t.now(), nil
		}
		select {
		case <-look.C:
		case <-timeout.C:
			return t.now(), nil
		case <-t.over:
			return t.now(), nil
		case <-ctx.Done():
			return shell.Screen{}, context.Cause(ctx)
		}
	}
}

func (t *terminal) now() shell.Screen {
	t.screen.Lock()
	cursor := t.screen.Cursor()
	t.screen.Unlock()
	lines := strings.Split(t.screen.String(), "\n")
	for i, l := range lines {
		lines[i] = strings.TrimRight(l, " ")
	}
	s := shell.Screen{Text: strings.TrimRight(strings.Join(lines, "\n"), "\n"), Row: cursor.Y + 1, Col: cursor.X + 1}
	select {
	case <-t.over:
		s.Ended = true
	default:
	}
	return s
}

// Close implements shell.Terminal.
func (t *terminal) Close() error {
	t.once.Do(func() {
		for _, sig := range []syscall.Signal{syscall.SIGHUP, syscall.SIGKILL} {
			signalGroup(t.cmd.Process.Pid, sig)
			if t.ended(t.shell.cfg.Grace) {
				break
			}
		}
		t.file.Close()
		<-t.over
		t.shell.mu.Lock()
		delete(t.shell.terminals, t)
		t.shell.guard.remove(t.cmd.Process.Pid)
		t.shell.mu.Unlock()
	})
	return nil
}

// ended waits until nothing of the terminal's session is left.
func (t *terminal) ended(within time.Duration) bool {
	for end := time.Now().Add(within); time.Now().Before(end); time.Sleep(still / 8) {
		select {
		case <-t.over:
			if !groupExists(t.cmd.Process.Pid) && len(sessionOf(t.cmd.Process.Pid)) == 0 {
				return true
			}
		default:
		}
	}
	return false
}

var _ shell.Terminal = (*terminal)(nil)

// watched starts the guard of commands where it does not run yet. The caller holds the lock.
func (s *Shell) watched() error {
	if s.guard != nil {
		return nil
	}
	g, err := startGuard(s.tools.shell)
	if err != nil {
		return fmt.Errorf("the guard of commands did not start: %w", err)
	}
	s.guard = g
	return nil
}
