package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"toolbench/property/fuzz"
	"toolbench/reports"
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

// noteFindings plays the cases of the findings there are, notes a new failure, and writes
// the ledger.
func (a *app) noteFindings(ctx context.Context, dir string, ledger *fuzz.Ledger, failure *reports.FuzzFailure) error {
	for i := range ledger.Findings {
		f := &ledger.Findings[i]
		data, err := os.ReadFile(a.path(filepath.Join(dir, filepath.Base(f.Case))))
		if f.Case == "" || err != nil {
			continue // it stands as it is
		}
		saved, err := fuzz.Parse(data)
		if err != nil {
			return usage("%s: %s; remove it, or name another folder with --findings", filepath.Join(dir, f.Case), err)
		}
		broken := saved.Replay(ctx)
		if ctx.Err() != nil {
			return interrupted("interrupted while findings were played; the ledger is as it was")
		}
		f.Played(broken == nil)
	}
	if failure != nil {
		f := ledger.Seen(failure.Broke, failure.Found, failure.Again)
		if data, err := os.ReadFile(a.path(failure.CaseFile)); err == nil && failure.CaseFile != "" {
			f.Case = f.ID + ".case.yaml"
			if err := writeWhole(a.path(filepath.Join(dir, f.Case)), data); err != nil {
				return harness(fmt.Errorf("writing %s: %w", filepath.Join(dir, f.Case), reason(err)))
			}
		}
	}
	data, err := json.MarshalIndent(ledger, "", "  ")
	if err != nil {
		return harness(err)
	}
	name := filepath.Join(dir, ledgerName)
	if err := writeWhole(a.path(name), append(data, '\n')); err != nil {
		return harness(fmt.Errorf("writing %s: %w", name, reason(err)))
	}
	for _, f := range ledger.Findings {
		a.logf("finding %s %s: %s: %s", f.ID, f.Status, f.Broke, f.Cause)
	}
	return nil
}
