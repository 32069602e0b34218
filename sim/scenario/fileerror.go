package scenario

import (
	"errors"
	"fmt"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
)

// FileError says what is wrong with a scenario's file, where, and what to do.
type FileError struct {
	File         string
	Line, Column int
	Problem      string
	Remedy       string
}

func (e *FileError) Error() string {
	var b strings.Builder
	b.WriteString(e.File)
	if e.Line > 0 {
		fmt.Fprintf(&b, ":%d:%d", e.Line, e.Column)
	}
	b.WriteString(": " + e.Problem)
	if e.Remedy != "" {
		b.WriteString("; " + e.Remedy)
	}
	return b.String()
}

// nodeError is a problem of one node, on its way to becoming a FileError.
type nodeError struct {
	line, column int
	err          error
}

func (e *nodeError) Error() string { return e.err.Error() }
func (e *nodeError) Unwrap() error { return e.err }

func problem(n ast.Node, err error) error {
	e := &nodeError{err: err}
	if t := n.GetToken(); t != nil && t.Position != nil {
		e.line, e.column = t.Position.Line, t.Position.Column
	}
	return e
}

// fileError words what the YAML library says for people, and finds the place.
func fileError(file string, err error) *FileError {
	out := &FileError{File: file, Problem: err.Error()}
	var own *nodeError
	var lib yaml.Error
	switch {
	case errors.As(err, &own):
		out.Line, out.Column, out.Problem = own.line, own.column, own.err.Error()
	case errors.As(err, &lib):
		if t := lib.GetToken(); t != nil && t.Position != nil {
			out.Line, out.Column = t.Position.Line, t.Position.Column
		}
		out.Problem = lib.GetMessage()
	}
	out.Remedy = remedy(err, out)
	return out
}

func remedy(err error, e *FileError) string {
	var unknown *yaml.UnknownFieldError
	var twice *yaml.DuplicateKeyError
	var kind *yaml.TypeError
	var syntax *yaml.SyntaxError
	switch {
	case errors.Is(err, errTooMuch):
		return "a scenario is small; write it out without aliases of aliases"
	case errors.As(err, &unknown):
		return nearestKey(e.Problem)
	case errors.As(err, &twice) || strings.Contains(e.Problem, "already defined"):
		return "keep one of the two"
	case errors.As(err, &kind):
		return "see `toolbench schema scenario` for what belongs here"
	case errors.As(err, &syntax):
		return "the file is not valid YAML from there on; is it cut off?"
	}
	return ""
}
