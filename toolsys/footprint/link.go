package footprint

import (
	"errors"
	"path"
	"strings"
)

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
func parts(p string) []string {
	return strings.FieldsFunc(p, func(r rune) bool { return r == '/' })
}
