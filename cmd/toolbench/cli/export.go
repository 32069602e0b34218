package cli

import (
	"errors"
	"slices"

	"toolbench/sim/recording"
	"toolbench/sim/secret"
)

// exports are the forms in which replay writes the conversations themselves.
func exports() []string { return []string{string(recording.ATIF), string(recording.GenAI)} }

// export writes the conversations of recordings to the files that were asked for in these
// forms, and takes those out of the outputs: the others are of the report.
func (a *app) export(files []found, outs *outputs) error {
	if slices.Contains(exports(), outs.screen) {
		return usage("--format %s: name a file for it, as %[1]s=session.json", outs.screen)
	}
	asked := slices.Clone(outs.files)
	outs.files = slices.DeleteFunc(outs.files, func(f fileOutput) bool { return slices.Contains(exports(), f.format) })
	if len(asked) == len(outs.files) {
		return nil
	}
	var all []*recording.Conversation
	for _, file := range files {
		conversations, err := a.conversations(file)
		if err != nil {
			return err
		}
		all = append(all, conversations...)
	}
	for i, c := range all { // each file counts its own from 1
		c.Number = i + 1
	}
	finder := secret.New(secret.FromEnv(a.Env)...)
	for _, f := range asked {
		if !slices.Contains(exports(), f.format) {
			continue
		}
		doc, left := recording.Export(f.format).Write(all, func(s string) string { return finder.Text(s, nil) })
		if err := a.writeNamed(f.file, append(doc, '\n')); err != nil {
			return err
		}
		if left > 0 {
			a.logf("%s: %d answers that did not come to their end are left out", f.file, left)
		}
	}
	return nil
}

// conversations reads a file; one that is no recording has none, and the report names it.
func (a *app) conversations(f found) ([]*recording.Conversation, error) {
	file, err := a.open(f.path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	rec, err := recording.Open(f.path, file, recording.Limits{}, nil)
	if errors.Is(err, recording.ErrNotRecording) {
		return nil, nil
	}
	if err != nil {
		return nil, invalid(err)
	}
	return rec.Conversations, nil
}
