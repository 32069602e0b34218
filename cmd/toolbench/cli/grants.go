package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"toolbench/toolsys/mcptool"
)

// grants are what authorization servers granted, by the address of the MCP server, in a
// file that nobody else can read.
type grants struct{ file string }

// grantsFile is where grants are kept when --grants does not name a file.
func (a *app) grantsFile(named string) (grants, error) {
	if named != "" {
		return grants{a.path(named)}, nil
	}
	dir := a.env("XDG_CONFIG_HOME")
	if dir == "" {
		home := a.env("HOME")
		if home == "" {
			return grants{}, usage("there is no place for what servers grant: set HOME, or name a file with --grants")
		}
		dir = filepath.Join(home, ".config")
	}
	return grants{filepath.Join(dir, "toolbench", "grants.json")}, nil
}

// read gives what is kept; a file that is not there holds nothing.
func (g grants) read() (map[string]mcptool.Grant, error) {
	all := map[string]mcptool.Grant{}
	info, err := os.Stat(g.file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return all, nil
	case err != nil:
		return nil, usage("%s: %s", g.file, reason(err))
	case info.Mode().Perm()&0o077 != 0:
		return nil, usage("%s: others can read it, and it lets in whoever has it; run chmod 600 on it", g.file)
	}
	data, err := os.ReadFile(g.file)
	if err == nil {
		err = json.Unmarshal(data, &all)
	}
	if err != nil {
		return nil, usage("%s: %s; remove it and log in again with `toolbench mcp login`", g.file, reason(err))
	}
	return all, nil
}

// keep adds one grant. The file is put in place as a whole, so that a reader never finds
// half of it.
func (g grants) keep(server string, one mcptool.Grant) error {
	all, err := g.read()
	if err != nil {
		return err
	}
	all[server] = one
	data, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		return fmt.Errorf("%s: %w", g.file, err)
	}
	if err := os.MkdirAll(filepath.Dir(g.file), 0o700); err != nil {
		return err
	}
	// CreateTemp gives a file that only its owner reads.
	next, err := os.CreateTemp(filepath.Dir(g.file), ".grants-*")
	if err != nil {
		return err
	}
	_, err = next.Write(append(data, '\n'))
	if err = errors.Join(err, next.Close()); err == nil {
		err = os.Rename(next.Name(), g.file)
	}
	if err != nil {
		_ = os.Remove(next.Name()) // the first error is the one to read
	}
	return err
}
