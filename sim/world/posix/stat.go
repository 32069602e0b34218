package posix

import (
	"io/fs"
	"os"
	"strings"
	"time"
)

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

// Owner is what the Sys method of this package's file infos gives: who owns the
// node, and a number that two names of one node share.
type Owner struct {
	UID, GID int
	ID       uint64
}

// info is a description taken at one moment; later changes do not reach it.
type info struct {
	name     string
	size     int64
	mode     fs.FileMode
	modified time.Time
	owner    Owner
}

func (n *node) info(name string) info {
	return info{name: name, size: n.size(), mode: n.mode, modified: n.modified, owner: Owner{n.uid, n.gid, n.id}}
}

func (i info) Name() string       { return i.name }
func (i info) Size() int64        { return i.size }
func (i info) Mode() fs.FileMode  { return i.mode }
func (i info) ModTime() time.Time { return i.modified }
func (i info) IsDir() bool        { return i.mode.IsDir() }
func (i info) Sys() any           { return &i.owner }

// base is the last part of a path, as package os names what it describes.
func base(path string) string {
	trimmed := strings.TrimRight(path, "/")
	if trimmed == "" {
		return "/"
	}
	return trimmed[strings.LastIndexByte(trimmed, '/')+1:]
}
