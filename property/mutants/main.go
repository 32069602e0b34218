package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"regexp"
	"strings"
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
	changed := flags.String("operators", "", "change every operator of this package instead, one at a time, and run its tests")
	least := flags.Float64("least", 0, "with -operators: fail when a smaller share of the changes is noticed, in percent")
	if err := flags.Parse(args); err != nil {
		return err
	}
	pick, err := regexp.Compile(*only)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	s := site{cases: *cases, patience: *patience, first: *first}
	if s.root, err = root(ctx); err != nil {
		return err
	}
	if s.dir, err = os.MkdirTemp("", "mutants"); err != nil {
		return err
	}
	defer os.RemoveAll(s.dir)
	if *changed != "" {
		return operators(ctx, s.root, s.dir, *changed, *least)
	}
	return s.report(ctx, pick, *asJSON)
}

// report plants one fault after the other and prints at once what noticed it.
func (s site) report(ctx context.Context, pick *regexp.Regexp, asJSON bool) error {
	faults, err := all()
	if err != nil {
		return err
	}
	planted, noticed := 0, 0
	for _, m := range faults {
		if !pick.MatchString(m.Name) || ctx.Err() != nil {
			continue
		}
		n := s.notice(ctx, m)
		if ctx.Err() != nil {
			break
		}
		planted++
		if n.noticed() && n.Error == "" {
			noticed++
		}
		if err := n.print(asJSON); err != nil {
			return err
		}
	}
	fmt.Fprintf(os.Stderr, "%d of %d faults noticed\n", noticed, planted)
	if noticed < planted {
		return errUnnoticed
	}
	return ctx.Err()
}

// print writes what noticed one fault.
func (n notices) print(asJSON bool) error {
	if asJSON {
		return json.NewEncoder(os.Stdout).Encode(n)
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 1, ' ', 0)
	fmt.Fprintf(w, "%s\n", n.Fault)
	fmt.Fprintf(w, "  in\t%s, %.1fs\n", n.In, float64(n.Millis)/1000)
	for _, line := range []struct{ key, text string }{
		{"scenarios", first4(n.Scenarios)}, {"properties", first4(n.Properties)}, {"smallest", n.Smallest}, {"inevitable", n.Inevitable}, {"error", n.Error},
	} {
		if line.text != "" {
			fmt.Fprintf(w, "  %s\t%s\n", line.key, line.text)
		}
	}
	if !n.noticed() && n.Error == "" {
		fmt.Fprintf(w, "  NOT NOTICED\n")
	}
	return w.Flush()
}

func first4(names []string) string {
	if len(names) > 4 {
		return strings.Join(names[:4], ", ") + fmt.Sprintf(" and %d more", len(names)-4)
	}
	return strings.Join(names, ", ")
}
