package world

import (
	"io/fs"
	"maps"
	"slices"
	"syscall"
	"time"
)

// node is a file, a folder or a link, by its mode.
type node struct {
	mode     fs.FileMode // type and permission bits
	uid, gid int
	modified time.Time

	parent   *node            // of a folder; the root is its own
	children map[string]*node // of a folder
	target   string           // of a link
	data     []byte           // of a file

	shared   bool // data is also a snapshot's or an archive's: copy it before writing
	handles  int  // open handles of a file
	unlinked bool // it has no name any more
}

func (f *FS) newNode(mode fs.FileMode, now time.Time) *node {
	n := &node{mode: mode, uid: f.uid, gid: f.gid, modified: now}
	if n.isDir() {
		n.children = map[string]*node{}
	}
	return n
}

func (n *node) isDir() bool { return n.mode.IsDir() }

func (n *node) isLink() bool { return n.mode&fs.ModeSymlink != 0 }

func (n *node) size() int64 {
	if n.isLink() {
		return int64(len(n.target))
	}
	return int64(len(n.data))
}

// add gives child a name below n.
func (n *node) add(name string, child *node, now time.Time) {
	n.children[name] = child
	n.modified = now
	if child.isDir() {
		child.parent = n
	}
}

// drop takes a name away; the node lives on while handles are open.
func (t *tree) drop(dir *node, name string, now time.Time) {
	n := dir.children[name]
	delete(dir.children, name)
	dir.modified = now
	n.unlinked = true
	t.reclaim(n)
}

// reclaim frees the content of a node that nobody can reach any more.
func (t *tree) reclaim(n *node) {
	if n.unlinked && n.handles == 0 {
		t.used -= int64(len(n.data))
		n.data = nil
	}
}

// sorted walks a folder's names in order.
func (n *node) sorted() []string { return slices.Sorted(maps.Keys(n.children)) }

// permission bits as one of the three classes has them.
const (
	mayRead   fs.FileMode = 4
	mayWrite  fs.FileMode = 2
	maySearch fs.FileMode = 1
)

// may reports whether the user's class has all of want on n. Root may do anything.
func (f *FS) may(n *node, want fs.FileMode) bool {
	bits := n.mode.Perm()
	switch {
	case f.uid == 0:
		return true
	case f.uid == n.uid:
		bits >>= 6
	case f.gid == n.gid:
		bits >>= 3
	}
	return bits&want == want
}

// owns reports whether the user may change n's mode and times.
func (f *FS) owns(n *node) bool { return f.uid == 0 || f.uid == n.uid }

// maxFile bounds one file's content, which all lies in memory.
const maxFile = 1 << 30

// resize cuts a file or fills it up with zeros.
func (t *tree) resize(n *node, size int64, now time.Time) error {
	have := int64(len(n.data))
	switch {
	case size > maxFile:
		return syscall.EFBIG
	case size > have && t.fits(size-have) < size-have:
		return syscall.ENOSPC
	case size < have && n.shared:
		n.data, n.shared = slices.Clone(n.data[:size]), false
	case size < have:
		clear(n.data[size:]) // or growing again would show it
		n.data = n.data[:size]
	case size > have:
		n.own(int(size - have))
		n.data = n.data[:size]
		clear(n.data[have:])
	}
	t.used += size - have
	n.modified = now
	return nil
}

// write puts b at offset off, as much of it as fits on the disk, with ENOSPC if that is not all.
func (t *tree) write(n *node, b []byte, off int64, now time.Time) (int, error) {
	have, end := int64(len(n.data)), off+int64(len(b))
	if len(b) == 0 {
		return 0, nil
	}
	if off > maxFile || end > maxFile {
		return 0, syscall.EFBIG
	}
	var full error
	if last := have + t.fits(end-have); end > have && last < end {
		if last <= off {
			return 0, syscall.ENOSPC
		}
		b, end, full = b[:last-off], last, syscall.ENOSPC
	}
	if end > have {
		if err := t.resize(n, end, now); err != nil {
			return 0, err
		}
	}
	n.own(0)
	n.modified = now
	return copy(n.data[off:], b), full
}

// own makes the content this node's alone, with room for more bytes.
func (n *node) own(more int) {
	if n.shared {
		n.data, n.shared = append(make([]byte, 0, len(n.data)+more), n.data...), false
	}
	n.data = slices.Grow(n.data, more)
}
