package posix

import (
	"io/fs"
	"os"
	"syscall"
	"time"
)

// Mkdir makes one folder; its parent must exist.
func (f *FS) Mkdir(name string, perm os.FileMode) error {
	now := f.tree.now()
	f.tree.mu.Lock()
	defer f.tree.mu.Unlock()
	return pathError("mkdir", name, f.mkdir(name, perm, now))
}

func (f *FS) mkdir(name string, perm fs.FileMode, now time.Time) error {
	p, err := f.vacant(name)
	if err != nil {
		return err
	}
	return f.create(p, fs.ModeDir|perm&(fs.ModePerm|fs.ModeSticky)&^f.tree.umask, now)
}

// vacant resolves a path whose last part is to be made and must not exist.
func (f *FS) vacant(name string) (place, error) {
	p, err := f.walk(name, never)
	if err == nil && p.node != nil {
		err = syscall.EEXIST
	}
	return p, err
}

// create puts a new node at a vacant place.
func (f *FS) create(p place, mode fs.FileMode, now time.Time) error {
	if f.tree.readOnly {
		return syscall.EROFS
	}
	if err := f.mayChange(p.dir); err != nil {
		return err
	}
	p.dir.add(p.name, f.newNode(mode, now), now)
	return nil
}

// MkdirAll makes a folder and the parents it lacks, and is content with what
// exists, as os.MkdirAll.
func (f *FS) MkdirAll(path string, perm os.FileMode) error {
	now := f.tree.now()
	f.tree.mu.Lock()
	defer f.tree.mu.Unlock()
	return f.mkdirAll(path, perm, now)
}

func (f *FS) mkdirAll(path string, perm fs.FileMode, now time.Time) error {
	if n, err := f.find(path, always); err == nil {
		if n.isDir() {
			return nil
		}
		return pathError("mkdir", path, syscall.ENOTDIR)
	}
	if parent := parentOf(path); parent != "" {
		if err := f.mkdirAll(parent, perm, now); err != nil {
			return err
		}
	}
	err := f.mkdir(path, perm, now)
	if err == nil {
		return nil
	}
	if n, again := f.find(path, ifSlash); again == nil && n.isDir() {
		return nil
	}
	return pathError("mkdir", path, err)
}

// parentOf cuts the last part off a path as os.MkdirAll does: "" means that
// there is no parent left to make.
func parentOf(path string) string {
	end := len(path)
	for end > 0 && path[end-1] == '/' {
		end--
	}
	for end > 0 && path[end-1] != '/' {
		end--
	}
	for end > 0 && path[end-1] == '/' {
		end--
	}
	return path[:end]
}
