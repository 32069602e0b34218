package host

import (
	"io/fs"
	"os"
	"path"
	"strings"
	"time"

	"github.com/spf13/afero"
)

// fence lets through what lies below one of its roots, links followed.
type fence struct {
	afero.Fs
	roots   []string
	resolve func(string) string
	// opened hears of each path before it is opened.
	opened func(name string)
}

func (f *fence) check(op, name string) error {
	name = f.resolve(path.Clean(name))
	for _, root := range f.roots {
		if name == root || strings.HasPrefix(name, strings.TrimSuffix(root, "/")+"/") {
			return nil
		}
	}
	return &fs.PathError{Op: op, Path: name, Err: fs.ErrPermission}
}

// Name implements afero.Fs, as the others do.
func (f *fence) Name() string { return "host" }

func (f *fence) Open(name string) (afero.File, error) { return f.OpenFile(name, os.O_RDONLY, 0) }

func (f *fence) Create(name string) (afero.File, error) {
	return f.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o666)
}

func (f *fence) OpenFile(name string, flag int, perm os.FileMode) (afero.File, error) {
	if err := f.check("open", name); err != nil {
		return nil, err
	}
	f.opened(name)
	return f.Fs.OpenFile(name, flag, perm)
}

func (f *fence) Stat(name string) (os.FileInfo, error) {
	if err := f.check("stat", name); err != nil {
		return nil, err
	}
	return f.Fs.Stat(name)
}

func (f *fence) Mkdir(name string, perm os.FileMode) error {
	if err := f.check("mkdir", name); err != nil {
		return err
	}
	return f.Fs.Mkdir(name, perm)
}

func (f *fence) MkdirAll(name string, perm os.FileMode) error {
	if err := f.check("mkdir", name); err != nil {
		return err
	}
	return f.Fs.MkdirAll(name, perm)
}

func (f *fence) Remove(name string) error {
	if err := f.check("remove", name); err != nil {
		return err
	}
	f.opened(name)
	return f.Fs.Remove(name)
}

func (f *fence) RemoveAll(name string) error {
	if err := f.check("remove", name); err != nil {
		return err
	}
	return f.Fs.RemoveAll(name)
}

func (f *fence) Rename(from, to string) error {
	for _, name := range []string{from, to} {
		if err := f.check("rename", name); err != nil {
			return err
		}
		f.opened(name)
	}
	return f.Fs.Rename(from, to)
}

func (f *fence) Chmod(name string, mode os.FileMode) error {
	if err := f.check("chmod", name); err != nil {
		return err
	}
	return f.Fs.Chmod(name, mode)
}

func (f *fence) Chown(name string, uid, gid int) error {
	if err := f.check("chown", name); err != nil {
		return err
	}
	return f.Fs.Chown(name, uid, gid)
}

func (f *fence) Chtimes(name string, atime, mtime time.Time) error {
	if err := f.check("chtimes", name); err != nil {
		return err
	}
	return f.Fs.Chtimes(name, atime, mtime)
}
