package budget

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path"
	"regexp"
)

// ErrNoPlace is the error of a Store that cannot save anything.
var ErrNoPlace = errors.New("there is no place to save results")

// Store is where results go that are too large for the conversation. The zero Store
// saves nothing: every result over its limit is then truncated (K3).
type Store struct {
	// Save writes one result to a file; where it fails it leaves no part of one behind,
	// since half a result under the name of the full one would mislead.
	Save func(file, text string) error
	// Dir is the folder of the results.
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

func (s Store) save(file, text string) error {
	if s.Save == nil {
		return ErrNoPlace
	}
	return s.Save(file, text)
}
