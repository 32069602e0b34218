package cli

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"
)

// value is a flag that is checked when it is set: so the command line and its twin
// in the environment are checked alike, and the message names the one at fault.
type value[T any] struct {
	to    *T
	parse func(text string) (T, error)
	kind  string
	text  string
}

var _ pflag.Value = (*value[int])(nil)

// Set takes a text from the command line or the environment.
func (v *value[T]) Set(text string) error {
	parsed, err := v.parse(text)
	if err == nil {
		*v.to, v.text = parsed, text
	}
	return err
}

// String is what was set last, or the default.
func (v *value[T]) String() string { return v.text }

// Type is how help names the value.
func (v *value[T]) Type() string { return v.kind }

// atLeast reads whole numbers from least.
func atLeast(least int) func(string) (int, error) {
	return func(text string) (int, error) {
		n, err := strconv.Atoi(text)
		if err == nil && n < least {
			err = fmt.Errorf("it must be %d or more", least)
		}
		return n, err
	}
}

// oneOf reads one of some words.
func oneOf(words ...string) func(string) (string, error) {
	return func(text string) (string, error) {
		if slices.Contains(words, text) {
			return text, nil
		}
		return "", fmt.Errorf("use %s", strings.Join(words, ", "))
	}
}

func expression(text string) (*regexp.Regexp, error) {
	re, err := regexp.Compile(text)
	if err != nil {
		return nil, errors.New("no regular expression, " + strings.TrimPrefix(err.Error(), "error parsing regexp: "))
	}
	return re, nil
}

// part is the I-th of N; the zero value is the whole.
type part struct{ i, n int }

func shard(text string) (part, error) {
	first, second, _ := strings.Cut(text, "/")
	i, err1 := strconv.Atoi(first)
	n, err2 := strconv.Atoi(second)
	if err1 != nil || err2 != nil || i < 1 || i > n {
		return part{}, errors.New("write I/N with I from 1 to N, as 1/4")
	}
	return part{i, n}, nil
}
