package host

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// OpenFile opens a regular file or a folder for reading. Opening never waits, as it would for the other
// end of a FIFO.
func OpenFile(name string) (*os.File, error) {
	if info, err := os.Stat(name); err == nil && !plain(info) { // a device may do something when it is opened
		return nil, &fs.PathError{Op: "open", Path: name, Err: errNotRegular}
	}
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err != nil || !plain(info) {
		f.Close()
		return nil, &fs.PathError{Op: "open", Path: name, Err: errNotRegular}
	}
	return f, nil
}

// DirFS is os.DirFS for regular files only.
func DirFS(dir string) fs.FS { return dirFS{os.DirFS(dir), dir} }

type dirFS struct {
	fs.FS
	dir string
}

func (d dirFS) Open(name string) (fs.File, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	f, err := OpenFile(filepath.Join(d.dir, filepath.FromSlash(name)))
	if err != nil {
		if p, ok := err.(*fs.PathError); ok {
			p.Path = name
		}
		return nil, err
	}
	return f, nil
}

// Stat implements fs.StatFS: what cannot be opened can be looked at.
func (d dirFS) Stat(name string) (fs.FileInfo, error) { return fs.Stat(d.FS, name) }

// ReadDir implements fs.ReadDirFS.
func (d dirFS) ReadDir(name string) ([]fs.DirEntry, error) { return fs.ReadDir(d.FS, name) }
