package cli

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

// lastFailed is the file that remembers what did not pass, one a working
// directory: what failed in one project says nothing about another.
type lastFailed struct{ file string }

type failedJSON struct {
	Version int      `json:"version"`
	Dir     string   `json:"dir"`
	Failed  []string `json:"failed"`
}

func (a *app) lastFailed() *lastFailed {
	if a.Cache == "" {
		return &lastFailed{}
	}
	hash := sha256.Sum256([]byte(a.Dir))
	return &lastFailed{filepath.Join(a.Cache, "toolbench", "last-failed-"+hex.EncodeToString(hash[:8])+".json")}
}

// read gives the keys of what did not pass. Without a file there is an error that
// says so in words.
func (l *lastFailed) read() (map[string]bool, error) {
	if l.file == "" {
		return nil, errors.New("there is no cache folder to remember failures in")
	}
	data, err := os.ReadFile(l.file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errors.New("no earlier run is remembered here")
	}
	if err != nil {
		return nil, err
	}
	var state failedJSON
	if err := json.Unmarshal(data, &state); err != nil || state.Version != 1 {
		return nil, fmt.Errorf("%s cannot be read", l.file)
	}
	failed := map[string]bool{}
	for _, key := range state.Failed {
		failed[key] = true
	}
	return failed, nil
}

// write keeps the keys, in one step, so that runs side by side leave a whole file.
func (l *lastFailed) write(failed map[string]bool) error {
	if l.file == "" {
		return nil
	}
	data, err := json.MarshalIndent(failedJSON{Version: 1, Failed: slices.Sorted(maps.Keys(failed))}, "", "  ")
	if err != nil {
		return err
	}
	return writeWhole(l.file, append(data, '\n'))
}

// writeWhole replaces a file in one step, with the folders above it.
func writeWhole(file string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	temp, err := os.CreateTemp(filepath.Dir(file), ".toolbench-*")
	if err != nil {
		return err
	}
	defer os.Remove(temp.Name()) // fails when it was renamed, as it should
	_, err = temp.Write(data)
	if err := errors.Join(err, temp.Chmod(0o644), temp.Close()); err != nil {
		return err
	}
	return os.Rename(temp.Name(), file)
}
