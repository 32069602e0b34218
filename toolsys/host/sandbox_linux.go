package host

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"syscall"

	"github.com/landlock-lsm/go-landlock/landlock"
	kernel "github.com/landlock-lsm/go-landlock/landlock/syscall"
)

// allMeans are in the order in which they are tried: bubblewrap also hides devices and closes all of the network.
var allMeans = []confiner{{"bwrap", bubblewrap}, {"landlock", landlocked}}

// bubblewrap confines in namespaces of the command's own: a disk that is read-only but for some folders,
// the harmless devices, no capabilities, and a network that has nothing but itself.
func bubblewrap(s Sandbox) (confinement, error) {
	program, err := exec.LookPath("bwrap")
	if err != nil {
		return confinement{}, err
	}
	args := []string{program, "--ro-bind", "/", "/", "--dev", "/dev", "--cap-drop", "ALL"}
	for _, dir := range s.Writable {
		args = append(args, "--bind", dir, dir)
	}
	if !s.Network {
		args = append(args, "--unshare-net")
	}
	return confinement{
		apply: func(cmd *exec.Cmd) { behind(cmd, program, append(args, "--")...) },
		words: s.forbids("the network"),
	}, nil
}

// Versions of Landlock: from leastLandlock on a file outside cannot even be cut short, from tcpLandlock on
// TCP is confined too, from udpLandlock on UDP.
const (
	leastLandlock = 3
	tcpLandlock   = 4
	udpLandlock   = 10
)

// landlockName is the name under which this program starts to confine itself.
const landlockName = "toolbench-landlock"

// landlocked confines with rules that a process puts on itself and its children for good.
func landlocked(s Sandbox) (confinement, error) {
	version, err := kernel.LandlockGetABIVersion()
	switch {
	case err != nil:
		return confinement{}, fmt.Errorf("the kernel does not have it: %w", err)
	case version < leastLandlock:
		return confinement{}, fmt.Errorf("the kernel has version %d of it, and %d is needed", version, leastLandlock)
	}
	self, err := os.Executable()
	if err != nil {
		return confinement{}, err
	}
	rules, err := json.Marshal(s)
	if err != nil {
		return confinement{}, err
	}
	network := ""
	switch {
	case version >= udpLandlock:
		network = "the network"
	case version >= tcpLandlock:
		network = "TCP connections"
	}
	return confinement{
		apply: func(cmd *exec.Cmd) { behind(cmd, self, landlockName, string(rules)) },
		words: s.forbids(network),
	}, nil
}

// init becomes the confined command where this program was started to do so.
func init() {
	if len(os.Args) > 2 && os.Args[0] == landlockName {
		err := becomeConfined(os.Args[1], os.Args[2:])
		fmt.Fprintln(os.Stderr, "the sandbox cannot be entered:", err)
		os.Exit(126)
	}
}

// becomeConfined puts the rules on this process and becomes the command. It returns only when it fails.
func becomeConfined(rules string, command []string) error {
	var s Sandbox
	if err := json.Unmarshal([]byte(rules), &s); err != nil {
		return err
	}
	if err := s.enter(); err != nil {
		return err
	}
	return syscall.Exec(command[0], command, os.Environ())
}

// devices are what commands write to that is no file.
var devices = []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty"}

func (s Sandbox) enter() error {
	all := landlock.V11.BestEffort()
	open := []landlock.Rule{
		landlock.RODirs("/"),
		landlock.RWDirs(s.Writable...).WithRefer(),
		landlock.RWFiles(devices...).IgnoreIfMissing().WithIoctlDev(),
		landlock.RWDirs("/dev/pts", "/dev/shm").IgnoreIfMissing().WithIoctlDev(),
	}
	if !s.Network {
		return all.Restrict(open...)
	}
	if err := all.RestrictPaths(open...); err != nil {
		return err
	}
	return all.RestrictScoped()
}
