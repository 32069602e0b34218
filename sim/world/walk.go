package world

import (
	"strings"
	"syscall"
)

// A disk's limits, in bytes and in links followed.
const (
	maxName  = 255
	maxPath  = 4095
	maxLinks = 40
)

// follow is when a walk goes through a link that is the path's last part.
type follow int

const (
	never   follow = iota // for operations on the name itself
	ifSlash               // only if a slash after it demands a folder
	always
	create    // always, but a slash anywhere at the end is refused
	createNew // never, but a slash at the end is refused
)

// through reports whether to follow a link that is the last part.
func (how follow) through(slash bool) bool {
	return how == always || how == create || how == ifSlash && slash
}

// lastPart is what the last part of a path was.
type lastPart int

const (
	aName lastPart = iota
	aDot
	twoDots
	theRoot
)

// place is where a path leads: a node, or a name that is free in dir.
type place struct {
	dir   *node
	name  string
	node  *node // nil if there is nothing of that name
	slash bool  // a slash follows the last part
	long  bool  // the last part is longer than a name may be
	end   lastPart
}

// walk resolves a path step by step, as links and ".." demand.
func (f *FS) walk(path string, how follow) (place, error) {
	p, err := f.approach(path, how)
	if err == nil && p.long {
		err = syscall.ENAMETOOLONG
	}
	return p, err
}

// approach is walk, but does not mind the length of the last part: the kernel
// only looks at it when it looks it up, which for a rename is later.
func (f *FS) approach(path string, how follow) (place, error) {
	if err := checkPath(path); err != nil {
		return place{}, err
	}
	w := walker{fs: f, how: how}
	w.from(path)
	for w.rest != "" {
		if done, err := w.step(); done || err != nil {
			return w.at, err
		}
	}
	return w.at, nil
}

func checkPath(path string) error {
	switch {
	case path == "":
		return syscall.ENOENT
	case strings.IndexByte(path, 0) >= 0:
		return syscall.EINVAL
	case len(path) > maxPath:
		return syscall.ENAMETOOLONG
	}
	return nil
}

type walker struct {
	fs    *FS
	how   follow
	rest  string // the parts not yet taken
	at    place  // where the parts taken so far lead
	links int
}

// from goes on with path, from the root if it is absolute or nothing was taken.
func (w *walker) from(path string) {
	if w.at.node == nil || path[0] == '/' {
		root := w.fs.tree.root
		w.at = place{dir: root, node: root, end: theRoot}
	}
	w.rest = strings.TrimLeft(path, "/")
}

// step takes one part; done reports whether it is the last and names nothing.
func (w *walker) step() (done bool, err error) {
	dir := w.at.node
	if !dir.isDir() {
		return false, syscall.ENOTDIR
	}
	if !w.fs.may(dir, maySearch) {
		return false, syscall.EACCES
	}
	part, rest, slash := strings.Cut(w.rest, "/")
	rest = strings.TrimLeft(rest, "/")
	w.rest = rest
	switch part {
	case ".":
		w.at = place{dir: dir, node: dir, slash: slash, end: aDot}
	case "..":
		w.at = place{dir: dir.parent, node: dir.parent, slash: slash, end: twoDots}
	default:
		return w.enter(place{dir: dir, name: part, slash: slash}, rest == "")
	}
	return false, nil
}

func (w *walker) enter(p place, last bool) (done bool, err error) {
	p.node, p.long = p.dir.children[p.name], len(p.name) > maxName
	switch {
	case p.long && !last:
		return false, syscall.ENAMETOOLONG
	case last && p.slash && w.how >= create:
		return false, syscall.EISDIR
	case p.node == nil && !last:
		return false, syscall.ENOENT
	case p.node != nil && p.node.isLink() && (!last || w.how.through(p.slash)):
		return false, w.through(p)
	}
	w.at = p
	return p.node == nil, nil
}

// through replaces a link by its target.
func (w *walker) through(p place) error {
	if w.links++; w.links > maxLinks {
		return syscall.ELOOP
	}
	w.at = place{dir: p.dir, node: p.dir, slash: p.slash}
	next := p.node.target
	if p.slash {
		next += "/" + w.rest
	}
	w.from(next)
	return nil
}

// find resolves a path to a node that must exist.
func (f *FS) find(path string, how follow) (*node, error) {
	p, err := f.walk(path, how)
	switch {
	case err != nil:
		return nil, err
	case p.node == nil:
		return nil, syscall.ENOENT
	case p.slash && !p.node.isDir():
		return nil, syscall.ENOTDIR
	}
	return p.node, nil
}

// mayChange reports whether a name may be made or removed in dir.
func (f *FS) mayChange(dir *node) error {
	if !f.may(dir, mayWrite|maySearch) {
		return syscall.EACCES
	}
	return nil
}
