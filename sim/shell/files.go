package shell

import (
	"cmp"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/afero"

	"toolbench/toolsys/schedule"
)

// files is a filesystem as a command sees it: names are relative to a working directory, and devices
// exist. Its errors are those of a disk's system calls.
type files struct {
	FS  afero.Fs
	Dir string // absolute
	Now func() time.Time
	// Read and Write serve the device names (/dev/stdin, /dev/null, ...); ok is false for other names.
	Read  func(name string) (in io.Reader, ok bool)
	Write func(name string) (out io.Writer, ok bool)
	// Limit is the greatest size, in bytes, of a file written here; beyond it the disk is full.
	Limit int64
}

// Abs gives name as a clean absolute path; no name is none.
func (f *files) Abs(name string) string {
	switch {
	case name == "":
		return ""
	case path.IsAbs(name):
		return path.Clean(name)
	}
	return path.Join(f.Dir, name)
}

func pathError(op, name string, err error) error { return &fs.PathError{Op: op, Path: name, Err: err} }

// Stat follows links.
func (f *files) Stat(name string) (fs.FileInfo, error) {
	if info, ok := f.device(name); ok {
		return info, nil
	}
	info, err := f.FS.Stat(f.Abs(name))
	if err == nil && strings.HasSuffix(name, "/") && !info.IsDir() {
		return nil, pathError("stat", name, syscall.ENOTDIR)
	}
	return info, err
}

// Lstat does not follow a link at the end of name, where the filesystem has links.
func (f *files) Lstat(name string) (fs.FileInfo, error) {
	l, ok := f.FS.(afero.Lstater)
	if !ok || strings.HasSuffix(name, "/") {
		return f.Stat(name)
	}
	if info, ok := f.device(name); ok {
		return info, nil
	}
	info, _, err := l.LstatIfPossible(f.Abs(name))
	return info, err
}

// IsDir reports whether name is a directory, or a link to one.
func (f *files) IsDir(name string) bool {
	info, err := f.Stat(name)
	return err == nil && info.IsDir()
}

// Exists reports whether name is there, be it a link to nothing.
func (f *files) Exists(name string) bool {
	_, err := f.Lstat(name)
	return err == nil
}

// Open opens name for reading. Opening a directory fails.
func (f *files) Open(name string) (io.ReadCloser, error) {
	if in, ok := f.Read(path.Clean(name)); ok {
		return io.NopCloser(in), nil
	}
	info, err := f.Stat(name)
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return nil, pathError("open", name, syscall.EISDIR)
	}
	return f.FS.Open(f.Abs(name))
}

// ReadFile reads all of name.
func (f *files) ReadFile(name string) ([]byte, error) {
	in, err := f.Open(name)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	return io.ReadAll(in)
}

// List gives a directory's entries by name, without . and .., links not followed.
func (f *files) List(name string) ([]fs.FileInfo, error) {
	info, err := f.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, pathError("readdir", name, syscall.ENOTDIR)
	}
	list, err := afero.ReadDir(f.FS, f.Abs(name))
	slices.SortFunc(list, func(a, b fs.FileInfo) int { return strings.Compare(a.Name(), b.Name()) })
	return list, err
}

// Realpath resolves links in all parts of name that exist.
func (f *files) Realpath(name string) (string, error) {
	abs := f.Abs(name)
	real, err := schedule.Follow(f.FS, abs, nil)
	if err != nil {
		return "", pathError("realpath", abs, syscall.ELOOP)
	}
	return real, nil
}

// Readlink gives where a link points.
func (f *files) Readlink(name string) (string, error) {
	if _, err := f.Lstat(name); err != nil {
		return "", err
	}
	if r, ok := f.FS.(afero.LinkReader); ok {
		return r.ReadlinkIfPossible(f.Abs(name))
	}
	return "", pathError("readlink", f.Abs(name), syscall.EINVAL)
}

// deviceInfo describes a name under /dev that the shell itself serves.
type deviceInfo struct {
	name string
	at   time.Time
}

func (d deviceInfo) Name() string       { return d.name }
func (d deviceInfo) Size() int64        { return 0 }
func (d deviceInfo) Mode() fs.FileMode  { return fs.ModeDevice | fs.ModeCharDevice | 0o666 }
func (d deviceInfo) ModTime() time.Time { return d.at }
func (d deviceInfo) IsDir() bool        { return false }
func (d deviceInfo) Sys() any           { return nil }

func (f *files) device(name string) (fs.FileInfo, bool) {
	clean := path.Clean(name)
	if _, ok := f.Read(clean); !ok {
		return nil, false
	}
	return deviceInfo{path.Base(clean), f.Now()}, true
}

