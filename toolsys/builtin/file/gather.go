package file

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"toolbench/toolsys/permission"
	"toolbench/toolsys/render"
	"toolbench/toolsys/tool"
)

// gather searches the files one after the other, in order of path.
func (d Deps) gather(ctx context.Context, s search, h hidden, g *results) error {
	files, err := d.candidates(ctx, s, h, g)
	if err != nil {
		return err
	}
	for _, rel := range files {
		if err := ctx.Err(); err != nil {
			return err
		}
		content, refusal := d.load(s.open(rel))
		if refusal != nil {
			g.unread++
			continue
		}
		if t, ok := decode(content); ok {
			if found, ok := s.scan(t); ok {
				g.add(shown(s.name(rel), g.dir), found)
			}
		}
	}
	return nil
}

// candidates are the files to search, by path.
func (d Deps) candidates(ctx context.Context, s search, h hidden, g *results) ([]string, error) {
	if s.single {
		return []string{""}, nil
	}
	t := &tree{fs: d.FS, root: s.real, ignore: true}
	all, err := t.files(ctx)
	if err != nil {
		return nil, fmt.Errorf("%s could not be listed: %w", s.abs, cause(err))
	}
	g.folders = t.unreadable
	slices.SortFunc(all, func(a, b found) int { return cmp.Compare(a.rel, b.rel) })
	var names []string
	for _, f := range all {
		switch {
		case f.info.Mode()&fs.ModeType != 0 || !s.wants(f.rel):
		case h.hides(f.rel):
			g.left++
		default:
			names = append(names, f.rel)
		}
	}
	return names, nil
}

// results are what a search found, as its mode shows it.
type results struct {
	in  GrepIn
	dir string
	out GrepOut

	left, folders, unread int
}

func (g *results) add(name string, h hits) {
	g.out.In++
	g.out.Matches += h.count
	switch g.out.Mode {
	case "content":
		g.out.Lines = append(g.out.Lines, g.around(name, h)...)
	case "count":
		g.out.Counts = append(g.out.Counts, GrepCount{name, h.count})
	default:
		g.out.Files = append(g.out.Files, name)
	}
}

// around are the matching lines and those around them, each once.
func (g *results) around(name string, h hits) []GrepLine {
	before, after := g.in.around()
	var lines []GrepLine
	next := 0 // the first line not taken yet
	for i, at := range h.matched {
		end := min(at+after, len(h.lines)-1)
		if i+1 < len(h.matched) {
			end = min(end, h.matched[i+1]-1) // the next match takes what follows
		}
		for n := max(at-before, next); n <= end; n++ {
			lines = append(lines, GrepLine{Path: name, Line: n + 1, Text: cut(replaced(h.lines[n])), Match: n == at})
		}
		next = end + 1
	}
	return lines
}

// finish takes the part that offset and head_limit ask for, and adds the notes.
func (g *results) finish() GrepOut {
	o := g.out
	var omitted [3]int
	o.Lines, omitted[0] = part(o.Lines, g.in.Skip, g.in.Limit)
	o.Files, omitted[1] = part(o.Files, g.in.Skip, g.in.Limit)
	o.Counts, omitted[2] = part(o.Counts, g.in.Skip, g.in.Limit)
	o.Omitted = omitted[0] + omitted[1] + omitted[2] // two of them are 0
	o.Notes = treeNotes(g.left, g.folders)
	if g.unread > 0 {
		o.Notes = append(o.Notes, render.Count(g.unread, "file")+" could not be read or too large.")
	}
	return o
}

// part leaves out some at the start and gives limit of the rest; 0 is no limit.
func part[T any](all []T, skip, limit int) ([]T, int) {
	all = all[min(skip, len(all)):]
	if limit == 0 || limit >= len(all) {
		return all, 0
	}
	return all[:limit], len(all) - limit
}

// text words the result as grep does.
func (o GrepOut) text() string {
	var lines []string
	switch o.Mode {
	case "content":
		lines = o.content()
	case "count":
		lines = tool.Each(o.Counts, func(c GrepCount) string { return fmt.Sprintf("%s:%d", c.Path, c.Count) })
	default:
		lines = slices.Clone(o.Files)
	}
	lines = append(lines, o.summary()...)
	return strings.Join(lines, "\n")
}

// content marks matches with colons and context with hyphens; between stretches
// of lines that do not touch stands --.
func (o GrepOut) content() []string {
	var lines []string
	for i, l := range o.Lines {
		if o.Context && i > 0 && (o.Lines[i-1].Path != l.Path || o.Lines[i-1].Line+1 != l.Line) {
			lines = append(lines, "--")
		}
		sign := "-"
		if l.Match {
			sign = ":"
		}
		if o.Numbers {
			lines = append(lines, fmt.Sprintf("%s%s%d%s%s", l.Path, sign, l.Line, sign, l.Text))
		} else {
			lines = append(lines, l.Path+sign+l.Text)
		}
	}
	return lines
}

