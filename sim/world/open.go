package world

import (
	"io/fs"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/afero"
)

// Create makes or empties a file and opens it for reading and writing.
func (f *FS) Create(name string) (afero.File, error) {
	return f.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o666)
}

// Open opens a file or folder for reading.
func (f *FS) Open(name string) (afero.File, error) { return f.OpenFile(name, os.O_RDONLY, 0) }

// OpenFile opens a file by the flags of package os; perm, less the umask, is what a new file gets.
func (f *FS) OpenFile(name string, flag int, perm os.FileMode) (afero.File, error) {
	now := f.tree.now()
	f.tree.mu.Lock()
	defer f.tree.mu.Unlock()
	n, err := f.open(name, flag, perm, now)
	if err != nil {
		return nil, pathError("open", name, err)
	}
	n.handles++
	return &file{fs: f, node: n, name: name, flag: flag}, nil
}

func (f *FS) open(name string, flag int, perm fs.FileMode, now time.Time) (*node, error) {
	if flag&os.O_CREATE == 0 {
		n, err := f.find(name, always)
		if err != nil {
			return nil, err
		}
		return n, f.admit(n, flag, now)
	}
	p, err := f.placeToCreate(name, flag)
	if err != nil {
		return nil, err
	}
	if p.node != nil {
		return p.node, f.admit(p.node, flag, now)
	}
	if err := f.create(p, perm&changeable&^f.tree.umask, now); err != nil {
		return nil, err
	}
	return p.dir.children[p.name], nil
}

// placeToCreate finds where O_CREATE leads: through a link, even one that leads
// nowhere yet, unless the file must be new.
func (f *FS) placeToCreate(name string, flag int) (place, error) {
	how := create
	if flag&os.O_EXCL != 0 {
		how = createNew
	}
	p, err := f.walk(name, how)
	if err == nil && p.node != nil && how == createNew {
		err = syscall.EEXIST
	}
	return p, err
}

// admit checks that the user may open an existing node this way, and empties it if the flags demand it.
func (f *FS) admit(n *node, flag int, now time.Time) error {
	writing := writes(flag) || flag&os.O_TRUNC != 0
	switch {
	case n.isDir() && (writing || flag&os.O_CREATE != 0):
		return syscall.EISDIR
	case writing && f.tree.readOnly:
		return syscall.EROFS
	case writing && !f.may(n, mayWrite), reads(flag) && !f.may(n, mayRead):
		return syscall.EACCES
	}
	if flag&os.O_TRUNC != 0 {
		return f.tree.resize(n, 0, now)
	}
	return nil
}

const accessMode = os.O_RDONLY | os.O_WRONLY | os.O_RDWR

func reads(flag int) bool { return flag&accessMode != os.O_WRONLY }

func writes(flag int) bool { return flag&accessMode != os.O_RDONLY }

// Mkdir makes one folder; its parent must exist.
func (f *FS) Mkdir(name string, perm os.FileMode) error {
	now := f.tree.now()
	f.tree.mu.Lock()
	defer f.tree.mu.Unlock()
	return pathError("mkdir", name, f.mkdir(name, perm, now))
}

func (f *FS) mkdir(name string, perm fs.FileMode, now time.Time) error {
	p, err := f.vacant(name)
	if err != nil {
		return err
	}
	return f.create(p, fs.ModeDir|perm&(fs.ModePerm|fs.ModeSticky)&^f.tree.umask, now)
}

// vacant resolves a path whose last part is to be made and must not exist.
func (f *FS) vacant(name string) (place, error) {
	p, err := f.walk(name, never)
	if err == nil && p.node != nil {
		err = syscall.EEXIST
	}
	return p, err
}

// create puts a new node at a vacant place.
func (f *FS) create(p place, mode fs.FileMode, now time.Time) error {
	if f.tree.readOnly {
		return syscall.EROFS
	}
	if err := f.mayChange(p.dir); err != nil {
		return err
	}
	p.dir.add(p.name, f.newNode(mode, now), now)
	return nil
}

// MkdirAll makes a folder and the parents it lacks, and is content with what exists, as os.MkdirAll.
func (f *FS) MkdirAll(path string, perm os.FileMode) error {
	now := f.tree.now()
	f.tree.mu.Lock()
	defer f.tree.mu.Unlock()
	return f.mkdirAll(path, perm, now)
}

func (f *FS) mkdirAll(path string, perm fs.FileMode, now time.Time) error {
	if n, err := f.find(path, always); err == nil {
		if n.isDir() {
			return nil
		}
		return pathError("mkdir", path, syscall.ENOTDIR)
	}
	if parent := parentOf(path); parent != "" {
		if err := f.mkdirAll(parent, perm, now); err != nil {
			return err
		}
	}
	err := f.mkdir(path, perm, now)
	if err == nil {
		return nil
	}
	if n, again := f.find(path, ifSlash); again == nil && n.isDir() {
		return nil
	}
	return pathError("mkdir", path, err)
}

// parentOf cuts the last part off a path as os.MkdirAll does: "" means that there is no parent left to make.
func parentOf(path string) string {
	path = strings.TrimRight(path, "/")
	return strings.TrimRight(path[:strings.LastIndexByte(path, '/')+1], "/")
}
