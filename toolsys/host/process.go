package host

import (
	"bytes"
	"context"
	_ "embed" // the script of the guard
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

// child is a command that was started. It may leave processes of its group behind.
type child struct {
	cmd    *exec.Cmd
	exited chan struct{} // the shell itself ended
	pipes  []*stream
	// state carries the report. All processes of the command inherit it, so that its end of file means
	// that none is left.
	state    *stream
	reported bytes.Buffer
	// gate holds the shell back until the guard knows of it: nothing runs that nobody
	// would end if this process were killed.
	gate *os.File
}

// release lets the shell begin.
func (c *child) release() {
	c.gate.WriteString("\n")
	c.gate.Close()
}

// Grouped makes a command, before it starts, the leader of a process group that is killed when the context
// of the command ends. The caller calls kill when the command has ended, for what it may have left behind.
func Grouped(cmd *exec.Cmd) (kill func()) {
	ownGroup(cmd)
	cmd.Cancel = func() error {
		signalGroup(cmd.Process.Pid, syscall.SIGKILL)
		return nil
	}
	return func() {
		if cmd.Process != nil && groupExists(cmd.Process.Pid) {
			signalGroup(cmd.Process.Pid, syscall.SIGKILL)
		}
	}
}

// Times of the end of a command.
const (
	// linger is how long output is waited for that processes in the background may still hold.
	linger = 100 * time.Millisecond
	// hopeless is how long a killed process is waited for: one that is stuck in the kernel never ends.
	hopeless = 2 * time.Second
)

// end ends the entire group: SIGTERM, and SIGKILL for what is left after the grace.
func (c *child) end(grace time.Duration) {
	if signalGroup(c.cmd.Process.Pid, syscall.SIGTERM); c.gone(grace) {
		return
	}
	signalGroup(c.cmd.Process.Pid, syscall.SIGKILL)
	c.gone(hopeless)
}

// gone waits until no process of the command is left, for as long as within.
func (c *child) gone(within time.Duration) bool {
	return over(within, c.exited, c.state.eof) && !groupExists(c.cmd.Process.Pid)
}

// over waits until all is done, for as long as within.
func over(within time.Duration, all ...<-chan struct{}) bool {
	timeout := time.NewTimer(within)
	defer timeout.Stop()
	for _, done := range all {
		select {
		case <-done:
		case <-timeout.C:
			return false
		}
	}
	return true
}

// settle waits until all that was written so far has been handed on, and lets go of the writers.
func (c *child) settle() {
	for _, p := range c.pipes {
		p.r.SetReadDeadline(time.Now().Add(linger))
	}
	for _, p := range c.pipes {
		<-p.settled
	}
}

// exitCode is the shell's: 128 and the number for a signal.
func exitCode(cmd *exec.Cmd) int {
	if cmd.ProcessState == nil {
		return -1 // killed, and stuck all the same
	}
	if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal())
	}
	return cmd.ProcessState.ExitCode()
}

// stream hands on what arrives in a pipe, up to a limit, until it is let go; from there on the pipe is
// emptied into nothing, so that what outlives its command neither blocks nor dies of it.
type stream struct {
	r            *os.File
	w            io.Writer // nil: nobody wants it, or no more
	left         int64
	lost         int64
	settled, eof chan struct{}
	once         sync.Once
}

func (s *stream) run() {
	defer close(s.eof)
	defer s.r.Close()
	defer s.release()
	buf := make([]byte, 32<<10)
	for {
		n, err := s.r.Read(buf)
		s.pass(buf[:n])
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded):
			s.r.SetReadDeadline(time.Time{})
			s.rest(buf)
			s.release()
		case err != nil:
			return
		}
	}
}

// pass hands on what fits below the limit. A writer that fails gets nothing more.
func (s *stream) pass(b []byte) {
	if s.w == nil || len(b) == 0 {
		return
	}
	fits := min(int64(len(b)), s.left)
	s.left, s.lost = s.left-fits, s.lost+int64(len(b))-fits
	if fits > 0 {
		if _, err := s.w.Write(b[:fits]); err != nil {
			s.w = nil
		}
	}
}

// maxPipe is more than any pipe holds.
const maxPipe = 1 << 20

// rest hands on what stands in the pipe at this moment, without waiting.
func (s *stream) rest(buf []byte) {
	raw, err := s.r.SyscallConn()
	if err != nil {
		return
	}
	for total := 0; total < maxPipe; {
		n := 0
		if err := raw.Read(func(fd uintptr) bool {
			n, err = readNow(fd, buf)
			return true
		}); err != nil || n <= 0 {
			return
		}
		s.pass(buf[:n])
		total += n
	}
}

