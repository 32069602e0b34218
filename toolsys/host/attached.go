package host

import (
	"context"
	"os/exec"
	"syscall"
	"time"
)

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
