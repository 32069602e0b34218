// Command genkit answers as a worker for genkit, in a module of its own: its dotprompt
// needs an older invopop/jsonschema than the official SDK, and does not build beside
// it.
package main

import (
	"fmt"
	"os"

	"toolbench/bench/measure"
)

func main() {
	if err := measure.Work([]measure.Peer{peer()}, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(3)
	}
}
