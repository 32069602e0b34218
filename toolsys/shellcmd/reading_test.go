package shellcmd_test

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/toolsys/shellcmd"
)

var update = flag.Bool("update", false, "write the readings that were found")

// The whole reading of many scripts is held: what is proved, every step with its texts and
// its files, and the reason where something is not proved.
func TestReadingsStay(t *testing.T) {
	text, err := os.ReadFile("testdata/scripts.txt")
	require.NoError(t, err)
	var got strings.Builder
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		if strings.HasPrefix(line, "# ") {
			continue
		}
		fmt.Fprintf(&got, "%s\n%s", line, described(read(strings.ReplaceAll(line, "⏎", "\n"))))
	}
	const file = "testdata/readings.txt"
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(got.String()), 0o644))
		return
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, string(want), got.String())
}

// described writes a reading: a line for the script and one for each step.
func described(c *shellcmd.Script) string {
	var b strings.Builder
	words := []string{c.Doubt}
	switch {
	case c.Safe:
		words[0] = "safe"
	case c.ReadOnly:
		words[0] = "read-only"
	}
	words = append(words, named([]flagged{{"search", c.Search}, {"read", c.Read}, {"list", c.List}, {"plain", c.Plain}, {"network", c.Network}})...)
	if len(c.Git) > 0 {
		words = append(words, fmt.Sprint("git ", c.Git))
	}
	if !c.Changes.None() {
		words = append(words, fmt.Sprintf("changes %+v", c.Changes))
	}
	if c.SedEdit != nil {
		words = append(words, fmt.Sprintf("edit %+v", *c.SedEdit))
	}
	fmt.Fprintf(&b, "  %s\n", strings.Join(words, "; "))
	for _, st := range c.Steps {
		b.WriteString(step(st))
	}
	return b.String()
}

func step(st shellcmd.Step) string {
	flags := named([]flagged{{"reads", st.ReadOnly}, {"construct", st.Construct}, {"leaf", st.Leaf}, {"confined", st.Confined}, {"other files", st.FilesUnknown}})
	for _, f := range st.Files {
		flags = append(flags, file(f))
	}
	if st.Opaque != "" {
		flags = append(flags, "opaque: "+st.Opaque)
	} else if st.Doubt != "" {
		flags = append(flags, "doubt: "+st.Doubt)
	}
	if st.Input != "" {
		flags = append(flags, fmt.Sprintf("input: %q", st.Input))
	}
	var other []string
	for _, r := range st.Readings {
		if r != st.Text {
			other = append(other, r)
		}
	}
	if len(other) > 0 {
		flags = append(flags, fmt.Sprintf("as %q", other))
	}
	return fmt.Sprintf("    %s — %s\n", strings.ReplaceAll(st.Text, "\n", "⏎"), strings.Join(flags, "; "))
}

func file(f shellcmd.File) string {
	text := f.Path
	if f.Tree {
		text += "/…"
	}
	return strings.Join(append([]string{text}, named([]flagged{{"(pattern)", f.Glob}, {"(names)", f.Names}, {"(written)", f.Write}})...), " ")
}

type flagged struct {
	name string
	is   bool
}

// named are the names of what is the case.
func named(all []flagged) (names []string) {
	for _, f := range all {
		if f.is {
			names = append(names, f.name)
		}
	}
	return names
}

// Commands in commands are read to a depth that is bounded, and so are brackets in brackets;
// what lies deeper is not proved.
func TestDepthIsBounded(t *testing.T) {
	nested := func(n int) string { return strings.Repeat("echo $(", n) + "ls" + strings.Repeat(")", n) }
	wrapped := func(n int) string { return strings.Repeat("command ", n) + "ls" }
	for name, script := range map[string]func(int) string{"substitutions": nested, "wrappers": wrapped} {
		assert.True(t, read(script(20)).Safe, name)
		assert.Equal(t, "nested too deeply", read(script(21)).Doubt, name)
		assert.True(t, read(strings.Repeat(script(3)+"; ", 30)+script(20)).Safe, "depth is counted, not what stands beside: %s", name)
	}
	brackets := func(n int) string { return strings.Repeat("(", n) + "ls" + strings.Repeat(")", n) }
	assert.NoError(t, read(brackets(200)+";"+brackets(200)).Err)
	assert.NoError(t, read("echo '"+strings.Repeat("(", 1000)+"'").Err)
	assert.Error(t, read("echo '"+strings.Repeat("(", 1001)+"'").Err)
	assert.NoError(t, read("echo '"+strings.Repeat("()", 1001)+"'").Err)
}

// A script of very many steps is read to its bound, and is not proved beyond it.
func TestStepsAreBounded(t *testing.T) {
	assert.True(t, read(strings.Repeat("ls;", 2000)).Safe)
	c := read(strings.Repeat("ls;", 2001))
	assert.Equal(t, "it is too long to read", c.Doubt)
	assert.Len(t, c.Steps, 2000)
	assert.True(t, c.Steps[1999].Construct)
}

// Where a command may run in several folders, git may read the configuration of any.
func TestEachFolderThatGitMayRunInIsTrusted(t *testing.T) {
	for script, dirs := range map[string][]string{
		"test -d x && cd /other; git log": {"/repo", "/other"}, "cd sub || ls; git log": {"/repo", "/repo/sub"},
		"if ls; then cd sub; fi; git log": {"/repo", "/repo/sub"}, "cd sub && git log": {"/repo/sub"},
	} {
		for _, strange := range []string{"", "/repo", "/repo/sub", "/other"} {
			env := shellcmd.Env{Dir: "/repo", Repository: func(dir string) bool { return dir != strange }}
			assert.Equal(t, !slices.Contains(dirs, strange), shellcmd.Read(script, env).ReadOnly, "%s, where %s is not trusted", script, strange)
		}
	}
}

// Without somebody who knows repositories, that of the starting folder is trusted alone.
func TestTheStartingFolderIsTrusted(t *testing.T) {
	env := shellcmd.Env{Dir: "/repo"}
	assert.True(t, shellcmd.Read("git log", env).ReadOnly)
	assert.False(t, shellcmd.Read("git -C /other log", env).ReadOnly)
	assert.False(t, shellcmd.Read("git -C sub log", env).ReadOnly)
}
