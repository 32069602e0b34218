package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// value is a flag that is checked when it is set: so the command line and its variable
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

// repeatableFlag is a flag that switches one thing on and, given again, another one too.
type repeatableFlag struct{ first, second *bool }

// Set takes what a switch does.
func (v *repeatableFlag) Set(text string) error {
	on, err := strconv.ParseBool(text)
	if err == nil {
		*v.first, *v.second = on, *v.second || on && *v.first
	}
	return err
}

// String is whether it is on.
func (v *repeatableFlag) String() string { return strconv.FormatBool(v.first != nil && *v.first) }

// Type is that of a switch.
func (v *repeatableFlag) Type() string { return "bool" }

// choice is a flag that takes one of some words; it has the first or what it was set to.
func choice(to *string, kind string, words ...string) *value[string] {
	return &value[string]{to: to, parse: oneOf(words...), kind: kind, text: *to}
}

// number is a flag that takes whole numbers from least; it has what it was set to.
func number(to *int, least int) *value[int] {
	return &value[int]{to: to, parse: atLeast(least), kind: "N", text: strconv.Itoa(*to)}
}

// period is a flag that takes durations from least; it has what it was set to.
func period(to *time.Duration, least time.Duration) *value[time.Duration] {
	v := &value[time.Duration]{to: to, parse: from(least, time.ParseDuration), kind: "duration"}
	if *to > 0 {
		v.text = to.String()
	}
	return v
}

// repeatable adds a flag that can be given several times.
func repeatable(flags *pflag.FlagSet, to *[]string, name, about string) {
	flags.StringArrayVar(to, name, nil, about+"; repeatable")
}

// own adds a flag that takes other values than its namesake of run, which owns the
// variable.
func own(flags *pflag.FlagSet, v pflag.Value, name, about string) {
	flags.VarPF(v, name, "", about).Annotations = map[string][]string{ownValues: nil}
}

// atLeast reads whole numbers from least.
func atLeast(least int) func(string) (int, error) { return from(least, strconv.Atoi) }

// from bounds what is parsed from below.
func from[T int | time.Duration](least T, parse func(string) (T, error)) func(string) (T, error) {
	return func(text string) (T, error) {
		x, err := parse(text)
		if err == nil && x < least {
			err = fmt.Errorf("it must be %v or more", least)
		}
		return x, err
	}
}

