package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"toolbench/property/campaign"
	"toolbench/reports"
)

// maxCaseBytes bounds a case's file.
const maxCaseBytes = 1 << 20

// fuzzReplay plays cases from files.
func (a *app) fuzzReplay(ctx context.Context, f fuzzFlags) error {
	files, err := a.caseFiles(f.replay)
	if err != nil {
		return err
	}
	var all []reports.FuzzReplayed
	for _, file := range files {
		data, err := a.readFile(file, maxCaseBytes)
		if err != nil {
			return err
		}
		s, err := campaign.Parse(data)
		if err != nil {
			return usage("%s: %s", file, err)
		}
		broken := s.Replay(ctx)
		if ctx.Err() != nil {
			return &exitError{ExitInterrupted, fmt.Errorf("interrupted: %d of %d cases were played", len(all), len(files))}
		}
		all = append(all, reports.FuzzReplayed{File: file, About: s.About, Broken: broken})
	}
	if err := a.fuzzReport(f, reports.FuzzReport{Engine: f.engine, Replayed: all}); err != nil {
		return err
	}
	if slices.ContainsFunc(all, func(r reports.FuzzReplayed) bool { return r.Broken != nil }) {
		a.verdict = ExitFailed
		return &exitError{code: ExitFailed}
	}
	return nil
}

// caseFiles are the files of a path: itself, or the *.yaml in it, in order.
func (a *app) caseFiles(name string) ([]string, error) {
	info, err := os.Stat(a.path(name))
	if err != nil {
		return nil, usage("%s: %s", name, reason(err))
	}
	if !info.IsDir() {
		return []string{name}, nil
	}
	entries, err := os.ReadDir(a.path(name))
	if err != nil {
		return nil, usage("%s: %s", name, reason(err))
	}
	var files []string
	for _, e := range entries {
		if filepath.Ext(e.Name()) == ".yaml" && !e.IsDir() {
			files = append(files, filepath.Join(name, e.Name()))
		}
	}
	if len(files) == 0 {
		return nil, usage("%s holds no case; a case's file ends in .yaml", name)
	}
	return files, nil
}
