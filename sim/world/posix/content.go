package posix

import (
	"slices"
	"syscall"
	"time"
)

// maxFile bounds one file's content, which all lies in memory.
const maxFile = 1 << 30

// resize cuts a file or fills it up with zeros.
func (t *tree) resize(n *node, size int64, now time.Time) error {
	have := int64(len(n.data))
	switch {
	case size > maxFile:
		return syscall.EFBIG
	case size > have && t.fits(size-have) < size-have:
		return syscall.ENOSPC
	case size < have && n.shared:
		n.data, n.shared = slices.Clone(n.data[:size]), false
	case size < have:
		clear(n.data[size:]) // or growing again would show it
		n.data = n.data[:size]
	case size > have:
		n.own(int(size - have))
		n.data = n.data[:size]
		clear(n.data[have:])
	}
	t.used += size - have
	n.modified = now
	return nil
}

// write puts b at offset off, as much of it as fits on the disk, with ENOSPC if
// that is not all.
func (t *tree) write(n *node, b []byte, off int64, now time.Time) (int, error) {
	have, end := int64(len(n.data)), off+int64(len(b))
	if len(b) == 0 {
		return 0, nil
	}
	if end > maxFile {
		return 0, syscall.EFBIG
	}
	var full error
	if last := have + t.fits(end-have); end > have && last < end {
		if last <= off {
			return 0, syscall.ENOSPC
		}
		b, end, full = b[:last-off], last, syscall.ENOSPC
	}
	if end > have {
		if err := t.resize(n, end, now); err != nil {
			return 0, err
		}
	}
	n.own(0)
	n.modified = now
	return copy(n.data[off:], b), full
}

// own makes the content this node's alone, with room for more bytes.
func (n *node) own(more int) {
	if n.shared {
		n.data, n.shared = append(make([]byte, 0, len(n.data)+more), n.data...), false
	}
	n.data = slices.Grow(n.data, more)
}
