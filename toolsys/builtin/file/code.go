package file

import (
	"errors"
	"fmt"

	"toolbench/toolsys/tool"
)

// Codes of the refusals that Validate gives (A1). They are stable: hooks and
// tests tell refusals apart by them and not by their words.
const (
	CodePath       = 1  // the path is empty, cannot be made absolute, or is not local
	CodeMissing    = 2  // nothing is there
	CodeKind       = 3  // a folder where a file is needed, or the other way round
	CodeRange      = 4  // pages that make no range
	CodeNotRead    = 5  // the file exists and was not read, or only in part (B5)
	CodeChanged    = 6  // the file changed since it was read (B5)
	CodeSame       = 7  // old and new text are equal
	CodeNotFound   = 8  // the text to replace is not in the file
	CodeAmbiguous  = 9  // the text to replace is there more than once
	CodeExists     = 10 // a file is already there and has content
	CodePattern    = 11 // a glob or expression does not parse or leads out
	CodeType       = 12 // an unknown file type
	CodeNotebook   = 13 // not a notebook, or a notebook where another tool is meant
	CodeCell       = 14 // no such cell, or a cell edit that makes no sense
	CodeUnreadable = 15 // the filesystem gave an error
)

func refuse(code int, format string, args ...any) *tool.Refusal {
	return &tool.Refusal{Code: code, Message: fmt.Sprintf(format, args...)}
}

// failure is a refusal found when the call was already running: the world may
// have changed since validation, while a person was asked for permission.
func failure(r *tool.Refusal) error { return errors.New(r.Message) }
