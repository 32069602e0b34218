package file

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"toolbench/toolsys/permission"
	"toolbench/toolsys/render"
	"toolbench/toolsys/tool"
)

// globLimit is how many files are listed unless the context sets another limit (SPEC L).
const globLimit = 100

// GlobIn is what Glob takes (SPEC L).
type GlobIn struct {
	Pattern string `json:"pattern" minLength:"1" jsonschema:"The glob to match files with, such as **/*.go or src/**/*.{ts,tsx}"`
	Path    string `json:"path,omitempty" jsonschema:"The folder to search; the working directory if left out"`
}

// GlobOut is what Glob answers with.
type GlobOut struct {
	// Files are relative to the working directory, or absolute outside it.
	Files []string `json:"files"`
	// Total is how many there are; Truncated is true where not all are listed.
	Total     int      `json:"total"`
	Truncated bool     `json:"truncated"`
	Notes     []string `json:"notes,omitempty"`
}

// Glob lists files by name, the most recently changed first and equal times by
// name (SPEC L). It lists files only, never follows links to folders, and passes
// over .git.
func Glob(d Deps) *tool.Tool {
	root := func(in GlobIn) string { root, _ := in.split(); return root }
	return tool.Must(tool.Def[GlobIn, GlobOut]{
		Name:     "Glob",
		Describe: func(in GlobIn) string { return "Find files that match " + in.Pattern },
		Texts:    prompts.Of("glob"),
		Call:     tool.Data(acting(d.planGlob, d.glob)),
		Text:     GlobOut.text,
		Validate: looked(root, d.planGlob),
		Subject:  searching(d, root),
		Traits:   tool.Looks(tool.Class{Search: true}, d.globKeys),
		Shaping: tool.Shaping[GlobIn]{
			Backfill:   absolute("path"),
			Classifier: func(in GlobIn) string { return in.Pattern },
		},
		Limits: tool.Limits[GlobIn]{ResultChars: 100_000},
		View:   tool.Doing("Glob", "Finding ", func(in GlobIn) string { return in.Pattern }),
		Draw:   tool.Drawing[GlobIn, GlobOut]{Result: drawFiles},
	})
}

// globKeys are the folder that is searched, and the tree below it that the pattern's
// fixed beginning leaves.
func (d Deps) globKeys(in GlobIn, c *tool.Context) []string {
	root, pattern := in.split()
	base, _ := doublestar.SplitPattern(pattern)
	if base = escapes.ReplaceAllString(base, "$1"); base == "." || unc(root, c) || checkPattern(pattern) != nil {
		return d.treeKeys(root, c)
	}
	return append(d.lookups(root, c), d.treeKeys(path.Join(c.Abs(root), base), c)...)
}

// escapes are what takes a sign of a glob its meaning.
var escapes = regexp.MustCompile(`\\(.)`)

// split gives the folder to search and the pattern within it. An absolute
// pattern names its own folder: models often write one.
func (in GlobIn) split() (root, pattern string) {
	p := in.Pattern
	switch {
	case permission.IsUNC(p):
		return p, ""
	case strings.HasPrefix(p, "/") || strings.HasPrefix(p, "~/"):
		root, pattern = doublestar.SplitPattern(p)
		return escapes.ReplaceAllString(root, "$1"), pattern
	case in.Path == "":
		return ".", strings.TrimPrefix(p, "./")
	}
	return in.Path, strings.TrimPrefix(p, "./")
}

// planGlob finds the folder to search and looks whether it can be.
func (d Deps) planGlob(in GlobIn, c *tool.Context) (place, *tool.Refusal) {
	root, pattern := in.split()
	p, refusal := d.locate(root, c)
	if refusal == nil {
		refusal = checkPattern(pattern)
	}
	if refusal == nil {
		refusal = d.folder(p)
	}
	return p, refusal
}

func checkPattern(pattern string) *tool.Refusal {
	switch {
	case pattern == "" || !doublestar.ValidatePattern(pattern):
		return refuse(CodePattern, "The pattern %q is no glob that can be parsed.", pattern)
	case slices.Contains(strings.Split(pattern, "/"), ".."):
		return refuse(CodePattern, "The pattern %q leads out of the folder; give that folder as path.", pattern)
	}
	return nil
}

func (d Deps) glob(ctx context.Context, in GlobIn, p place, c *tool.Context) (GlobOut, error) {
	_, pattern := in.split()
	t := &tree{fs: d.FS, root: p.real, enter: within(pattern)}
	all, err := t.files(ctx)
	if err != nil {
		return GlobOut{}, fmt.Errorf("%s could not be listed: %w", p.abs, cause(err))
	}
	matching, left := t.matching(all, pattern, d.hiddenBelow("Glob", p, c))
	limit := cmp.Or(max(c.GlobLimit, 0), globLimit)
	files := tool.Each(matching[:min(len(matching), limit)], func(f found) string { return shown(path.Join(p.abs, f.rel), c.State.Dir) })
	notes := treeNotes(left, t.unreadable)
	return GlobOut{Files: files, Total: len(matching), Truncated: len(matching) > limit, Notes: notes}, nil
}

// within reports whether a folder may hold a match: those on the way to the pattern's
// fixed beginning and below it, no deeper than it can reach.
func within(pattern string) func(rel string) bool {
	base, rest := doublestar.SplitPattern(pattern)
	base = escapes.ReplaceAllString(base, "$1")
	endless := strings.Contains(rest, "**")
	return func(rel string) bool {
		return (endless || strings.Count(rel, "/") < strings.Count(pattern, "/")) && (base == "." || below(rel, base) || below(base, rel))
	}
}

// below reports whether p is dir or lies in it.
func below(p, dir string) bool { return p == dir || strings.HasPrefix(p, dir+"/") }

// matching keeps the files that match, newest first, and counts those that rules
// hide.
func (t *tree) matching(all []found, pattern string, h hidden) (kept []found, left int) {
	for _, f := range all {
		if !doublestar.MatchUnvalidated(pattern, f.rel) {
			continue
		}
		if f.info.Mode()&fs.ModeSymlink != 0 {
			target, ok := t.inside(f)
			if !ok {
				continue
			}
			f.info = target
		}
		if h.hides(f.rel) {
			left++
			continue
		}
		kept = append(kept, f)
	}
	slices.SortFunc(kept, func(a, b found) int {
		return cmp.Or(b.info.ModTime().Compare(a.info.ModTime()), cmp.Compare(a.rel, b.rel))
	})
	return kept, left
}

// treeNotes list what a search did not look at.
func treeNotes(left, unreadable int) []string {
	var notes []string
	if left > 0 {
		notes = append(notes, render.Count(left, "file")+" left out, which permission rules keep from being read.")
	}
	if unreadable > 0 {
		notes = append(notes, render.Count(unreadable, "folder")+" could not be read.")
	}
	return notes
}

func (o GlobOut) text() string {
	lines := slices.Clone(o.Files)
	if len(lines) == 0 {
		lines = append(lines, "No files found.")
	}
	if o.Truncated {
		lines = append(lines, fmt.Sprintf("[Truncated: %d of %d files are listed. Use a narrower pattern or path.]", len(o.Files), o.Total))
	}
	return strings.Join(append(lines, tool.Each(o.Notes, bracketed)...), "\n")
}
