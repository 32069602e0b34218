//go:build !unix

package host

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"syscall"
)

// ownGroup does nothing: without process groups only the shell itself can be ended.
func ownGroup(*exec.Cmd) {}

func attach(*exec.Cmd) (back func()) { return func() {} }

func interruptible(*os.File) {}

func signalGroup(leader int, _ syscall.Signal) {
	if p, err := os.FindProcess(leader); err == nil {
		p.Kill()
	}
}

func groupExists(int) bool { return false }

func sessionOf(int) []int { return nil }

func readNow(uintptr, []byte) (int, error) { return 0, io.EOF }

// Lock does nothing: the system has no locks of this kind.
func Lock(*os.File) error { return nil }

// MakeFIFO fails: the system has no files of this kind.
func MakeFIFO(string) (*os.File, error) { return nil, errors.ErrUnsupported }
