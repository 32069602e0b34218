package command

import (
	"io/fs"
	"path"
	"time"
)

// deviceInfo describes a name under /dev that the shell itself serves.
type deviceInfo struct {
	name string
	at   time.Time
}

func (d deviceInfo) Name() string       { return d.name }
func (d deviceInfo) Size() int64        { return 0 }
func (d deviceInfo) Mode() fs.FileMode  { return fs.ModeDevice | fs.ModeCharDevice | 0o666 }
func (d deviceInfo) ModTime() time.Time { return d.at }
func (d deviceInfo) IsDir() bool        { return false }
func (d deviceInfo) Sys() any           { return nil }

func (f *Files) device(name string) (fs.FileInfo, bool) {
	if f.Read == nil || !path.IsAbs(name) {
		return nil, false
	}
	clean := path.Clean(name)
	if _, ok := f.Read(clean); !ok {
		return nil, false
	}
	return deviceInfo{path.Base(clean), f.Now()}, true
}
