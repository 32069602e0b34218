package sed_test

import (
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/toolsys/shellcmd/sed"
)

// What sed prints is compared with the machine's own sed in the simulated shell's differential test; here is what the
// classifier relies on.

func TestEffectsAreSeenWithoutRunning(t *testing.T) {
	for script, want := range map[string]sed.Effects{
		"s/a/b/g;p":         {},
		"1,3d":              {},
		"r file":            {},
		"w out":             {Writes: true},
		"s/a/b/w out":       {Writes: true},
		"/x/{s/a/b/gw o\n}": {Writes: true},
		"1e rm x":           {Runs: true},
		"s/a/b/e":           {Runs: true},
		"a w out":           {},
		"y/we/ew/":          {},
	} {
		p, err := sed.Parse(script, false)
		require.NoError(t, err, script)
		assert.Equal(t, want, p.Effects(), script)
	}
}

func TestASubstitutionIsOneCommand(t *testing.T) {
	for script, want := range map[string]bool{"s/a/b/": true, "2s/a/b/g": true, "s/a/b/;s/c/d/": false, "d": false, "s/a/b/w f": false, "s/a/b/e": false} {
		p, err := sed.Parse(script, false)
		require.NoError(t, err)
		assert.Equal(t, want, p.Substitution(), script)
	}
}

func TestAScriptThatRunsCommandsDoesNotRun(t *testing.T) {
	p, err := sed.Parse("e date", false)
	require.NoError(t, err)
	_, _, err = p.Run(strings.NewReader("x\n"), sed.Options{Out: io.Discard})
	assert.ErrorIs(t, err, sed.ErrRuns)
}

func TestWritingNeedsAWay(t *testing.T) {
	p, err := sed.Parse("w out", false)
	require.NoError(t, err)
	_, _, err = p.Run(strings.NewReader("x\n"), sed.Options{Out: io.Discard})
	assert.ErrorContains(t, err, "couldn't open file out")
}

func TestErrorsAreWordedAsGNUWordsThem(t *testing.T) {
	for script, want := range map[string]string{
		"s/a/b": "unterminated `s' command", "k": "unknown command: `k'", "{p": "unmatched `{'", "p}": "unexpected `}'", "b x": "can't find label for jump to `x'",
		"s/a/\\1/": "invalid reference \\1", "y/a/bc/": "different lengths", "/a": "unterminated address regex", "s/(/b/q": "unknown option to `s'", "1,p": "unexpected `,'", "pp": "extra characters after command",
		"0p": "invalid usage of line address 0",
	} {
		_, err := sed.Parse(script, false)
		require.Error(t, err, script)
		assert.Contains(t, err.Error(), want, script)
	}
}

func FuzzParseAndRun(f *testing.F) {
	for _, s := range []string{"s/a/b/g", "/x/,/y/{p;d}", "$!N;P;D", ":a;s/x/y/;ta", "y/ab/ba/", "1~2a\\\ntext", "2,+3c x", "s|[/]|\\U&|2pI"} {
		f.Add(s, "line a\nline x\n")
	}
	f.Fuzz(func(t *testing.T, script, in string) {
		p, err := sed.Parse(script, true)
		if err != nil || strings.ContainsAny(script, ":D") { // loops may be endless
			return
		}
		p.Run(strings.NewReader(in), sed.Options{Out: io.Discard})
	})
}

// A script that would run for ever, or double its text until the memory is full, fails.
func TestAScriptWithoutEndFails(t *testing.T) {
	for script, want := range map[string]string{
		":a;ba": "never ends", "s/^/x\\n/;D": "never ends", ":a;s/.*/&&/;ta": "grow beyond", ":a;H;G;ba": "grow beyond",
	} {
		p, err := sed.Parse(script, false)
		require.NoError(t, err, script)
		_, _, err = p.Run(strings.NewReader("a\n"), sed.Options{Out: io.Discard})
		assert.ErrorContains(t, err, want, script)
	}
}
