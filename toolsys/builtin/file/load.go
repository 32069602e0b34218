package file

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"syscall"

	"github.com/spf13/afero"

	"toolbench/toolsys/tool"
)

// maxFileBytes is the largest file that is taken into memory.
const maxFileBytes = 64 << 20

// loaded is a file's content and what is known of it.
type loaded struct {
	content []byte
	mode    fs.FileMode
}

// load reads a file. That nothing is there is a refusal of its own code, so that
// a caller may take it as an answer.
func (d Deps) load(p place) (loaded, *tool.Refusal) {
	info, err := d.FS.Stat(p.real)
	switch {
	case absent(err):
		return loaded{}, refuse(CodeMissing, "%s does not exist.%s", p.abs, d.nearby(p))
	case err != nil:
		return loaded{}, unreadable(p, err)
	case info.IsDir():
		return loaded{}, refuse(CodeKind, "%s is a folder, not a file. List it with Glob or a shell's ls.", p.abs)
	case !info.Mode().IsRegular():
		return loaded{}, refuse(CodeKind, "%s is a device, socket or pipe, not a regular file.", p.abs)
	case info.Size() > maxFileBytes:
		return loaded{}, refuse(CodeKind, "%s is too large: %d bytes, of %d at most. Search it with Grep, or take a part of it with a shell command.", p.abs, info.Size(), maxFileBytes)
	}
	content, err := afero.ReadFile(d.FS, p.real)
	if err != nil {
		return loaded{}, unreadable(p, err)
	}
	return loaded{content: content, mode: info.Mode()}, nil
}

// folder refuses what is not an existing folder.
func (d Deps) folder(p place) *tool.Refusal {
	info, err := d.FS.Stat(p.real)
	switch {
	case absent(err):
		return refuse(CodeMissing, "The folder %s does not exist.%s", p.abs, d.nearby(p))
	case err != nil:
		return unreadable(p, err)
	case !info.IsDir():
		return refuse(CodeKind, "%s is not a folder.", p.abs)
	}
	return nil
}

// creatable refuses a new file whose parent can never be a folder. Not every
// filesystem says so by itself.
func (d Deps) creatable(p place) *tool.Refusal {
	for dir := path.Dir(p.real); ; dir = path.Dir(dir) {
		info, err := d.FS.Stat(dir)
		switch {
		case err == nil && !info.IsDir():
			return refuse(CodeKind, "%s cannot be created: %s is a file, not a folder.", p.abs, dir)
		case err == nil || dir == "/":
			return nil
		case !absent(err):
			return unreadable(p, err)
		}
	}
}

// absent tells that nothing is there; below a file nothing ever is.
func absent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

func unreadable(p place, err error) *tool.Refusal {
	return refuse(CodeUnreadable, "%s cannot be read: %v.", p.abs, cause(err))
}

// cause is an error without the paths that the message already names.
func cause(err error) error {
	var at *fs.PathError
	var between *os.LinkError
	switch {
	case errors.As(err, &at):
		return at.Err
	case errors.As(err, &between):
		return between.Err
	}
	return err
}
