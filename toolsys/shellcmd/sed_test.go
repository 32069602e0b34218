package shellcmd_test

import (
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/toolsys/shellcmd"
)

// What sed prints is compared with the machine's own sed in the simulated shell's differential test; here is what the
// classifier relies on.

func TestSedEffectsAreSeenWithoutRunning(t *testing.T) {
	for script, want := range map[string]shellcmd.SedEffects{
		"s/a/b/g;p":         {},
		"1,3d":              {},
		"r file":            {Reads: true},
		"w out":             {Writes: true},
		"s/a/b/w out":       {Writes: true},
		"/x/{s/a/b/gw o\n}": {Writes: true},
		"1e rm x":           {Runs: true},
		"s/a/b/e":           {Runs: true},
		"a w out":           {},
		"y/we/ew/":          {},
		`s1x1\d19w f;p1g`:   {Writes: true}, // the delimiter ends the number
		`saya\xaw f;pag`:    {Writes: true},
	} {
		p, err := shellcmd.ParseSed(script, false)
		require.NoError(t, err, script)
		assert.Equal(t, want, p.Effects(), script)
	}
}

// The output is GNU's.
func TestSedRangesBeginAndEndWhereGNUsDo(t *testing.T) {
	for script, want := range map[string]string{"1!{0,/3/d}": "145", "0,/3/d": "45", "1!{0,/1/d}": "1", "2,~2d": "15", "3,~2d": "125", "2,~0d": "1345"} {
		p, err := shellcmd.ParseSed(script, false)
		require.NoError(t, err, script)
		for range 2 { // a second run begins anew
			var out strings.Builder
			_, _, err = p.Run(strings.NewReader("1\n2\n3\n4\n5\n"), shellcmd.SedOptions{Out: &out})
			require.NoError(t, err, script)
			assert.Equal(t, want, strings.ReplaceAll(out.String(), "\n", ""), script)
		}
	}
}

func TestASedSubstitutionIsOneCommand(t *testing.T) {
	for script, want := range map[string]bool{"s/a/b/": true, "2s/a/b/g": true, "s/a/b/;s/c/d/": false, "d": false, "s/a/b/w f": false, "s/a/b/e": false} {
		p, err := shellcmd.ParseSed(script, false)
		require.NoError(t, err)
		assert.Equal(t, want, p.Substitution(), script)
	}
}

func TestASedScriptThatRunsCommandsDoesNotRun(t *testing.T) {
	p, err := shellcmd.ParseSed("e date", false)
	require.NoError(t, err)
	_, _, err = p.Run(strings.NewReader("x\n"), shellcmd.SedOptions{Out: io.Discard})
	assert.ErrorIs(t, err, shellcmd.ErrSedRuns)
}

func TestSedWritingNeedsAWay(t *testing.T) {
	p, err := shellcmd.ParseSed("w out", false)
	require.NoError(t, err)
	_, _, err = p.Run(strings.NewReader("x\n"), shellcmd.SedOptions{Out: io.Discard})
	assert.ErrorContains(t, err, "couldn't open file out")
}

func TestSedErrorsAreWordedAsGNUWordsThem(t *testing.T) {
	for script, want := range map[string]string{
		"s/a/b": "unterminated `s' command", "k": "unknown command: `k'", "{p": "unmatched `{'", "p}": "unexpected `}'", "b x": "can't find label for jump to `x'",
		"s/a/\\1/": "invalid reference \\1", "y/a/bc/": "different lengths", "/a": "unterminated address regex", "s/(/b/q": "unknown option to `s'", "1,p": "unexpected `,'", "pp": "extra characters after command", "1,3q": "command only uses one address",
		"0p": "invalid usage of line address 0",
	} {
		_, err := shellcmd.ParseSed(script, false)
		require.Error(t, err, script)
		assert.Contains(t, err.Error(), want, script)
	}
}

func FuzzSed(f *testing.F) {
	for _, s := range []string{"s/a/b/g", "/x/,/y/{p;d}", "$!N;P;D", ":a;s/x/y/;ta", "y/ab/ba/", "1~2a\\\ntext", "2,+3c x", "s|[/]|\\U&|2pI"} {
		f.Add(s, "line a\nline x\n")
	}
	f.Fuzz(func(t *testing.T, script, in string) {
		p, err := shellcmd.ParseSed(script, true)
		if err != nil || strings.ContainsAny(script, ":D") { // loops may be endless
			return
		}
		p.Run(strings.NewReader(in), shellcmd.SedOptions{Out: io.Discard})
	})
}

// A script that would run for ever, or double its text until the memory is full, fails.
func TestASedScriptWithoutEndFails(t *testing.T) {
	for script, want := range map[string]string{
		":a;ba": "never ends", "s/^/x\\n/;D": "never ends", ":a;s/.*/&&/;ta": "grow beyond", ":a;H;G;ba": "grow beyond",
	} {
		p, err := shellcmd.ParseSed(script, false)
		require.NoError(t, err, script)
		_, _, err = p.Run(strings.NewReader("a\n"), shellcmd.SedOptions{Out: io.Discard})
		assert.ErrorContains(t, err, want, script)
	}
}
