package posix

import (
	"io/fs"
	"os"
	"syscall"
	"time"
)

const changeable = fs.ModePerm | fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky

// Chmod sets the permission bits; the owner and root may.
func (f *FS) Chmod(name string, mode os.FileMode) error {
	return f.change("chmod", name, func(n *node) error {
		if !f.owns(n) {
			return syscall.EPERM
		}
		n.mode = n.mode&^changeable | mode&changeable
		return nil
	})
}

// Chown sets the owner, -1 leaving it; root may, and an owner may name himself
// and his group.
func (f *FS) Chown(name string, uid, gid int) error {
	return f.change("chown", name, func(n *node) error {
		own := f.uid == n.uid && (uid == -1 || uid == f.uid) && (gid == -1 || gid == f.gid || gid == n.gid)
		if f.uid != 0 && !own {
			return syscall.EPERM
		}
		if uid != -1 {
			n.uid = uid
		}
		if gid != -1 {
			n.gid = gid
		}
		return nil
	})
}

// Chtimes sets the modification time, a zero one leaving it; access times are
// not kept.
func (f *FS) Chtimes(name string, _, mtime time.Time) error {
	return f.change("chtimes", name, func(n *node) error {
		if !f.owns(n) {
			return syscall.EPERM
		}
		if !mtime.IsZero() {
			n.modified = mtime
		}
		return nil
	})
}

func (f *FS) change(op, name string, set func(*node) error) error {
	f.tree.mu.Lock()
	defer f.tree.mu.Unlock()
	n, err := f.find(name, always)
	switch {
	case err != nil:
	case f.tree.readOnly:
		err = syscall.EROFS
	default:
		err = set(n)
	}
	return pathError(op, name, err)
}
