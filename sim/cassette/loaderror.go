package cassette

import (
	"errors"
	"fmt"
	"strings"
)

// The kinds of LoadError, for errors.Is.
var (
	ErrMissing     = errors.New("no such cassette")
	ErrEmpty       = errors.New("empty cassette")
	ErrBinary      = errors.New("binary file")
	ErrTooLarge    = errors.New("cassette over a limit")
	ErrTruncated   = errors.New("truncated cassette")
	ErrSyntax      = errors.New("invalid YAML")
	ErrNotCassette = errors.New("not a go-vcr cassette") // perhaps another recorder's file
	ErrInvalid     = errors.New("invalid cassette")
)

// LoadError says what is wrong with a cassette, where, and what to do (O9).
type LoadError struct {
	File         string
	Line, Column int    // from 1; 0 where the place is the file as a whole
	Problem      string // what was found
	Remedy       string // what to do about it
	Kind         error  // one of the sentinels above
	Cause        error  // what a library said, or nil
}

// Error gives "file:line:column: problem: cause; remedy".
func (e *LoadError) Error() string {
	var b strings.Builder
	b.WriteString(e.File)
	if e.Line > 0 {
		fmt.Fprintf(&b, ":%d:%d", e.Line, max(e.Column, 1))
	}
	b.WriteString(": " + e.Problem)
	if e.Cause != nil {
		b.WriteString(": " + e.Cause.Error())
	}
	if e.Remedy != "" {
		b.WriteString("; " + e.Remedy)
	}
	return b.String()
}

// Unwrap gives the kind and the cause.
func (e *LoadError) Unwrap() []error {
	if e.Cause == nil {
		return []error{e.Kind}
	}
	return []error{e.Kind, e.Cause}
}

const (
	recordAgain = "record it again"
	restore     = "restore it from version control or record it again"
)
