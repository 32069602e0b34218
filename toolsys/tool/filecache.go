package tool

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
)

// FileCacheLimit is how many files a conversation remembers.
const FileCacheLimit = 100

// FileSeen is one file's content as a call saw it. Content is compared, not the
// modification time: within one virtual instant all times are equal (B5).
type FileSeen struct {
	Path string
	Hash string
	// Partial is true when only a range was seen.
	Partial bool
	Offset  int
	Limit   int
}

// Seen notes content as the whole of path.
func Seen(path string, content []byte) Observation {
	return Observation{Read: &FileSeen{Path: path, Hash: HashOf(content)}}
}

// HashOf is how file contents are compared.
func HashOf(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

// FileCache is a bounded least-recently-used list as a value: most recent last,
// "recent" being call order, so that it is the same under every policy (B5).
type FileCache struct{ seen []FileSeen }

// Put adds or renews an entry. A part of what was seen whole, unchanged since,
// does not make less of it.
func (c FileCache) Put(f FileSeen) FileCache {
	next := make([]FileSeen, 0, len(c.seen)+1)
	for _, e := range c.seen {
		switch {
		case e.Path != f.Path:
			next = append(next, e)
		case f.Partial && !e.Partial && f.Hash == e.Hash:
			f = e // the whole was seen, and is still what it was
		}
	}
	next = append(next, f)
	if over := len(next) - FileCacheLimit; over > 0 {
		next = next[over:]
	}
	return FileCache{next}
}

// Get finds what was seen of path.
func (c FileCache) Get(path string) (FileSeen, bool) {
	i := slices.IndexFunc(c.seen, func(e FileSeen) bool { return e.Path == path })
	if i < 0 {
		return FileSeen{}, false
	}
	return c.seen[i], true
}

// Len is how many files are remembered.
func (c FileCache) Len() int { return len(c.seen) }

// All lists the entries, least recent first.
func (c FileCache) All() []FileSeen { return slices.Clone(c.seen) }
