package shellcmd_test

import (
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	_ "toolbench/property/seeded"
	"toolbench/toolsys/shellcmd"
)

// The two grammars of POSIX.
const basic, extended = false, true

func TestMatchesWhatPOSIXMatches(t *testing.T) {
	for _, c := range []struct {
		pattern string
		grammar bool
		in      string
		want    string // the match; "-" for none
	}{
		{"a+", basic, "aa+", "a+"}, {`a\+`, basic, "aa+", "aa"}, {"a+", extended, "aa+", "aa"},
		{"a|b", basic, "xa|b", "a|b"}, {`a\|b`, basic, "xb", "b"}, {"(a)", basic, "(a)", "(a)"},
		{`\(ab\)*`, basic, "ababa", "abab"}, {"a{2}", extended, "aaa", "aa"}, {`a\{2\}`, basic, "aaa", "aa"}, {"a{2}", basic, "a{2}", "a{2}"},
		{"a{,2}", extended, "aaa", "aa"}, {"a{x}", extended, "a{x}", "a{x}"},
		{"*a", basic, "*a", "*a"}, {"a**", basic, "aa", "aa"}, {"a+?", extended, "", ""},
		{"x^a", basic, "x^a", "x^a"}, {"a$b", basic, "a$b", "a$b"}, {"^a$", basic, "a", "a"},
		{"[]a]", basic, "]", "]"}, {"[^]a]", basic, "]ab", "b"}, {`[\n]`, basic, `\`, `\`}, {"[a-]", basic, "-", "-"}, {"[[:digit:]x]+", extended, "a1x2", "1x2"},
		{"[a&&b]", basic, "&", "&"}, {"[[.].]]", basic, "]", "]"},
		{`\<b`, basic, "ab b", "b"}, {`\w\+`, basic, "-a_1-", "a_1"}, {"a.c", basic, "a\nc", "a\nc"},
		{"ab|abcd|abc", extended, "abcde", "abcd"}, {"é+", extended, "éé", "éé"}, {`\.`, extended, "a.", "."},
	} {
		re, err := shellcmd.CompileSedRegexp(c.pattern, c.grammar, false, false)
		require.NoError(t, err, c.pattern)
		got := "-"
		if loc := re.FindStringIndex(c.in); loc != nil {
			got = c.in[loc[0]:loc[1]]
		}
		assert.Equal(t, c.want, got, "%s in %q", c.pattern, c.in)
	}
}

func TestWhatCannotBeTranslatedIsRefused(t *testing.T) {
	_, err := shellcmd.CompileSedRegexp(`\(a\)\1`, basic, false, false)
	assert.ErrorIs(t, err, shellcmd.ErrBackref)
	for _, pattern := range []string{"[", "[a", "(", ")", `a\`, "[[:nope:]]", "[[:alpha:"} {
		_, err := shellcmd.CompileSedRegexp(pattern, extended, false, false)
		assert.Error(t, err, pattern)
	}
}

// TestPlainTextMatchesItself: quoting every character gives a pattern for exactly that text.
func TestPlainTextMatchesItself(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.StringMatching(`[a-zA-Z0-9 .*+?(){}|^$/\[\]-]{1,20}`).Draw(t, "text")
		pattern := regexp.MustCompile(`[.*\[\]^$\\]`).ReplaceAllString(s, `\$0`)
		re, err := shellcmd.CompileSedRegexp("^"+pattern+"$", basic, false, false)
		require.NoError(t, err)
		require.True(t, re.MatchString(s), "%q %q", pattern, s)
	})
}

func FuzzTranslate(f *testing.F) {
	for _, s := range []string{`a\{1,2\}`, "[^]a-z[:alpha:]]*", "(a|b)+?", `\(x\)\|^y$`, "a**"} {
		f.Add(s, true)
		f.Add(s, false)
	}
	f.Fuzz(func(t *testing.T, s string, extended bool) {
		shellcmd.CompileSedRegexp(s, extended, false, false)
	})
}
