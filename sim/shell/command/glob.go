package command

import (
	"regexp"

	"mvdan.cc/sh/v3/pattern"
)

// glob matches a whole name against a shell pattern as fnmatch does: * crosses slashes and leading dots.
func glob(pat, name string) bool {
	re, err := globRegexp(pat, false)
	return err == nil && re.MatchString(name)
}

func globRegexp(pat string, ignoreCase bool) (*regexp.Regexp, error) {
	mode := pattern.EntireString
	if ignoreCase {
		mode |= pattern.NoGlobCase
	}
	text, err := pattern.Regexp(pat, mode)
	if err != nil {
		return nil, err
	}
	return regexp.Compile(text)
}
