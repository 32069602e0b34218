package file

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/aymanbagabas/go-udiff"
	"github.com/spf13/afero"

	"toolbench/toolsys/render"
	"toolbench/toolsys/tool"
)

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
	// Patch is what changed in a file that was there; PatchCut is true where it holds
	// only the beginning.
	Patch    []Hunk `json:"patch,omitempty"`
	PatchCut bool   `json:"patch_cut,omitempty"`
}

// Write makes or replaces a file. One that exists must have been read, and
// be as it was then (SPEC L, B5).
func Write(d Deps) *tool.Tool {
	return onFile(tool.Def[WriteIn, WriteOut]{
		Name:     "Write",
		Describe: func(in WriteIn) string { return "Write " + in.Path },
		Texts:    prompts.Of("write"),
		Call:     acting(d.planWrite, d.write),
		Text:     WriteOut.text,
		Validate: looked(WriteIn.path, d.planWrite),
		Traits:   changesFile(d, WriteIn.path),
		Shaping:  tool.Shaping[WriteIn]{Classifier: func(in WriteIn) string { return in.Path + ": " + in.Content }},
		Draw:     tool.Drawing[WriteIn, WriteOut]{Use: drawWrite, Result: drawWritten},
	}, "file_path", WriteIn.path, "Writing", "Edit")
}

func (in WriteIn) path() string { return in.Path }

// plannedChange is a change that may be made: where, and what was there before.
type plannedChange struct {
	place
	before []byte
	exists bool
}

// planWrite looks whether the file may be written. It is asked twice, before
// permission and before the work, since time may have passed in between.
func (d Deps) planWrite(in WriteIn, c *tool.Context) (plannedChange, *tool.Refusal) {
	p, content, refusal := d.open(in.Path, c)
	switch {
	case refusal == nil:
		return plannedChange{place: p, before: content, exists: true}, unseenInPart(p, content, c)
	case refusal.Code == CodeMissing:
		return plannedChange{place: p}, d.creatable(p)
	}
	return plannedChange{}, refusal
}

func (d Deps) write(_ context.Context, in WriteIn, plan plannedChange, c *tool.Context) (tool.Result[WriteOut], error) {
	content := []byte(in.Content)
	if err := d.put(plan.place, content, c.CallID); err != nil {
		return tool.Result[WriteOut]{}, err
	}
	out := WriteOut{Kind: "create", Path: plan.abs, Lines: len(text{body: in.Content}.lines())}
	if plan.exists {
		out.Kind = "update"
		if before, ok := decode(plan.before); ok {
			out.Patch, out.PatchCut = patchOf(before.body, udiff.Lines(before.body, in.Content))
		}
	}
	return tool.Result[WriteOut]{Data: out, Observed: []tool.Observation{tool.Seen(plan.real, content)}}, nil
}

func (o WriteOut) text() string {
	verb := map[string]string{"create": "Created", "update": "Replaced"}[o.Kind]
	return fmt.Sprintf("%s %s (%s).", verb, o.Path, render.Count(o.Lines, "line"))
}

// newFileMode and newFolderMode are what a new file and its folders get, less the
// umask of the disk.
const (
	newFileMode   = fs.FileMode(0o644)
	newFolderMode = fs.FileMode(0o755)
)

// errStage marks a replacement that did not get as far as writing content: the
// file may then still be written where it stands.
var errStage = errors.New("cannot write beside the file")

// put makes content the full content of a file, and the folders above it. The content
// is written beside the file and put in its place by renaming, so that a full
// disk or a crash loses nothing; where the folder does not allow that, the file
// is written where it stands and restored if that fails.
//
// The mode of an existing file is kept. Errors name the file and the cause.
func (d Deps) put(p place, content []byte, callID string) error {
	mode, exists, err := d.writable(p.real)
	if err == nil && !exists {
		err = d.FS.MkdirAll(path.Dir(p.real), newFolderMode)
	}
	if err == nil {
		err = d.replace(p.real, content, mode, exists, callID)
	}
	if errors.Is(err, errStage) && exists {
		err = d.overwrite(p.real, content)
	}
	if err != nil {
		return fmt.Errorf("%s could not be written: %w", p.abs, cause(err))
	}
	return nil
}

// writable gives an existing file's mode, and the error that writing it would
// give: a rename would pass over a file's own protection.
func (d Deps) writable(name string) (mode fs.FileMode, exists bool, err error) {
	info, err := d.FS.Stat(name)
	if absent(err) {
		return newFileMode, false, nil
	}
	if err != nil {
		return 0, false, err
	}
	f, err := d.FS.OpenFile(name, os.O_WRONLY, 0)
	if err != nil {
		return 0, true, err
	}
	return info.Mode().Perm(), true, f.Close()
}

