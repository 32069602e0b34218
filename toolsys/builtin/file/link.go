package file

import (
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/spf13/afero"

	"toolbench/toolsys/permission"
)

// maxLinks is how many links one path may pass through, as on Linux.
const maxLinks = 40

// follow gives an absolute path with every link in it resolved, the last one
// included. What does not exist is kept as written. A filesystem that cannot
// read links has none.
//
// Errors: too many links, or a link to another machine's share (L6).
func follow(fs afero.Fs, p string) (string, error) {
	reader, ok := fs.(afero.LinkReader)
	if !ok {
		return p, nil
	}
	done, rest := "/", steps(p)
	for links := 0; len(rest) > 0; {
		next := path.Join(done, rest[0]) // also takes ".." back a step
		rest = rest[1:]
		target, err := reader.ReadlinkIfPossible(next)
		if err != nil { // no link, or nothing there
			done = next
			continue
		}
		if links++; links > maxLinks {
			return "", errors.New("too many links")
		}
		if permission.IsUNC(target) {
			return "", fmt.Errorf("a link leads to the UNC path %s", target)
		}
		if path.IsAbs(target) {
			done = "/"
		}
		rest = append(steps(target), rest...)
	}
	return done, nil
}

// steps are the parts of a path between its slashes.
func steps(p string) []string {
	return strings.FieldsFunc(p, func(r rune) bool { return r == '/' })
}
