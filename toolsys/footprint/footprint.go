package footprint

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

// Order is written by every call that changes files: files are listed newest first,
// so two calls that change files never change places, whatever they change.
const Order = "order of changes"

// Keys are the keys of an absolute path: itself, every name that its links make of it
// on the way to the file, and, where a name leads through folders that are not there,
// those. A path on another machine's share is its own only key and nothing is looked
// up for it. Ok is false for a path that cannot be followed.
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
