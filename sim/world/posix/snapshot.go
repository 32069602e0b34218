package posix

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// Entry is one name of a tree as a snapshot holds it.
type Entry struct {
	// Path is absolute and clean; the root itself is not listed.
	Path string
	// Mode holds type and permission bits, so it tells file, folder and link apart.
	Mode fs.FileMode
	// Content is a file's, and must not be changed.
	Content []byte
	// Target is what a link says.
	Target string
}

// Snapshot is a tree at one moment, sorted by path, byte for byte. It has no
// times, since one virtual instant has but one, and no owners.
type Snapshot []Entry

// Snapshot takes the whole tree, whatever the user may see of it. Content is not
// copied but kept from change.
func (f *FS) Snapshot() Snapshot {
	f.tree.mu.Lock()
	defer f.tree.mu.Unlock()
	var s Snapshot
	f.tree.root.record("/", &s)
	slices.SortFunc(s, func(a, b Entry) int { return strings.Compare(a.Path, b.Path) })
	return s
}

func (n *node) record(at string, s *Snapshot) {
	for name, child := range n.children {
		below := path.Join(at, name)
		child.shared = child.shared || child.data != nil
		*s = append(*s, Entry{Path: below, Mode: child.mode, Content: child.data, Target: child.target})
		child.record(below, s)
	}
}

// Digest is a hex SHA-256 over all that the snapshot holds; equal trees have
// equal digests on every machine.
func (s Snapshot) Digest() string {
	h := sha256.New()
	for _, e := range s {
		fmt.Fprintf(h, "%d %s %o %d %s %d\n", len(e.Path), e.Path, e.Mode, len(e.Target), e.Target, len(e.Content))
		_, _ = io.Copy(h, bytes.NewReader(e.Content)) // a hash takes everything
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Changes lists the paths by what became of them, each list sorted.
type Changes struct {
	Created, Changed, Removed []string
}

// Empty says that nothing changed.
func (c Changes) Empty() bool { return len(c.Created)+len(c.Changed)+len(c.Removed) == 0 }

// Diff tells what became of a tree from before to after (SPEC O3). A path whose
// type, permissions, content or target is another one is changed.
func Diff(before, after Snapshot) Changes {
	var c Changes
	old := make(map[string]Entry, len(before))
	for _, e := range before {
		old[e.Path] = e
	}
	for _, e := range after {
		was, known := old[e.Path]
		switch {
		case !known:
			c.Created = append(c.Created, e.Path)
		case !was.equal(e):
			c.Changed = append(c.Changed, e.Path)
		}
		delete(old, e.Path)
	}
	for _, e := range before {
		if _, gone := old[e.Path]; gone {
			c.Removed = append(c.Removed, e.Path)
		}
	}
	return c
}

func (e Entry) equal(o Entry) bool {
	return e.Mode == o.Mode && e.Target == o.Target && bytes.Equal(e.Content, o.Content)
}
