package file

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"
	"github.com/aymanbagabas/go-udiff"
	"github.com/spf13/afero"

	"toolbench/toolsys/permission"
	"toolbench/toolsys/render"
	"toolbench/toolsys/tool"
)

// EditIn is what Edit takes (SPEC L).
type EditIn struct {
	Path string `json:"file_path" minLength:"1" jsonschema:"The file to change; absolute, or relative to the working directory"`
	Old  string `json:"old_string" jsonschema:"The text to replace, exactly as it stands in the file; empty to create a file or fill an empty one"`
	New  string `json:"new_string" jsonschema:"The text to put in its place; must differ from old_string"`
	All  bool   `json:"replace_all,omitempty" jsonschema:"Replace every occurrence instead of demanding that there is one only"`
}

// EditOut is what Edit answers with.
type EditOut struct {
	Kind string `json:"kind" enum:"create,update"`
	Path string `json:"file_path"`
	// Replaced is how many occurrences were replaced.
	Replaced int `json:"replaced"`
	// Patch is the change; PatchCut is true where it holds only the beginning.
	Patch    []Hunk `json:"patch,omitempty"`
	PatchCut bool   `json:"patch_cut,omitempty"`
}

// Edit replaces an exact text in a file that was read (SPEC L, B5).
func Edit(d Deps) *tool.Tool {
	return onFile(tool.Def[EditIn, EditOut]{
		Name:     "Edit",
		Describe: func(in EditIn) string { return "Edit " + in.Path },
		Texts:    prompts.Of("edit"),
		Call:     acting(d.planEdit, d.edit),
		Text:     EditOut.text,
		Validate: d.validateEdit,
		Traits:   changesFile(d, EditIn.path),
		Shaping:  tool.Shaping[EditIn]{Classifier: func(in EditIn) string { return in.Path + ": " + in.New }},
		Draw:     tool.Drawing[EditIn, EditOut]{Use: drawEdit, Result: drawEdited},
	}, "file_path", EditIn.path, "Editing", "Write")
}

func (in EditIn) path() string { return in.Path }

func (d Deps) validateEdit(in EditIn, c *tool.Context) *tool.Refusal {
	if in.Old == in.New {
		return refuse(CodeSame, "old_string and new_string are the same; there is nothing to change.")
	}
	return looked(EditIn.path, d.planEdit)(in, c)
}

// plannedEdit is a change that is ready to be written.
type plannedEdit struct {
	plannedChange
	body  string // the text before
	edits []udiff.Edit
	after []byte
}

// planEdit works the change out without making it; see planWrite for why twice.
func (d Deps) planEdit(in EditIn, c *tool.Context) (plannedEdit, *tool.Refusal) {
	p, content, refusal := d.open(in.Path, c)
	if path.Ext(p.real) == ".ipynb" {
		return plannedEdit{}, refuse(CodeNotebook, "%s is a notebook. Change its cells with NotebookEdit.", p.abs)
	}
	switch {
	case refusal != nil && refusal.Code == CodeMissing && in.Old == "":
		return plannedEdit{plannedChange: plannedChange{place: p}, edits: []udiff.Edit{{New: in.New}}, after: []byte(in.New)}, d.creatable(p)
	case refusal != nil:
		return plannedEdit{}, refusal
	}
	if refusal := unseen(p, content, c); refusal != nil {
		return plannedEdit{}, refusal
	}
	e := plannedEdit{plannedChange: plannedChange{place: p, before: content, exists: true}}
	return e, e.apply(in)
}

// apply makes the change in memory, keeping the file's encoding, byte order mark
// and line endings.
func (e *plannedEdit) apply(in EditIn) *tool.Refusal {
	t, ok := decode(e.before)
	if again, err := t.encode(t.body); !ok || err != nil || !bytes.Equal(again, e.before) { // it would not survive
		return refuse(CodeKind, "%s is a binary file; its text cannot be edited.", e.abs)
	}
	e.body = t.body
	if in.Old == "" {
		if t.body != "" {
			return refuse(CodeExists, "%s exists and has content. An empty old_string only creates a file or fills an empty one; give the text to replace.", e.abs)
		}
		e.edits = []udiff.Edit{{New: in.New}}
	} else {
		edits, refusal := replacement{old: in.Old, new: in.New, all: in.All}.in(t.body)
		if refusal != nil {
			return refusal
		}
		e.edits = edits
	}
	return e.write(t)
}

