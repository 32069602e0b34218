package file

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"toolbench/toolsys/render"
	"toolbench/toolsys/tool"
)

// NotebookEditIn is what NotebookEdit takes (SPEC L).
type NotebookEditIn struct {
	Path   string  `json:"notebook_path" minLength:"1" jsonschema:"The .ipynb file; absolute, or relative to the working directory"`
	Cell   string  `json:"cell_id,omitempty" jsonschema:"The cell to change, by the id that Read shows; when inserting, the cell to insert after, or nothing for the beginning"`
	Source *string `json:"new_source,omitempty" jsonschema:"The cell's new text; not needed to delete one"`
	Kind   string  `json:"cell_type,omitempty" enum:"code,markdown,raw" jsonschema:"The kind of cell; needed to insert one, else it stays as it is"`
	Mode   string  `json:"edit_mode,omitempty" enum:"replace,insert,delete" default:"replace" jsonschema:"What to do"`
}

// NotebookEditOut is what NotebookEdit answers with.
type NotebookEditOut struct {
	Path string `json:"notebook_path"`
	Mode string `json:"edit_mode"`
	// Cell is the id of the cell that was changed, made or deleted; Index where it
	// stands or stood, counted from 0.
	Cell  string `json:"cell_id"`
	Index int    `json:"index"`
	Kind  string `json:"cell_type"`
	// Source is the cell's new text.
	Source string `json:"new_source,omitempty"`
	// Cells is how many cells there are now.
	Cells int `json:"cells"`

	was string // the cell's text before
}

// NotebookEdit replaces, inserts or deletes one cell of a notebook that was read
// (SPEC L, B5, E1).
func NotebookEdit(d Deps) *tool.Tool {
	return onFile(tool.Def[NotebookEditIn, NotebookEditOut]{
		Name:     "NotebookEdit",
		Describe: func(in NotebookEditIn) string { return "Edit notebook " + in.Path },
		Texts:    prompts.Of("notebookedit"),
		Call:     acting(d.planNotebook, d.editNotebook),
		Text:     NotebookEditOut.text,
		Validate: d.validateNotebook,
		Traits:   changesFile(d, NotebookEditIn.path),
		Loading:  tool.Loading{Deferrable: true},
		Shaping:  tool.Shaping[NotebookEditIn]{Classifier: func(in NotebookEditIn) string { return in.Path + ": " + in.mode() + " " + in.source() }},
		View:     tool.View[NotebookEditIn]{Title: func(NotebookEditIn) string { return "Edit notebook" }},
		Draw:     tool.Drawing[NotebookEditIn, NotebookEditOut]{Use: drawCell, Result: drawCellChange},
	}, "notebook_path", NotebookEditIn.path, "Editing", "Edit", "Write")
}

func (in NotebookEditIn) path() string { return in.Path }

func (in NotebookEditIn) mode() string { return cmp.Or(in.Mode, "replace") }

func (in NotebookEditIn) source() string {
	if in.Source == nil {
		return ""
	}
	return *in.Source
}

func (d Deps) validateNotebook(in NotebookEditIn, c *tool.Context) *tool.Refusal {
	if refusal := in.complete(); refusal != nil {
		return refusal
	}
	return looked(NotebookEditIn.path, d.planNotebook)(in, c)
}

// complete checks that each mode has what it needs, which the schema cannot express.
func (in NotebookEditIn) complete() *tool.Refusal {
	switch {
	case path.Ext(in.Path) != ".ipynb":
		return refuse(CodeNotebook, "%s is not a notebook: its name does not end in .ipynb. Use Edit for other files.", in.Path)
	case in.mode() != "delete" && in.Source == nil:
		return refuse(CodeCell, "new_source is needed to %s a cell.", in.mode())
	case in.mode() == "insert" && in.Kind == "":
		return refuse(CodeCell, "cell_type is needed to insert a cell.")
	case in.mode() != "insert" && in.Cell == "":
		return refuse(CodeCell, "cell_id is needed to %s a cell.", in.mode())
	}
	return nil
}

// notebookPlan is a change that is ready to be written.
type notebookPlan struct {
	place
	after []byte
	out   NotebookEditOut
}

// planNotebook works the change out without making it; see planWrite for why twice.
func (d Deps) planNotebook(in NotebookEditIn, c *tool.Context) (notebookPlan, *tool.Refusal) {
	if refusal := in.complete(); refusal != nil {
		return notebookPlan{}, refusal
	}
	p, content, refusal := d.open(in.Path, c)
	if refusal == nil {
		refusal = unseen(p, content, c)
	}
	if refusal != nil {
		return notebookPlan{}, refusal
	}
	nb, err := parseNotebook(content)
	if err != nil {
		return notebookPlan{}, refuse(CodeNotebook, "%s is not a notebook that can be edited: %v.", p.abs, err)
	}
	plan := notebookPlan{place: p}
	if plan.out, refusal = nb.apply(in); refusal != nil {
		return notebookPlan{}, refusal
	}
	plan.out.Path = p.abs
	if plan.after, err = nb.bytes(); err != nil {
		return notebookPlan{}, refuse(CodeNotebook, "%s cannot hold the change: %v.", p.abs, err)
	}
	return plan, nil
}

// apply makes the change in the parsed notebook and describes it.
func (nb *notebook) apply(in NotebookEditIn) (NotebookEditOut, *tool.Refusal) {
	at := -1
	if in.Cell != "" {
		if at = slices.Index(nb.ids(), in.Cell); at < 0 {
			return NotebookEditOut{}, nb.noCell(in.Cell)
		}
	}
	out := NotebookEditOut{Mode: in.mode(), Index: at, Kind: in.Kind, Source: in.source()}
	if at >= 0 && in.mode() != "insert" {
		out.was = nb.source(at)
	}
	switch in.mode() {
	case "insert":
		out.Index = at + 1
		nb.insert(out.Index, in.Kind, in.source())
		out.Cell = nb.id(out.Index)
	case "delete":
		out.Cell, out.Kind, out.Source = nb.id(at), nb.kind(at), ""
		nb.cells = slices.Delete(nb.cells, at, at+1)
	default:
		out.Kind = cmp.Or(out.Kind, nb.kind(at))
		nb.replace(at, out.Kind, in.source())
		out.Cell = nb.id(at)
	}
	out.Cells = len(nb.cells)
	return out, nil
}

func (nb *notebook) noCell(id string) *tool.Refusal {
	const most = 20
	ids := nb.ids()
	list := strings.Join(ids[:min(len(ids), most)], ", ")
	if len(ids) > most {
		list += ", ..."
	}
	list = cmp.Or(list, "none")
	return refuse(CodeCell, "There is no cell %q. The cells are: %s.", id, list)
}

func (d Deps) editNotebook(_ context.Context, _ NotebookEditIn, plan notebookPlan, c *tool.Context) (tool.Result[NotebookEditOut], error) {
	if err := d.put(plan.place, plan.after, c.CallID); err != nil {
		return tool.Result[NotebookEditOut]{}, err
	}
	return tool.Result[NotebookEditOut]{Data: plan.out, Observed: observeChange(plan.place, plan.after, c)}, nil
}

func (o NotebookEditOut) text() string {
	verb := map[string]string{"replace": "Replaced", "insert": "Inserted", "delete": "Deleted"}[o.Mode]
	s := fmt.Sprintf("%s %s cell %s of %s, which now has %s.", verb, o.Kind, o.Cell, o.Path, render.Count(o.Cells, "cell"))
	if o.Mode != "delete" {
		s += "\n" + o.Source
	}
	return s
}
