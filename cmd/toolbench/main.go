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
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ended := make(chan struct{})
	defer close(ended)
	context.AfterFunc(ctx, func() {
		stop()
		select {
		case <-ended:
		case <-time.After(patience):
			fmt.Fprintln(os.Stderr, "toolbench: interrupted; something did not come back and was given up")
			os.Exit(cli.ExitInterrupted)
		}
	})
	signal.Ignore(syscall.SIGPIPE) // writes then fail, and we end with the code of what was found
	return cli.Main(ctx, cli.ThisProcess(), b)
}
