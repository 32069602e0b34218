package draft

import (
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/tools/txtar"

	"toolbench/toolsys/tool"
)

// treeCall is one recorded call with its result.
type treeCall struct {
	Tool   string
	Input  json.RawMessage
	Result string
	// Failed: the result is an error. Answered: there is one.
	Failed, Answered bool
}

// visibility is how much of a file there was to see.
type visibility int

// The kinds of sight.
const (
	seenName visibility = iota // it was listed, or written over: its content is unknown
	seenPart
	seenAll
)

// treeFile is one file as it stood at the start.
type treeFile struct {
	// Path is absolute, with slashes.
	Path string
	// Text has an empty line where a line was not seen.
	Text string
	Seen visibility
	// Unseen are the lines that were not, first and last, counted from 1; the last is 0
	// where the file's end is unknown. Notes are what else is to be known of it.
	Unseen [][2]int
	Notes  []string
}

// tree is what a session saw.
type tree struct {
	// Dir is where the session worked, as far as its paths show.
	Dir string
	// Files are sorted by path.
	Files []treeFile
	// Made are files that the session itself made.
	Made []string
	// Notes are what could not be kept, for a person.
	Notes []string
}

// Limits of a tree: what is beyond is left out and reported.
const (
	maxFiles     = 2000
	maxLine      = 100_000 // the highest line number that is believed
	maxFileBytes = 1 << 20
	maxTreeBytes = 8 << 20
)

// rebuildTree gives the tree before the first of the calls, which are in the order in which
// they were made. dir is the working directory where it is known, else "".
func rebuildTree(calls []treeCall, dir string) tree {
	sights := slices.Concat(tool.Each(calls, sightsOf)...)
	b := &treeBuilder{files: map[string]*fileState{}, dir: dirOf(sights, dir)}
	for _, s := range sights {
		b.apply(s)
	}
	return b.tree()
}

// treeBuilder applies one sight after the other.
type treeBuilder struct {
	dir     string
	files   map[string]*fileState
	dropped int // paths that are none, or too many
	foreign bool
}

