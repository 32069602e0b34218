package cli

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"toolbench/sim/live"
	"toolbench/sim/world/mcpserve"
)

// catalogues reads files and folders of them.
func (a *app) catalogues(paths []string) (mcpserve.Catalogue, error) {
	var all []mcpserve.Catalogue
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
		all = append(all, c)
	}
	return join(all...)
}

func join(all ...mcpserve.Catalogue) (mcpserve.Catalogue, error) {
	joined, err := mcpserve.Join(all...)
	if err != nil {
		return nil, usage("%s", err)
	}
	return joined, nil
}

// catalogueFile reads one file, and no more of it than a catalogue may have.
func (a *app) catalogueFile(path string) (mcpserve.Catalogue, error) {
	file, err := os.Open(a.path(path))
	if err != nil {
		return nil, usage("%s: %s", path, reason(err))
	}
	defer file.Close()
	if info, err := file.Stat(); err == nil && info.Size() > mcpserve.MaxBytes {
		return nil, tooLarge(path)
	}
	data, err := io.ReadAll(io.LimitReader(file, mcpserve.MaxBytes+1))
	if err != nil {
		return nil, usage("%s: %s", path, reason(err))
	}
	if len(data) > mcpserve.MaxBytes {
		return nil, tooLarge(path)
	}
	c, err := mcpserve.Parse(filepath.ToSlash(path), data)
	if err != nil {
		return nil, usage("%s", err)
	}
	return c, nil
}

func tooLarge(path string) error {
	return usage("%s: it has more than %d MB, the most a catalogue has; split it", path, mcpserve.MaxBytes>>20)
}

// catalogueFolder reads a folder with a tool a file: the tools are of one server,
// which has the folder's name unless the file says otherwise.
func (a *app) catalogueFolder(folder string) (mcpserve.Catalogue, error) {
	entries, err := os.ReadDir(a.path(folder))
	if err != nil {
		return nil, usage("%s: %s", folder, reason(err))
	}
	var all []mcpserve.Catalogue
	for _, e := range entries {
		if !slices.Contains([]string{".json", ".jsonl", ".ndjson", ".snap"}, filepath.Ext(e.Name())) || e.IsDir() {
			continue
		}
		c, err := a.catalogueFile(filepath.Join(folder, e.Name()))
		if err != nil {
			return nil, err
		}
		base := strings.TrimSuffix(e.Name(), filepath.Ext(e.Name()))
		if len(c) == 1 && len(c[0].Tools) == 1 && c[0].Name == base {
			c[0].Name = filepath.Base(filepath.Clean(a.path(folder)))
		}
		all = append(all, c)
	}
	if len(all) == 0 {
		return nil, usage("%s: it holds no .json, .jsonl, .ndjson or .snap; name the catalogue's file", folder)
	}
	return join(all...)
}

// specs are the live servers that the flags name. One whose entry in a
// configuration is wrong is a failure of its own.
func (a *app) specs(f tokensFlags) (specs []live.Spec, failures []live.Failure, err error) {
	for _, line := range f.commands {
		words, err := words(line)
		if err != nil {
			return nil, nil, usage("--mcp %q: %s", line, err)
		}
		specs = append(specs, live.Spec{Kind: "stdio", Command: words[0], Args: words[1:]})
	}
	for _, url := range f.urls {
		if !strings.HasPrefix(url, "http://") && !strings.HasPrefix(url, "https://") {
			return nil, nil, usage("--mcp-url %q: an address begins with http:// or https://", url)
		}
		specs = append(specs, live.Spec{Kind: "http", URL: url})
	}
	for _, path := range f.configs {
		data, err := os.ReadFile(a.path(path))
		if err != nil {
			return nil, nil, usage("%s: %s", path, reason(err))
		}
		some, broken, err := live.Parse(path, data, a.lookup)
		if err != nil {
			return nil, nil, usage("%s", err)
		}
		specs, failures = append(specs, some...), append(failures, broken...)
	}
	return specs, failures, nil
}

// words splits a command line at blanks, with quotes as a shell has them.
func words(line string) ([]string, error) {
	var out []string
	var word strings.Builder
	var quote rune
	within := false
	for _, r := range line {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote == 0 && (r == '\'' || r == '"'):
			quote, within = r, true
		case quote == 0 && (r == ' ' || r == '\t' || r == '\n'):
			if within {
				out = append(out, word.String())
			}
			word.Reset()
			within = false
		default:
			word.WriteRune(r)
			within = true
		}
	}
	if within {
		out = append(out, word.String())
	}
	switch {
	case quote != 0:
		return nil, fmt.Errorf("a quote is not closed")
	case len(out) == 0:
		return nil, fmt.Errorf("it names no command")
	}
	return out, nil
}
