package posix

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"time"
)

// Remove takes away a file, a link or an empty folder.
func (f *FS) Remove(name string) error {
	now := f.tree.now()
	f.tree.mu.Lock()
	defer f.tree.mu.Unlock()
	return pathError("remove", name, f.remove(name, now))
}

// remove tries both of the kernel's ways, as package os does, and reports the
// one that fits what stands there.
func (f *FS) remove(name string, now time.Time) error {
	p, err := f.walk(name, never)
	if err != nil {
		return err
	}
	unlinked := f.unlink(p, now)
	if unlinked == nil {
		return nil
	}
	removed := f.rmdir(p, now)
	if removed == syscall.ENOTDIR {
		return unlinked
	}
	return removed
}

func (f *FS) unlink(p place, now time.Time) error {
	switch {
	case p.end != aName:
		return syscall.EISDIR
	case f.tree.readOnly:
		return syscall.EROFS
	case p.long:
		return syscall.ENAMETOOLONG
	case p.node == nil:
		return syscall.ENOENT
	case p.slash && !p.node.isDir():
		return syscall.ENOTDIR
	}
	if err := f.mayDelete(p.dir, p.node); err != nil {
		return err
	}
	if p.node.isDir() {
		return syscall.EISDIR
	}
	f.tree.drop(p.dir, p.name, now)
	return nil
}

func (f *FS) rmdir(p place, now time.Time) error {
	switch p.end {
	case theRoot:
		return syscall.EBUSY
	case aDot:
		return syscall.EINVAL
	case twoDots:
		return syscall.ENOTEMPTY
	}
	switch {
	case f.tree.readOnly:
		return syscall.EROFS
	case p.node == nil:
		return syscall.ENOENT
	}
	if err := f.mayDelete(p.dir, p.node); err != nil {
		return err
	}
	switch {
	case !p.node.isDir():
		return syscall.ENOTDIR
	case len(p.node.children) > 0:
		return syscall.ENOTEMPTY
	}
	f.tree.drop(p.dir, p.name, now)
	return nil
}

// mayDelete asks the folder for its permission, and a sticky one for the owner.
func (f *FS) mayDelete(dir, victim *node) error {
	if err := f.mayChange(dir); err != nil {
		return err
	}
	if dir.mode&fs.ModeSticky != 0 && !f.owns(dir) && !f.owns(victim) {
		return syscall.EPERM
	}
	return nil
}

// RemoveAll takes away a path and all below it, as far as it may, and reports
// the first thing that it could not. What is not there is no error.
func (f *FS) RemoveAll(path string) error {
	now := f.tree.now()
	f.tree.mu.Lock()
	defer f.tree.mu.Unlock()
	if path == "" {
		return nil
	}
	if path == "." || strings.HasSuffix(path, "/.") {
		return pathError("RemoveAll", path, syscall.EINVAL)
	}
	if err := f.remove(path, now); err == nil || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return f.removeFromParent(path, now)
}

// removeFromParent takes away what a first attempt could not: it opens the
// folder that the path's last part is in, which must be readable for that, and
// works down from there.
func (f *FS) removeFromParent(path string, now time.Time) error {
	parent, name := split(path)
	dir, err := f.open(parent, os.O_RDONLY, 0, now)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return pathError("open", parent, err)
	}
	if !dir.isDir() {
		return pathError("unlinkat", path, syscall.ENOTDIR)
	}
	p := place{dir: dir, name: name, node: dir.children[name], long: len(name) > maxName}
	switch name {
	case "..":
		p = place{dir: dir.parent, node: dir.parent, end: twoDots}
	case ".":
		p = place{dir: dir, node: dir, end: aDot}
	case "/":
		p = place{dir: dir, node: dir, end: theRoot}
	}
	return f.removeEntry(dir, p, path, now)
}

// split cuts a path before its last part, whatever slashes follow it.
func split(path string) (parent, name string) {
	path = cmp.Or(strings.TrimRight(path, "/"), "/")
	i := strings.LastIndexByte(path, '/')
	switch {
	case path == "/":
		return "/", "/"
	case i < 0:
		return ".", path
	}
	return cmp.Or(strings.TrimRight(path[:i], "/"), "/"), path[i+1:]
}

func (f *FS) removeTree(p place, path string, now time.Time) error {
	err := f.unlink(p, now)
	switch {
	case err == nil || err == syscall.ENOENT:
		return nil
	case p.node != nil && p.node.isLink():
		return pathError("openfdat", path, err) // os looks whether it is a folder
	case err != syscall.EISDIR && err != syscall.EPERM && err != syscall.EACCES, !p.node.isDir():
		return pathError("unlinkat", path, err)
	}
	first := f.empty(p.node, path, now)
	err = f.rmdir(p, now)
	if err == nil {
		return nil
	}
	if first != nil {
		return first
	}
	return pathError("unlinkat", path, err)
}

// empty takes away what is in a folder and gives the first failure.
func (f *FS) empty(dir *node, path string, now time.Time) error {
	if !f.may(dir, mayRead) {
		return pathError("openfdat", path, syscall.EACCES)
	}
	var first error
	for _, name := range dir.sorted() {
		below := place{dir: dir, name: name, node: dir.children[name]}
		if err := f.removeEntry(dir, below, path+"/"+name, now); err != nil && first == nil {
			first = err
		}
	}
	return first
}

func (f *FS) removeEntry(dir *node, p place, path string, now time.Time) error {
	if !f.may(dir, maySearch) {
		return pathError("openfdat", path, syscall.EACCES)
	}
	return f.removeTree(p, path, now)
}
