package shell

import (
	"context"
	"io"
	"io/fs"
	"strings"
	"syscall"

	"mvdan.cc/sh/v3/interp"

	"toolbench/sim/shell/command"
)

// filesIn is the filesystem as seen from dir, with the devices of a command whose outputs are given.
func (r *run) filesIn(dir string, stdout, stderr io.Writer) *command.Files {
	f := &command.Files{FS: r.shell.FS, Dir: dir, Now: r.shell.Now, Limit: r.shell.MaxOutput}
	f.Read = func(name string) (io.Reader, bool) { return r.readDevice(name) }
	f.Write = func(name string) (io.Writer, bool) { return r.writeDevice(name, stdout, stderr) }
	return f
}

func (r *run) readDevice(name string) (io.Reader, bool) {
	if !strings.HasPrefix(name, "/dev/") {
		return nil, false
	}
	switch name {
	case "/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty":
		return strings.NewReader(""), true
	case "/dev/zero":
		return zeros{}, true
	case "/dev/random", "/dev/urandom":
		return noise{r}, true
	case "/dev/stdin", "/dev/fd/0":
		return r.stdin, true
	}
	text, ok := r.files[name]
	return strings.NewReader(text), ok
}

func (r *run) writeDevice(name string, stdout, stderr io.Writer) (io.Writer, bool) {
	switch name {
	case "/dev/null", "/dev/zero", "/dev/tty":
		return io.Discard, true
	case "/dev/full":
		return full{}, true
	case "/dev/stdout", "/dev/fd/1":
		return stdout, true
	case "/dev/stderr", "/dev/fd/2":
		return stderr, true
	}
	return nil, false
}

type zeros struct{}

func (zeros) Read(b []byte) (int, error) {
	clear(b)
	return len(b), nil
}

type noise struct{ r *run }

func (n noise) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = byte(n.r.next() >> 56)
	}
	return len(b), nil
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

func (r *run) readDir(ctx context.Context, name string) ([]fs.DirEntry, error) {
	list, err := r.filesIn(interp.HandlerCtx(ctx).Dir, nil, nil).List(name)
	out := make([]fs.DirEntry, len(list))
	for i, info := range list {
		out[i] = fs.FileInfoToDirEntry(info)
	}
	return out, err
}

func (r *run) stat(ctx context.Context, name string, follow bool) (fs.FileInfo, error) {
	files := r.filesIn(interp.HandlerCtx(ctx).Dir, nil, nil)
	if follow {
		return files.Stat(name)
	}
	return files.Lstat(name)
}

// access looks at the permission bits of anyone: there is one user.
func (r *run) access(ctx context.Context, name string, mode interp.AccessMode) error {
	info, err := r.filesIn(interp.HandlerCtx(ctx).Dir, nil, nil).Stat(name)
	if err != nil {
		return err
	}
	bits := fs.FileMode(mode)
	if info.Mode().Perm()&(bits|bits<<3|bits<<6) == 0 {
		return fs.ErrPermission
	}
	return nil
}
