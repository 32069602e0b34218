package schedule

import (
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// FS is what is asked of a filesystem. One that can read links has the method
// ReadlinkIfPossible beside, as in afero.
type FS interface {
	Stat(name string) (fs.FileInfo, error)
}

// OrderKey is written by every call that changes files: files are listed newest first,
// so two calls that change files never change places, whatever they change.
const OrderKey = "order of changes"

// Keys are the keys under which the effects on an absolute path are compared (J8): two
// names that lead to one file must not look like two files, and a file that is not there
// yet is found by the folders that would have to be made for it. They are the path
// itself, every name that its links make of it on the way to the file, and, where a name
// leads through folders that are not there, those. A path on another machine's share is
// its own only key and nothing is looked up for it. Ok is false for a path that cannot
// be followed.
func Keys(disk FS, name string) (keys []string, ok bool) {
	if remote(name) {
		return []string{name}, true
	}
	names, ok := names(disk, path.Clean(name))
	for _, n := range names {
		keys = add(keys, n)
	}
	for _, n := range names {
		for _, dir := range missingAbove(disk, n) {
			keys = add(keys, dir)
		}
	}
	return keys, ok
}

// Tree adds to keys all that lies below them.
func Tree(keys []string) []string {
	all := slices.Clone(keys)
	for _, k := range keys {
		if !strings.HasSuffix(k, "/**") {
			all = add(all, strings.TrimSuffix(k, "/")+"/**")
		}
	}
	return all
}

func add(keys []string, key string) []string {
	if slices.Contains(keys, key) {
		return keys
	}
	return append(keys, key)
}

func remote(name string) bool {
	return strings.HasPrefix(name, "//") || strings.HasPrefix(name, `\\`)
}

// errRemote ends the walk at a link that leads to another machine.
var errRemote = errors.New("a link leads to another machine's share")

// names follows the links of a path one by one.
func names(disk FS, name string) (all []string, ok bool) {
	all = []string{name}
	_, err := Follow(disk, name, func(target, next string) error {
		if remote(target) {
			return errRemote
		}
		all = append(all, next)
		return nil
	})
	return all, err == nil
}

// missingAbove are the folders over name that do not exist or are none.
func missingAbove(disk FS, name string) []string {
	var missing []string
	for dir := path.Dir(name); dir != "/" && dir != "."; dir = path.Dir(dir) {
		if info, err := disk.Stat(dir); err == nil && info.IsDir() {
			break
		}
		missing = append(missing, dir)
	}
	return missing
}

// maxLinks is how many links one path may pass through, as on Linux.
const maxLinks = 40

// ErrTooManyLinks is what a path with a circle of links ends in.
var ErrTooManyLinks = errors.New("too many links")

// Follow resolves every link of an absolute path, the last one included, as a disk
// does: a ".." leads up from where a link has led. What does not exist is kept as
// written, and a filesystem that cannot read links has none. Step, which may be nil, is
// given each link's target as it is written, and the path with that target in the
// link's place; its error ends the walk.
//
// Errors: [ErrTooManyLinks], and those of step.
func Follow(fs any, name string, step func(target, next string) error) (string, error) {
	links, ok := fs.(interface {
		ReadlinkIfPossible(name string) (string, error)
	})
	if !ok {
		return name, nil
	}
	done, rest := "/", parts(name)
	for followed := 0; len(rest) > 0; {
		at := path.Join(done, rest[0]) // also takes ".." back a step
		rest = rest[1:]
		target, err := links.ReadlinkIfPossible(at)
		if err != nil { // no link, or nothing there
			done = at
			continue
		}
		if followed++; followed > maxLinks {
			return "", ErrTooManyLinks
		}
		if path.IsAbs(target) {
			done = "/"
		}
		rest = append(parts(target), rest...)
		if step == nil {
			continue
		}
		if err := step(target, path.Join(append([]string{done}, rest...)...)); err != nil {
			return "", err
		}
	}
	return done, nil
}

// parts are the names of a path between its slashes.
func parts(p string) []string { return strings.FieldsFunc(p, func(r rune) bool { return r == '/' }) }
