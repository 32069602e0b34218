package scenario

import (
	"errors"
	"fmt"
	"io/fs"
	"path"

	"toolbench/fixtures"
)

// Resource finds a file a scenario points to: beside the scenario, then from the
// root of where it was loaded, then among the fixtures.
func (sc *Scenario) Resource(name string) (fs.FS, string, error) {
	var tried []string
	for _, c := range []struct {
		fsys fs.FS
		path string
	}{{sc.fsys, path.Join(sc.dir, name)}, {sc.fsys, name}, {fixtures.Files, name}} {
		if c.fsys == nil || !fs.ValidPath(c.path) {
			continue
		}
		_, err := fs.Stat(c.fsys, c.path)
		if err == nil {
			return c.fsys, c.path, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return nil, "", err
		}
		tried = append(tried, c.path)
	}
	return nil, "", fmt.Errorf("%s does not exist, neither beside the scenario nor among the fixtures", name)
}

// Open reads a resource whole; key is where the scenario names it.
func (sc *Scenario) Open(key, name string) ([]byte, error) {
	fsys, p, err := sc.Resource(name)
	if err != nil {
		return nil, sc.ErrorAt(key, err.Error(), "check the name; paths are relative to the scenario")
	}
	data, err := fs.ReadFile(fsys, p)
	if err != nil {
		return nil, sc.ErrorAt(key, plainly(err), "")
	}
	return data, nil
}