// reason words an error as the C library does: "No such file or directory".
func reason(err error) string {
	switch errno, is := errors.AsType[syscall.Errno](err); {
	case is:
		text := errno.Error()
		return strings.ToUpper(text[:1]) + text[1:]
	case errors.Is(err, fs.ErrNotExist):
		return "No such file or directory"
	case errors.Is(err, fs.ErrExist), errors.Is(err, afero.ErrDestinationExists):
		return "File exists"
	case errors.Is(err, fs.ErrPermission):
		return "Permission denied"
	case errors.Is(err, afero.ErrNoSymlink), errors.Is(err, afero.ErrNoReadlink):
		return "Operation not supported"
	}
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		return path.Err.Error()
	}
	return err.Error()
}

// Create opens name for writing, cut to nothing or, if appending, as it is. The file gets the shell's
// own time when it is closed.
func (f *files) Create(name string, appending bool) (io.WriteCloser, error) {
	if out, ok := f.Write(path.Clean(name)); ok {
		return nopCloser{out}, nil
	}
	if f.IsDir(name) || strings.HasSuffix(name, "/") && f.IsDir(path.Dir(f.Abs(name))) {
		return nil, pathError("open", name, syscall.EISDIR)
	}
	flags, size := os.O_WRONLY|os.O_CREATE|os.O_TRUNC, int64(0)
	if appending {
		flags = os.O_WRONLY | os.O_CREATE | os.O_APPEND
		if info, err := f.Stat(name); err == nil {
			size = info.Size()
		}
	}
	file, err := f.FS.OpenFile(f.Abs(name), flags, 0o644)
	if err != nil {
		return nil, err
	}
	return &written{files: f, file: file, name: name, size: size}, nil
}

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }

// written is a file being written.
type written struct {
	files *files
	file  afero.File
	name  string
	size  int64
}

func (w *written) Write(b []byte) (int, error) {
	if w.files.Limit > 0 && w.size+int64(len(b)) > w.files.Limit {
		return 0, pathError("write", w.name, syscall.ENOSPC)
	}
	n, err := w.file.Write(b)
	w.size += int64(n)
	return n, err
}

func (w *written) Close() error {
	err := w.file.Close()
	w.files.stamp(w.name)
	return err
}

// stamp gives name the shell's own time: the filesystem may have taken the host's.
func (f *files) stamp(name string) {
	now := f.Now()
	_ = f.FS.Chtimes(f.Abs(name), now, now) // a filesystem without times keeps its own
}

// WriteFile replaces what name holds with data; the file keeps its mode if it exists.
func (f *files) WriteFile(name string, data []byte) error {
	w, err := f.Create(name, false)
	if err != nil {
		return err
	}
	_, err = w.Write(data)
	return cmp.Or(err, w.Close())
}

// Mkdir makes one directory.
func (f *files) Mkdir(name string) error {
	if err := f.FS.Mkdir(f.Abs(name), 0o755); err != nil {
		return err
	}
	f.stamp(name)
	return nil
}

// MkdirAll makes a directory and those it lies in; made is called with each.
func (f *files) MkdirAll(name string, made func(name string)) error {
	if info, err := f.Stat(name); err == nil {
		if !info.IsDir() {
			return pathError("mkdir", name, fs.ErrExist)
		}
		return nil
	}
	clean := strings.TrimRight(name, "/")
	if dir := path.Dir(clean); dir != "." && dir != "/" && dir != clean {
		if err := f.MkdirAll(dir, made); err != nil {
			return err
		}
	}
	if err := f.Mkdir(clean); err != nil {
		return err
	}
	made(clean)
	return nil
}

// Remove removes a file, a link or an empty directory.
func (f *files) Remove(name string) error {
	if _, err := f.Lstat(name); err != nil { // a name with a slash behind it is a folder's
		return err
	}
	return f.FS.Remove(f.Abs(name))
}

// Rename moves a file or directory, over a file or an empty directory if one is there.
func (f *files) Rename(from, to string) error {
	info, err := f.Lstat(from)
	if err != nil {
		return err
	}
	if target, err := f.Lstat(to); err == nil {
		if err := f.overwritable(info, target, to); err != nil {
			return err
		}
	}
	return f.FS.Rename(f.Abs(from), f.Abs(to))
}

// overwritable clears the way for a rename, or gives the error that prevents it.
func (f *files) overwritable(from, target fs.FileInfo, to string) error {
	switch {
	case target.IsDir() && !from.IsDir():
		return pathError("rename", to, syscall.EISDIR)
	case !target.IsDir() && from.IsDir():
		return pathError("rename", to, syscall.ENOTDIR)
	case target.IsDir():
		return f.Remove(to)
	}
	return nil
}

// Symlink makes a link at name.
func (f *files) Symlink(target, name string) error {
	l, ok := f.FS.(afero.Linker)
	if !ok {
		return pathError("symlink", name, syscall.EPERM)
	}
	return l.SymlinkIfPossible(target, f.Abs(name))
}
