package world

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/tools/txtar"
)

// SnapshotEntry is one name of a tree as a snapshot holds it.
type SnapshotEntry struct {
	// Path is absolute and clean; the root itself is not listed.
	Path string
	// Mode holds type and permission bits, so it distinguishes file, folder and link.
	Mode fs.FileMode
	// Content is a file's, and must not be changed.
	Content []byte
	// Target is where a link leads.
	Target string
}

// Snapshot is a tree at one moment, sorted by path, byte for byte. It has no
// times, since one virtual instant has but one, and no owners.
type Snapshot []SnapshotEntry

// Snapshot takes the whole tree, whatever the user may see of it. Content is not copied but kept from change.
func (f *FS) Snapshot() Snapshot {
	f.tree.mu.Lock()
	defer f.tree.mu.Unlock()
	var s Snapshot
	f.tree.root.record("/", &s)
	slices.SortFunc(s, func(a, b SnapshotEntry) int { return strings.Compare(a.Path, b.Path) })
	return s
}

func (n *node) record(at string, s *Snapshot) {
	for name, child := range n.children {
		below := path.Join(at, name)
		child.shared = child.shared || child.data != nil
		*s = append(*s, SnapshotEntry{Path: below, Mode: child.mode, Content: child.data, Target: child.target})
		child.record(below, s)
	}
}

// Digest is a hex SHA-256 over all that the snapshot holds; equal trees have equal digests on every machine.
func (s Snapshot) Digest() string {
	h := sha256.New()
	for _, e := range s {
		fmt.Fprintf(h, "%d %s %o %d %s %d\n", len(e.Path), e.Path, e.Mode, len(e.Target), e.Target, len(e.Content))
		_, _ = io.Copy(h, bytes.NewReader(e.Content)) // a hash takes everything
	}
	return hex.EncodeToString(h.Sum(nil))
}

// SnapshotChanges lists the paths by what became of them, each list sorted.
type SnapshotChanges struct {
	Created, Changed, Removed []string
}

// DiffSnapshots is what became of a tree from before to after (SPEC O3). A path whose
// type, permissions, content or target is another one is changed.
func DiffSnapshots(before, after Snapshot) SnapshotChanges {
	var c SnapshotChanges
	old := make(map[string]SnapshotEntry, len(before))
	for _, e := range before {
		old[e.Path] = e
	}
	for _, e := range after {
		was, known := old[e.Path]
		switch {
		case !known:
			c.Created = append(c.Created, e.Path)
		case was.Mode != e.Mode || was.Target != e.Target || !bytes.Equal(was.Content, e.Content):
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

// Load adds an archive's tree below root, owned by the user whatever the
// permissions there demand. The header of a section is what it is:
//
//	name            a file, mode 0644
//	name (0755)     a file of that mode
//	name/           an empty folder, mode 0755
//	name/ (0700)    a folder of that mode, whatever else is put into it
//	name -> target  a link
//
// Parents are made with mode 0755. A section's content reaches up to the next header, so a file that is not empty
// ends in a line feed, and no line of it can look like a header: that is txtar's own limit.
//
// Errors: a name that is not clean or leads out with "..", a path given twice, a path below a file or link, content
// in a folder or link, a mode that is not octal. The tree may then hold a part of the archive.
func (f *FS) Load(root string, archive *txtar.Archive) error {
	now := f.tree.now()
	f.tree.mu.Lock()
	defer f.tree.mu.Unlock()
	for _, section := range archive.Files {
		if err := f.load(root, section, now); err != nil {
			return fmt.Errorf("archive section %q: %w", section.Name, err)
		}
	}
	return nil
}

func (f *FS) load(root string, section txtar.File, now time.Time) error {
	h, err := parseHeader(section.Name)
	if err != nil {
		return err
	}
	if !h.mode.IsRegular() && len(section.Data) > 0 {
		return fmt.Errorf("only a file has content")
	}
	dir, name, err := f.makeParents(path.Join(root, h.path), now)
	if err != nil {
		return err
	}
	if old := dir.children[name]; old != nil {
		implied := old.isDir() && old.mode.Perm() == 0o755 && len(old.children) > 0 // by what lies in it
		if !implied || !h.mode.IsDir() {
			return fmt.Errorf("the path is taken")
		}
		old.mode = h.mode
		return nil
	}
	n := f.newNode(h.mode, now)
	n.target, n.data, n.shared = h.target, section.Data, len(section.Data) > 0
	f.tree.used += int64(len(n.data))
	dir.add(name, n, now)
	return nil
}

func (f *FS) makeParents(full string, now time.Time) (dir *node, name string, err error) {
	dir = f.tree.root
	parts := strings.Split(strings.Trim(full, "/"), "/")
	for _, part := range parts[:len(parts)-1] {
		next := dir.children[part]
		if next == nil {
			next = f.newNode(fs.ModeDir|0o755, now)
			dir.add(part, next, now)
		}
		if !next.isDir() {
			return nil, "", fmt.Errorf("%q is not a folder", part)
		}
		dir = next
	}
	return dir, parts[len(parts)-1], nil
}

// header is the name of a section, parsed.
type header struct {
	path, target string
	mode         fs.FileMode
}

var modeSuffix = regexp.MustCompile(`^(.*\S) \((\d+)\)$`)

func parseHeader(text string) (header, error) {
	if name, target, ok := strings.Cut(text, " -> "); ok {
		return header{path: name, target: target, mode: fs.ModeSymlink | fs.ModePerm}.checked()
	}
	h := header{path: text, mode: 0o644}
	given := modeSuffix.FindStringSubmatch(text)
	if given != nil {
		h.path = given[1]
	}
	if dir, ok := strings.CutSuffix(h.path, "/"); ok {
		h.path, h.mode = dir, fs.ModeDir|0o755
	}
	if given != nil {
		bits, err := strconv.ParseUint(given[2], 8, 9)
		if err != nil {
			return h, fmt.Errorf("mode %q is not octal permission bits", given[2])
		}
		h.mode = h.mode.Type() | fs.FileMode(bits)
	}
	return h.checked()
}

func (h header) checked() (header, error) {
	h.path = strings.TrimPrefix(h.path, "/")
	if !fs.ValidPath(h.path) || h.path == "." {
		return h, fmt.Errorf("the name %q is not a clean path", h.path)
	}
	if h.mode.Type() == fs.ModeSymlink && h.target == "" {
		return h, fmt.Errorf("the link leads nowhere")
	}
	return h, nil
}

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
