package shell

import (
	"fmt"
	"io"
	"path"
	"regexp"
	"strings"

	"github.com/spf13/afero"
)

// capture takes in one stream: the beginning and the end in memory, the whole in
// a file once it is too long for that.
type capture struct {
	limit      int // bytes kept, half at each end
	head, tail []byte
	total      int64
	open       func() (io.WriteCloser, error) // nil: no file
	file       io.WriteCloser
	path       string
}

// Write never fails: what cannot be kept is counted.
func (c *capture) Write(p []byte) (int, error) {
	c.spill(p)
	c.total += int64(len(p))
	n := min(len(p), c.limit/2-len(c.head))
	c.head = append(c.head, p[:n]...)
	c.tail = append(c.tail, p[n:]...)
	if over := len(c.tail) - (c.limit - c.limit/2); over > c.limit {
		c.tail = append([]byte(nil), c.tail[over:]...)
	}
	return len(p), nil
}

// spill begins the file with all there is when the stream first outgrows memory,
// and goes on with it. A file that fails is given up; the stream goes on (K3).
func (c *capture) spill(p []byte) {
	if c.file == nil && c.open != nil && c.total+int64(len(p)) > int64(c.limit) {
		file, err := c.open()
		c.open = nil
		if err != nil {
			return
		}
		c.file = file
		p = append(append(append([]byte{}, c.head...), c.tail...), p...)
	}
	if c.file == nil {
		return
	}
	if _, err := c.file.Write(p); err != nil {
		c.file.Close()
		c.file, c.path = nil, ""
	}
}

// text closes the capture and gives what was kept, and a note on what was not.
func (c *capture) text(name string) (text, note string) {
	kept := ""
	if c.file != nil {
		if err := c.file.Close(); err == nil {
			kept = "; all of it is in " + c.path
		}
		c.file = nil
	}
	if c.total <= int64(c.limit) {
		return valid(append(c.head, c.tail...)), ""
	}
	tail := c.tail[max(0, len(c.tail)-(c.limit-c.limit/2)):]
	left := c.total - int64(len(c.head)) - int64(len(tail))
	gap := fmt.Sprintf("\n... %d bytes left out ...\n", left)
	return valid(c.head) + gap + valid(tail), fmt.Sprintf("%s was %d bytes long, %d of them left out%s", name, c.total, left, kept)
}

func valid(b []byte) string { return strings.ToValidUTF8(string(b), "\uFFFD") }

var unsafeName = regexp.MustCompile(`[^A-Za-z0-9_-]`)

// capture makes the taker of one stream of a call.
func (d bash) capture(callID, name string) *capture {
	c := &capture{limit: d.KeepBytes}
	if c.limit <= 0 {
		c.limit = KeepBytes
	}
	if d.OutputDir == "" {
		return c
	}
	c.path = path.Join(d.OutputDir, unsafeName.ReplaceAllString(callID, "_")+"."+name)
	c.open = func() (io.WriteCloser, error) {
		if err := d.FS.MkdirAll(d.OutputDir, 0o755); err != nil {
			return nil, err
		}
		return create(d.FS, c.path)
	}
	return c
}

func create(fs afero.Fs, file string) (io.WriteCloser, error) {
	f, err := fs.Create(file)
	if err != nil {
		return nil, err // not a nil *File in a non-nil interface
	}
	return f, nil
}
