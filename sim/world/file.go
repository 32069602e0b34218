package world

import (
	"errors"
	"io"
	"os"
	"path"
	"syscall"
	"time"

	"github.com/spf13/afero"
)

var _ afero.File = (*file)(nil)

// file is an open handle. It holds the node, not the name, so it goes on working
// when the name is moved or taken away.
type file struct {
	fs     *FS
	node   *node
	name   string
	flag   int
	pos    int64
	closed bool

	listed  bool // entries holds what Readdir has yet to give
	entries []os.FileInfo
}

// locked does an operation while nobody else uses the tree, and refuses a closed handle.
func locked[T any](h *file, op string, do func() (T, error)) (result T, err error) {
	h.fs.tree.mu.Lock()
	defer h.fs.tree.mu.Unlock()
	if h.closed {
		return result, pathError(op, h.name, os.ErrClosed)
	}
	return do()
}

// Name is the name that the handle was opened with.
func (h *file) Name() string { return h.name }

func (h *file) Close() error {
	_, err := locked(h, "close", func() (int, error) {
		h.closed = true
		h.node.handles--
		h.fs.tree.reclaim(h.node)
		return 0, nil
	})
	return err
}

func (h *file) Sync() error {
	_, err := locked(h, "sync", func() (int, error) { return 0, nil })
	return err
}

func (h *file) Stat() (os.FileInfo, error) {
	return locked(h, "stat", func() (os.FileInfo, error) { return h.node.info(base(h.name)), nil })
}

func (h *file) Read(b []byte) (int, error) {
	return locked(h, "read", func() (int, error) {
		n, err := h.read(b, h.pos)
		h.pos += int64(n)
		if n < len(b) && n > 0 && err == io.EOF {
			err = nil
		}
		return n, err
	})
}

func (h *file) ReadAt(b []byte, off int64) (int, error) {
	if off < 0 {
		return 0, pathError("readat", h.name, errors.New("negative offset"))
	}
	return locked(h, "read", func() (int, error) { return h.read(b, off) })
}

// read fills b from off; io.EOF means that the content ended before b did.
func (h *file) read(b []byte, off int64) (int, error) {
	switch {
	case len(b) == 0:
		return 0, nil
	case !reads(h.flag):
		return 0, pathError("read", h.name, syscall.EBADF)
	case h.node.isDir():
		return 0, pathError("read", h.name, syscall.EISDIR)
	case off >= int64(len(h.node.data)):
		return 0, io.EOF
	}
	n := copy(b, h.node.data[off:])
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}

func (h *file) Write(b []byte) (int, error) {
	now := h.fs.tree.now()
	return locked(h, "write", func() (int, error) {
		off := h.pos
		if h.flag&os.O_APPEND != 0 {
			off = int64(len(h.node.data))
		}
		n, err := h.write(b, off, now)
		if n > 0 {
			h.pos = off + int64(n)
		}
		return n, err
	})
}

func (h *file) WriteString(s string) (int, error) { return h.Write([]byte(s)) }

func (h *file) WriteAt(b []byte, off int64) (int, error) {
	switch {
	case h.flag&os.O_APPEND != 0:
		return 0, errors.New("os: invalid use of WriteAt on file opened with O_APPEND")
	case off < 0:
		return 0, pathError("writeat", h.name, errors.New("negative offset"))
	case len(b) == 0:
		return 0, nil
	}
	now := h.fs.tree.now()
	return locked(h, "write", func() (int, error) { return h.write(b, off, now) })
}

func (h *file) write(b []byte, off int64, now time.Time) (int, error) {
	switch {
	case !writes(h.flag):
		return 0, pathError("write", h.name, syscall.EBADF)
	case h.fs.tree.readOnly:
		return 0, pathError("write", h.name, syscall.EROFS)
	}
	n, err := h.fs.tree.write(h.node, b, off, now)
	return n, pathError("write", h.name, err)
}

func (h *file) Seek(offset int64, whence int) (int64, error) {
	return locked(h, "seek", func() (int64, error) {
		switch whence {
		case io.SeekStart:
		case io.SeekCurrent:
			offset += h.pos
		case io.SeekEnd:
			offset += h.node.size()
		default:
			return 0, pathError("seek", h.name, syscall.EINVAL)
		}
		if offset < 0 {
			return 0, pathError("seek", h.name, syscall.EINVAL)
		}
		h.pos, h.listed, h.entries = offset, false, nil
		return offset, nil
	})
}

func (h *file) Truncate(size int64) error {
	now := h.fs.tree.now()
	_, err := locked(h, "truncate", func() (_ int, err error) {
		switch {
		case size < 0 || !writes(h.flag):
			err = syscall.EINVAL
		case h.fs.tree.readOnly:
			err = syscall.EROFS
		default:
			err = h.fs.tree.resize(h.node, size, now)
		}
		return 0, pathError("truncate", h.name, err)
	})
	return err
}

// Readdir describes the entries of a folder in the order of their names: the next count of them (io.EOF after the
// last), or all the rest if count is not positive. The list is taken at the first call; seeking takes it anew. As on
// a disk, describing them needs the search permission, and their names alone do not.
func (h *file) Readdir(count int) ([]os.FileInfo, error) {
	return locked(h, "readdir", func() ([]os.FileInfo, error) {
		next, err := h.next(count)
		if len(next) > 0 && !h.fs.may(h.node, maySearch) {
			return nil, pathError("fstatat", path.Join(h.name, next[0].Name()), syscall.EACCES)
		}
		return next, err
	})
}

// Readdirnames is Readdir, names only.
func (h *file) Readdirnames(count int) ([]string, error) {
	return locked(h, "readdir", func() ([]string, error) {
		infos, err := h.next(count)
		names := make([]string, 0, len(infos))
		for _, i := range infos {
			names = append(names, i.Name())
		}
		return names, err
	})
}

func (h *file) next(count int) ([]os.FileInfo, error) {
	if !h.node.isDir() {
		return nil, pathError("readdirent", h.name, syscall.ENOTDIR)
	}
	if !h.listed {
		h.listed, h.entries = true, []os.FileInfo{}
		for _, name := range h.node.sorted() {
			h.entries = append(h.entries, h.node.children[name].info(name))
		}
	}
	if count <= 0 {
		rest := h.entries
		h.entries = nil
		return rest, nil
	}
	if len(h.entries) == 0 {
		return nil, io.EOF
	}
	next := h.entries[:min(count, len(h.entries))]
	h.entries = h.entries[len(next):]
	return next, nil
}
