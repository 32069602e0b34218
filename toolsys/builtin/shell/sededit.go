package shell

import (
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/spf13/afero"

	"toolbench/toolsys/permission"
	"toolbench/toolsys/shellcmd"
	"toolbench/toolsys/tool"
)

// SedEdit is what an approved `sed -i` makes of its file, worked out before it is
// done (SPEC H3), so that what a person was shown is what happens.
type SedEdit struct {
	// File is the absolute path.
	File string `json:"file"`
	// Before is the hash (tool.HashOf) of the content the edit was worked out
	// from; Content is the content after it.
	Before  string `json:"before"`
	Content string `json:"content"`
}

// errNoText is the error of an edit of what is no text.
var errNoText = errors.New("the file is not UTF-8 text")

// Simulate works out what a sed substitution makes of a file's content (SPEC
// H3). It is pure: the command's own sed is never run. Only a substitution
// without further effects can be simulated, and only on text.
func Simulate(edit shellcmd.SedEdit, file string, content []byte) (SedEdit, error) {
	program, err := shellcmd.ParseSed(edit.Script, edit.Extended)
	if err != nil {
		return SedEdit{}, fmt.Errorf("sed script: %w", err)
	}
	if !program.Substitution() {
		return SedEdit{}, fmt.Errorf("sed script %q is not a substitution", edit.Script)
	}
	if !utf8.Valid(content) {
		return SedEdit{}, errNoText
	}
	after, err := edit.Apply(string(content))
	if err != nil {
		return SedEdit{}, fmt.Errorf("sed script: %w", err)
	}
	return SedEdit{File: file, Before: tool.HashOf(content), Content: after}, nil
}

// Rewrite is the permission layer's part of H3: given a Bash call that a person
// has approved and that is one sed edit of one file, it gives the input with the
// simulated edit in it. For any other call it changes nothing and reports false.
func Rewrite(fs afero.Fs) func(t *tool.Tool, in tool.Input, c *tool.Context) (json.RawMessage, bool) {
	return func(t *tool.Tool, in tool.Input, c *tool.Context) (json.RawMessage, bool) {
		bash, ok := in.Value.(BashIn)
		if !ok || t.Name != "Bash" || bash.RunInBackground {
			return nil, false
		}
		wanted := shellcmd.Read(bash.Command, shellcmd.Env{}).SedEdit
		if wanted == nil {
			return nil, false
		}
		file := c.Abs(wanted.File)
		if permission.IsUNC(file) {
			return nil, false
		}
		content, err := afero.ReadFile(fs, file)
		if err != nil {
			return nil, false // sed words it better
		}
		edit, err := Simulate(*wanted, file, content)
		if err != nil {
			return nil, false
		}
		bash.Edit = &edit
		raw, err := json.Marshal(bash)
		return raw, err == nil
	}
}

// applyEdit puts the approved content in place, if the file is still what it was
// when that was worked out. Sed itself does not run.
func (d bash) applyEdit(in BashIn, c *tool.Context) (tool.Result[BashOut], error) {
	if !c.Approved {
		return tool.Result[BashOut]{}, errors.New("a simulated edit is applied only after the user has approved it")
	}
	if permission.IsUNC(in.Edit.File) {
		return tool.Result[BashOut]{}, fmt.Errorf("%s is on another machine; it is not edited", in.Edit.File)
	}
	if err := d.replace(*in.Edit); err != nil {
		return tool.Result[BashOut]{}, fmt.Errorf("sed: %s: %w", in.Edit.File, err)
	}
	r := tool.Done(BashOut{Dir: c.State.Dir, Edited: in.Edit.File})
	if seen, ok := c.State.Files.Get(in.Edit.File); ok && !seen.Partial && seen.Hash == in.Edit.Before {
		// Who knew the content before knows it after.
		r.Observed = []tool.Observation{tool.Seen(in.Edit.File, []byte(in.Edit.Content))}
	}
	return r, nil
}

func (d bash) replace(edit SedEdit) error {
	info, err := d.FS.Stat(edit.File)
	if err != nil {
		return err
	}
	now, err := afero.ReadFile(d.FS, edit.File)
	if err != nil {
		return err
	}
	if tool.HashOf(now) != edit.Before {
		return errors.New("it has changed since the edit was approved; run the command again")
	}
	return afero.WriteFile(d.FS, edit.File, []byte(edit.Content), info.Mode().Perm())
}
