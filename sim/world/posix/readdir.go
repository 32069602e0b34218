package posix

import (
	"io"
	"os"
	"path"
	"syscall"
)

// Readdir describes the entries of a folder in the order of their names: the
// next count of them (io.EOF after the last), or all the rest if count is not
// positive. The list is taken at the first call; seeking takes it anew. As on a
// disk, describing them needs the search permission, and their names alone do not.
func (h *file) Readdir(count int) ([]os.FileInfo, error) {
	end, err := h.begin("readdir")
	if err != nil {
		return nil, err
	}
	defer end()
	next, err := h.next(count)
	if len(next) > 0 && !h.fs.may(h.node, maySearch) {
		return nil, pathError("fstatat", path.Join(h.name, next[0].Name()), syscall.EACCES)
	}
	return next, err
}

// Readdirnames is Readdir, names only.
func (h *file) Readdirnames(count int) ([]string, error) {
	end, err := h.begin("readdir")
	if err != nil {
		return nil, err
	}
	defer end()
	infos, err := h.next(count)
	names := make([]string, 0, len(infos))
	for _, i := range infos {
		names = append(names, i.Name())
	}
	return names, err
}

func (h *file) next(count int) ([]os.FileInfo, error) {
	if !h.node.isDir() {
		return nil, pathError("readdirent", h.name, syscall.ENOTDIR)
	}
	h.list()
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

func (h *file) list() {
	if h.listed {
		return
	}
	h.listed, h.entries = true, []os.FileInfo{}
	for _, name := range h.node.sorted() {
		h.entries = append(h.entries, h.node.children[name].info(name))
	}
}
