package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"toolbench/toolsys/message"
)

// urlVariable names our address in an agent's environment. No two servers that run have the
// same, so that it tells an agent's processes from all others.
const urlVariable = "TOOLBENCH_URL"

// endLeftovers ends the processes that inherited an address and are in no group of ours any
// more, as an agent's commands are that begin a session of their own, and gives their
// commands. It looks where Linux shows environments, and finds nothing elsewhere.
func endLeftovers(url string) (ended []string) {
	const rounds = 20 // what is ended may have started others
	for range rounds {
		found := leftovers(url)
		if len(found) == 0 {
			return ended
		}
		for _, pid := range found {
			if command := commandOf(pid); command != "" && !slices.Contains(ended, command) {
				ended = append(ended, command)
			}
			if p, err := os.FindProcess(pid); err == nil {
				_ = p.Kill() // it may be gone
			}
		}
		time.Sleep(10 * time.Millisecond)
	}
	return ended
}

// leftovers are the processes in whose environment an address stands, but for our own. One
// that has ended and that nobody has waited for has no environment any more.
func leftovers(url string) (pids []int) {
	want := []byte("\x00" + urlVariable + "=" + url + "\x00")
	files, _ := filepath.Glob("/proc/[0-9]*/environ") // the pattern is a good one
	for _, file := range files {
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		env, err := os.ReadFile(file)
		if err == nil && pid != os.Getpid() && bytes.Contains(append([]byte{0}, env...), want) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// commandOf is a process's command in a line, "" where it has none any more.
func commandOf(pid int) string {
	text, _ := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "cmdline")) // without it, no word of it
	return message.Line(strings.TrimSpace(strings.ReplaceAll(string(text), "\x00", " ")), 81)
}
