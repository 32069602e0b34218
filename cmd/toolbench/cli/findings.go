package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"toolbench/property/fuzz"
	"toolbench/reports"
	"toolbench/sim/scenario/check"
)

// ledgerName is the file of a folder of findings.
const ledgerName = "ledger.json"

// readLedger reads the ledger of a folder; a folder without one has no findings yet.
func (a *app) readLedger(dir string) (*fuzz.Ledger, error) {
	name := filepath.Join(dir, ledgerName)
	ledger := &fuzz.Ledger{Version: fuzz.LedgerVersion, Findings: []fuzz.Finding{}}
	if _, err := os.Stat(a.path(name)); errors.Is(err, fs.ErrNotExist) {
		return ledger, nil
	}
	data, err := a.readFile(name, maxReportBytes)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(data, ledger); err != nil || ledger.Version != fuzz.LedgerVersion {
		return nil, usage("%s: it is no ledger of version %d; name another folder with --findings", name, fuzz.LedgerVersion)
	}
	return ledger, nil
}

// noteFindings plays the cases of the findings there are, notes new failures, and writes
// the ledger.
func (a *app) noteFindings(ctx context.Context, dir string, failures ...*reports.FuzzFailure) error {
	before, err := a.readLedger(dir)
	if err != nil {
		return err
	}
	holds := map[string]bool{} // what has a case
	for _, f := range before.Findings {
		data, err := os.ReadFile(a.path(filepath.Join(dir, filepath.Base(f.Case))))
		if f.Case == "" || err != nil {
			continue // it stands as it is
		}
		saved, err := fuzz.Parse(filepath.Join(dir, f.Case), data)
		if err != nil {
			return usage("%s; remove it, or name another folder with --findings", err)
		}
		broken := saved.Replay(ctx)
		if ctx.Err() != nil {
			return interrupted("interrupted while findings were played; the ledger is as it was")
		}
		holds[f.ID] = broken == nil
	}
	ledger, err := a.readLedger(dir) // once more: playing took its time, and others note theirs
	if err != nil {
		return err
	}
	for i := range ledger.Findings {
		if held, played := holds[ledger.Findings[i].ID]; played {
			ledger.Findings[i].Played(held)
		}
	}
	for _, failure := range failures {
		f := ledger.Seen(failure.Broke, failure.Found, failure.Again)
		if failure.Inevitable != nil {
			f.Inevitable = failure.Inevitable.String()
		}
		if data, err := os.ReadFile(a.path(failure.CaseFile)); err == nil && failure.CaseFile != "" {
			f.Case = f.ID + ".case.yaml"
			if err := a.writeNamed(filepath.Join(dir, f.Case), data); err != nil {
				return err
			}
		}
	}
	return a.writeLedger(dir, ledger)
}

// checkLedger reports what is wrong with the ledger of a folder, before a run that notes
// something in it.
func (a *app) checkLedger(dir string) error {
	if dir == "" {
		return nil
	}
	_, err := a.readLedger(dir)
	return err
}

// noteFailures notes what did not hold in a run. What an earlier run found in a scenario and
// this one did not is resolved; findings of other scenarios stand as they are.
func (a *app) noteFailures(dir string, results []result, again func(check.Result) string) error {
	ledger, err := a.readLedger(dir)
	if err != nil {
		return err
	}
	ran, seen := map[string]bool{}, map[string]bool{}
	note := func(r result, what, found string) {
		broke := r.entry.target + ": " + what
		if id := fuzz.FindingID(broke, found); !seen[id] {
			seen[id] = true
			ledger.Seen(broke, found, again(r.outcome))
		}
	}
	for _, r := range results {
		ran[r.entry.target] = true
		for _, f := range r.outcome.Failures {
			note(r, f.Expectation, f.Found)
		}
		if r.outcome.Err != nil {
			note(r, "error", r.outcome.Err.Error())
		}
	}
	for i := range ledger.Findings {
		f := &ledger.Findings[i]
		if target, _, ok := strings.Cut(f.Broke, ": "); ok && ran[target] && !seen[f.ID] {
			f.Played(true)
		}
	}
	return a.writeLedger(dir, ledger)
}

// writeLedger writes the ledger of a folder, and prints what is in it.
func (a *app) writeLedger(dir string, ledger *fuzz.Ledger) error {
	data, err := json.MarshalIndent(ledger, "", "  ")
	if err != nil {
		return harness(err)
	}
	name := filepath.Join(dir, ledgerName)
	if err := a.writeNamed(name, append(data, '\n')); err != nil {
		return err
	}
	for _, f := range ledger.Findings {
		found, _, _ := strings.Cut(cmp.Or(f.Found, f.Cause), "\n")
		a.logf("finding %s %s: %s: %s", f.ID, f.Status, f.Broke, found)
		if f.Inevitable != "" && f.Status != fuzz.FindingResolved {
			a.logf("finding %s inevitable %s", f.ID, f.Inevitable)
		}
	}
	return nil
}
