package file

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"toolbench/toolsys/message"
)

// gather searches the files one after the other, in order of path.
func (d Deps) gather(ctx context.Context, s search, h hidden, g *gathered) error {
	files, err := d.candidates(ctx, s, h, g)
	if err != nil {
		return err
	}
	for _, rel := range files {
		if err := ctx.Err(); err != nil {
			return err
		}
		f, refusal := d.load(s.open(rel))
		if refusal != nil {
			g.unread++
			continue
		}
		if t, ok := decode(f.content); ok {
			if found, ok := s.scan(t); ok {
				g.add(shown(s.name(rel), g.dir), found)
			}
		}
	}
	return nil
}

// candidates are the files to search, by path.
func (d Deps) candidates(ctx context.Context, s search, h hidden, g *gathered) ([]string, error) {
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

// gathered collects what a search found, as its mode shows it.
type gathered struct {
	in  GrepIn
	dir string
	out GrepOut

	left, folders, unread int
}

func (g *gathered) add(name string, h hits) {
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
func (g *gathered) around(name string, h hits) []GrepLine {
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
func (g *gathered) finish() GrepOut {
	o := g.out
	var omitted [3]int
	o.Lines, omitted[0] = part(o.Lines, g.in.Skip, g.in.Limit)
	o.Files, omitted[1] = part(o.Files, g.in.Skip, g.in.Limit)
	o.Counts, omitted[2] = part(o.Counts, g.in.Skip, g.in.Limit)
	o.Omitted = omitted[0] + omitted[1] + omitted[2] // two of them are 0
	o.Notes = treeNotes(g.left, g.folders)
	if g.unread > 0 {
		o.Notes = append(o.Notes, count(g.unread, "file")+" could not be read or too large.")
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

// blocks words the result as grep does.
func (o GrepOut) blocks() []message.Block {
	var lines []string
	switch o.Mode {
	case "content":
		lines = o.content()
	case "count":
		for _, c := range o.Counts {
			lines = append(lines, fmt.Sprintf("%s:%d", c.Path, c.Count))
		}
	default:
		lines = slices.Clone(o.Files)
	}
	lines = append(lines, o.summary()...)
	return []message.Block{message.Text(strings.Join(lines, "\n"))}
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

// summary is what there is to say beside the finds.
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
		lines = append(lines, fmt.Sprintf("[%d in all, in %s.]", o.Matches, count(o.In, "file")))
	}
	for _, note := range o.Notes {
		lines = append(lines, "["+note+"]")
	}
	return lines
}
