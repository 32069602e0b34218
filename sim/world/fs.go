package world

import (
	"io/fs"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/afero"
)

var (
	_ afero.Fs        = (*FS)(nil)
	_ afero.Symlinker = (*FS)(nil)
)

// FSConfig is what kind of disk a new filesystem is and who uses it.
type FSConfig struct {
	// Now gives modification times; nil means that it is always the Unix epoch.
	Now func() time.Time
	// UID and GID are the user's. 0 is root, whom permissions do not bind.
	UID, GID int
	// Umask holds the permission bits that new files and folders never get.
	Umask fs.FileMode
	// Capacity is how many bytes of content fit (then ENOSPC); 0 means no limit.
	Capacity int64
}

// FS is one user's view of a tree in memory. It is safe for concurrent use. Relative names start at the root.
type FS struct {
	tree     *tree
	uid, gid int
}

// tree is what all views share; mu guards it and every node below.
type tree struct {
	now   func() time.Time
	umask fs.FileMode

	mu       sync.Mutex
	root     *node
	used     int64
	capacity int64
	readOnly bool
}

// NewFS makes a filesystem that holds only its root, a folder of the user's with mode 0755.
func NewFS(c FSConfig) *FS {
	now := c.Now
	if now == nil {
		now = func() time.Time { return time.Unix(0, 0).UTC() }
	}
	f := &FS{tree: &tree{now: now, umask: c.Umask, capacity: c.Capacity}, uid: c.UID, gid: c.GID}
	f.tree.root = f.newNode(fs.ModeDir|0o755, now())
	f.tree.root.parent = f.tree.root
	return f
}

// As is the same tree seen by another user.
func (f *FS) As(uid, gid int) *FS { return &FS{tree: f.tree, uid: uid, gid: gid} }

// Name implements afero.Fs.
func (f *FS) Name() string { return "posix" }

// SetReadOnly makes the whole tree refuse changes with EROFS, or take them again (SPEC O7).
func (f *FS) SetReadOnly(on bool) {
	f.tree.mu.Lock()
	defer f.tree.mu.Unlock()
	f.tree.readOnly = on
}

// SetCapacity changes how many bytes of content fit, 0 meaning no limit. What is
// stored already stays, even beyond it (SPEC O7).
func (f *FS) SetCapacity(bytes int64) {
	f.tree.mu.Lock()
	defer f.tree.mu.Unlock()
	f.tree.capacity = bytes
}

// Used is the number of bytes of content stored, unlinked open files included.
func (f *FS) Used() int64 {
	f.tree.mu.Lock()
	defer f.tree.mu.Unlock()
	return f.tree.used
}

// fits is how many of n more bytes there is room for.
func (t *tree) fits(n int64) int64 {
	if t.capacity == 0 {
		return n
	}
	return max(0, min(n, t.capacity-t.used))
}

// pathError wraps an errno as package os does; nil stays nil.
func pathError(op, path string, err error) error {
	if err == nil {
		return nil
	}
	return &os.PathError{Op: op, Path: path, Err: err}
}

func linkError(op, from, to string, err error) error {
	if err == nil {
		return nil
	}
	return &os.LinkError{Op: op, Old: from, New: to, Err: err}
}

// Stat describes what a name leads to.
func (f *FS) Stat(name string) (os.FileInfo, error) { return f.stat("stat", name, always) }

func (f *FS) stat(op, name string, how follow) (os.FileInfo, error) {
	f.tree.mu.Lock()
	defer f.tree.mu.Unlock()
	n, err := f.find(name, how)
	if err != nil {
		return nil, pathError(op, name, err)
	}
	return n.info(base(name)), nil
}

// info is a description taken at one moment; later changes do not reach it.
type info struct {
	name     string
	size     int64
	mode     fs.FileMode
	modified time.Time
}

func (n *node) info(name string) info {
	return info{name: name, size: n.size(), mode: n.mode, modified: n.modified}
}

func (i info) Name() string { return i.name }

func (i info) Size() int64 { return i.size }

func (i info) Mode() fs.FileMode { return i.mode }

func (i info) ModTime() time.Time { return i.modified }

func (i info) IsDir() bool { return i.mode.IsDir() }

func (i info) Sys() any { return nil }

// base is the last part of a path, as package os names what it describes.
func base(path string) string {
	_, name := split(path)
	return name
}

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

// Chown sets the owner, -1 leaving it; root may, and an owner may name himself and his group.
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

// Chtimes sets the modification time, a zero one leaving it; access times are not kept.
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

// SymlinkIfPossible makes newname a link to oldname; it may lead nowhere.
func (f *FS) SymlinkIfPossible(oldname, newname string) error {
	now := f.tree.now()
	f.tree.mu.Lock()
	defer f.tree.mu.Unlock()
	err := checkPath(oldname)
	if err != nil {
		return linkError("symlink", oldname, newname, err)
	}
	p, err := f.vacant(newname)
	if err == nil && p.slash {
		err = syscall.ENOENT
	}
	if err == nil {
		err = f.create(p, fs.ModeSymlink|fs.ModePerm, now)
	}
	if err == nil {
		p.dir.children[p.name].target = oldname
	}
	return linkError("symlink", oldname, newname, err)
}

// ReadlinkIfPossible gives a link's target; EINVAL for what is no link.
func (f *FS) ReadlinkIfPossible(name string) (string, error) {
	f.tree.mu.Lock()
	defer f.tree.mu.Unlock()
	n, err := f.find(name, ifSlash)
	if err == nil && !n.isLink() {
		err = syscall.EINVAL
	}
	if err != nil {
		return "", pathError("readlink", name, err)
	}
	return n.target, nil
}

// LstatIfPossible describes a name without following a link; the flag is always true.
func (f *FS) LstatIfPossible(name string) (os.FileInfo, bool, error) {
	info, err := f.stat("lstat", name, ifSlash)
	return info, true, err
}
