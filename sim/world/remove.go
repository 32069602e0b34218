package world

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

// remove tries both of the kernel's ways, as package os does, and reports the one that fits what stands there.
func (f *FS) remove(name string, now time.Time) error {
	p, err := f.walk(name, never)
	if err != nil {
		return err
	}
	unlinked := f.unlink(p, now)
	if unlinked == nil {
		return nil
	}
	if removed := f.rmdir(p, now); removed != syscall.ENOTDIR {
		return removed
	}
	return unlinked
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

// removeFromParent takes away what a first attempt could not: it opens the folder that the path's last part is in,
// which must be readable for that, and works down from there.
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

// removeEntry takes away what is in a folder under a name, and all below it.
func (f *FS) removeEntry(dir *node, p place, path string, now time.Time) error {
	if !f.may(dir, maySearch) {
		return pathError("openfdat", path, syscall.EACCES)
	}
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
	if err = f.rmdir(p, now); err != nil && first != nil {
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

// Rename moves a name, over a file or link that stands at the new one. A folder that stands there is never replaced:
// EISDIR for a file onto it, ENOTEMPTY if it is full, EEXIST if it is empty (which is stricter than rename(2) and
// equal to os.Rename).
func (f *FS) Rename(oldname, newname string) error {
	now := f.tree.now()
	f.tree.mu.Lock()
	defer f.tree.mu.Unlock()
	return linkError("rename", oldname, newname, f.rename(oldname, newname, now))
}

func (f *FS) rename(oldname, newname string, now time.Time) error {
	if err := f.precheck(oldname, newname); err != nil {
		return err
	}
	from, err := f.approach(oldname, never)
	if err != nil {
		return err
	}
	to, err := f.approach(newname, never)
	if err != nil {
		return err
	}
	if err := f.mayRename(from, to); err != nil || from.node == to.node {
		return err
	}
	if err := f.mayReplace(from, to); err != nil {
		return err
	}
	if to.node != nil {
		f.tree.drop(to.dir, to.name, now)
	}
	delete(from.dir.children, from.name)
	from.dir.modified = now
	to.dir.add(to.name, from.node, now)
	return nil
}

// precheck is os.Rename's look before it asks the kernel: with a folder in the way, what is wrong with the old name
// comes first, an empty one is not replaced by another, and none is renamed to itself.
func (f *FS) precheck(oldname, newname string) error {
	there, err := f.find(newname, ifSlash)
	if err != nil || !there.isDir() {
		return nil
	}
	n, err := f.find(oldname, ifSlash)
	if err != nil {
		return err
	}
	empty := len(there.children) == 0 && n.isDir() && n != there
	if empty || oldname == newname {
		return syscall.EEXIST
	}
	return nil
}

// mayRename checks what the two paths themselves forbid.
func (f *FS) mayRename(from, to place) error {
	switch {
	case from.end != aName || to.end != aName:
		return syscall.EBUSY
	case f.tree.readOnly:
		return syscall.EROFS
	case from.long:
		return syscall.ENAMETOOLONG
	case from.node == nil:
		return syscall.ENOENT
	case to.long:
		return syscall.ENAMETOOLONG
	case !from.node.isDir() && (from.slash || to.slash):
		return syscall.ENOTDIR
	case from.node == to.node:
		return nil
	case from.node.isDir() && contains(from.node, to.dir):
		return syscall.EINVAL
	case to.node != nil && to.node.isDir() && contains(to.node, from.dir):
		return syscall.ENOTEMPTY
	}
	return nil
}

// contains reports whether n is dir itself or somewhere below it.
func contains(dir, n *node) bool {
	for ; n != dir; n = n.parent {
		if n.parent == n {
			return false
		}
	}
	return true
}

// mayReplace checks what the two folders and the node in the way forbid.
func (f *FS) mayReplace(from, to place) error {
	if err := f.mayDelete(from.dir, from.node); err != nil {
		return err
	}
	if err := f.mayTake(to, from.node.isDir()); err != nil {
		return err
	}
	if from.node.isDir() && from.dir != to.dir && !f.may(from.node, mayWrite) {
		return syscall.EACCES // its ".." would change
	}
	if to.node != nil && to.node.isDir() {
		return syscall.ENOTEMPTY // an empty one was refused before
	}
	return nil
}

func (f *FS) mayTake(to place, folder bool) error {
	if to.node == nil {
		return f.mayChange(to.dir)
	}
	if err := f.mayDelete(to.dir, to.node); err != nil {
		return err
	}
	switch {
	case folder && !to.node.isDir():
		return syscall.ENOTDIR
	case !folder && to.node.isDir():
		return syscall.EISDIR
	}
	return nil
}
