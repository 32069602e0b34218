package cli

import (
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"

	"toolbench/sim/serve"
)

// maxChanges is how many changes of files are kept.
const maxChanges = 10_000

// recordChanges notes when files below a folder change, until what it gives is called, which
// gives these. Where the system has no such watch, it gives none.
func recordChanges(root string) func() []serve.Change {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return func() []serve.Change { return nil }
	}
	watchBelow(w, root, func(string) {})
	var changes []serve.Change
	note := func(file string) {
		if len(changes) < maxChanges {
			changes = append(changes, serve.Change{Path: filepath.ToSlash(strings.TrimPrefix(file, root)), At: time.Now()})
		}
	}
	over := make(chan struct{})
	go func() {
		defer close(over)
		for events, failed := w.Events, w.Errors; events != nil; {
			select {
			case _, open := <-failed: // what was missed is not seen
				if !open {
					failed = nil
				}
			case e, open := <-events:
				switch {
				case !open:
					events = nil
				case e.Has(fsnotify.Create):
					watchBelow(w, e.Name, note)
				case e.Has(fsnotify.Write):
					note(e.Name)
				}
			}
		}
	}()
	return func() []serve.Change {
		_ = w.Close() // it is not needed any more
		<-over
		return changes
	}
}

// watchBelow adds a folder and those below it, and gives the files that are there already.
// What is gone again, or cannot be read, needs no watch.
func watchBelow(w *fsnotify.Watcher, path string, file func(path string)) {
	_ = filepath.WalkDir(path, func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
		case d.IsDir():
			_ = w.Add(p)
		default:
			file(p)
		}
		return nil
	})
}
