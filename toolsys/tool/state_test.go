package tool_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	_ "toolbench/property/seeded"
	"toolbench/toolsys/message"
	"toolbench/toolsys/tool"
)

func TestStateIsAValue(t *testing.T) {
	before := tool.State{Dir: "/a", Env: map[string]string{"K": "1"}, Discovered: []string{"B"}, Options: map[string]string{"theme": "dark"}}
	env := map[string]string{"K": "2"}
	after := before.WithDir("/b").WithEnv(env).Discover("A", "B").Observe(tool.Seen("/f", []byte("x"))).WithOption("theme", "light")
	env["K"] = "3"

	assert.Equal(t, tool.State{Dir: "/a", Env: map[string]string{"K": "1"}, Discovered: []string{"B"}, Options: map[string]string{"theme": "dark"}}, before)
	assert.Equal(t, map[string]string{"theme": "light"}, after.Options)
	assert.Equal(t, "/b", after.Dir)
	assert.Equal(t, map[string]string{"K": "2"}, after.Env, "the environment is copied")
	assert.Equal(t, []string{"A", "B"}, after.Discovered)
	seen, ok := after.Files.Get("/f")
	assert.True(t, ok)
	assert.Equal(t, tool.HashOf([]byte("x")), seen.Hash)
}

func TestAnOptionWithoutAValueIsNone(t *testing.T) {
	s := tool.State{}.WithOption("theme", "dark").WithOption("model", "m")
	assert.Equal(t, map[string]string{"model": "m"}, s.WithOption("theme", "").Options)
	assert.Empty(t, s.WithOption("theme", "").WithOption("model", "").WithOption("never", "").Options)
}

// What was snipped before a summary is gone with it; the message that it stands for is not.
func TestSnipsFromANumberAreThoseOfItAndBehindIt(t *testing.T) {
	s := tool.Snips{Messages: []int{1, 2, 3}, Calls: []message.CallAt{{Message: 1, ID: "a"}, {Message: 2, ID: "b"}, {Message: 3, ID: "c"}}}
	assert.Equal(t, tool.Snips{Messages: []int{2, 3}, Calls: s.Calls[1:]}, s.From(2))
	assert.Equal(t, []int{1, 2, 3}, s.Messages)
}

func TestModifiersCompose(t *testing.T) {
	step := func(s string) tool.Modifier {
		return func(st tool.State) tool.State { return st.WithDir(st.Dir + s) }
	}
	var none tool.Modifier
	assert.Equal(t, "/abc", step("a").Then(step("b")).Then(step("c"))(tool.State{Dir: "/"}).Dir)
	assert.Equal(t, "/a", none.Then(step("a"))(tool.State{Dir: "/"}).Dir)
	assert.Equal(t, "/a", step("a").Then(none)(tool.State{Dir: "/"}).Dir)
	assert.Nil(t, none.Then(none))
}

func TestRootsHaveNoDoubles(t *testing.T) {
	s := tool.State{Root: "/r", Dir: "/r", Extra: []string{"/x", "/r"}}
	assert.Equal(t, []string{"/r", "/x"}, s.Roots())
	assert.Equal(t, []string{"/r", "/r/sub", "/x"}, s.WithDir("/r/sub").Roots())
	assert.Empty(t, tool.State{}.Roots())
}

func TestFileCacheForgetsTheLeastRecent(t *testing.T) {
	var c tool.FileCache
	path := func(i int) string { return fmt.Sprintf("/f%d", i) }
	for i := range tool.FileCacheLimit {
		c = c.Put(tool.FileSeen{Path: path(i)})
	}
	full := c
	c = c.Put(tool.FileSeen{Path: path(0), Hash: "renewed"}) // now the most recent
	c = c.Put(tool.FileSeen{Path: "/new"})

	_, ok := c.Get(path(1))
	assert.False(t, ok, "the least recent is gone")
	seen, ok := c.Get(path(0))
	assert.True(t, ok, "what was renewed stays")
	assert.Equal(t, "renewed", seen.Hash)
	assert.Len(t, c.All(), tool.FileCacheLimit)
	assert.Equal(t, "/new", c.All()[tool.FileCacheLimit-1].Path)
	_, ok = full.Get(path(1))
	assert.True(t, ok, "a cache is a value: what was copied before stays")
}