// upTo reads numbers from 0 to most.
func upTo(most float64) func(string) (float64, error) {
	return func(text string) (float64, error) {
		x, err := strconv.ParseFloat(text, 64)
		if err == nil && !(x >= 0 && x <= most) {
			err = fmt.Errorf("it must be from 0 to %g", most)
		}
		return x, err
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

// splitList gives the words of a list with commas.
func splitList(text string) []string { return each(strings.Split(text, ","), strings.TrimSpace) }

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

// givenFlags gives flags that the command line leaves open their values from the
// environment and, after it, from the project's file.
func (a *app) givenFlags(cmd *cobra.Command) (err error) {
	if err := a.envFlags(cmd.Flags()); err != nil {
		return err
	}
	if child := cmd.Flags().Lookup("child"); child != nil && child.Changed {
		return nil // its parent has decided all
	}
	if a.config, err = a.findConfig(); err != nil {
		return err
	}
	return a.apply(cmd)
}

// envFlags gives each flag that the command line leaves open its value from the
// environment. A bad value is an error that names the variable.
func (a *app) envFlags(flags *pflag.FlagSet) error {
	var wrong []error
	flags.VisitAll(func(f *pflag.Flag) {
		if _, other := f.Annotations[ownValues]; f.Changed || f.Name == "help" || other {
			return
		}
		variable := envVariable(f.Name)
		value, ok := a.lookup(variable)
		if !ok || value == "" {
			return
		}
		a.fromEnv[f.Name] = true
		for _, part := range parts(f, value) {
			if err := flags.Set(f.Name, part); err != nil {
				wrong = append(wrong, usage("%s=%q is no value for --%s: %s", variable, value, f.Name, cause(err)))
				return
			}
		}
	})
	return errors.Join(wrong...)
}

// ownValues marks what own adds.
const ownValues = "own-values"

// checkNames refuses to write in the place of a file that the command reads, and texts that are empty, as of a
// variable that nobody set: they would name this folder, or take a gate away.
func (a *app) checkNames(cmd *cobra.Command, args []string) error {
	read, written, empty := slices.Clone(args), []string{}, ""
	cmd.Flags().Visit(func(f *pflag.Flag) {
		values, to := []string{f.Value.String()}, &read
		switch v := f.Value.(type) {
		case pflag.SliceValue:
			values = v.GetSlice()
		case *outputs:
			values = each(v.files, func(out fileOutput) string { return out.file })
		}
		if slices.Contains([]string{"format", "save", "report"}, f.Name) {
			to = &written
		}
		*to = append(*to, values...)
		if strings.HasPrefix(f.Value.Type(), "string") && slices.Contains(values, "") {
			empty = f.Name
		}
	})
	if empty != "" {
		return usage("--%s is empty; write a value, or leave it out", empty)
	}
	for _, file := range written {
		if a.isOneOf(file, read) {
			return usage("%s: it is read here, and would be lost; name another file", file)
		}
	}
	return nil
}

// isOneOf reports whether a name, however it is spelt, leads to one of some files, or to a scenario or a recording that
// is found below one of some folders. A report of before may lie there.
func (a *app) isOneOf(name string, read []string) bool {
	file := a.absolute(name)
	if info, err := os.Stat(file); err != nil || !info.Mode().IsRegular() {
		return false
	}
	for at, below := file, ""; at != below; at, below = filepath.Dir(at), at {
		info, err := os.Stat(at)
		if err == nil && slices.ContainsFunc(read, func(one string) bool {
			other, err := os.Stat(a.path(one))
			return err == nil && os.SameFile(info, other)
		}) {
			conversations, err := a.conversations(found{path: name})
			return at == file || isYAML(name) || len(conversations) > 0 || err != nil
		}
	}
	return false
}

// envVariable is the variable that stands for a flag.
func envVariable(flag string) string {
	return "TOOLBENCH_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// parts are the values of a variable: several for a flag that can be repeated.
func parts(f *pflag.Flag, value string) []string {
	switch f.Value.(type) {
	case pflag.SliceValue, *outputs:
		return strings.Split(value, ",")
	}
	return []string{value}
}

// cause is the parser's reason without the names of its functions, and what to write where it gives none.
func cause(err error) error {
	if invalid, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		err = invalid.Unwrap()
	}
	number, ok := errors.AsType[*strconv.NumError](err)
	switch {
	case ok && number.Err == strconv.ErrSyntax:
		return numbers[number.Func]
	case ok:
		return number.Err
	case strings.HasPrefix(err.Error(), "time: "):
		return errors.New("write a time with its unit, as 30s or 10m")
	}
	return err
}

// numbers are what the parsers of the standard library take.
var numbers = map[string]error{
	"Atoi": errors.New("write a whole number"), "ParseUint": errors.New("write a whole number, 0 or more"),
	"ParseFloat": errors.New("write a number"), "ParseBool": errors.New("write true or false"),
}

// selection are the flags that choose among scenarios.
type selection struct {
	grep, invert *regexp.Regexp
	tags         []string
	shard        part
	times        string
	lastFailed   bool
}

func (s *selection) add(flags *pflag.FlagSet) {
	flags.VarP(&value[*regexp.Regexp]{to: &s.grep, parse: expression, kind: "REGEXP"}, "grep", "g", "only scenarios whose name or about matches")
	flags.VarP(&value[*regexp.Regexp]{to: &s.invert, parse: expression, kind: "REGEXP"}, "grep-invert", "G", "only scenarios where neither matches")
	flags.StringArrayVar(&s.tags, "tag", nil, "only scenarios with this tag, or with !TAG without it; repeatable, all must hold")
	flags.Var(&value[part]{to: &s.shard, parse: shard, kind: "I/N"}, "shard", "the I-th of N parts of the scenarios")
	flags.StringVar(&s.times, "times", "", "an earlier JSON report of run, by whose real times --shard makes parts alike")
	flags.BoolVar(&s.lastFailed, "last-failed", false, "only scenarios that did not pass when they last ran here")
}

func (l *displayFlags) add(flags *pflag.FlagSet) {
	flags.Var(&value[int]{to: &l.width, parse: atLeast(0), kind: "COLUMNS", text: "0"}, "width", "draw in so many columns; 0 asks the terminal")
	flags.BoolVar(&l.wide, "wide", false, "draw as wide as it comes: shorten and fold nothing")
	flags.BoolVar(&l.noColor, "no-color", false, "draw without colours")
	flags.BoolVar(&l.ascii, "ascii", false, "draw with ASCII characters only")
}

// wants reports whether an entry is chosen by its own words. A broken file has none,
// and is always wanted: it must not slip through a filter.
func (s selection) wants(e entry) bool {
	if e.broken != nil {
		return true
	}
	matches := func(re *regexp.Regexp) bool { return re.MatchString(e.Name) || re.MatchString(e.About) }
	if s.grep != nil && !matches(s.grep) || s.invert != nil && matches(s.invert) {
		return false
	}
	return !slices.ContainsFunc(s.tags, func(tag string) bool {
		unwanted, without := strings.CutPrefix(tag, "!")
		return without == slices.Contains(e.Tags, unwanted)
	})
}

// choose keeps the wanted entries, in their order, without dealing them out.
func (s selection) choose(entries []entry) []entry {
	return slices.DeleteFunc(slices.Clone(entries), func(e entry) bool { return !s.wants(e) })
}

// deal gives this shard's share: every N-th, so that neighbours, which are alike
// in cost, are spread.
func (s selection) deal(entries []entry) []entry {
	if s.shard.n == 0 {
		return entries
	}
	var dealt []entry
	for i := s.shard.i - 1; i < len(entries); i += s.shard.n {
		dealt = append(dealt, entries[i])
	}
	return dealt
}
