package command

import (
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"syscall"

	"github.com/spf13/afero"
)

// Create opens name for writing, cut to nothing or, if appending, as it is. The file gets the shell's
// own time when it is closed.
func (f *Files) Create(name string, appending bool) (io.WriteCloser, error) {
	if f.Write != nil && path.IsAbs(name) {
		if out, ok := f.Write(path.Clean(name)); ok {
			return nopCloser{out}, nil
		}
	}
	if err := f.parent("open", name); err != nil {
		return nil, err
	}
	if f.IsDir(name) || strings.HasSuffix(name, "/") {
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
	files *Files
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
func (f *Files) stamp(name string) {
	now := f.Now()
	_ = f.FS.Chtimes(f.Abs(name), now, now) // a filesystem without times keeps its own
}

// WriteFile replaces what name holds with data; the file keeps its mode if it exists.
func (f *Files) WriteFile(name string, data []byte) error {
	w, err := f.Create(name, false)
	if err != nil {
		return err
	}
	if _, err := w.Write(data); err != nil {
		w.Close()
		return err
	}
	return w.Close()
}

// Mkdir makes one directory.
func (f *Files) Mkdir(name string) error {
	if f.Exists(name) {
		return pathError("mkdir", name, fs.ErrExist)
	}
	if err := f.parent("mkdir", strings.TrimRight(name, "/")); err != nil {
		return err
	}
	if err := f.FS.Mkdir(f.Abs(name), 0o755); err != nil {
		return err
	}
	f.stamp(name)
	return nil
}

// MkdirAll makes a directory and those it lies in; made is called with each.
func (f *Files) MkdirAll(name string, made func(name string)) error {
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
func (f *Files) Remove(name string) error {
	info, err := f.Lstat(name)
	if err != nil {
		return err
	}
	if info.IsDir() {
		list, err := f.List(name)
		if err != nil {
			return err
		}
		if len(list) > 0 {
			return pathError("remove", name, syscall.ENOTEMPTY)
		}
	}
	return f.FS.Remove(f.Abs(name))
}

// Rename moves a file or directory, over a file or an empty directory if one is there.
func (f *Files) Rename(from, to string) error {
	info, err := f.Lstat(from)
	if err != nil {
		return err
	}
	if err := f.parent("rename", strings.TrimRight(to, "/")); err != nil {
		return err
	}
	if strings.HasPrefix(f.Abs(to)+"/", f.Abs(from)+"/") && f.Abs(to) != f.Abs(from) {
		return pathError("rename", to, syscall.EINVAL)
	}
	if target, err := f.Lstat(to); err == nil {
		if err := f.overwritable(info, target, to); err != nil {
			return err
		}
	}
	return f.FS.Rename(f.Abs(from), f.Abs(to))
}

// overwritable clears the way for a rename, or gives the error that prevents it.
func (f *Files) overwritable(from, target fs.FileInfo, to string) error {
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
func (f *Files) Symlink(target, name string) error {
	l, ok := f.FS.(afero.Linker)
	if !ok {
		return pathError("symlink", name, syscall.EPERM)
	}
	if f.Exists(name) {
		return pathError("symlink", name, fs.ErrExist)
	}
	if err := f.parent("symlink", name); err != nil {
		return err
	}
	return l.SymlinkIfPossible(target, f.Abs(name))
}
