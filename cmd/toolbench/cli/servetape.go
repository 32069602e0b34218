package cli

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"toolbench/scenarios"
	"toolbench/sim/recording"
	"toolbench/sim/scenario"
	"toolbench/sim/serve"
	"toolbench/sim/stream"
)

// tape finds what is to be served: a file that is a recording, else one that is a
// scenario, else a scenario of the suite.
func (a *app) tape(arg string, pace stream.Pace) (*serve.Tape, error) {
	info, err := os.Stat(a.path(arg))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return a.suiteTape(arg, pace)
	case err != nil:
		return nil, usage("%s: %s", arg, reason(err))
	case !info.Mode().IsRegular():
		return nil, usage("%s: it is no file; name one recording or scenario", arg)
	}
	file, err := os.Open(a.path(arg))
	if err != nil {
		return nil, usage("%s: %s", arg, reason(err))
	}
	defer file.Close()
	tape, err := serve.FromRecording(arg, file, recording.Limits{}, pace)
	switch {
	case err == nil:
		return tape, nil
	case !errors.Is(err, recording.ErrNotRecording) || !isYAML(arg):
		return nil, &exitError{ExitUsage, err}
	}
	abs := a.path(arg)
	return scenarioTape(os.DirFS(filepath.Dir(abs)), filepath.Base(abs), arg, pace)
}

func isYAML(name string) bool {
	ext := strings.ToLower(filepath.Ext(name))
	return ext == ".yaml" || ext == ".yml"
}

// suiteTape takes a scenario of the suite by its name.
func (a *app) suiteTape(name string, pace stream.Pace) (*serve.Tape, error) {
	for _, e := range a.suite() {
		if e.Name == name {
			return scenarioTape(scenarios.Files, strings.TrimPrefix(e.File, "scenarios/"), name, pace)
		}
	}
	return nil, usage("%s is no file and no scenario of the suite; see `toolbench list`", name)
}

func scenarioTape(fsys fs.FS, file, name string, pace stream.Pace) (*serve.Tape, error) {
	sc, err := scenario.Load(fsys, file)
	if err != nil {
		return nil, &exitError{ExitUsage, err}
	}
	tape, err := serve.FromScenario(sc, pace)
	if err != nil {
		return nil, &exitError{ExitUsage, err}
	}
	tape.Source = name
	return tape, nil
}
