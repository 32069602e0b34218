// Command toolbench runs an agent's tool system against recorded and scripted
// model streams in virtual time, and proves what came of it.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"toolbench/cmd/toolbench/cli"
)

func main() { os.Exit(run(cli.Scenarios())) }

// run stops at the first signal in good order, and at the second at once.
func run(b cli.Bench) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)
	signal.Ignore(syscall.SIGPIPE) // writes then fail, and we end with the code of what was found
	return cli.Main(ctx, cli.ThisProcess(), b)
}
