package host

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

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
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	// A pipe of our own: Wait would close cmd.StdoutPipe before all of it was read.
	out, theirs, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer theirs.Close()
	cmd.Stdout = theirs
	if err := cmd.Start(); err != nil {
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
		p.exits(time.Second)
		for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
			if groupExists(p.cmd.Process.Pid) || !p.exits(0) {
				signalGroup(p.cmd.Process.Pid, sig)
				p.exits(time.Second)
			}
		}
		p.out.Close()
	})
	return nil
}

// exits waits for the end of the program, for as long as within.
func (p *process) exits(within time.Duration) bool {
	timeout := time.NewTimer(within)
	defer timeout.Stop()
	select {
	case <-p.exited:
		return true
	case <-timeout.C:
		return false
	}
}
