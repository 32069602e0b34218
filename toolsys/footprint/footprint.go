package footprint

import (
	"path"
	"slices"
	"strings"

	"github.com/spf13/afero"
)

// Order is written by every call that changes files: files are listed newest first,
// so two calls that change files never change places, whatever they change.
const Order = "order of changes"

// maxLinks is how many links one path may pass through, as on Linux.
const maxLinks = 40

// Keys are the keys of an absolute path: itself, every name that its links make of it
// on the way to the file, and, where a name leads through folders that are not there,
// those. A path on another machine's share is its own only key and nothing is looked
// up for it. Ok is false for a path that cannot be followed.
func Keys(fs afero.Fs, name string) (keys []string, ok bool) {
	if remote(name) {
		return []string{name}, true
	}
	names, ok := names(fs, path.Clean(name))
	for _, n := range names {
		keys = add(keys, n)
	}
	for _, n := range names {
		for _, dir := range missingAbove(fs, n) {
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

// names follows the links of a path one by one.
func names(fs afero.Fs, name string) (all []string, ok bool) {
	all = []string{name}
	links, can := fs.(afero.LinkReader)
	if !can {
		return all, true
	}
	for range maxLinks {
		next, linked := step(links, all[len(all)-1])
		switch {
		case !linked:
			return all, true
		case remote(next):
			return all, false
		}
		all = append(all, next)
	}
	return all, false
}

// step puts the target of the first link of a path in that link's place.
func step(links afero.LinkReader, name string) (next string, linked bool) {
	parts := strings.Split(strings.TrimPrefix(name, "/"), "/")
	at := "/"
	for i, part := range parts {
		above := at
		at = path.Join(at, part)
		target, err := links.ReadlinkIfPossible(at)
		if err != nil { // no link, or nothing there
			continue
		}
		if remote(target) {
			return target, true
		}
		if !path.IsAbs(target) {
			target = above + "/" + target
		}
		return path.Join(append([]string{target}, parts[i+1:]...)...), true
	}
	return name, false
}

// missingAbove are the folders over name that do not exist or are none.
func missingAbove(fs afero.Fs, name string) []string {
	var missing []string
	for dir := path.Dir(name); dir != "/" && dir != "."; dir = path.Dir(dir) {
		if is, err := afero.IsDir(fs, dir); err == nil && is {
			break
		}
		missing = append(missing, dir)
	}
	return missing
}
