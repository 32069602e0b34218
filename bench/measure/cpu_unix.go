//go:build unix

package measure

import (
	"syscall"
	"time"
)

// used is the processor time this process has taken so far: unlike the clock on the
// wall it hardly minds what else the machine does.
func used() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
