package host

import (
	"os"
	"strings"
	"time"

	"github.com/spf13/afero"
)

// split sends paths below its folders to a filesystem of their own.
type split struct {
	afero.Fs
	scratch afero.Fs
	folders []string
}

func (s *split) of(name string) afero.Fs {
	for _, f := range s.folders {
		if name == f || strings.HasPrefix(name, f+"/") {
			return s.scratch
		}
	}
	return s.Fs
}

func (s *split) Open(name string) (afero.File, error)   { return s.of(name).Open(name) }
func (s *split) Create(name string) (afero.File, error) { return s.of(name).Create(name) }
func (s *split) OpenFile(name string, flag int, perm os.FileMode) (afero.File, error) {
	return s.of(name).OpenFile(name, flag, perm)
}
func (s *split) Stat(name string) (os.FileInfo, error)        { return s.of(name).Stat(name) }
func (s *split) Mkdir(name string, perm os.FileMode) error    { return s.of(name).Mkdir(name, perm) }
func (s *split) MkdirAll(name string, perm os.FileMode) error { return s.of(name).MkdirAll(name, perm) }
func (s *split) Remove(name string) error                     { return s.of(name).Remove(name) }
func (s *split) RemoveAll(name string) error                  { return s.of(name).RemoveAll(name) }
func (s *split) Rename(from, to string) error                 { return s.of(from).Rename(from, to) }
func (s *split) Chmod(name string, mode os.FileMode) error    { return s.of(name).Chmod(name, mode) }
func (s *split) Chown(name string, uid, gid int) error        { return s.of(name).Chown(name, uid, gid) }
func (s *split) Chtimes(name string, atime, mtime time.Time) error {
	return s.of(name).Chtimes(name, atime, mtime)
}
