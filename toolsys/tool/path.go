package tool

import (
	"path/filepath"
	"strings"
)

// Abs gives path as an absolute, cleaned one: relative to the working directory,
// `~` being the home folder. A UNC path stays as it is; no filesystem call may be
// made for one (L6).
func (c *Context) Abs(path string) string {
	switch {
	case strings.HasPrefix(path, `\\`) || strings.HasPrefix(path, "//"):
		return path
	case path == "~":
		return c.Home
	case strings.HasPrefix(path, "~/"):
		return filepath.Join(c.Home, path[2:])
	case !filepath.IsAbs(path):
		return filepath.Join(c.State.Dir, path)
	}
	return filepath.Clean(path)
}
