package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"iter"
	"os"
	"os/exec"
	"os/signal"
	"regexp"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"text/tabwriter"
	"time"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

var errUnnoticed = errors.New("not every fault was noticed")

func run(args []string) error {
	flags := flag.NewFlagSet("mutants", flag.ExitOnError)
	only := flags.String("only", "", "plant only faults whose name matches this pattern")
	asJSON := flags.Bool("json", false, "print one JSON object a fault")
	cases := flags.Int("cases", 3000, "how many cases the fuzzer makes")
	first := flags.Bool("first", false, "go on to the next fault when one checker has noticed it: the suite, the fuzzer, the tests")
	patience := flags.Duration("patience", time.Minute, "how long each checker may take")
	workers := flags.Int("workers", runtime.NumCPU(), "how many faults are tried at the same time")
	changed := flags.String("operators", "", "change every operator of this package instead, one at a time, and run its tests")
	joins := flags.Bool("merge", false, "print what one run would print of all that the files hold which -shard -out wrote")
	out := flags.String("out", "", "with -shard: the file for what noticed its faults")
	part := &shard{}
	flags.Var(part, "shard", "plant every N-th fault from the I-th on, as 1/4")
	least := flags.Float64("least", 0, "with -operators: fail when a smaller share of the changes is noticed, in percent")
	if err := flags.Parse(args); err != nil {
		return err
	}
	switch {
	case *joins && flags.NArg() > 0:
		return merge(flags.Args(), *asJSON, os.Stdout, os.Stderr)
	case *joins || flags.NArg() > 0:
		return errors.New("-merge takes the files of shards, and nothing else takes a file")
	case (*out == "") != (part.Of == 0):
		return errors.New("-shard I/N and -out FILE go together")
	}
	pick, err := regexp.Compile(*only)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	at, err := root(ctx)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "mutants")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if *changed != "" {
		return operators(ctx, at, dir, *changed, *least)
	}
	s := newSite(ctx, at, dir)
	s.cases, s.patience, s.first = *cases, *patience, *first
	tried, err := s.report(ctx, pick, part, *asJSON, max(*workers, 1))
	if err == nil && *out != "" {
		err = tried.write(*out)
	}
	if err != nil {
		return err
	}
	return tried.conclude(os.Stderr)
}

// report turns one fault on after the other, some at the same time, and prints in the order of the
// list what noticed each.
func (s *site) report(ctx context.Context, pick *regexp.Regexp, part *shard, asJSON bool, workers int) (*shard, error) {
	mutants, err := all()
	if err != nil {
		return nil, err
	}
	var picked []fault
	for id, m := range mutants {
		if pick.MatchString(m.Name) {
			f, err := m.fit(s.root, id)
			if err != nil {
				return nil, err
			}
			picked = append(picked, f)
		}
	}
	faults := part.deal(picked)
	began := time.Now()
	if err := s.plant(ctx, faults); err != nil {
		return nil, err
	}
	fmt.Fprintf(os.Stderr, "%d faults planted, %s; each is turned on in turn\n", len(faults)-len(s.broken), time.Since(began).Round(time.Second))
	for n := range s.each(ctx, faults, workers) {
		if err := n.print(os.Stdout, asJSON); err != nil {
			return nil, err
		}
		part.Notices = append(part.Notices, n)
	}
	part.Millis = time.Since(began).Milliseconds()
	return part, ctx.Err()
}

// each gives what noticed each fault, in their order. Faults that were not tried when ctx ended are left out.
func (s *site) each(ctx context.Context, faults []fault, workers int) iter.Seq[notices] {
	var done atomic.Int64
	results, slots := make([]chan notices, len(faults)), make(chan struct{}, workers)
	for i := range results {
		results[i] = make(chan notices, 1)
	}
	go func() {
		for i, f := range faults {
			slots <- struct{}{}
			go func() {
				results[i] <- s.notice(ctx, f)
				<-slots
				if n := done.Add(1); n%25 == 0 {
					fmt.Fprintf(os.Stderr, "%d of %d faults tried\n", n, len(faults))
				}
			}()
		}
	}()
	return func(yield func(notices) bool) {
		for _, result := range results {
			if n := <-result; ctx.Err() != nil || !yield(n) {
				return
			}
		}
	}
}

// print writes what noticed one fault.
func (n notices) print(to io.Writer, asJSON bool) error {
	if asJSON {
		return json.NewEncoder(to).Encode(n)
	}
	w := tabwriter.NewWriter(to, 0, 0, 1, ' ', 0)
	fmt.Fprintf(w, "%s\n", n.Fault)
	fmt.Fprintf(w, "  in\t%s, %.1fs\n", n.In, float64(n.Millis)/1000)
	for _, line := range []struct{ key, text string }{
		{"scenarios", first4(n.Scenarios)}, {"properties", first4(n.Properties)}, {"smallest", n.Smallest}, {"inevitable", n.Inevitable}, {"error", n.Error},
	} {
		if line.text != "" {
			fmt.Fprintf(w, "  %s\t%s\n", line.key, line.text)
		}
	}
	if len(n.By) == 0 && n.Error == "" {
		fmt.Fprintf(w, "  NOT NOTICED\n")
	}
	return w.Flush()
}

// root is the folder of the module that the command is run in.
func root(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", "toolbench").Output()
	if err != nil {
		return "", fmt.Errorf("run this within the repository: %w", err)
	}
	return string(out[:len(out)-1]), nil
}

func first4(names []string) string {
	if len(names) > 4 {
		return strings.Join(names[:4], ", ") + fmt.Sprintf(" and %d more", len(names)-4)
	}
	return strings.Join(names, ", ")
}