// release lets go of the writer. The caller is run.
func (s *stream) release() {
	s.once.Do(func() {
		if s.w != nil && s.lost > 0 {
			fmt.Fprintf(s.w, "\n[%d more bytes were thrown away]\n", s.lost)
		}
		s.w = nil
		close(s.settled)
	})
}

// guard is a process that outlives this one for a moment: when its input ends, because of Close or because
// this process is no more, it kills the groups it was given.
type guard struct {
	cmd *exec.Cmd
	in  *os.File
}

//go:embed guard.sh
var guardScript string

func startGuard(shell string) (*guard, error) {
	theirs, mine, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer theirs.Close()
	g := &guard{cmd: exec.Command(shell, "-c", guardScript), in: mine}
	g.cmd.Stdin, g.cmd.Dir = theirs, "/"
	ownGroup(g.cmd)
	if err := g.cmd.Start(); err != nil {
		mine.Close()
		return nil, err
	}
	return g, nil
}

func (g *guard) add(pid int)    { fmt.Fprintf(g.in, "+ %d\n", pid) }
func (g *guard) remove(pid int) { fmt.Fprintf(g.in, "- %d\n", pid) }

func (g *guard) stop() {
	g.in.Close()
	g.cmd.Wait()
}

// Attached runs a program with the files it is given, this process's own for instance, in a
// process group of its own, which has the terminal while it runs if its input is one. When
// it ends, or ctx does, what is left of the group is ended as by Run, so that nothing
// outlives it. The code is 128 and the number for a signal.
func (s *Shell) Attached(ctx context.Context, cmd *exec.Cmd) (code int, err error) {
	back := attach(cmd)
	defer back()
	s.mu.Lock()
	if err = context.Cause(ctx); err == nil {
		err = s.watched()
	}
	if err == nil {
		if err = cmd.Start(); err == nil {
			s.guard.add(cmd.Process.Pid)
			defer s.guard.remove(cmd.Process.Pid)
		}
	}
	s.mu.Unlock()
	if err != nil {
		return -1, err
	}
	exited := make(chan struct{})
	go func() { _ = cmd.Wait(); close(exited) }() // its code is what counts
	select {
	case <-exited:
	case <-ctx.Done():
	case <-s.closing.Done():
	}
	s.endGroup(cmd.Process.Pid)
	select {
	case <-exited:
	case <-time.After(hopeless):
		return -1, context.Cause(ctx)
	}
	return exitCode(cmd), context.Cause(ctx)
}

// endGroup ends what there is of a process group: SIGTERM, and SIGKILL after the grace.
func (s *Shell) endGroup(leader int) {
	const look = 10 * time.Millisecond
	for waited := time.Duration(0); groupExists(leader); waited += look {
		switch {
		case waited == 0:
			signalGroup(leader, syscall.SIGTERM)
		case waited >= s.cfg.Grace:
			signalGroup(leader, syscall.SIGKILL)
			return
		}
		time.Sleep(look)
	}
}

// StartProcess starts a program in a folder with nothing but the environment it is given (nil: this
// process's own), and gives its standard input and output. Closing them ends it: its input ends first, and
// after a moment its process group. It fits builtin/file.LanguagesConfig.Start.
func StartProcess(_ context.Context, command []string, dir string, env map[string]string) (io.ReadWriteCloser, error) {
	if len(command) == 0 {
		return nil, errors.New("no command is given")
	}
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Dir = dir
	if env != nil {
		cmd.Env = environment(env)
	}
	ownGroup(cmd)
	// A pipe of our own: Wait would close cmd.StdoutPipe before all of it was read.
	out, theirs, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer theirs.Close()
	cmd.Stdout = theirs
	in, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		out.Close()
		return nil, err
	}
	p := &process{WriteCloser: in, out: out, cmd: cmd, exited: make(chan struct{})}
	go func() {
		cmd.Wait()
		close(p.exited)
	}()
	return p, nil
}

// process is a program whose input and output are a stream.
type process struct {
	io.WriteCloser
	out    *os.File
	cmd    *exec.Cmd
	exited chan struct{}
	once   sync.Once
}

func (p *process) Read(b []byte) (int, error) { return p.out.Read(b) }

// Close ends the process and what it started.
func (p *process) Close() error {
	p.once.Do(func() {
		p.WriteCloser.Close()
		over(time.Second, p.exited)
		for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
			if groupExists(p.cmd.Process.Pid) || !over(0, p.exited) {
				signalGroup(p.cmd.Process.Pid, sig)
				over(time.Second, p.exited)
			}
		}
		p.out.Close()
	})
	return nil
}
