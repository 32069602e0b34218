package host

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/spf13/afero"
)

// rootFS is a folder of the disk by absolute names. os.Root keeps each operation inside, links and changes
// during it included; only regular files and folders open, and opening never waits.
type rootFS struct {
	*os.Root
	dir string
}

var errNotRegular = errors.New("not a regular file")

// local is a name as the root names it.
func (r *rootFS) local(op, name string) (string, error) {
	rel, err := filepath.Rel(r.dir, name)
	if err != nil || !filepath.IsLocal(rel) {
		return "", &fs.PathError{Op: op, Path: name, Err: fs.ErrPermission}
	}
	return rel, nil
}

// at runs an operation on a name of the root.
func (r *rootFS) at(op, name string, do func(local string) error) error {
	local, err := r.local(op, name)
	if err != nil {
		return err
	}
	return do(local)
}

// Name implements afero.Fs.
func (r *rootFS) Name() string { return "root" }

func (r *rootFS) Open(name string) (afero.File, error) { return r.OpenFile(name, os.O_RDONLY, 0) }

func (r *rootFS) Create(name string) (afero.File, error) {
	return r.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o666)
}

func (r *rootFS) OpenFile(name string, flag int, perm os.FileMode) (afero.File, error) {
	local, err := r.local("open", name)
	if err != nil {
		return nil, err
	}
	if info, err := r.Root.Stat(local); err == nil && !plain(info) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: errNotRegular}
	}
	f, err := r.Root.OpenFile(local, flag|syscall.O_NONBLOCK, perm)
	if err != nil {
		return nil, err // not a nil *os.File in an interface
	}
	if info, err := f.Stat(); err != nil || !plain(info) {
		f.Close()
		return nil, &fs.PathError{Op: "open", Path: name, Err: errNotRegular}
	}
	return f, nil
}

// plain reports whether a file can be read and written without waiting for anybody.
func plain(info fs.FileInfo) bool { return info.Mode().IsRegular() || info.IsDir() }

func (r *rootFS) Stat(name string) (info os.FileInfo, err error) {
	err = r.at("stat", name, func(local string) error {
		info, err = r.Root.Stat(local)
		return err
	})
	return info, err
}

// LstatIfPossible implements afero.Lstater.
func (r *rootFS) LstatIfPossible(name string) (info os.FileInfo, lstat bool, err error) {
	err = r.at("lstat", name, func(local string) error {
		info, err = r.Root.Lstat(local)
		return err
	})
	return info, true, err
}

// ReadlinkIfPossible implements afero.LinkReader.
func (r *rootFS) ReadlinkIfPossible(name string) (target string, err error) {
	err = r.at("readlink", name, func(local string) error {
		target, err = r.Root.Readlink(local)
		return err
	})
	return target, err
}

// SymlinkIfPossible implements afero.Linker.
func (r *rootFS) SymlinkIfPossible(target, name string) error {
	return r.at("symlink", name, func(local string) error { return r.Root.Symlink(target, local) })
}

func (r *rootFS) Mkdir(name string, perm os.FileMode) error {
	return r.at("mkdir", name, func(local string) error { return r.Root.Mkdir(local, perm) })
}

func (r *rootFS) MkdirAll(name string, perm os.FileMode) error {
	return r.at("mkdir", name, func(local string) error { return r.Root.MkdirAll(local, perm) })
}

func (r *rootFS) Remove(name string) error { return r.at("remove", name, r.Root.Remove) }

func (r *rootFS) RemoveAll(name string) error { return r.at("remove", name, r.Root.RemoveAll) }

func (r *rootFS) Rename(from, to string) error {
	return r.at("rename", from, func(from string) error {
		return r.at("rename", to, func(to string) error { return r.Root.Rename(from, to) })
	})
}

func (r *rootFS) Chmod(name string, mode os.FileMode) error {
	return r.at("chmod", name, func(local string) error { return r.Root.Chmod(local, mode) })
}

func (r *rootFS) Chown(name string, uid, gid int) error {
	return r.at("chown", name, func(local string) error { return r.Root.Chown(local, uid, gid) })
}

func (r *rootFS) Chtimes(name string, atime, mtime time.Time) error {
	return r.at("chtimes", name, func(local string) error { return r.Root.Chtimes(local, atime, mtime) })
}
