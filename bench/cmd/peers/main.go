// Command peers measures libraries that run a model's tool calls side by side, ours
// among them, and prints a table or, with -json, a document.
//
// Exit codes: 0 measured, 2 the command line is wrong, 3 nothing could be measured,
// 130 interrupted.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"time"

	"golang.org/x/term"

	"toolbench/bench/measure"
	"toolbench/bench/ours"
	"toolbench/bench/peers"
	"toolbench/bench/table"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// all are the peers of this program; genkit's has one of its own.
func all() []measure.Peer { return slices.Concat(ours.Peers(), peers.All()) }

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	if len(args) > 0 && args[0] == "worker" {
		if err := measure.Work(all(), args[1:], stdout); err != nil {
			fmt.Fprintln(stderr, err)
			return 3
		}
		return 0
	}
	o, err := parse(args, stderr)
	if err != nil {
		return 2
	}
	report, err := compare(ctx, o, stderr)
	switch {
	case ctx.Err() != nil:
		return 130
	case err != nil:
		fmt.Fprintf(stderr, "peers: %v\n", err)
		return 3
	}
	if o.json {
		out := json.NewEncoder(stdout)
		out.SetIndent("", "  ")
		err = out.Encode(report)
	} else {
		err = table.Write(stdout, report, o.width)
	}
	if err != nil {
		fmt.Fprintf(stderr, "peers: %v\n", err)
		return 3
	}
	return 0
}

type options struct {
	json, quick bool
	repeats     int
	seed        uint64
	budget      time.Duration
	genkit      string
	width       int
}

func parse(args []string, stderr io.Writer) (o options, err error) {
	set := flag.NewFlagSet("peers", flag.ContinueOnError)
	set.SetOutput(stderr)
	set.BoolVar(&o.json, "json", false, "print the report as JSON")
	set.BoolVar(&o.quick, "quick", false, "see that everything runs: one short repeat, workers beside each other; its times say nothing")
	set.IntVar(&o.repeats, "repeats", 5, "how often each library is measured; the median is shown")
	set.Uint64Var(&o.seed, "seed", 1, "decides on the order within each repeat")
	set.DurationVar(&o.budget, "budget", 300*time.Millisecond, "how long one cost is measured")
	set.StringVar(&o.genkit, "genkit", "genkit", "the folder of genkit's module")
	set.IntVar(&o.width, "width", terminalWidth(), "columns of the table")
	if err := set.Parse(args); err != nil {
		return o, err
	}
	if o.quick {
		o.repeats, o.budget = 1, 20*time.Millisecond
	}
	switch {
	case set.NArg() > 0:
		err = fmt.Errorf("there are no arguments, only flags; got %q", set.Args())
	case o.repeats < 1:
		err = fmt.Errorf("-repeats must be at least 1, not %d", o.repeats)
	case o.budget < time.Millisecond:
		err = fmt.Errorf("-budget must be at least 1ms, not %s", o.budget)
	}
	if err != nil {
		fmt.Fprintf(stderr, "peers: %v\n", err)
	}
	return o, err
}

func terminalWidth() int {
	if width, _, err := term.GetSize(int(os.Stdout.Fd())); err == nil {
		return width
	}
	return 100
}

// compare measures all and adds what the figures rest on.
func compare(ctx context.Context, o options, progress io.Writer) (measure.Report, error) {
	self, err := os.Executable()
	if err != nil {
		return measure.Report{}, err
	}
	plan := measure.Plan{
		Programs: []measure.Program{{File: self, First: []string{"worker"}}},
		Repeats:  o.repeats, Seed: o.seed, Budget: o.budget, AtOnce: 1,
	}
	if o.quick {
		plan.AtOnce = 4
	} else {
		plan.Progress = func(repeat int, peer, name string) {
			fmt.Fprintf(progress, "repeat %d of %d: %-7s %s\n", repeat+1, o.repeats, name, peer)
		}
	}
	report := measure.Report{
		Version: measure.ReportVersion, Go: runtime.Version(), System: runtime.GOOS + "/" + runtime.GOARCH, CPUs: runtime.NumCPU(),
		Date: time.Now().Format(time.DateOnly), Repeats: o.repeats, Seed: o.seed, Budget: o.budget.String(), Quick: o.quick,
	}
	child, remove, err := buildGenkit(ctx, o.genkit)
	defer remove()
	if err != nil {
		report.Missing = append(report.Missing, measure.Missing{Name: "genkit", Reason: err.Error()})
	} else {
		plan.Programs = append(plan.Programs, child)
	}
	if report.Rows, err = plan.Run(ctx); err != nil {
		return report, err
	}
	report.Steps, err = ours.Steps(o.repeats, o.budget)
	return report, err
}
