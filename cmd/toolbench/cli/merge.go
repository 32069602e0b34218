package cli

import (
	"cmp"
	"io"
	"time"

	"github.com/spf13/cobra"

	"toolbench/reports"
)

// mergedFormats are the reports that can be made of stored ones.
func mergedFormats() []string { return []string{"markdown", "junit"} }

func (a *app) mergeCommand() *cobra.Command {
	f := printing{outputs: outputs{names: mergedFormats()}}
	cmd := explained(&cobra.Command{Use: "merge REPORT...", Short: "Join the reports of shards",
		RunE: func(_ *cobra.Command, args []string) error { return a.merge(args, f) }})
	f.add(cmd.Flags())
	f.briefly(cmd.Flags(), "a row for each scenario, however many they are")
	return cmd
}

// merge runs the command and gives the error that carries its exit code, which is that of
// the merged report.
func (a *app) merge(args []string, f printing) error {
	if len(args) == 0 {
		return usage("name the reports of the parts, as in `toolbench merge shard-*.json --format json=all.json`")
	}
	parts, err := tryEach(args, a.storedReport)
	if err != nil {
		return err
	}
	whole, err := reports.Merge(parts, args)
	if err != nil {
		return usage("%s", err)
	}
	outcomes, again, isRun := whole.Outcomes()
	options := a.drawingOf(f)
	options.Again = again
	write := func(w io.Writer, format string) error {
		if format == "json" || !isRun {
			return whole.Write(w)
		}
		return formatNamed(format).Write(w, outcomes, options)
	}
	if !isRun && (f.outputs.wants(mergedFormats()...)) {
		return usage("a report of %s is merged as json alone", whole.Command)
	}
	unwritten := a.writeFiles(f.outputs, write)
	switch {
	case f.outputs.screen != "":
		err = write(a.Stdout, f.outputs.screen)
	case isRun:
		err = write(a.Stdout, "table")
	case len(f.outputs.files) == 0:
		err = whole.Write(a.Stdout)
	}
	return cmp.Or(unwritten, wrap(err), verdict(outcomes), judged(nil, whole.Failed()))
}

// dealt gives a shard's share of entries: by count, or with --times by the real time that
// each took in an earlier run.
func (a *app) dealt(s selection, entries []entry) ([]entry, error) {
	if s.times == "" {
		return s.deal(entries), nil
	}
	if s.shard.n == 0 {
		return nil, usage("--times balances the parts of --shard I/N, which is not given")
	}
	stored, err := a.storedReport(s.times)
	if err != nil {
		return nil, err
	}
	outcomes, _, ok := stored.Outcomes()
	if !ok {
		return nil, usage("%s: it is a report of %s; --times takes one of run", s.times, stored.Command)
	}
	took := map[string]time.Duration{}
	for _, o := range outcomes {
		took[o.Name] = o.Took
	}
	times := make([]time.Duration, len(entries))
	for i, e := range entries {
		times[i] = -1
		if t, ok := took[e.Name]; ok {
			times[i] = t
		}
	}
	var share []entry
	for i, part := range reports.Parts(times, s.shard.n) {
		if part == s.shard.i-1 {
			share = append(share, entries[i])
		}
	}
	return share, nil
}
