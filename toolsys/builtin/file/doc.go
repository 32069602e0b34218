// Package file holds the built-in tools that work on files: Read, Write, Edit,
// Glob, Grep and NotebookEdit (SPEC L, L6, B5).
//
// They are one family because they share what is hard about files and easy to get
// wrong in each alone: which file a name means, what its bytes are as text, when
// a change would overwrite something nobody looked at, and how to replace a file
// so that a full disk loses nothing. Each of these is a file here, and a tool is
// little more than the order in which it asks them.
//
// Two rules hold for all six. A UNC path passes validation without a look and is
// refused by the call; between the two stands permission, and no filesystem call
// is ever made for one (L6). What a call learned of a file, it reports as an
// observation; it never remembers anything itself (B5).
//
// What the family does not do: it does not lock files against other programs, so
// a change from outside between the last look and the write is lost; a replaced
// file is a new one to hard links; and text in encodings other than UTF-8 and
// UTF-16 is shown with its foreign bytes replaced.
package file

import (
	"embed"

	"toolbench/toolsys/tool"
)

//go:embed *.md
var promptFiles embed.FS

var prompts = tool.ReadPrompts(promptFiles)