func (b *treeBuilder) apply(s observation) {
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
		b.files[p] = &fileState{start: map[int]string{}, next: 1}
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

func (b *treeBuilder) tree() tree {
	t := tree{Dir: b.dir}
	total, large := 0, 0
	folders := b.folders()
	for _, p := range slices.Sorted(maps.Keys(b.files)) {
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
func (b *treeBuilder) folders() map[string]bool {
	all := map[string]bool{}
	above := func(p string) {
		for ; p != "/" && !all[p]; p = path.Dir(p) {
			all[p] = true
		}
	}
	for _, dir := range []string{b.dir, homeDir, "/tmp"} {
		above(dir)
	}
	for p, f := range b.files {
		if f.there() {
			above(path.Dir(p))
		}
	}
	return all
}

// fits reports whether an archive gives a file back as it is, but for a last line feed.
func (f treeFile) fits() bool {
	name := strings.TrimPrefix(f.Path, "/")
	got := txtar.Parse(txtar.Format(&txtar.Archive{Files: []txtar.File{{Name: name, Data: []byte(f.Text)}}}))
	return len(got.Files) == 1 && got.Files[0].Name == name && strings.TrimSuffix(string(got.Files[0].Data), "\n") == strings.TrimSuffix(f.Text, "\n")
}

// Split parts what a txtar archive can hold from the files that look like archives themselves.
func (t tree) Split() (archive, apart []treeFile) {
	for _, f := range t.Files {
		if f.fits() {
			archive = append(archive, f)
		} else {
			apart = append(apart, f)
		}
	}
	return archive, apart
}

// treeArchive is a txtar file with a comment on top. Each line of a comment is one that
// cannot be taken for a file's name.
func treeArchive(comment []string, files []treeFile) []byte {
	a := &txtar.Archive{}
	for _, line := range comment {
		a.Comment = append(a.Comment, "# "+strings.Join(strings.Fields(line), " ")+"\n"...)
	}
	for _, f := range files {
		a.Files = append(a.Files, txtar.File{Name: strings.TrimPrefix(path.Clean(f.Path), "/"), Data: []byte(f.Text)})
	}
	return txtar.Format(a)
}

// About describes in a few words what is missing of a file; "" when all is.
func (f treeFile) About() string {
	var parts []string
	switch f.Seen {
	case seenName:
		parts = append(parts, "content not seen: empty here")
	case seenPart:
		parts = append(parts, unseen(f.Unseen))
	}
	return strings.Join(append(parts, f.Notes...), "; ")
}

// mostSpans is how many unseen passages are listed one by one.
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

// homeDir is where "~" is: the home of a scenario that names no other.
const homeDir = "/home/dev"

// defaultDir is where a session works whose paths show none: the working directory of such a scenario.
const defaultDir = "/repo"

var drive = regexp.MustCompile(`^[A-Za-z]:[\\/]`)

// devices are no files that a tree could hold.
var devices = regexp.MustCompile(`^/(dev|proc|sys)(/|$)`)

// Limits of a path: what a disk takes.
const (
	maxPath = 1024
	maxName = 255
)

// clean makes an absolute path with slashes of what a call names. No path leaves the
// tree: ".." at its root stays there.
func clean(p, dir string) (string, bool) {
	p = strings.TrimPrefix(strings.TrimSpace(p), "file://")
	switch {
	case drive.MatchString(p):
		p = "/" + strings.ToLower(p[:1]) + "/" + strings.ReplaceAll(p[3:], `\`, "/")
	case strings.HasPrefix(p, `\\`), strings.Contains(p, `\`) && !strings.Contains(p, "/"):
		p = strings.ReplaceAll(strings.Replace(p, `\\`, "/", 1), `\`, "/")
	}
	switch {
	case p == "~" || strings.HasPrefix(p, "~/"):
		p = homeDir + p[1:]
	case !strings.HasPrefix(p, "/"):
		p = dir + "/" + p
	}
	p = path.Clean(p)
	return p, sane(p) && !devices.MatchString(p)
}

func sane(p string) bool {
	return len(p) <= maxPath && p != "/" && strings.IndexFunc(p, unicode.IsControl) < 0 && !strings.ContainsRune(p, unicode.ReplacementChar) &&
		!slices.ContainsFunc(strings.Split(p[1:], "/"), func(name string) bool { return name == "" || len(name) > maxName || strings.TrimSpace(name) != name })
}

// dirOf finds where a session worked: as it is known, else where its relative paths are
// found in its absolute ones, else the folder that all absolute ones share.
func dirOf(sights []observation, known string) string {
	if p, ok := clean(known, "/"); known != "" && ok {
		return p
	}
	var absolute, relative []string
	for _, s := range sights {
		p, ok := clean(s.path, "")
		switch {
		case !ok || strings.HasPrefix(strings.TrimSpace(s.path), "~"):
		case strings.HasPrefix(strings.TrimSpace(s.path), "/") || drive.MatchString(s.path):
			absolute = append(absolute, path.Dir(p))
		case s.dir == "":
			relative = append(relative, p)
		}
	}
	if dir := voted(absolute, relative); dir != "" {
		return dir
	}
	if dir := sharedDir(absolute); dir != "" && dir != "/" {
		return dir
	}
	return defaultDir
}

// mostVotes bounds how many paths are compared with each other.
const mostVotes = 300

// voted is the folder below which most relative paths begin as absolute ones go on.
func voted(absolute, relative []string) string {
	votes := map[string]int{}
	best := ""
	for _, r := range relative[:min(len(relative), mostVotes)] {
		first, _, deep := strings.Cut(strings.TrimPrefix(r, "/"), "/")
		if !deep || strings.HasPrefix(first, ".") {
			continue
		}
		for _, a := range absolute[:min(len(absolute), mostVotes)] {
			if i := strings.Index(a+"/", "/"+first+"/"); i > 0 {
				dir := a[:i]
				if votes[dir]++; votes[dir] > votes[best] || votes[dir] == votes[best] && dir < best {
					best = dir
				}
			}
		}
	}
	return best
}

// sharedDir is the deepest folder that all have in common.
func sharedDir(dirs []string) string {
	if len(dirs) == 0 {
		return ""
	}
	all := dirs[0]
	for _, d := range dirs {
		for all != "/" && d != all && !strings.HasPrefix(d, all+"/") {
			all = path.Dir(all)
		}
	}
	return all
}

// file is what is known, as it stood.
func (f *fileState) file(path string) treeFile {
	out := treeFile{Path: path}
	last := f.end
	for n := range f.start {
		last = max(last, n)
	}
	switch {
	case len(f.start) > 0 || f.ended:
		out.Text = f.text(last, &out)
	case len(f.loose) > 0:
		out.Seen = seenPart
		for _, w := range f.loose { // the texts that edits took away
			out.Text += strings.TrimSuffix(w.old, "\n") + "\n"
		}
		out.Unseen = [][2]int{{1, 0}}
		out.Notes = append(out.Notes, "what it has was changed by the session, its place is unknown")
	}
	if f.late {
		out.Notes = append(out.Notes, "seen only after it was changed")
	}
	if f.moved {
		out.Notes = append(out.Notes, "changed by something else meanwhile: as it was seen first")
	}
	return out
}

func (f *fileState) text(last int, out *treeFile) string {
	var b strings.Builder
	for n := 1; n <= last; n++ {
		text, ok := f.start[n]
		if !ok {
			if k := len(out.Unseen); k > 0 && out.Unseen[k-1][1] == n-1 {
				out.Unseen[k-1][1] = n
			} else {
				out.Unseen = append(out.Unseen, [2]int{n, n})
			}
		}
		b.WriteString(text + "\n")
	}
	if !f.ended {
		out.Unseen = append(out.Unseen, [2]int{last + 1, 0})
	}
	if out.Seen = seenAll; len(out.Unseen) > 0 {
		out.Seen = seenPart
	}
	return b.String()
}
