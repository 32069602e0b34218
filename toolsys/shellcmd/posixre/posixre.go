package posixre

import (
	"errors"
	"regexp"
	"strings"
)

// Syntax says which of the two POSIX grammars a pattern is written in.
type Syntax int

// The grammars: Basic is what grep and sed take by default, Extended what -E and awk take.
const (
	Basic Syntax = iota
	Extended
)

// ErrBackref is returned for a pattern that refers back to one of its own groups.
var ErrBackref = errors.New("back-references in a pattern are not supported")

// Errors for patterns that do not parse, worded as GNU words them.
var (
	errBracket   = errors.New("Unmatched [, [^, [:, [., or [=")
	errTrailing  = errors.New("Trailing backslash")
	errInterval  = errors.New("Invalid content of \\{\\}")
	errOpenGroup = errors.New("Unmatched ( or \\(")
	errEndGroup  = errors.New("Unmatched ) or \\)")
	errClass     = errors.New("Invalid character class name")
)

// Compile translates pattern and compiles it for leftmost-longest matching. A dot matches any
// character, newline included, as in sed's pattern space. The error is worded for the user of the tool.
func Compile(pattern string, syntax Syntax, ignoreCase bool) (*regexp.Regexp, error) {
	text, err := Translate(pattern, syntax)
	if err != nil {
		return nil, err
	}
	return compileRE2(text, ignoreCase, false)
}

// CompileMultiline is Compile with ^ and $ also matching at each line's ends (sed's M flag).
func CompileMultiline(pattern string, syntax Syntax, ignoreCase bool) (*regexp.Regexp, error) {
	text, err := Translate(pattern, syntax)
	if err != nil {
		return nil, err
	}
	return compileRE2(text, ignoreCase, true)
}

func compileRE2(text string, ignoreCase, multiline bool) (*regexp.Regexp, error) {
	flags := "s"
	if ignoreCase {
		flags += "i"
	}
	if multiline {
		flags += "m"
	}
	re, err := regexp.Compile("(?" + flags + ")" + text)
	if err != nil {
		return nil, wordError(err)
	}
	re.Longest()
	return re, nil
}

// wordError drops Go's prefix: the tool's own name comes before the message.
func wordError(err error) error {
	return errors.New(strings.TrimPrefix(err.Error(), "error parsing regexp: "))
}

// Translate gives pattern in Go's syntax.
func Translate(pattern string, syntax Syntax) (string, error) {
	t := translator{in: pattern, syntax: syntax}
	if err := t.run(); err != nil {
		return "", err
	}
	return t.out.String(), nil
}
