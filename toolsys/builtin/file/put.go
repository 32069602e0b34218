package file

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"

	"github.com/spf13/afero"
)

// newFileMode and newFolderMode are what a new file and its folders get, less the
// umask of the disk.
const (
	newFileMode   = fs.FileMode(0o644)
	newFolderMode = fs.FileMode(0o755)
)

// errStage marks a replacement that did not get as far as writing content: the
// file may then still be written where it stands.
var errStage = errors.New("cannot write beside the file")

// put makes content the whole of a file, and the folders above it. The content
// is written beside the file and put in its place by renaming, so that a full
// disk or a crash loses nothing; where the folder does not allow that, the file
// is written where it stands and restored if that fails.
//
// The mode of an existing file is kept. Errors name the file and the cause.
func (d Deps) put(p place, content []byte, callID string) error {
	mode, exists, err := d.writable(p.real)
	if err == nil && !exists {
		err = d.FS.MkdirAll(path.Dir(p.real), newFolderMode)
	}
	if err == nil {
		err = d.replace(p.real, content, mode, exists, callID)
	}
	if errors.Is(err, errStage) && exists {
		err = d.overwrite(p.real, content)
	}
	if err != nil {
		return fmt.Errorf("%s could not be written: %w", p.abs, cause(err))
	}
	return nil
}

// writable gives an existing file's mode, and the error that writing it would
// give: a rename would pass over a file's own protection.
func (d Deps) writable(name string) (mode fs.FileMode, exists bool, err error) {
	info, err := d.FS.Stat(name)
	if absent(err) {
		return newFileMode, false, nil
	}
	if err != nil {
		return 0, false, err
	}
	f, err := d.FS.OpenFile(name, os.O_WRONLY, 0)
	if err != nil {
		return 0, true, err
	}
	return info.Mode().Perm(), true, f.Close()
}

// replace writes content beside the file and renames it over it.
func (d Deps) replace(name string, content []byte, mode fs.FileMode, keepMode bool, callID string) error {
	beside := besideName(name, callID)
	f, err := d.FS.OpenFile(beside, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return fmt.Errorf("%w: %w", errStage, cause(err))
	}
	err = fill(f, content)
	if err == nil && keepMode { // the umask may have taken bits
		err = d.FS.Chmod(beside, mode)
	}
	if err == nil {
		if err = d.FS.Rename(beside, name); err != nil {
			err = fmt.Errorf("%w: %w", errStage, cause(err))
		}
	}
	if err != nil {
		_ = d.FS.Remove(beside) // the error that counts is the first one
	}
	return err
}

// besideName is a hidden name in the same folder, one per call and file.
func besideName(name, callID string) string {
	sum := sha256.Sum256([]byte(callID + "\x00" + name))
	return path.Join(path.Dir(name), "."+hex.EncodeToString(sum[:8])+".tmp")
}

// fill writes all of content and closes the file.
func fill(f afero.File, content []byte) error {
	_, err := f.Write(content)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// overwrite writes a file where it stands. If that fails, what was there is put
// back: truncating has just freed the room it needs.
func (d Deps) overwrite(name string, content []byte) error {
	before, err := afero.ReadFile(d.FS, name)
	if err != nil {
		return err
	}
	if err = d.rewrite(name, content); err == nil {
		return nil
	}
	if again := d.rewrite(name, before); again != nil {
		return fmt.Errorf("%w, and restoring it failed too: %w", cause(err), cause(again))
	}
	return err
}

func (d Deps) rewrite(name string, content []byte) error {
	f, err := d.FS.OpenFile(name, os.O_WRONLY|os.O_TRUNC, 0)
	if err != nil {
		return err
	}
	return fill(f, content)
}