// replace writes content beside the file, under a hidden name, and renames it over it.
func (d Deps) replace(name string, content []byte, mode fs.FileMode, keepMode bool, callID string) error {
	sum := sha256.Sum256([]byte(callID + "\x00" + name)) // one name per call and file
	beside := path.Join(path.Dir(name), "."+hex.EncodeToString(sum[:8])+".tmp")
	f, err := d.FS.OpenFile(beside, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return fmt.Errorf("%w: %w", errStage, cause(err))
	}
	err = fill(f, content)
	if err == nil && keepMode { // the umask may have taken bits
		err = d.FS.Chmod(beside, mode)
	}
	if err == nil {
		if err = d.FS.Rename(beside, name); err != nil {
			err = fmt.Errorf("%w: %w", errStage, cause(err))
		}
	}
	if err != nil {
		_ = d.FS.Remove(beside) // the error that counts is the first one
	}
	return err
}

// fill writes all of content and closes the file.
func fill(f afero.File, content []byte) error {
	_, err := f.Write(content)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// overwrite writes a file where it stands. If that fails, what was there is put
// back: truncating has just freed the room it needs.
func (d Deps) overwrite(name string, content []byte) error {
	before, err := afero.ReadFile(d.FS, name)
	if err != nil {
		return err
	}
	if err = d.rewrite(name, content); err == nil {
		return nil
	}
	if again := d.rewrite(name, before); again != nil {
		return fmt.Errorf("%w, and restoring it failed too: %w", cause(err), cause(again))
	}
	return err
}

func (d Deps) rewrite(name string, content []byte) error {
	f, err := d.FS.OpenFile(name, os.O_WRONLY|os.O_TRUNC, 0)
	if err != nil {
		return err
	}
	return fill(f, content)
}

const (
	contextLines = 3
	// maxPatchEdits bounds the patch that is kept for display; the library's time
	// grows with edits times file size.
	maxPatchEdits = 500
	// maxSnippetLines is how much of a change the model is shown.
	maxSnippetLines = 60
)

// Hunk is one stretch of a change with three lines of context around it. Starts
// count from 1. Each line begins with a space, - or +, and has no line feed; a
// line "\ No newline at end of file" follows one that the file ends in without.
type Hunk struct {
	OldStart int      `json:"old_start"`
	OldLines int      `json:"old_lines"`
	NewStart int      `json:"new_start"`
	NewLines int      `json:"new_lines"`
	Lines    []string `json:"lines"`
}

const noNewline = `\ No newline at end of file`

// patchOf turns edits of a text into hunks. cut is true where there were more
// edits than are kept.
func patchOf(before string, edits []udiff.Edit) (hunks []Hunk, cut bool) {
	if len(edits) > maxPatchEdits {
		edits, cut = edits[:maxPatchEdits], true
	}
	diff, err := udiff.ToUnifiedDiff("", "", before, edits, contextLines)
	if err != nil { // only edits that overlap or lie outside give one
		return nil, false
	}
	shift := 0
	for _, h := range diff.Hunks {
		hunk := hunkOf(h.FromLine, h.Lines)
		// The library's own new line numbers lose count after joined edits.
		hunk.NewStart = hunk.OldStart + shift
		shift += hunk.NewLines - hunk.OldLines
		hunks = append(hunks, hunk)
	}
	return hunks, cut
}

func hunkOf(start int, lines []udiff.Line) Hunk {
	h := Hunk{OldStart: start}
	for _, l := range lines {
		sign := " "
		switch l.Kind {
		case udiff.Delete:
			sign = "-"
			h.OldLines++
		case udiff.Insert:
			sign = "+"
			h.NewLines++
		default:
			h.OldLines++
			h.NewLines++
		}
		content, ended := strings.CutSuffix(l.Content, "\n")
		h.Lines = append(h.Lines, sign+replaced(content))
		if !ended {
			h.Lines = append(h.Lines, noNewline)
		}
	}
	return h
}

// snippet shows the lines around a change as they are now, numbered.
func snippet(hunks []Hunk) string {
	var parts []string
	room := maxSnippetLines
	for _, h := range hunks {
		lines := h.after()
		lines = lines[:min(len(lines), room)]
		if len(lines) > 0 {
			parts = append(parts, numbered(lines, h.NewStart))
		}
		if room -= len(lines); room <= 0 {
			parts = append(parts, "[more of the change is not shown]")
			break
		}
	}
	return strings.Join(parts, "\n   ...\n")
}

// after are the hunk's lines as they are after the change.
func (h Hunk) after() []string {
	var lines []string
	for _, l := range h.Lines {
		if l[0] == ' ' || l[0] == '+' {
			lines = append(lines, strings.TrimSuffix(l[1:], "\r"))
		}
	}
	return lines
}