// write gives the bytes of the changed text.
func (e *plannedEdit) write(t text) *tool.Refusal {
	body, err := udiff.Apply(e.body, e.edits)
	if err == nil {
		e.after, err = t.encode(body)
	}
	if err != nil {
		return refuse(CodeKind, "%s cannot hold the change: %v.", e.abs, err)
	}
	return nil
}

func (d Deps) edit(_ context.Context, _ EditIn, e plannedEdit, c *tool.Context) (tool.Result[EditOut], error) {
	if err := d.put(e.place, e.after, c.CallID); err != nil {
		return tool.Result[EditOut]{}, err
	}
	out := EditOut{Kind: "update", Path: e.abs, Replaced: len(e.edits)}
	if !e.exists {
		out.Kind = "create"
	}
	out.Patch, out.PatchCut = patchOf(e.body, e.edits)
	return tool.Result[EditOut]{Data: out, Observed: observeChange(e.place, e.after, c)}, nil
}

func (o EditOut) text() string {
	if o.Kind == "create" { // the model has just written all of it
		return fmt.Sprintf("Created %s.", o.Path)
	}
	head := fmt.Sprintf("Edited %s (%s).", o.Path, render.Count(o.Replaced, "replacement"))
	if lines := snippet(o.Patch); lines != "" {
		head += " Around the change it now reads:\n" + lines
	}
	return head
}

// replacement is an exact edit of a text (SPEC L): which text, by which, and
// whether everywhere.
type replacement struct {
	old, new string
	all      bool
}

// in finds the edits that make the replacement in body, as byte ranges of it.
// Line endings are the file's: where it has CRLF, a line feed in old means one,
// and line feeds in new become what the file has most of.
func (r replacement) in(body string) ([]udiff.Edit, *tool.Refusal) {
	e := endingsOf(body)
	old := unified(r.old)
	at := occurrences(e.flat, old)
	switch {
	case len(at) == 0:
		return nil, notFound(e.flat, old)
	case len(at) > 1 && !r.all:
		return nil, ambiguous(e.flat, at)
	}
	fresh := e.dress(unified(r.new))
	var edits []udiff.Edit
	end := 0
	for _, start := range at {
		if start < end { // overlaps the one before
			continue
		}
		end = start + len(old)
		edits = append(edits, udiff.Edit{Start: e.raw(start), End: e.raw(end), New: fresh})
	}
	return edits, nil
}

// occurrences are all places of old, those that overlap included: which of two
// overlapping ones is meant is as open as which of two that lie apart.
func occurrences(s, old string) []int {
	var at []int
	for from := 0; ; {
		i := strings.Index(s[from:], old)
		if i < 0 {
			return at
		}
		at = append(at, from+i)
		from += i + 1
	}
}

// endings is a text with its CRLFs made line feeds, and where those were.
type endings struct {
	flat  string
	crlf  []int // places in flat, sorted
	plain int   // line feeds that stand alone
}

func endingsOf(body string) endings {
	if !strings.Contains(body, "\r\n") {
		return endings{flat: body, plain: strings.Count(body, "\n")}
	}
	var b strings.Builder
	var e endings
	for i, line := range strings.Split(body, "\r\n") {
		if i > 0 {
			e.crlf = append(e.crlf, b.Len())
			b.WriteByte('\n')
		}
		e.plain += strings.Count(line, "\n")
		b.WriteString(line)
	}
	e.flat = b.String()
	return e
}

// raw is the place in the body of a place in flat.
func (e endings) raw(at int) int {
	before, _ := slices.BinarySearch(e.crlf, at)
	return at + before
}

// dress gives a text the endings that the file has most of.
func (e endings) dress(s string) string {
	if len(e.crlf) > e.plain {
		return strings.ReplaceAll(s, "\n", "\r\n")
	}
	return s
}

func unified(s string) string { return strings.ReplaceAll(s, "\r\n", "\n") }

// maxLinesNamed is how many places an error lists.
const maxLinesNamed = 10

