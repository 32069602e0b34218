package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"toolbench/sim/world"
)

// catalogues reads files and folders of them.
func (a *app) catalogues(paths []string) (world.Catalogue, error) {
	var all world.Catalogue
	for _, path := range paths {
		info, err := os.Stat(a.path(path))
		if err != nil {
			return nil, usage("%s: %s; name a catalogue's file or a folder of them", path, reason(err))
		}
		read := a.catalogueFile
		if info.IsDir() {
			read = a.catalogueFolder
		}
		c, err := read(path)
		if err != nil {
			return nil, err
		}
		all = a.joinFrom(path, all, c)
	}
	return all, nil
}

// joinFrom adds what a file or a folder holds. A tool that is there already is left out,
// with a word.
func (a *app) joinFrom(path string, all, more world.Catalogue) world.Catalogue {
	joined, left := world.JoinCatalogueRests(all, more)
	a.leftOut(path+": ", left)
	return joined
}

// mostNamed is how many of the tools that are left out are named.
const mostNamed = 3

// leftOut names tools that a catalogue has twice.
func (a *app) leftOut(where string, left []error) {
	for i, err := range left {
		if i == mostNamed {
			a.logf("%s%d more tools are left out: their servers have others of their names", where, len(left)-mostNamed)
			return
		}
		a.logf("left out: %s%s", where, strings.TrimPrefix(err.Error(), world.ErrCatalogue.Error()+": "))
	}
}

func join(all ...world.Catalogue) (world.Catalogue, error) {
	joined, err := world.JoinCatalogues(all...)
	if err != nil {
		return nil, usage("%s", err)
	}
	return joined, nil
}

// catalogueFile reads one file, and no more of it than a catalogue may have.
func (a *app) catalogueFile(path string) (world.Catalogue, error) {
	data, err := a.readFile(path, world.MaxCatalogueBytes)
	if err != nil {
		return nil, err
	}
	c, left, err := world.ParseCatalogueRest(filepath.ToSlash(path), data)
	if errors.Is(err, world.ErrNoTools) || err != nil && !named(path) {
		err = fmt.Errorf("%w (a recorded session is named with `toolbench tokens --recording %s`)", err, path)
	}
	if err != nil {
		return nil, invalid(err)
	}
	a.leftOut("", left)
	return c, nil
}

// named reports whether a file has a name that catalogues have.
func named(path string) bool {
	return slices.Contains([]string{".json", ".jsonl", ".ndjson", ".snap"}, filepath.Ext(path))
}

// catalogueFolder reads a folder and those in it. What lies there and holds no tools
// is passed over, with a word.
func (a *app) catalogueFolder(folder string) (world.Catalogue, error) {
	var all world.Catalogue
	err := a.within(folder, func(f found) error {
		if !named(f.path) {
			return nil
		}
		c, err := a.catalogueFile(f.path)
		if errors.Is(err, world.ErrNoTools) {
			a.logf("%s: skipped: it holds no tool", f.path)
			return nil
		}
		if err == nil {
			all = a.joinFrom(f.path, all, a.placed(f.path, c))
		}
		return err
	})
	if err == nil && len(all) == 0 {
		err = usage("%s: it holds no tool in any .json, .jsonl, .ndjson or .snap; name the catalogue's file", folder)
	}
	return all, err
}

// placed names the server after the folder where only the file's own name stood for
// it, which distinguishes nothing: a tool a file, or one of those that all are called alike.
func (a *app) placed(path string, c world.Catalogue) world.Catalogue {
	base := strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
	alike := slices.Contains([]string{"tools", "tool", "tools_list", "tools-list", "index"}, base)
	if len(c) == 1 && c[0].Name == base && (len(c[0].Tools) == 1 || alike) {
		c[0].Name = filepath.Base(filepath.Dir(filepath.Clean(a.path(path))))
	}
	return c
}
