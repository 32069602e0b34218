package cli

import (
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

// selection are the flags that choose among scenarios.
type selection struct {
	grep, invert *regexp.Regexp
	tags         []string
	shard        part
	lastFailed   bool
}

func (s *selection) add(flags *pflag.FlagSet) {
	flags.VarP(&value[*regexp.Regexp]{to: &s.grep, parse: expression, kind: "REGEXP"}, "grep", "g", "only scenarios whose name or about matches")
	flags.VarP(&value[*regexp.Regexp]{to: &s.invert, parse: expression, kind: "REGEXP"}, "grep-invert", "G", "only scenarios where neither matches")
	flags.StringArrayVar(&s.tags, "tag", nil, "only scenarios with this tag, or with !TAG without it; repeatable, all must hold")
	flags.Var(&value[part]{to: &s.shard, parse: shard, kind: "I/N"}, "shard", "the I-th of N parts of the scenarios")
	flags.BoolVar(&s.lastFailed, "last-failed", false, "only scenarios that did not pass when they last ran here")
}

func (l *looks) add(flags *pflag.FlagSet) {
	flags.Var(&value[int]{to: &l.width, parse: atLeast(0), kind: "COLUMNS", text: "0"}, "width", "draw in so many columns; 0 asks the terminal")
	flags.BoolVar(&l.noColor, "no-color", false, "draw without colours")
	flags.BoolVar(&l.ascii, "ascii", false, "draw with ASCII characters only")
}

// wants tells whether an entry is chosen by its own words. A broken file has none,
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
	var chosen []entry
	for _, e := range entries {
		if s.wants(e) {
			chosen = append(chosen, e)
		}
	}
	return chosen
}

// deal gives this shard's share: every N-th, so that neighbours, which are alike
// in cost, are spread.
func (s selection) deal(entries []entry) []entry {
	if s.shard.n == 0 {
		return entries
	}
	var dealt []entry
	for i, e := range entries {
		if i%s.shard.n == s.shard.i-1 {
			dealt = append(dealt, e)
		}
	}
	return dealt
}
