package tree

import (
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"golang.org/x/tools/txtar"
)

// Call is one recorded call with its result.
type Call struct {
	Tool   string
	Input  json.RawMessage
	Result string
	// Failed: the result is an error. Answered: there is one.
	Failed, Answered bool
}

// Seen says how much of a file there was to see.
type Seen int

// The kinds of sight.
const (
	ByName Seen = iota // it was listed, or written over: its content is unknown
	InPart
	Whole
)

// File is one file as it stood at the start.
type File struct {
	// Path is absolute, with slashes.
	Path string
	// Text has an empty line where a line was not seen.
	Text string
	Seen Seen
	// Unseen are the lines that were not, first and last, counted from 1; the last is 0
	// where the file's end is unknown. Notes are what else is to be known of it.
	Unseen [][2]int
	Notes  []string
}

// Tree is what a session saw.
type Tree struct {
	// Dir is where the session worked, as far as its paths tell.
	Dir string
	// Files are sorted by path.
	Files []File
	// Made are files that the session itself made.
	Made []string
	// Notes are what could not be kept, for a person.
	Notes []string
}

// Limits of a tree: what is beyond is left out and told.
const (
	maxFiles     = 2000
	maxLine      = 100_000 // the highest line number that is believed
	maxFileBytes = 1 << 20
	maxTreeBytes = 8 << 20
)

// Rebuild gives the tree before the first of the calls, which are in the order in which
// they were made. dir is the working directory where it is known, else "".
func Rebuild(calls []Call, dir string) Tree {
	var sights []sight
	for _, c := range calls {
		sights = append(sights, look(c)...)
	}
	b := &builder{files: map[string]*file{}, dir: dirOf(sights, dir)}
	for _, s := range sights {
		b.apply(s)
	}
	return b.tree()
}

// builder applies one sight after the other.
type builder struct {
	dir     string
	files   map[string]*file
	dropped int // paths that are none, or too many
	foreign bool
}

func (b *builder) apply(s sight) {
	dir := b.dir
	if s.dir != "" {
		dir, _ = clean(s.dir, b.dir)
	}
	p, ok := clean(s.path, dir)
	if !ok || b.files[p] == nil && len(b.files) >= maxFiles {
		b.dropped++
		return
	}
	b.foreign = b.foreign || drive.MatchString(s.path)
	if b.files[p] == nil {
		b.files[p] = &file{start: map[int]string{}, next: 1}
	}
	f := b.files[p]
	switch s.kind {
	case listed:
		f.listed()
	case missing:
		f.missing()
	case viewed:
		f.view(s)
	case written:
		f.write(s.existed)
	case edited:
		f.edit(s)
	}
}

func (b *builder) tree() Tree {
	t := Tree{Dir: b.dir}
	total, large := 0, 0
	folders := b.folders()
	for _, p := range sorted(b.files) {
		f := b.files[p]
		switch {
		case f.made:
			t.Made = append(t.Made, p)
			continue
		case !f.there() || folders[p]:
			continue
		}
		out := f.file(p)
		if total += len(out.Text); len(out.Text) > maxFileBytes || total > maxTreeBytes {
			large++
			total -= len(out.Text)
			continue
		}
		t.Files = append(t.Files, out)
	}
	if large > 0 {
		t.Notes = append(t.Notes, fmt.Sprintf("%d files are too large for a tree and were left out", large))
	}
	if b.dropped > 0 {
		t.Notes = append(t.Notes, fmt.Sprintf("%d mentions of files were left out: no usable paths, or more than %d files", b.dropped, maxFiles))
	}
	if b.foreign {
		t.Notes = append(t.Notes, `the session ran on Windows: its C:\x is /c/x in the tree`)
	}
	return t
}

// folders are the paths that other files lie below, or that a session needs as folders.
func (b *builder) folders() map[string]bool {
	all := map[string]bool{}
	above := func(p string) {
		for ; p != "/" && !all[p]; p = path.Dir(p) {
			all[p] = true
		}
	}
	for _, dir := range []string{b.dir, Home, "/tmp"} {
		above(dir)
	}
	for p, f := range b.files {
		if f.there() {
			above(path.Dir(p))
		}
	}
	return all
}

func sorted(files map[string]*file) []string {
	var all []string
	for p := range files {
		all = append(all, p)
	}
	slices.Sort(all)
	return all
}

// fits says that an archive gives a file back as it is, but for a last line feed.
func (f File) fits() bool {
	name := strings.TrimPrefix(f.Path, "/")
	got := txtar.Parse(txtar.Format(&txtar.Archive{Files: []txtar.File{{Name: name, Data: []byte(f.Text)}}}))
	return len(got.Files) == 1 && got.Files[0].Name == name && strings.TrimSuffix(string(got.Files[0].Data), "\n") == strings.TrimSuffix(f.Text, "\n")
}

// Split parts what a txtar archive can hold from the files that look like archives
// themselves.
func (t Tree) Split() (archive, apart []File) {
	for _, f := range t.Files {
		if f.fits() {
			archive = append(archive, f)
		} else {
			apart = append(apart, f)
		}
	}
	return archive, apart
}

// Archive is a txtar file with a comment on top. Each line of a comment is one that
// cannot be taken for a file's name.
func Archive(comment []string, files []File) []byte {
	a := &txtar.Archive{}
	for _, line := range comment {
		a.Comment = append(a.Comment, "# "+strings.Join(strings.Fields(line), " ")+"\n"...)
	}
	for _, f := range files {
		a.Files = append(a.Files, txtar.File{Name: strings.TrimPrefix(path.Clean(f.Path), "/"), Data: []byte(f.Text)})
	}
	return txtar.Format(a)
}

// About says in a few words what is not known of a file; "" when all is.
func (f File) About() string {
	var parts []string
	switch f.Seen {
	case ByName:
		parts = append(parts, "content not seen: empty here")
	case InPart:
		parts = append(parts, unseen(f.Unseen))
	}
	return strings.Join(append(parts, f.Notes...), "; ")
}

// mostSpans is how many unseen passages are told one by one.
const mostSpans = 4

func unseen(spans [][2]int) string {
	var parts []string
	for _, s := range spans[:min(len(spans), mostSpans)] {
		switch {
		case s[1] == 0:
			parts = append(parts, fmt.Sprintf("from %d on", s[0]))
		case s[0] == s[1]:
			parts = append(parts, fmt.Sprint(s[0]))
		default:
			parts = append(parts, fmt.Sprintf("%d-%d", s[0], s[1]))
		}
	}
	if more := len(spans) - mostSpans; more > 0 {
		parts = append(parts, fmt.Sprintf("%d passages more", more))
	}
	return "lines not seen: " + strings.Join(parts, ", ")
}
