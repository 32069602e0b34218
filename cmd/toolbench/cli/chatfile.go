package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"toolbench/reports"
	"toolbench/toolsys/loop"
	"toolbench/toolsys/message"
)

// transcript is the file that keeps a conversation; nil keeps none.
type transcript struct {
	file  *os.File
	shown string
	began bool
	// size is how long it is by what was read of it and written into it here.
	size int64
}

// Write adds to the file, unless another process has: two conversations in one transcript would
// be neither of them.
func (t *transcript) Write(p []byte) (int, error) {
	info, err := t.file.Stat()
	if err == nil && info.Size() != t.size {
		err = fmt.Errorf("%s: another chat writes into it; end one of the two, and resume it then", t.shown)
	}
	if err != nil {
		return 0, err
	}
	n, err := t.file.Write(p)
	t.size += int64(n)
	return n, err
}

// Where transcripts are unless another place is named, below the root.
const (
	ownFolder = ".toolbench"
	chatsIn   = "chats"
)

// journal is what the session writes into; nil keeps nothing.
func (t *transcript) journal() func(loop.Entry) error {
	if t == nil {
		return nil
	}
	write := loop.WriteJournal(t)
	return func(e loop.Entry) error {
		t.began = true
		return write(e)
	}
}

// where names the transcript, for the end of a conversation.
func (t *transcript) where() string {
	if t == nil || !t.began {
		return ""
	}
	return "; go on with `toolbench chat --resume " + reports.Quoted(t.shown) + "`"
}

// close leaves no file behind in which nothing stands.
func (t *transcript) close() error {
	info, err := t.file.Stat()
	if err == nil && info.Size() == 0 {
		_ = os.Remove(t.file.Name()) // it may stay: it is empty
	}
	return t.file.Close()
}

// openTranscript opens the file that the conversation goes on in, and reads what it has.
func (c *chat) openTranscript() ([]message.Message, error) {
	f := c.flags
	switch {
	case f.resume != "" && f.transcript != "":
		return nil, usage("--resume goes on in the transcript that it names; leave --transcript out")
	case f.resume != "":
		return c.resumed()
	case f.transcript == "off":
		return nil, nil
	case f.transcript != "":
		return nil, c.keep(c.a.path(f.transcript), f.transcript, os.O_EXCL)
	}
	dir, err := c.ownFolder()
	if err != nil {
		return nil, usage("no transcript can be kept below %s: %s; name a file with --transcript, or write --transcript off", c.root, reason(err))
	}
	file := filepath.Join(dir, time.Now().UTC().Format("20060102-150405.000")+".jsonl")
	return nil, c.keep(file, file, os.O_EXCL)
}

// ownFolder is the folder of transcripts, which no version control takes up. A link in its
// place could lead out of the root.
func (c *chat) ownFolder() (string, error) {
	root, err := os.OpenRoot(c.root)
	if err != nil {
		return "", err
	}
	defer root.Close()
	if err := root.MkdirAll(filepath.Join(ownFolder, chatsIn), 0o700); err != nil {
		return "", err
	}
	err = root.WriteFile(filepath.Join(ownFolder, ".gitignore"), []byte("*\n"), 0o600)
	return filepath.Join(c.root, ownFolder, chatsIn), err
}

// keep opens the file for what is to come.
func (c *chat) keep(file, shown string, flag int) error {
	out, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_APPEND|flag, 0o600)
	switch {
	case errors.Is(err, fs.ErrExist):
		return usage("--transcript %s: the file is there already; go on with it by --resume, or name another", shown)
	case err != nil:
		return usage("%s: %s", shown, reason(err))
	}
	if rel, err := filepath.Rel(c.a.Dir, file); err == nil && filepath.IsLocal(rel) {
		shown = rel
	}
	c.kept = &transcript{file: out, shown: shown}
	c.onClose(c.kept.close)
	return nil
}

// maxTranscript is how long a transcript may be to be gone on with.
const maxTranscript = 256 << 20

// resumed reads a transcript. A last line that was being written when the process died is
// cut off, so that what follows begins a line.
func (c *chat) resumed() ([]message.Message, error) {
	name := c.flags.resume
	if name == "last" {
		all, _ := filepath.Glob(filepath.Join(c.root, ownFolder, chatsIn, "*.jsonl")) // the pattern is sound
		if len(all) == 0 {
			return nil, usage("--resume last: there is no transcript below %s", filepath.Join(c.root, ownFolder))
		}
		name = slices.Max(all)
	}
	data, err := c.a.readFile(name, maxTranscript)
	if err != nil {
		return nil, err
	}
	entries, err := loop.ReadJournal(bytes.NewReader(data))
	if err != nil {
		return nil, usage("%s: it is no transcript of chat: %s", name, err)
	}
	if len(entries) == 0 {
		return nil, usage("%s: it is no transcript of chat: nothing is in it", name)
	}
	if err := c.keep(c.a.path(name), name, 0); err != nil {
		return nil, err
	}
	whole := int64(bytes.LastIndexByte(data, '\n') + 1)
	if c.kept.size = whole; whole < int64(len(data)) {
		if err := c.kept.file.Truncate(whole); err != nil {
			return nil, usage("%s: %s", name, reason(err))
		}
	}
	_, err = c.kept.file.Seek(0, io.SeekEnd)
	return loop.Reopen(entries), err
}
