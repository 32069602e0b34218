//go:build unix

package host

import (
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// ownGroup makes a command the leader of a session, and so of a process group, without a terminal: what
// asks at a terminal fails at once instead of waiting for ever.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

// attach makes a command the leader of a process group within this session. Where its input
// is the terminal that this process has, the group gets it; back takes it again.
func attach(cmd *exec.Cmd) (back func()) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	in, ok := cmd.Stdin.(*os.File)
	if !ok {
		return func() {}
	}
	own := syscall.Getpgrp()
	if front, err := unix.IoctlGetInt(int(in.Fd()), unix.TIOCGPGRP); err != nil || front != own {
		return func() {}
	}
	cmd.SysProcAttr.Foreground, cmd.SysProcAttr.Ctty = true, int(in.Fd())
	return func() {
		signal.Ignore(syscall.SIGTTOU)                                 // which who is not in front gets for this
		_ = unix.IoctlSetPointerInt(int(in.Fd()), unix.TIOCSPGRP, own) // without the terminal we can go on
	}
}

// interruptible has the end of a file end whoever reads or writes it, which the library that opens terminals
// takes from it.
func interruptible(f *os.File) { _ = syscall.SetNonblock(int(f.Fd()), true) } // where it fails, they wait

// signalGroup signals the group of a command, and the groups that job control made within its session.
func signalGroup(leader int, sig syscall.Signal) {
	syscall.Kill(-leader, sig)
	syscall.Kill(-leader, syscall.SIGCONT) // a stopped process takes no other signal than SIGKILL
	for _, pid := range sessionOf(leader) {
		syscall.Kill(pid, sig)
		syscall.Kill(pid, syscall.SIGCONT)
	}
}

func groupExists(leader int) bool { return syscall.Kill(-leader, 0) == nil }

// sessionOf lists the processes of a session outside of its leader's group, where the system has /proc.
func sessionOf(leader int) (pids []int) {
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		stat, _ := os.ReadFile("/proc/" + e.Name() + "/stat")
		// PID (NAME) STATE PPID PGRP SESSION ...; the name may hold anything.
		fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
		if len(fields) > 3 && fields[3] == strconv.Itoa(leader) && fields[2] != fields[3] {
			pids = append(pids, pid)
		}
	}
	return pids
}

// readNow reads what there is, without waiting.
func readNow(fd uintptr, buf []byte) (int, error) { return syscall.Read(int(fd), buf) }

// Lock keeps a file for whoever opened it, until that is closed or the process ends; it does not wait.
func Lock(f *os.File) error { return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) }

// MakeFIFO makes a FIFO and opens it for both ends, since otherwise opening waits for a reader. Writing to
// it never waits.
func MakeFIFO(name string) (*os.File, error) {
	if err := syscall.Mkfifo(name, 0o600); err != nil {
		return nil, err
	}
	return os.OpenFile(name, os.O_RDWR|syscall.O_NONBLOCK, 0)
}
