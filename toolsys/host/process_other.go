//go:build !unix

package host

import (
	"io"
	"os"
	"os/exec"
	"syscall"
)

// ownGroup does nothing: without process groups only the shell itself can be ended.
func ownGroup(*exec.Cmd) {}

func attach(*exec.Cmd) (back func()) { return func() {} }

func signalGroup(leader int, _ syscall.Signal) {
	if p, err := os.FindProcess(leader); err == nil {
		p.Kill()
	}
}

func groupExists(int) bool { return false }

func sessionOf(int) []int { return nil }

func readNow(uintptr, []byte) (int, error) { return 0, io.EOF }
