package host

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
)

// ErrNoSandbox is NewShell's error where a sandbox is wanted and the machine has none.
var ErrNoSandbox = errors.New("there is no sandbox on this machine")

// Sandbox confines commands by the operating system's own means: they may read everything, write below a
// few folders, and not reach the network. On Linux bubblewrap does it where it is installed, else Landlock.
// What Landlock cannot close, because the kernel is too old for it, Shell.Confined names.
//
// With Landlock a command begins as this very program, which confines itself and becomes the shell before
// its main function runs.
type Sandbox struct {
	// Writable are the folders below which commands may write, beside the one for temporary files.
	Writable []string
	// Network leaves the network open.
	Network bool
	// By is the means to take, "bwrap" or "landlock"; empty takes the first that works.
	By string
}

// confiner is one way to confine a command.
type confiner struct {
	name string
	// prepare gives what confines a command and the words for what it forbids.
	prepare func(Sandbox) (confinement, error)
}

// confinement is a sandbox that is ready.
type confinement struct {
	// apply makes a command that is not started yet start confined; nil confines nothing.
	apply func(*exec.Cmd)
	// words are what is forbidden, for the model and for people.
	words string
}

// confined finds the means for a sandbox and tries it once.
func (s Sandbox) confined() (confinement, error) {
	s.Writable = append(slices.Clone(s.Writable), os.TempDir())
	for i, dir := range s.Writable {
		s.Writable[i] = Follow(dir)
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			return confinement{}, fmt.Errorf("%s cannot be left open to writing: it is no folder", dir)
		}
	}
	var why []string
	for _, m := range allMeans {
		if s.By != "" && s.By != m.name {
			continue
		}
		c, err := m.prepare(s)
		if err == nil {
			err = c.try()
		}
		if err == nil {
			return c, nil
		}
		why = append(why, m.name+": "+err.Error())
	}
	if len(why) == 0 {
		return confinement{}, fmt.Errorf("%w: none is known for this system", ErrNoSandbox)
	}
	return confinement{}, fmt.Errorf("%w: %s", ErrNoSandbox, strings.Join(why, "; "))
}

// try runs a command that does nothing.
func (c confinement) try() error {
	program, err := exec.LookPath("true")
	if err != nil {
		return err
	}
	cmd := exec.Command(program)
	c.apply(cmd)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, strings.TrimSpace(string(out)))
	}
	return nil
}

// behind puts a program with its arguments before a command.
func behind(cmd *exec.Cmd, program string, args ...string) {
	cmd.Args = slices.Concat(args, []string{cmd.Path}, cmd.Args[1:])
	cmd.Path = program
}

// forbids words what a sandbox keeps commands from.
func (s Sandbox) forbids(network string) string {
	words := "writing outside of " + strings.Join(s.Writable, ", ")
	if !s.Network && network != "" {
		words += ", and " + network
	}
	return words
}
