package file

import (
	"context"
	_ "embed" // the prompt beside this file
	"fmt"
	"path"

	"toolbench/toolsys/message"
	"toolbench/toolsys/tool"
)

//go:embed write.md
var writePrompt string

// WriteIn is what Write takes (SPEC L).
type WriteIn struct {
	Path    string `json:"file_path" minLength:"1" jsonschema:"The file to write; absolute, or relative to the working directory"`
	Content string `json:"content" jsonschema:"The whole new content of the file"`
}

// WriteOut is what Write answers with.
type WriteOut struct {
	Kind  string `json:"kind" enum:"create,update"`
	Path  string `json:"file_path"`
	Lines int    `json:"lines"`
	// Patch is what changed in a file that was there; PatchCut says that it holds
	// only the beginning.
	Patch    []Hunk `json:"patch,omitempty"`
	PatchCut bool   `json:"patch_cut,omitempty"`
}

// Write makes or replaces a whole file. One that exists must have been read, and
// be as it was then (SPEC L, B5).
func Write(d Deps) *tool.Tool {
	return tool.Must(tool.Def[WriteIn, WriteOut]{
		Name:        "Write",
		Hint:        "create or overwrite whole file",
		Description: "Writes a whole file, new or in place of one that was read before.",
		Describe:    func(in WriteIn) string { return "Write " + in.Path },
		Prompt:      func(tool.PromptOptions) string { return writePrompt },
		Call:        d.write,
		Block:       WriteOut.blocks,
		Validate:    d.validateWrite,
		Subject: func(in WriteIn, c *tool.Context) tool.Subject {
			return tool.Subject{Paths: []string{subjectPath(in.Path, c)}, Kin: []string{"Edit"}}
		},
		Traits: tool.Traits[WriteIn]{
			EditsFiles: true,
			Effects: func(in WriteIn, c *tool.Context) tool.Effects {
				return d.changes(in.Path, c)
			},
		},
		Shaping: tool.Shaping[WriteIn]{
			Backfill:   absolute("file_path"),
			Classifier: func(in WriteIn) string { return in.Path + ": " + in.Content },
		},
		View: tool.View[WriteIn]{
			Summary:  func(in WriteIn) string { return brief(in.Path) },
			Activity: func(in WriteIn) string { return "Writing " + path.Base(in.Path) },
		},
	})
}

func (d Deps) validateWrite(in WriteIn, c *tool.Context) *tool.Refusal {
	if unc(in.Path, c) {
		return nil
	}
	_, refusal := d.planWrite(in, c)
	return refusal
}

// planned is a change that may be made: where, and what was there before.
type planned struct {
	place
	before []byte
	exists bool
}

// planWrite looks whether the file may be written. It is asked twice, before
// permission and before the work, since time may have passed in between.
func (d Deps) planWrite(in WriteIn, c *tool.Context) (planned, *tool.Refusal) {
	p, refusal := d.locate(in.Path, c)
	if refusal != nil {
		return planned{}, refusal
	}
	f, refusal := d.load(p)
	switch {
	case refusal == nil:
		return planned{place: p, before: f.content, exists: true}, unseenInPart(p, f.content, c)
	case refusal.Code == CodeMissing:
		return planned{place: p}, d.creatable(p)
	}
	return planned{}, refusal
}

func (d Deps) write(_ context.Context, in WriteIn, c *tool.Context) (tool.Result[WriteOut], error) {
	plan, refusal := d.planWrite(in, c)
	if refusal != nil {
		return tool.Result[WriteOut]{}, failure(refusal)
	}
	content := []byte(in.Content)
	if err := d.put(plan.place, content, c.CallID); err != nil {
		return tool.Result[WriteOut]{}, err
	}
	out := WriteOut{Kind: "create", Path: plan.abs, Lines: len(text{body: in.Content}.lines())}
	if plan.exists {
		out.Kind = "update"
		if before, ok := decode(plan.before); ok {
			out.Patch, out.PatchCut = difference(before.body, in.Content)
		}
	}
	return tool.Result[WriteOut]{Data: out, Observed: observe(plan.place, content)}, nil
}

func (o WriteOut) blocks() []message.Block {
	verb := "Created"
	if o.Kind == "update" {
		verb = "Replaced"
	}
	return []message.Block{message.Text(fmt.Sprintf("%s %s (%s).", verb, o.Path, count(o.Lines, "line")))}
}
