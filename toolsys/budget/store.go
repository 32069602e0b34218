package budget

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path"
	"regexp"

	"github.com/spf13/afero"
)

// ErrNoPlace says that a Store has no filesystem to save to.
var ErrNoPlace = errors.New("there is no place to save results")

// Store is where whole results go. The zero Store saves nothing: every result over
// its limit is then truncated (K3).
type Store struct {
	FS afero.Fs
	// Dir is the folder of the results; it is made when the first one is saved.
	Dir string
}

// maxStem leaves room for a suffix in file systems that allow 255 bytes a name.
const maxStem = 120

var plainStem = regexp.MustCompile(`^[A-Za-z0-9_-]{1,120}$`)
var unsafeInStem = regexp.MustCompile(`[^A-Za-z0-9_-]+`)

// stem is the file name of a call without its ending. A call id comes from a model's
// server: one that is no plain word is spelled with what is, and told apart by a
// hash, so that it can neither leave the folder nor meet another id's file.
func stem(callID string) string {
	if plainStem.MatchString(callID) {
		return callID
	}
	sum := sha256.Sum256([]byte(callID))
	plain := unsafeInStem.ReplaceAllString(callID, "_")
	return plain[:min(len(plain), maxStem-9)] + "-" + hex.EncodeToString(sum[:4])
}

// path names the n-th file of a call, from 1.
func (s Store) path(callID string, n int) string {
	name := stem(callID)
	if n > 1 {
		name = fmt.Sprintf("%s-%d", name, n)
	}
	return path.Join(s.Dir, name+".txt")
}

// save writes text as it is. A file that was written in part is removed: half a
// result under the name of the whole would mislead.
func (s Store) save(file, text string) error {
	if s.FS == nil {
		return ErrNoPlace
	}
	if err := s.FS.MkdirAll(s.Dir, 0o700); err != nil {
		return err
	}
	if err := afero.WriteFile(s.FS, file, []byte(text), 0o600); err != nil {
		_ = s.FS.Remove(file) // the write's error is the one to report
		return err
	}
	return nil
}