// summary is what is added to the matches.
func (o GrepOut) summary() []string {
	var lines []string
	shown := len(o.Lines) + len(o.Files) + len(o.Counts)
	switch {
	case o.Matches == 0:
		lines = append(lines, "No matches found.")
	case shown == 0:
		lines = append(lines, "[The offset is beyond the last find.]")
	case o.Omitted > 0:
		lines = append(lines, fmt.Sprintf("[%d more are not shown. Use offset for them.]", o.Omitted))
	}
	if o.Mode == "count" && o.Matches > 0 {
		lines = append(lines, fmt.Sprintf("[%d in all, in %s.]", o.Matches, render.Count(o.In, "file")))
	}
	return append(lines, tool.Each(o.Notes, bracketed)...)
}

// filter is the choice of the files Grep looks into, by name.
type filter struct {
	types []string // globs on the file's own name; none means any
	globs []nameGlob
}

type nameGlob struct {
	pattern string
	not     bool
}

// filterOf reads the glob and type members. Globs are separated by spaces; one
// without a slash means the name at any depth, one with "!" in front leaves
// files out.
func filterOf(globs, kind string) (filter, *tool.Refusal) {
	if refusal := checkType(kind); refusal != nil {
		return filter{}, refusal
	}
	f := filter{types: fileTypes()[kind]}
	for word := range strings.FieldsSeq(globs) {
		word, not := strings.CutPrefix(word, "!")
		if refusal := checkPattern(word); refusal != nil {
			return filter{}, refusal
		}
		if !strings.Contains(word, "/") {
			word = "**/" + word
		}
		f.globs = append(f.globs, nameGlob{strings.TrimPrefix(word, "/"), not})
	}
	return f, nil
}

func (f filter) wants(rel string) bool {
	ofType := func(glob string) bool { return doublestar.MatchUnvalidated(glob, path.Base(rel)) }
	return (len(f.types) == 0 || slices.ContainsFunc(f.types, ofType)) && f.wantsGlob(rel)
}

// wantsGlob reports whether the globs want a file: the last that matches decides; where none
// does, a file is wanted unless some glob includes others.
func (f filter) wantsGlob(rel string) bool {
	wanted := !slices.ContainsFunc(f.globs, func(g nameGlob) bool { return !g.not })
	for _, g := range f.globs {
		if doublestar.MatchUnvalidated(g.pattern, rel) {
			wanted = !g.not
		}
	}
	return wanted
}

// hidden holds which files a search must pass over: the call itself was allowed, but
// a rule forbids reading some of what lies below, or wants it asked about (F1). A rule
// that covers the searched folder itself, or the tool without a path, was applied
// before the call and hides nothing.
type hidden struct {
	rules []permission.Rule
	query permission.Query
	names []string // the searched folder, as named and as resolved
}

func (d Deps) hiddenBelow(name string, root place, c *tool.Context) hidden {
	h := d.forbidden(name, root, c)
	h.rules = slices.DeleteFunc(h.rules, func(r permission.Rule) bool { return h.covers(r, "") })
	return h
}

// forbidden holds what a search must pass over if no rule was applied before.
func (d Deps) forbidden(name string, root place, c *tool.Context) hidden {
	h := hidden{
		names: slices.Compact([]string{root.abs, root.real}),
		query: permission.Query{
			Subject: permission.Subject{Tool: name}, Kin: []string{"Read"},
			Dir: c.State.Dir, Home: c.Home, Roots: c.Roots, Left: c.State.Worktree.Left(),
		},
	}
	h.query.Links = c.Rules.Links(&h.query, func(p string) string {
		real, _ := follow(d.FS, p) // what cannot be followed leads to itself
		return cmp.Or(real, p)
	})
	for _, hit := range slices.Concat(c.Rules.All(), c.State.Rules.All()) {
		if hit.Behaviour != permission.Allow {
			h.rules = append(h.rules, hit.Rule)
		}
	}
	return h
}

// hides reports whether a file below the folder must not be shown.
func (h hidden) hides(rel string) bool {
	return slices.ContainsFunc(h.rules, func(r permission.Rule) bool { return h.covers(r, rel) })
}

func (h hidden) covers(r permission.Rule, rel string) bool {
	q := h.query
	q.Paths = tool.Each(h.names, func(name string) string { return path.Join(name, rel) })
	return r.Covers(q)
}
