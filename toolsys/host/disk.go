package host

import (
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"sync"

	"github.com/spf13/afero"
)

// Config says which disk.
type Config struct {
	// Base is the disk, with absolute paths; Root the folder that can be seen, links
	// already followed. Scratch are folders for files of the system's own, which are
	// always in memory.
	Base    afero.Fs
	Root    string
	Scratch []string
	// Write lets changes through to the disk; otherwise they stay in memory.
	Write bool
	// Resolve gives what a path leads to when links are followed.
	Resolve func(path string) string
}

// Disk is the machine's disk behind the doors that tools know. It may be used by many.
type Disk struct {
	// FS is where tools read and write.
	FS afero.Fs
	// Resolve gives what a path leads to when links are followed.
	Resolve func(path string) string

	cfg  Config
	mu   sync.Mutex
	seen map[string]string
	size int64
	// Short says that more was read than is kept.
	short bool
}

// Limits of what is kept of what was read, in bytes.
const (
	maxSeenFile = 256 << 10
	maxSeen     = 768 << 10
)

// Open puts up the fence and the overlay (L5).
func Open(cfg Config) (*Disk, error) {
	info, err := cfg.Base.Stat(cfg.Root)
	switch {
	case err != nil:
		return nil, err
	case !info.IsDir():
		return nil, fmt.Errorf("%s is no folder", cfg.Root)
	}
	d := &Disk{cfg: cfg, seen: map[string]string{}, Resolve: cfg.Resolve}
	below := cfg.Base
	if !cfg.Write {
		below = afero.NewCopyOnWriteFs(afero.NewReadOnlyFs(cfg.Base), afero.NewMemMapFs())
	}
	scratch := afero.NewMemMapFs()
	d.FS = &split{
		Fs:      &fence{Fs: below, roots: []string{cfg.Root}, resolve: cfg.Resolve, opened: d.note},
		scratch: &fence{Fs: scratch, roots: cfg.Scratch, resolve: func(p string) string { return p }, opened: func(string) {}},
		folders: cfg.Scratch,
	}
	return d, nil
}

// note keeps what a file was before it is first touched.
func (d *Disk) note(name string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, known := d.seen[name]; known || d.short && d.size > maxSeen {
		return
	}
	info, err := d.cfg.Base.Stat(name)
	if err != nil || !info.Mode().IsRegular() {
		return
	}
	if info.Size() > maxSeenFile || d.size+info.Size() > maxSeen {
		d.short = true
		return
	}
	f, err := d.cfg.Base.Open(name)
	if err != nil {
		return
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxSeenFile))
	if err != nil {
		return
	}
	d.seen[name], d.size = string(data), d.size+int64(len(data))
}

// Seen gives the files that were touched, as they were before, and whether they are
// all of them: of very large ones nothing is kept.
func (d *Disk) Seen() (files map[string]string, all bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return maps.Clone(d.seen), !d.short
}

// Follow is a Resolve for the real disk: what does not exist is taken as it stands,
// below what of it does.
func Follow(p string) string {
	for rest := ""; ; {
		real, err := filepath.EvalSymlinks(p)
		if err == nil {
			return filepath.Join(real, rest)
		}
		parent := filepath.Dir(p)
		if parent == p {
			return filepath.Join(p, rest)
		}
		p, rest = parent, filepath.Join(filepath.Base(p), rest)
	}
}
