package shell

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"strings"
	"syscall"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/interp"
)

// environ is the interpreter's base environment: the command's variables, and values made up when asked for.
type environ struct {
	run   *run
	vars  map[string]string
	names []string // of vars, sorted
	dir   string
	// booted is set once the interpreter has taken its first look. Before, it is kept from looking
	// further: for a home directory on the host, and for a folder for its pipes.
	booted bool
}

// nowhere is no path that any script can name or any system can open.
const nowhere = "/\x00"

func text(s string) expand.Variable { return expand.Variable{Set: true, Kind: expand.String, Str: s} }

// Get implements expand.Environ.
func (e *environ) Get(name string) expand.Variable {
	if !e.booted && (name == "TMPDIR" || name == "HOME") {
		return text(nowhere)
	}
	if v, ok := e.vars[name]; ok {
		v := text(v)
		v.Exported = true
		return v
	}
	return e.dynamic(name)
}

// dynamic gives the variables a shell makes up.
func (e *environ) dynamic(name string) expand.Variable {
	r := e.run
	switch name {
	case "UID", "EUID", "GID":
		return expand.Variable{Set: true, Kind: expand.String, Str: "1000", ReadOnly: true}
	case "PIPESTATUS":
		return expand.Variable{Set: true, Kind: expand.Indexed, List: decimals(r.last)}
	case renamed + "PID", "BASHPID":
		return text("1000")
	case renamed + "PPID":
		return text("1")
	case renamed + "RANDOM":
		return text(strconv.FormatUint(r.next()>>49, 10))
	case renamed + "SRANDOM":
		return text(strconv.FormatUint(r.next()>>32, 10))
	case renamed + "BANG":
		if n := len(r.jobs); n > 0 {
			return text(strconv.Itoa(firstJob + n - 1))
		}
	case "SECONDS":
		return text(strconv.Itoa(int(r.shell.Now().Sub(r.began).Seconds())))
	case "EPOCHSECONDS":
		return text(strconv.FormatInt(r.shell.Now().Unix(), 10))
	case "HOSTNAME":
		return text(r.shell.Host)
	case "BASH_VERSION":
		return text("5.2.0(1)-release")
	case "BASH":
		return text("/bin/bash")
	case "OSTYPE":
		return text("linux-gnu")
	}
	if line, ok := strings.CutPrefix(name, renamed+"LINE_"); ok {
		return text(line)
	}
	if user, ok := strings.CutPrefix(name, "HOME "); ok {
		return e.home(user)
	}
	return expand.Variable{}
}

// home answers ~user, so that nobody looks it up on the host. An unknown user's tilde stays as it is.
func (e *environ) home(user string) expand.Variable {
	switch {
	case user == e.run.shell.User && e.vars["HOME"] != "":
		return text(e.vars["HOME"])
	case user == "root":
		return text("/root")
	}
	return text("~" + user)
}

// Each implements expand.Environ.
func (e *environ) Each(f func(name string, v expand.Variable) bool) {
	for _, name := range e.names {
		if !f(name, e.Get(name)) {
			return
		}
	}
}

// next steps the generator of $RANDOM: the same script gives the same numbers.
func (r *run) next() uint64 {
	r.random = r.random*6364136223846793005 + 1442695040888963407
	return r.random
}

func decimals(list []int) []string {
	if len(list) == 0 {
		return []string{"0"}
	}
	return each(list, strconv.Itoa)
}

// each gives what f makes of each thing.
func each[T, U any](all []T, f func(T) U) []U {
	made := make([]U, len(all))
	for i, one := range all {
		made[i] = f(one)
	}
	return made
}

// environOf gives a command's environment, sorted.
func environOf(env expand.Environ) []string {
	vars := map[string]string{}
	for name, v := range env.Each {
		delete(vars, name)
		if v.IsSet() && v.Kind == expand.String && (v.Exported || name == "PWD") {
			vars[name] = v.Str
		}
	}
	return sortedEnviron(vars)
}

// filesIn is the filesystem as seen from dir, with the devices of a command whose outputs are given.
func (r *run) filesIn(dir string, stdout, stderr io.Writer) *files {
	f := &files{FS: r.shell.FS, Dir: dir, Now: r.shell.Now, Limit: r.shell.MaxOutput}
	f.Read = func(name string) (io.Reader, bool) { return r.readDevice(name, stderr) }
	f.Write = func(name string) (io.Writer, bool) { return r.writeDevice(name, stdout, stderr) }
	return f
}

func (r *run) readDevice(name string, stderr io.Writer) (io.Reader, bool) {
	if !strings.HasPrefix(name, "/dev/") {
		return nil, false
	}
	switch name {
	case "/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty":
		return strings.NewReader(""), true
	case "/dev/zero":
		return &endlessText{zeroReader{}, name, 2 * r.shell.MaxOutput, stderr}, true
	case "/dev/random", "/dev/urandom":
		return &endlessText{randomSource{r}, name, 2 * r.shell.MaxOutput, stderr}, true
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

// endlessText is a device without an end, which has one here all the same: many commands read all before they
// write anything. It is beyond what can be written, so that who passes it on meets that limit first.
type endlessText struct {
	io.Reader
	name   string
	left   int64
	stderr io.Writer // nil: nobody is told
}

func (e *endlessText) Read(b []byte) (int, error) {
	if e.left <= 0 {
		if e.stderr != nil {
			fmt.Fprintf(e.stderr, "bash: warning: %s was cut off, the in-process shell's limit\n", e.name)
		}
		return 0, io.EOF
	}
	n, err := e.Reader.Read(b[:min(int64(len(b)), e.left)])
	e.left -= int64(n)
	return n, err
}

type zeroReader struct{}

func (zeroReader) Read(b []byte) (int, error) {
	clear(b)
	return len(b), nil
}

type randomSource struct{ r *run }

func (n randomSource) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = byte(n.r.next() >> 56)
	}
	return len(b), nil
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

func (r *run) readDir(ctx context.Context, name string) ([]fs.DirEntry, error) {
	list, err := r.filesIn(interp.HandlerCtx(ctx).Dir, nil, nil).List(name)
	return each(list, fs.FileInfoToDirEntry), err
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
	if bits := fs.FileMode(mode); info.Mode().Perm()&(bits|bits<<3|bits<<6) == 0 {
		return fs.ErrPermission
	}
	return nil
}
