package cli

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"toolbench/sim/replay"
)

// found is a file to be replayed. Named ones stand on the command line themselves.
type found struct {
	path  string
	named bool
}

// maxRecordings is how many files one command looks at.
const maxRecordings = 10_000

// recordings gives the files of the arguments, folders searched in the order of
// their paths, each file once. Links to folders are not followed: they may lead
// round in circles.
func (a *app) recordings(args []string) ([]found, error) {
	var all []found
	seen := map[string]bool{}
	add := func(f found) error {
		if seen[f.path] {
			return nil
		}
		if len(all) == maxRecordings {
			return usage("more than %d files: name fewer, or a folder further down", maxRecordings)
		}
		seen[f.path] = true
		all = append(all, f)
		return nil
	}
	for _, arg := range args {
		info, err := os.Stat(a.path(arg))
		switch {
		case err != nil:
			return nil, usage("%s: %s", arg, reason(err))
		case info.IsDir():
			err = a.within(arg, add)
		case !info.Mode().IsRegular():
			return nil, usage("%s: it is no file and no folder", arg)
		default:
			err = add(found{filepath.Clean(arg), true})
		}
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

// within gives the files of a folder.
func (a *app) within(root string, add func(found) error) error {
	clean := filepath.Clean(root)
	err := filepath.WalkDir(a.path(root), func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := os.Stat(path) // follows a link to a file
		if d.IsDir() || err != nil || !info.Mode().IsRegular() {
			return nil
		}
		below, err := filepath.Rel(a.path(root), path)
		if err != nil {
			return err
		}
		return add(found{filepath.Join(clean, below), false})
	})
	var ours *exitError
	if err != nil && !errors.As(err, &ours) {
		return usage("%s: %s", root, reason(err))
	}
	return err
}

// reason is what the system says, without the path, which the message has.
func reason(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

func (a *app) replayFile(ctx context.Context, f found, o replay.Options) replay.Report {
	file, err := os.Open(a.path(f.path))
	if err != nil {
		return replay.Unopened(f.path, reason(err))
	}
	defer file.Close()
	return replay.Recording(ctx, f.path, file, o)
}
