package command

import (
	"errors"
	"io/fs"
	"strings"
	"syscall"

	"github.com/spf13/afero"
)

// Reason words an error as the C library does: "No such file or directory".
func Reason(err error) string {
	var errno syscall.Errno
	switch {
	case errors.As(err, &errno):
		return capital(errno.Error())
	case errors.Is(err, fs.ErrNotExist):
		return "No such file or directory"
	case errors.Is(err, fs.ErrExist), errors.Is(err, afero.ErrDestinationExists):
		return "File exists"
	case errors.Is(err, fs.ErrPermission):
		return "Permission denied"
	case errors.Is(err, afero.ErrNoSymlink), errors.Is(err, afero.ErrNoReadlink):
		return "Operation not supported"
	}
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err.Error()
	}
	return err.Error()
}

func capital(s string) string {
	return strings.ToUpper(s[:1]) + s[1:]
}

// missing says whether err means that the name does not exist.
func missing(err error) bool {
	return errors.Is(err, fs.ErrNotExist)
}
