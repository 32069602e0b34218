package file

import "github.com/spf13/afero"

// Deps is what the family needs from outside.
type Deps struct {
	// FS holds the files: a host's disk or a simulated world. Links are followed
	// where it can read them (afero.LinkReader).
	FS afero.Fs
}
