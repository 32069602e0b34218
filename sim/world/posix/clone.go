package posix

import (
	"io/fs"
	"path"
	"syscall"
	"time"
)

// Clone makes a copy of the folder from at to, which must be free, without the paths
// below from that without reports. Content is shared until either side is written, as in
// a reflink, and counts against the capacity all the same. Nothing is made where it fails.
func (f *FS) Clone(from, to string, without func(below string) bool) error {
	now := f.tree.now()
	f.tree.mu.Lock()
	defer f.tree.mu.Unlock()
	source, err := f.find(from, always)
	if err == nil && !source.isDir() {
		err = syscall.ENOTDIR
	}
	if err != nil {
		return linkError("clone", from, to, err)
	}
	c := cloner{fs: f, now: now, without: without}
	copied, err := c.clone(source, "")
	if err == nil && f.tree.fits(c.bytes) < c.bytes {
		err = syscall.ENOSPC
	}
	if err != nil {
		return linkError("clone", from, to, err)
	}
	p, err := f.vacant(to)
	if err == nil {
		err = f.create(p, source.mode, now)
	}
	if err == nil {
		p.dir.add(p.name, copied, now)
		f.tree.used += c.bytes
	}
	return linkError("clone", from, to, err)
}

// cloner copies nodes and counts their content.
type cloner struct {
	fs      *FS
	now     time.Time
	without func(below string) bool
	bytes   int64
}

func (c *cloner) clone(n *node, below string) (*node, error) {
	copied := c.fs.newNode(n.mode, c.now)
	if n.isDir() && !c.fs.may(n, mayRead|maySearch) || n.mode.IsRegular() && !c.fs.may(n, mayRead) {
		return nil, syscall.EACCES
	}
	if n.mode&fs.ModeType == 0 {
		n.shared = n.shared || n.data != nil
		copied.data, copied.shared = n.data, n.shared
		c.bytes += int64(len(n.data))
	}
	copied.target = n.target
	for _, name := range n.sorted() {
		place := path.Join(below, name)
		if c.without(place) {
			continue
		}
		child, err := c.clone(n.children[name], place)
		if err != nil {
			return nil, err
		}
		copied.add(name, child, c.now)
	}
	return copied, nil
}
