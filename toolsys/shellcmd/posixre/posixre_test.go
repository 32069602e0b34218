package posixre_test

import (
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"toolbench/toolsys/shellcmd/posixre"
)

func TestMatchesWhatPOSIXMatches(t *testing.T) {
	for _, c := range []struct {
		pattern string
		syntax  posixre.Syntax
		in      string
		want    string // the match; "-" for none
	}{
		{"a+", posixre.Basic, "aa+", "a+"}, {`a\+`, posixre.Basic, "aa+", "aa"}, {"a+", posixre.Extended, "aa+", "aa"},
		{"a|b", posixre.Basic, "xa|b", "a|b"}, {`a\|b`, posixre.Basic, "xb", "b"}, {"(a)", posixre.Basic, "(a)", "(a)"},
		{`\(ab\)*`, posixre.Basic, "ababa", "abab"}, {"a{2}", posixre.Extended, "aaa", "aa"}, {`a\{2\}`, posixre.Basic, "aaa", "aa"}, {"a{2}", posixre.Basic, "a{2}", "a{2}"},
		{"a{,2}", posixre.Extended, "aaa", "aa"}, {"a{x}", posixre.Extended, "a{x}", "a{x}"},
		{"*a", posixre.Basic, "*a", "*a"}, {"a**", posixre.Basic, "aa", "aa"}, {"a+?", posixre.Extended, "", ""},
		{"x^a", posixre.Basic, "x^a", "x^a"}, {"a$b", posixre.Basic, "a$b", "a$b"}, {"^a$", posixre.Basic, "a", "a"},
		{"[]a]", posixre.Basic, "]", "]"}, {"[^]a]", posixre.Basic, "]ab", "b"}, {`[\n]`, posixre.Basic, `\`, `\`}, {"[a-]", posixre.Basic, "-", "-"}, {"[[:digit:]x]+", posixre.Extended, "a1x2", "1x2"},
		{"[a&&b]", posixre.Basic, "&", "&"}, {"[[.].]]", posixre.Basic, "]", "]"},
		{`\<b`, posixre.Basic, "ab b", "b"}, {`\w\+`, posixre.Basic, "-a_1-", "a_1"}, {"a.c", posixre.Basic, "a\nc", "a\nc"},
		{"ab|abcd|abc", posixre.Extended, "abcde", "abcd"}, {"é+", posixre.Extended, "éé", "éé"}, {`\.`, posixre.Extended, "a.", "."},
	} {
		re, err := posixre.Compile(c.pattern, c.syntax, false)
		require.NoError(t, err, c.pattern)
		got := "-"
		if loc := re.FindStringIndex(c.in); loc != nil {
			got = c.in[loc[0]:loc[1]]
		}
		assert.Equal(t, c.want, got, "%s in %q", c.pattern, c.in)
	}
}

func TestWhatCannotBeTranslatedIsRefused(t *testing.T) {
	_, err := posixre.Compile(`\(a\)\1`, posixre.Basic, false)
	assert.ErrorIs(t, err, posixre.ErrBackref)
	for _, pattern := range []string{"[", "[a", "(", ")", `a\`, "[[:nope:]]", "[[:alpha:"} {
		_, err := posixre.Compile(pattern, posixre.Extended, false)
		assert.Error(t, err, pattern)
	}
}

// TestPlainTextMatchesItself: quoting every character gives a pattern for exactly that text.
func TestPlainTextMatchesItself(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.StringMatching(`[a-zA-Z0-9 .*+?(){}|^$/\[\]-]{1,20}`).Draw(t, "text")
		pattern := regexp.MustCompile(`[.*\[\]^$\\]`).ReplaceAllString(s, `\$0`)
		re, err := posixre.Compile("^"+pattern+"$", posixre.Basic, false)
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
		syntax := posixre.Basic
		if extended {
			syntax = posixre.Extended
		}
		posixre.Compile(s, syntax, false)
		posixre.Compile(posixre.UnescapeBrackets(s), posixre.Extended, true)
	})
}