// A file stands in the cache once, however often and in whatever parts it was read.
func TestAFileIsKeptOnce(t *testing.T) {
	var c tool.FileCache
	for _, f := range []tool.FileSeen{{Path: "/f", Hash: "1"}, {Path: "/f", Hash: "1", Partial: true}, {Path: "/f", Hash: "2", Partial: true}, {Path: "/f", Hash: "2"}} {
		c = c.Put(f)
		assert.Equal(t, 1, c.Len())
	}
}

func TestAPartMakesNoMoreAndNoLessOfWhatWasSeen(t *testing.T) {
	all, part := tool.FileSeen{Path: "/f", Hash: "old"}, tool.FileSeen{Path: "/f", Hash: "old", Partial: true, Offset: 3, Limit: 2}
	seen, _ := tool.FileCache{}.Put(all).Put(part).Get("/f")
	assert.Equal(t, all, seen, "a part of what is unchanged")
	part.Hash = "new"
	seen, _ = tool.FileCache{}.Put(all).Put(part).Get("/f")
	assert.Equal(t, part, seen, "of what has changed since, the part alone is known")
	seen, _ = tool.FileCache{}.Put(part).Put(tool.FileSeen{Path: "/f", Hash: "new"}).Get("/f")
	assert.False(t, seen.Partial)
}

// Observations of different things may be committed in any order (B5).
func TestPropertyObservationsCommute(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := rapid.SliceOfNDistinct(observation(), 0, 20, subject).Draw(t, "observations")
		shuffled := rapid.Permutation(all).Draw(t, "order")
		a, b := commit(all), commit(shuffled)
		assert.Equal(t, a.Discovered, b.Discovered)
		assert.ElementsMatch(t, a.Files.All(), b.Files.All())
	})
}

func commit(all []tool.Observation) (s tool.State) {
	for _, o := range all {
		s = s.Observe(o)
	}
	return s
}

func observation() *rapid.Generator[tool.Observation] {
	return rapid.Custom(func(t *rapid.T) tool.Observation {
		switch rapid.IntRange(0, 2).Draw(t, "kind") {
		case 0:
			return tool.Seen(rapid.StringN(1, 3, -1).Draw(t, "path"), rapid.SliceOf(rapid.Byte()).Draw(t, "content"))
		case 1:
			return tool.Observation{Discovered: rapid.SliceOfN(rapid.SampledFrom([]string{"A", "B", "C"}), 1, 3).Draw(t, "names")}
		}
		return tool.Observation{Task: rapid.String().Draw(t, "task")}
	})
}

// subject is what an observation is about; two of one file do not commute, the
// later one counts.
func subject(o tool.Observation) string {
	if o.Read != nil {
		return "file " + o.Read.Path
	}
	return fmt.Sprint(o.Discovered, o.Task)
}

func TestPathsAreSeenFromTheWorkingDirectory(t *testing.T) {
	c := &tool.Context{State: tool.State{Dir: "/repo/sub"}, Security: tool.Security{Home: "/home/u"}}
	for path, want := range map[string]string{
		"a.go": "/repo/sub/a.go", "../a.go": "/repo/a.go", "/etc/./x": "/etc/x", ".": "/repo/sub", "": "/repo/sub",
		"~": "/home/u", "~/n/../m": "/home/u/m", "~other": "/repo/sub/~other",
		`\\host\share`: `\\host\share`, "//host/share/../x": "//host/share/../x",
	} {
		assert.Equal(t, want, c.Abs(path), path)
	}
	c.Home = "" // as where HOME is not set
	assert.Equal(t, []string{"/repo/sub/~", "/repo/sub/~/n"}, []string{c.Abs("~"), c.Abs("~/n")})
}

// Abs gives an absolute path, and of that the same again.
func TestPropertyAbsIsIdempotent(t *testing.T) {
	c := &tool.Context{State: tool.State{Dir: "/repo"}, Security: tool.Security{Home: "/home/u"}}
	rapid.Check(t, func(t *rapid.T) {
		once := c.Abs(rapid.StringMatching(`[a~./\\]{0,12}`).Draw(t, "path"))
		require.NotEmpty(t, once)
		assert.Contains(t, `/\`, once[:1])
		assert.Equal(t, once, c.Abs(once))
	})
}

func BenchmarkFileCachePut(b *testing.B) {
	var c tool.FileCache
	for i := range tool.FileCacheLimit {
		c = c.Put(tool.FileSeen{Path: fmt.Sprint(i)})
	}
	b.ReportAllocs()
	for b.Loop() {
		c.Put(tool.FileSeen{Path: "x"})
	}
}
