package host

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
	"unicode/utf8"

	"github.com/creack/pty"
	"github.com/hinshun/vt10x"

	"toolbench/toolsys/builtin/shell"
)

// still is how long nothing may change on a screen for it to count as complete.
const still = 200 * time.Millisecond

// unread is how long a program may leave keys unread of which its input has no room for more.
const unread = 5 * time.Second

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
	interruptible(file)
	t := &terminal{shell: s, cmd: cmd, file: file, changed: time.Now(), over: make(chan struct{}), answers: make(answers, 16)}
	t.screen = vt10x.New(vt10x.WithWriter(t.answers), vt10x.WithSize(r.Cols, r.Rows))
	s.guard.add(cmd.Process.Pid)
	s.terminals[t] = true
	s.work.Go(t.show)
	s.work.Go(t.answer)
	return t, nil
}

// terminal is a shell on a pseudo-terminal.
type terminal struct {
	shell  *Shell
	cmd    *exec.Cmd
	file   *os.File
	screen vt10x.Terminal
	// answers are what the terminal answers to a program that asks where the cursor is.
	answers answers
	over    chan struct{} // the program ended, and all it printed is on the screen
	once    sync.Once

	mu      sync.Mutex
	changed time.Time
}

// answers are written apart, since a program that does not read would stop the screen. What it leaves unread is dropped.
type answers chan []byte

// Write implements io.Writer.
func (a answers) Write(p []byte) (int, error) {
	select {
	case a <- slices.Clone(p):
	default:
	}
	return len(p), nil
}

func (t *terminal) answer() {
	for p := range t.answers {
		_, _ = t.file.Write(p) // a program that has ended needs no answer
	}
}

// show draws what the program prints, until it ends.
func (t *terminal) show() {
	defer close(t.over)
	defer close(t.answers)
	buf := make([]byte, 32<<10)
	var printed sequences
	for held := 0; ; {
		n, err := t.file.Read(buf[held:])
		n += held
		whole := n
		for i := max(0, n-utf8.UTFMax); i < whole; i++ {
			if utf8.RuneStart(buf[i]) && !utf8.FullRune(buf[i:n]) {
				whole = i // the rest of the character comes with the next read
			}
		}
		t.screen.Write(printed.bounded(buf[:whole]))
		held = copy(buf, buf[whole:n])
		t.mu.Lock()
		t.changed = time.Now()
		t.mu.Unlock()
		if err != nil {
			t.cmd.Wait()
			return
		}
	}
}

// sequences bounds the numbers in what a program prints to control a terminal: those below zero would be
// places outside of the screen, and up to those of over four digits the emulator would count.
type sequences struct {
	at     byte // 0; an escape; or [ in a control sequence
	digits int
}

// bounded takes from p, in place, what is too much.
func (s *sequences) bounded(p []byte) []byte {
	out := p[:0]
	for _, c := range p {
		digit := c >= '0' && c <= '9'
		switch {
		case c == '\x1b':
			s.at = c
		case c < ' ' || c == 0x7f: // is obeyed within a sequence too
		case s.at == '\x1b' && c == '[':
			*s = sequences{at: c}
		case s.at == '[' && (c == '-' || c > 0x7f || digit && s.digits == 4):
			continue
		case s.at == '[' && digit:
			s.digits++
		case s.at == '[' && c < '@':
			s.digits = 0
		default:
			s.at = 0
		}
		out = append(out, c)
	}
	return out
}

// Type implements shell.Terminal.
func (t *terminal) Type(ctx context.Context, keys string) error {
	t.mu.Lock()
	t.changed = time.Now() // what is typed will change the screen
	t.mu.Unlock()
	written := make(chan error, 1)
	go func() {
		_, err := t.file.WriteString(keys) // returns when the terminal is closed, if not before
		written <- err
	}()
	select {
	case err := <-written:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(unread):
		return errors.New("the program in the terminal does not read what is typed; stop it, or wait until it does")
	}
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
