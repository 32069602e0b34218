package cli

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"
)

// settled is how long nothing must be written before what was saved counts as whole.
const settled = 100 * time.Millisecond

// unsettled is how long that may last, where something is written all the time.
const unsettled = 2 * time.Second

// watch runs scenarios, and again what a saved file touches, until the user ends it.
func (a *app) watch(ctx context.Context, args []string, f runFlags) error {
	args = a.arguments("run", args)
	folders, err := a.watched(args)
	if err != nil {
		return err
	}
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return harness(err)
	}
	defer w.Close()
	for next := args; ; {
		for _, dir := range folders {
			if err := w.Add(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return harness(err)
			}
		}
		if len(w.WatchList()) == 0 {
			return usage("what was to be watched is gone: %s", strings.Join(args, ", "))
		}
		if isTerminal(a.Stdout) {
			_, _ = a.Stdout.Write([]byte("\x1b[H\x1b[2J")) // each run has the screen to itself
		}
		if err := a.run(ctx, next, f); err != nil && codeOfError(err) != ExitFailed && ctx.Err() == nil {
			a.printError(err)
		}
		a.logf("folders watched: %d; Ctrl-C ends", len(folders))
		changed, err := changes(ctx, w, a.ours(f))
		if err != nil {
			return err
		}
		if again, err := a.watched(args); err == nil {
			folders = again // what is taken away and put back is another folder
		}
		plan, err := a.plan(args, f.selection)
		if err != nil {
			a.printError(err)
			continue
		}
		next = touched(changed, plan.entries, a.path, args)
	}
}

// watched are the folders of the arguments, and those below them. A link that is an argument is
// followed, which the separator does.
func (a *app) watched(args []string) ([]string, error) {
	plan, err := a.plan(args, selection{})
	if err != nil {
		return nil, err
	}
	if len(args) == 0 || slices.ContainsFunc(plan.entries, func(e entry) bool { return e.embedded }) {
		return nil, usage("--watch needs files or folders: the embedded suite does not change")
	}
	var folders []string
	for _, arg := range args {
		root := a.path(arg)
		if info, err := os.Stat(root); err == nil && !info.IsDir() {
			root = filepath.Dir(root)
		}
		err := filepath.WalkDir(root+string(filepath.Separator), func(p string, d fs.DirEntry, err error) error {
			switch p = filepath.Clean(p); {
			case err != nil || !d.IsDir():
				return err
			case p != root && strings.HasPrefix(d.Name(), "."):
				return filepath.SkipDir
			}
			folders = append(folders, p)
			return nil
		})
		if err != nil {
			return nil, invalid(err)
		}
	}
	slices.Sort(folders)
	return slices.Compact(folders), nil
}

// ours reports of a path whether a run writes it, or makes it for what it writes: that must
// not start the next run.
func (a *app) ours(f runFlags) func(path string) bool {
	files := each(f.outputs.files, func(o fileOutput) string { return a.path(o.file) })
	if f.findings != "" {
		files = append(files, a.path(filepath.Join(f.findings, ledgerName)))
	}
	return func(path string) bool {
		return isOutput(path, a.Stdout) || isOutput(path, a.Stderr) || slices.ContainsFunc(files, func(file string) bool {
			return file == path || strings.HasPrefix(file, path+string(filepath.Separator))
		})
	}
}

// isOutput reports whether an output was sent to the file, as in `toolbench run --watch > log`.
func isOutput(path string, w io.Writer) bool {
	f, _ := w.(*os.File)
	its, none := f.Stat() // of no file it is an error
	info, err := os.Stat(path)
	return err == nil && none == nil && os.SameFile(info, its)
}

// changes waits for files to be saved that are not ours, and gives them when no more come.
// A file that came and went meanwhile is how an editor saves another.
func changes(ctx context.Context, w *fsnotify.Watcher, ours func(string) bool) (files []string, err error) {
	var quiet <-chan time.Time
	var latest time.Time
	came := map[string]bool{}
	note := func(file string) {
		if quiet == nil {
			latest = time.Now().Add(unsettled)
		}
		files, quiet = append(files, file), time.After(min(settled, time.Until(latest)))
	}
	for {
		select {
		case <-ctx.Done():
			return nil, interrupted("the watch was ended")
		case err := <-w.Errors:
			if !errors.Is(err, fsnotify.ErrEventOverflow) {
				return nil, harness(err)
			}
			note("") // any may have changed
		case e := <-w.Events:
			if e.Op == fsnotify.Chmod || strings.HasPrefix(filepath.Base(e.Name), ".") || ours(e.Name) {
				continue
			}
			if info, err := os.Stat(e.Name); err == nil && info.IsDir() && e.Has(fsnotify.Create) {
				_ = w.Add(e.Name) // one that is gone again needs no watch
			}
			came[e.Name] = came[e.Name] || e.Has(fsnotify.Create) && !slices.Contains(files, e.Name)
			note(e.Name)
		case <-quiet:
			files = slices.DeleteFunc(files, func(file string) bool { return came[file] && !exists(file) })
			if len(files) > 0 {
				return files, nil
			}
			quiet = nil
		}
	}
}

// touched are the arguments of the next run: the scenarios that were saved, or all of them
// where something else was, which any may point to.
func touched(changed []string, entries []entry, path func(string) string, all []string) []string {
	files := map[string]string{}
	for _, e := range entries {
		files[path(e.File)] = e.target
	}
	var some []string
	for _, file := range changed {
		target, scenario := files[file]
		if !scenario {
			return all
		}
		some = append(some, target)
	}
	slices.Sort(some)
	return slices.Compact(some)
}
