package shellcmd_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// numbered writes a text again and again, with a number in it.
func numbered(n int, format string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

// A script that is written to cost much to read costs in proportion to its length, and is not called harmless
// where it is not read to its end.
func TestAScriptIsNoBurden(t *testing.T) {
	nest := func(open, mid, end string, n int) string {
		return strings.Repeat(open, n) + mid + strings.Repeat(end, n)
	}
	for name, script := range map[string]string{
		"options":          "foo " + strings.Repeat("-a ", 20_000),
		"suspects":         "xargs -Z " + strings.Repeat("b -a ", 2_000),
		"nested if":        nest("if ls; then ", "ls", "; fi", 900),
		"nested while":     nest("while ls; do ", "ls", "; done", 900),
		"nested for":       nest("for i in 1 2; do ", "ls", "; done", 900),
		"nested functions": nest("f() { ", "ls", "; }", 900),
		"nested text":      `echo "` + nest(`${x:-"`, "a", `"}`, 400) + `"`,
		"pipes":            "ls" + strings.Repeat(" | cat", 5_000),
		"doubled value":    "x=aaaaaaaa" + strings.Repeat("; x=$x$x", 40) + "; echo $x",
		"repeated value":   "x=" + strings.Repeat("a", 60_000) + "; echo " + strings.Repeat("$x", 10_000),
		"values":           numbered(2_000, "v%d=1; ls & "),
		"branches":         numbered(1_500, "v%[1]d=1; if ls; then w%[1]d=2; fi; "),
		"functions":        numbered(1_500, "f%[1]d() { x%[1]d=1; ls; }; "),
		"braces":           "echo " + strings.Repeat("{a,b}{c,d}{e,f}{g,h}{i,j}{k,l} ", 5_000),
		"words":            "echo " + strings.Repeat("a ", 100_000),
		"length":           "echo " + strings.Repeat("a", 5_000_000),
		"nested too deep":  strings.Repeat("if ls; then ", 80_000),
		"lists":            "ls" + strings.Repeat(" && ls", 170_000),
		"lists and values": "a=1; b=2; c=3; ls" + strings.Repeat(" && ls", 45_000),
		"indices":          "echo $((" + strings.Repeat("a[", 500_000),
		"doubled words":    "echo " + strings.Repeat("{a,b}", 200_000),
		"folders":          "ls" + strings.Repeat(" && cd sub", 10_000),
		"folders of git":   "git " + strings.Repeat("-C sub ", 10_000) + "log",
		"texts for jq":     "jq " + strings.Repeat("--arg a b ", 10_000) + ". f",
		"declarations":     "export " + strings.Repeat("a=b ", 20_000) + "; declare " + strings.Repeat("a=b ", 20_000),
		"backquotes":       strings.Repeat("x=`ls a`; echo \"`ls`\"; ", 30_000),
		"hashes":           strings.Repeat("x=$(echo a#b); (ls)#c\n", 30_000),
		"not not":          strings.Repeat("! ", 80_000) + "ls",
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		c := read(script)
		runtime.ReadMemStats(&after)
		assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(64<<20+2500*min(len(script), 1<<20)), name)
		assert.Truef(t, c.ReadOnly || c.Doubt != "", name)
	}
	for _, script := range []string{
		"echo " + strings.Repeat("{a,b}{c,d}{e,f}{g,h}{i,j}{k,l} ", 5_000) + "; rm f", numbered(3_000, "v%d=1; if ls; then ls; fi; ") + "rm f",
		strings.Repeat("ls; ", 2_001) + "rm f",
	} {
		c := read(script)
		assert.Equal(t, "it is too long to read", c.Doubt)
		assert.NotEmpty(t, c.Steps[len(c.Steps)-1].Opaque)
	}
	written := read("ls > f; " + numbered(1_500, "foo%d; ") + ": " + strings.Repeat("a", 200_000)).Steps // each may run what is in f
	assert.Equal(t, "it is too long to read", written[len(written)-1].Opaque)
	assert.Empty(t, read("gcc -O2 " + numbered(100, "f%d.c ")).Steps[0].Opaque)
}
