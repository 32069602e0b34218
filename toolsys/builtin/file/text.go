package file

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path"
	"strings"
	"syscall"
	"unicode/utf8"

	"github.com/spf13/afero"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/unicode"

	"toolbench/toolsys/tool"
)

// sniffBytes is how far into a file a zero byte is looked for.
const sniffBytes = 8000

const bomUTF8 = "\xef\xbb\xbf"

// text is a file's content as text. body is UTF-8 without byte order mark and
// with the file's own line endings; in a UTF-8 file it may hold invalid bytes.
type text struct {
	body string
	mark string // the byte order mark, as it stands in the file
}

const (
	markLE = "\xff\xfe"
	markBE = "\xfe\xff"
)

// decode takes content as text; false means that it is binary.
func decode(content []byte) (text, bool) {
	for _, mark := range []string{markLE, markBE} {
		if rest, ok := bytes.CutPrefix(content, []byte(mark)); ok {
			body, err := utf16(mark).NewDecoder().Bytes(rest)
			return text{body: string(body), mark: mark}, err == nil && !binary(body)
		}
	}
	rest, marked := bytes.CutPrefix(content, []byte(bomUTF8))
	t := text{body: string(rest)}
	if marked {
		t.mark = bomUTF8
	}
	return t, !binary(content)
}

// binary reports whether content is not text, by the sign that grep and git go by.
func binary(content []byte) bool {
	return bytes.IndexByte(content[:min(len(content), sniffBytes)], 0) >= 0
}

func utf16(mark string) encoding.Encoding {
	if mark == markLE {
		return unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM)
	}
	return unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM)
}

// encode turns a body back into a file like the one t came from.
//
// Errors: a body that the encoding cannot hold.
func (t text) encode(body string) ([]byte, error) {
	if t.mark != markLE && t.mark != markBE {
		return []byte(t.mark + body), nil
	}
	if !utf8.ValidString(body) {
		return nil, errors.New("the text is not valid UTF-8")
	}
	raw, err := utf16(t.mark).NewEncoder().Bytes([]byte(body))
	return append([]byte(t.mark), raw...), err
}

// lines are the body's lines without their endings; a line feed at the very end
// begins no line.
func (t text) lines() []string {
	if t.body == "" {
		return nil
	}
	lines := strings.Split(strings.TrimSuffix(t.body, "\n"), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimSuffix(line, "\r")
	}
	return lines
}

// foreign counts the bytes that are no UTF-8.
func (t text) foreign() int {
	const mark = string(utf8.RuneError) // what each such byte is shown as
	return strings.Count(replaced(t.body), mark) - strings.Count(t.body, mark)
}

// maxFileBytes is the largest file that is taken into memory.
const maxFileBytes = 64 << 20

// open locates and loads a file; a refusal to load it comes with its place.
func (d Deps) open(name string, c *tool.Context) (p place, content []byte, refusal *tool.Refusal) {
	if p, refusal = d.locate(name, c); refusal == nil {
		content, refusal = d.load(p)
	}
	return p, content, refusal
}

// load reads a file. That nothing is there is a refusal of its own code, so that
// a caller may take it as an answer.
func (d Deps) load(p place) ([]byte, *tool.Refusal) {
	info, err := d.FS.Stat(p.real)
	switch {
	case absent(err):
		return nil, refuse(CodeMissing, "%s does not exist.%s", p.abs, d.nearby(p))
	case err != nil:
		return nil, unreadable(p, err)
	case info.IsDir():
		return nil, refuse(CodeKind, "%s is a folder, not a file. List it with Glob or a shell's ls.", p.abs)
	case !info.Mode().IsRegular():
		return nil, refuse(CodeKind, "%s is a device, socket or pipe, not a regular file.", p.abs)
	case info.Size() > maxFileBytes:
		return nil, refuse(CodeKind, "%s is too large: %d bytes, of %d at most. Search it with Grep, or take a part of it with a shell command.", p.abs, info.Size(), maxFileBytes)
	}
	content, err := afero.ReadFile(d.FS, p.real)
	if err != nil {
		return nil, unreadable(p, err)
	}
	return content, nil
}

// folder refuses what is not an existing folder.
func (d Deps) folder(p place) *tool.Refusal {
	info, err := d.FS.Stat(p.real)
	switch {
	case absent(err):
		return refuse(CodeMissing, "The folder %s does not exist.%s", p.abs, d.nearby(p))
	case err != nil:
		return unreadable(p, err)
	case !info.IsDir():
		return refuse(CodeKind, "%s is not a folder.", p.abs)
	}
	return nil
}

// creatable refuses a new file whose parent can never be a folder. Not every
// filesystem refuses that by itself.
func (d Deps) creatable(p place) *tool.Refusal {
	for dir := path.Dir(p.real); ; dir = path.Dir(dir) {
		info, err := d.FS.Stat(dir)
		switch {
		case err == nil && !info.IsDir():
			return refuse(CodeKind, "%s cannot be created: %s is a file, not a folder.", p.abs, dir)
		case err == nil || dir == "/":
			return nil
		case !absent(err):
			return unreadable(p, err)
		}
	}
}

// absent reports whether the error means that nothing is there; below a file nothing
// ever is.
func absent(err error) bool { return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) }

func unreadable(p place, err error) *tool.Refusal {
	return refuse(CodeUnreadable, "%s cannot be read: %v.", p.abs, cause(err))
}

// cause is an error without the paths that the message already names.
func cause(err error) error {
	if at, ok := errors.AsType[*fs.PathError](err); ok {
		return at.Err
	}
	if between, ok := errors.AsType[*os.LinkError](err); ok {
		return between.Err
	}
	return err
}

// observeChange notes a change made to a file: where only a part of it was read, that
// remains so.
func observeChange(p place, content []byte, c *tool.Context) []tool.Observation {
	before, seen := remembered(p, c)
	o := tool.Seen(p.real, content)
	if seen {
		o.Read.Partial, o.Read.Offset, o.Read.Limit = before.Partial, before.Offset, before.Limit
	}
	return []tool.Observation{o}
}

// remembered is what the conversation saw of a file, under the name it was given
// or the one its links lead to.
func remembered(p place, c *tool.Context) (tool.FileSeen, bool) {
	if seen, ok := c.State.Files.Get(p.real); ok {
		return seen, true
	}
	return c.State.Files.Get(p.abs)
}

// unseen refuses a change of an existing file whose present content the
// conversation has not read (B5).
func unseen(p place, content []byte, c *tool.Context) *tool.Refusal {
	seen, ok := remembered(p, c)
	switch {
	case !ok:
		return refuse(CodeNotRead, "%s was not read yet. Read it first, so that nothing unknown is overwritten.", p.abs)
	case seen.Hash != tool.HashOf(content):
		return refuse(CodeChanged, "%s changed since it was read. Read it again before changing it.", p.abs)
	}
	return nil
}

// unseenInPart is unseen for a call that replaces the file: having read a
// part of it is not enough then.
func unseenInPart(p place, content []byte, c *tool.Context) *tool.Refusal {
	if refusal := unseen(p, content, c); refusal != nil {
		return refusal
	}
	if seen, _ := remembered(p, c); seen.Partial {
		return refuse(CodeNotRead, "Only a part of %s was read. Read the whole file before replacing it, or change a part of it with Edit.", p.abs)
	}
	return nil
}
