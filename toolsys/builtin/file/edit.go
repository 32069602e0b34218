package file

import (
	"context"
	_ "embed" // the prompt beside this file
	"fmt"
	"path"

	"github.com/aymanbagabas/go-udiff"

	"toolbench/toolsys/message"
	"toolbench/toolsys/tool"
)

//go:embed edit.md
var editPrompt string

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
	// Patch is the change; PatchCut says that it holds only the beginning.
	Patch    []Hunk `json:"patch,omitempty"`
	PatchCut bool   `json:"patch_cut,omitempty"`
}

// Edit replaces an exact text in a file that was read (SPEC L, B5).
func Edit(d Deps) *tool.Tool {
	return tool.Must(tool.Def[EditIn, EditOut]{
		Name:        "Edit",
		Hint:        "replace exact text in a file",
		Description: "Replaces an exact piece of text in a file that was read before.",
		Describe:    func(in EditIn) string { return "Edit " + in.Path },
		Prompt:      func(tool.PromptOptions) string { return editPrompt },
		Call:        d.edit,
		Block:       EditOut.blocks,
		Validate:    d.validateEdit,
		Subject: func(in EditIn, c *tool.Context) tool.Subject {
			return tool.Subject{Paths: []string{subjectPath(in.Path, c)}}
		},
		Traits: tool.Traits[EditIn]{
			EditsFiles: true,
			Effects: func(in EditIn, c *tool.Context) tool.Effects {
				return d.changes(in.Path, c)
			},
		},
		Shaping: tool.Shaping[EditIn]{
			Backfill:   absolute("file_path"),
			Classifier: func(in EditIn) string { return in.Path + ": " + in.New },
		},
		View: tool.View[EditIn]{
			Summary:  func(in EditIn) string { return brief(in.Path) },
			Activity: func(in EditIn) string { return "Editing " + path.Base(in.Path) },
		},
	})
}

func (d Deps) validateEdit(in EditIn, c *tool.Context) *tool.Refusal {
	if in.Old == in.New {
		return refuse(CodeSame, "old_string and new_string are the same; there is nothing to change.")
	}
	if unc(in.Path, c) {
		return nil
	}
	_, refusal := d.planEdit(in, c)
	return refusal
}

// edited is a change that is ready to be written.
type edited struct {
	planned
	body  string // the text before
	edits []udiff.Edit
	after []byte
}

// planEdit works the change out without making it; see planWrite for why twice.
func (d Deps) planEdit(in EditIn, c *tool.Context) (edited, *tool.Refusal) {
	p, refusal := d.locate(in.Path, c)
	if refusal != nil {
		return edited{}, refusal
	}
	if path.Ext(p.real) == ".ipynb" {
		return edited{}, refuse(CodeNotebook, "%s is a notebook. Change its cells with NotebookEdit.", p.abs)
	}
	f, refusal := d.load(p)
	switch {
	case refusal != nil && refusal.Code == CodeMissing && in.Old == "":
		return edited{planned: planned{place: p}, edits: []udiff.Edit{{New: in.New}}, after: []byte(in.New)}, d.creatable(p)
	case refusal != nil:
		return edited{}, refusal
	}
	if refusal := unseen(p, f.content, c); refusal != nil {
		return edited{}, refusal
	}
	e := edited{planned: planned{place: p, before: f.content, exists: true}}
	return e, e.apply(in)
}

// apply makes the change in memory, keeping the file's encoding, byte order mark
// and line endings.
func (e *edited) apply(in EditIn) *tool.Refusal {
	t, ok := decode(e.before)
	if !ok || !t.lossless(e.before) {
		return refuse(CodeKind, "%s is a binary file; its text cannot be edited.", e.abs)
	}
	e.body = t.body
	if in.Old == "" {
		if t.body != "" {
			return refuse(CodeExists, "%s exists and has content. An empty old_string only creates a file or fills an empty one; say which text to replace.", e.abs)
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
func (e *edited) write(t text) *tool.Refusal {
	body, err := udiff.Apply(e.body, e.edits)
	if err == nil {
		e.after, err = t.encode(body)
	}
	if err != nil {
		return refuse(CodeKind, "%s cannot hold the change: %v.", e.abs, err)
	}
	return nil
}

func (d Deps) edit(_ context.Context, in EditIn, c *tool.Context) (tool.Result[EditOut], error) {
	e, refusal := d.planEdit(in, c)
	if refusal != nil {
		return tool.Result[EditOut]{}, failure(refusal)
	}
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

func (o EditOut) blocks() []message.Block {
	if o.Kind == "create" { // the model has just written all of it
		return []message.Block{message.Text(fmt.Sprintf("Created %s.", o.Path))}
	}
	head := fmt.Sprintf("Edited %s (%s).", o.Path, count(o.Replaced, "replacement"))
	if lines := snippet(o.Patch); lines != "" {
		head += " Around the change it now reads:\n" + lines
	}
	return []message.Block{message.Text(head)}
}
