package posix

import (
	"io/fs"
	"sync"
	"time"

	"github.com/spf13/afero"
)

var (
	_ afero.Fs        = (*FS)(nil)
	_ afero.Symlinker = (*FS)(nil)
)

// Config says what kind of disk a new filesystem is and who uses it.
type Config struct {
	// Now gives modification times; nil means that it is always the Unix epoch.
	Now func() time.Time
	// UID and GID are the user's. 0 is root, whom permissions do not bind.
	UID, GID int
	// Umask holds the permission bits that new files and folders never get.
	Umask fs.FileMode
	// Capacity is how many bytes of content fit (then ENOSPC); 0 means no limit.
	Capacity int64
}

// FS is one user's view of a tree in memory. It is safe for concurrent use.
// Relative names start at the root.
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
	lastID   uint64
	used     int64
	capacity int64
	readOnly bool
}

// New makes a filesystem that holds only its root, a folder of the user's with
// mode 0755.
func New(c Config) *FS {
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

// SetReadOnly makes the whole tree refuse changes with EROFS, or take them
// again (SPEC O7).
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

// Clone copies the tree as it stands, for the same user: neither sees what the
// other does from then on. Content is shared until one of them writes, so it
// costs a few dozen nanoseconds a file. Handles stay with the original.
func (f *FS) Clone() *FS {
	t := f.tree
	t.mu.Lock()
	defer t.mu.Unlock()
	c := &tree{now: t.now, umask: t.umask, lastID: t.lastID, capacity: t.capacity, readOnly: t.readOnly}
	c.root = t.root.clone(c, nil)
	return &FS{tree: c, uid: f.uid, gid: f.gid}
}

// fits is how many of n more bytes there is room for.
func (t *tree) fits(n int64) int64 {
	if t.capacity == 0 {
		return n
	}
	return max(0, min(n, t.capacity-t.used))
}
