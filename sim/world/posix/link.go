package posix

import (
	"io/fs"
	"os"
	"syscall"
)

// SymlinkIfPossible makes newname a link that says oldname; it may lead nowhere.
func (f *FS) SymlinkIfPossible(oldname, newname string) error {
	now := f.tree.now()
	f.tree.mu.Lock()
	defer f.tree.mu.Unlock()
	err := checkPath(oldname)
	if err != nil {
		return linkError("symlink", oldname, newname, err)
	}
	p, err := f.vacant(newname)
	if err == nil && p.slash {
		err = syscall.ENOENT
	}
	if err == nil {
		err = f.create(p, fs.ModeSymlink|fs.ModePerm, now)
	}
	if err == nil {
		p.dir.children[p.name].target = oldname
	}
	return linkError("symlink", oldname, newname, err)
}

// ReadlinkIfPossible gives what a link says; EINVAL for what is no link.
func (f *FS) ReadlinkIfPossible(name string) (string, error) {
	f.tree.mu.Lock()
	defer f.tree.mu.Unlock()
	n, err := f.find(name, ifSlash)
	if err == nil && !n.isLink() {
		err = syscall.EINVAL
	}
	if err != nil {
		return "", pathError("readlink", name, err)
	}
	return n.target, nil
}

// LstatIfPossible describes a name without following a link; the flag is always
// true.
func (f *FS) LstatIfPossible(name string) (os.FileInfo, bool, error) {
	info, err := f.stat("lstat", name, ifSlash)
	return info, true, err
}
