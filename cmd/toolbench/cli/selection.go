package cli

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

// selection are the flags that choose among scenarios.
type selection struct {
	grep, invert string
	tags         []string
	shard        string
	lastFailed   bool
}

func (s *selection) add(flags *pflag.FlagSet) {
	flags.StringVarP(&s.grep, "grep", "g", "", "only scenarios whose name or about matches this regular expression")
	flags.StringVarP(&s.invert, "grep-invert", "G", "", "only scenarios where neither matches")
	flags.StringArrayVar(&s.tags, "tag", nil, "only scenarios with this tag, or with !TAG without it; repeatable, and all must hold")
	flags.StringVar(&s.shard, "shard", "", "the I-th of N parts of the scenarios: I/N")
	flags.BoolVar(&s.lastFailed, "last-failed", false, "only scenarios that did not pass when they last ran here")
}

func (l *looks) add(flags *pflag.FlagSet) {
	flags.IntVar(&l.width, "width", 0, "columns to draw in; 0 asks the terminal")
	flags.BoolVar(&l.noColor, "no-color", false, "draw without colours")
	flags.BoolVar(&l.ascii, "ascii", false, "draw with ASCII characters only")
}

// filter says which entries are wanted.
type filter struct {
	grep, invert *regexp.Regexp
	with         []string
	without      []string
	part, parts  int
}

// filter reads the flags; what cannot be read is a usage error that names the flag.
func (s selection) filter() (filter, error) {
	var f filter
	var err error
	if f.grep, err = expression("--grep", s.grep); err != nil {
		return f, err
	}
	if f.invert, err = expression("--grep-invert", s.invert); err != nil {
		return f, err
	}
	if f.part, f.parts, err = shard(s.shard); err != nil {
		return f, err
	}
	for _, tag := range s.tags {
		if unwanted, ok := strings.CutPrefix(tag, "!"); ok {
			f.without = append(f.without, unwanted)
		} else {
			f.with = append(f.with, tag)
		}
	}
	return f, nil
}

func expression(flag, text string) (*regexp.Regexp, error) {
	if text == "" {
		return nil, nil
	}
	re, err := regexp.Compile(text)
	if err != nil {
		return nil, usage("%s %q is no regular expression: %s", flag, text, strings.TrimPrefix(err.Error(), "error parsing regexp: "))
	}
	return re, nil
}

func shard(text string) (part, parts int, err error) {
	if text == "" {
		return 1, 1, nil
	}
	rest := ""
	if n, err := fmt.Sscanf(text+"\n", "%d/%d%s", &part, &parts, &rest); n != 2 || err == nil || part < 1 || part > parts {
		return 0, 0, usage("--shard %q is no part: write I/N with I from 1 to N, as 1/4", text)
	}
	return part, parts, nil
}

// wants tells whether an entry is chosen by its own words. A broken file has none,
// and is always wanted: it must not slip through a filter.
func (f filter) wants(e entry) bool {
	if e.broken != nil {
		return true
	}
	matches := func(re *regexp.Regexp) bool { return re.MatchString(e.Name) || re.MatchString(e.About) }
	if f.grep != nil && !matches(f.grep) || f.invert != nil && matches(f.invert) {
		return false
	}
	for _, tag := range f.with {
		if !slices.Contains(e.Tags, tag) {
			return false
		}
	}
	return !slices.ContainsFunc(f.without, func(tag string) bool { return slices.Contains(e.Tags, tag) })
}

// choose keeps the wanted entries, in their order, without dealing them out.
func (f filter) choose(entries []entry) []entry {
	var chosen []entry
	for _, e := range entries {
		if f.wants(e) {
			chosen = append(chosen, e)
		}
	}
	return chosen
}

// deal gives this shard's share: every N-th, so that neighbours, which are alike
// in cost, are spread.
func (f filter) deal(entries []entry) []entry {
	var dealt []entry
	for i, e := range entries {
		if i%f.parts == f.part-1 {
			dealt = append(dealt, e)
		}
	}
	return dealt
}
