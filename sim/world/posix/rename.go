package posix

import (
	"syscall"
	"time"
)

// Rename moves a name, over a file or link that stands at the new one. A folder
// that stands there is never replaced: EISDIR for a file onto it, ENOTEMPTY if
// it is full, EEXIST if it is empty (which is stricter than rename(2) and equal
// to os.Rename).
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

// precheck is os.Rename's look before it asks the kernel: with a folder in the
// way, what is wrong with the old name comes first, an empty one is not replaced
// by another, and none is renamed to itself.
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

// contains says that n is dir itself or somewhere below it.
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