func ambiguous(flat string, at []int) *tool.Refusal {
	lines := tool.Each(at[:min(len(at), maxLinesNamed)], func(i int) string { return fmt.Sprint(strings.Count(flat[:i], "\n") + 1) })
	list := strings.Join(lines, ", ")
	if len(at) > maxLinesNamed {
		list += ", ..."
	}
	return refuse(CodeAmbiguous, "old_string occurs %d times, beginning at lines %s. "+
		"Include more of the surrounding text so that it occurs once, or set replace_all.", len(at), list)
}

// notFound names the likeliest reason.
func notFound(flat, old string) *tool.Refusal {
	hint := ""
	switch line := looseLine(flat, old); {
	case line > 0:
		hint = fmt.Sprintf(" At line %d stands a text that differs only in white space.", line)
	case numberedText(old):
		hint = " It looks as if it begins with a line number; those are not part of the file."
	case strings.ContainsRune(old, '�') || strings.ContainsRune(replaced(flat), '�'):
		hint = " The file has bytes that are not valid UTF-8; leave them out of old_string."
	}
	return refuse(CodeNotFound, "old_string was not found in the file. It must match exactly, with white space and line breaks.%s", hint)
}

// looseLine finds where old would stand if white space did not count around
// lines; 0 where nowhere.
func looseLine(flat, old string) int {
	want := trimmedLines(strings.TrimSpace(old))
	if len(want) == 1 && want[0] == "" {
		return 0
	}
	have := trimmedLines(flat)
	for i := 0; i+len(want) <= len(have); i++ {
		if slices.Equal(have[i:i+len(want)], want) {
			return i + 1
		}
	}
	return 0
}

func trimmedLines(s string) []string {
	return tool.Each(strings.Split(s, "\n"), func(line string) string { return strings.Join(strings.Fields(line), " ") })
}

// numberedText reports whether text was copied with the numbers that Read puts in front.
func numberedText(s string) bool {
	number, _, tab := strings.Cut(strings.TrimLeft(s, " "), "\t")
	return tab && number != "" && strings.Trim(number, "0123456789") == ""
}

// maxNear is how many names a suggestion holds.
const maxNear = 3

// nearby words what stands where a missing file was looked for: names like it in
// its folder that no rule forbids, or the last folder of its path that does exist. Outside the roots it
// is "".
func (d Deps) nearby(p place) string {
	dir := path.Dir(p.real)
	if p.c == nil || !d.within(dir, p.c.Roots) {
		return ""
	}
	if ok, _ := afero.DirExists(d.FS, dir); !ok {
		return d.lastFolder(dir)
	}
	kept := d.forbidden("Read", place{abs: path.Dir(p.abs), real: dir}, p.c)
	infos, _ := afero.ReadDir(d.FS, dir) // of a folder that cannot be listed nothing is named
	near := nearest(path.Base(p.real), slices.DeleteFunc(tool.Each(infos, fs.FileInfo.Name), kept.hides))
	if len(near) == 0 {
		return ""
	}
	near = tool.Each(near, func(name string) string { return path.Join(path.Dir(p.abs), name) })
	return " Did you mean " + strings.Join(near, " or ") + "?"
}

// within reports whether a resolved path lies in one of the roots, which may
// themselves be links.
func (d Deps) within(real string, roots []string) bool {
	return slices.ContainsFunc(roots, func(root string) bool {
		target, err := follow(d.FS, root)
		return err == nil && permission.Within(real, []string{target})
	})
}

func (d Deps) lastFolder(dir string) string {
	for dir != "/" {
		dir = path.Dir(dir)
		if ok, _ := afero.DirExists(d.FS, dir); ok {
			return " The last folder of that path that exists is " + dir + "."
		}
	}
	return ""
}

// nearest gives the names most like one, best first: those of the same stem
// under another extension, then those that differ in less than half.
func nearest(name string, among []string) []string {
	type scored struct {
		name  string
		apart int
	}
	var near []scored
	for _, other := range among {
		apart := levenshtein.ComputeDistance(strings.ToLower(name), strings.ToLower(other))
		if stem(name) == stem(other) {
			apart = 0
		}
		if apart*2 < max(len(name), 2) {
			near = append(near, scored{other, apart})
		}
	}
	slices.SortStableFunc(near, func(a, b scored) int { return cmp.Compare(a.apart, b.apart) })
	return tool.Each(near[:min(len(near), maxNear)], func(s scored) string { return s.name })
}

func stem(name string) string { return strings.TrimSuffix(name, path.Ext(name)) }
