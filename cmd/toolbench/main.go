// Command toolbench runs an agent's tool system against recorded and scripted
// model streams in virtual time, and proves what came of it.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"toolbench/cmd/toolbench/cli"
)

func main() { os.Exit(run(cli.Scenarios())) }

// patience is how long the first signal waits for the program to end in good order.
const patience = 5 * time.Second

// run stops at the first signal in good order, and at the second at once. What does
// not come back, such as a tool on a disk that is gone, never holds the process.
func run(b cli.Bench) int {
	p := cli.ThisProcess()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	ended := make(chan struct{})
	defer close(ended)
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) { // as nohup has it
		signal.Notify(signals, syscall.SIGHUP)
	}
	go func() {
		for s := range signals {
			if s == os.Interrupt && p.Interrupts.Taken() {
				continue
			}
			cancel()
			// What passes on a signal that a terminal sends to all sends a second, which is the same for a moment.
			time.AfterFunc(500*time.Millisecond, func() { signal.Stop(signals) })
			giveUp(ended)
		}
	}()
	signal.Ignore(syscall.SIGPIPE) // writes then fail, and we end with the code of what was found
	return cli.Main(ctx, p, b)
}

// giveUp ends the process when it does not end by itself.
func giveUp(ended <-chan struct{}) {
	select {
	case <-ended:
	case <-time.After(patience):
		fmt.Fprintln(os.Stderr, "toolbench: interrupted; something did not come back and was given up")
		os.Exit(cli.ExitInterrupted)
	}
}
