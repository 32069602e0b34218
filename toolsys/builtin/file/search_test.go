package file_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"toolbench/toolsys/builtin/file"
	"toolbench/toolsys/permission"
	"toolbench/toolsys/pipeline"
	"toolbench/toolsys/tool"
)

// webapp has what a search has to step round: hidden files, .git, ignored files,
// links that lead out, and a folder nobody may read.
const webapp = `
-- a.go --
package a // TODO one
-- b.txt --
nothing
-- .env --
KEY=TODO
-- .git/config --
TODO in git
-- .gitignore --
# comment
dist/
*.log
!keep.log
/only-here
docs/**/*.tmp
-- only-here --
TODO
-- src/only-here --
TODO
-- src/main.go --
package main

func main() {
	// TODO two
	run() // todo three
}
-- src/main_test.go --
package main // TODO four
-- src/app.ts --
let x = 1 // TODO five
-- src/.gitignore --
app.gen.ts
-- src/app.gen.ts --
TODO generated
-- dist/out.js --
TODO built
-- x.log --
TODO log
-- keep.log --
TODO kept
-- docs/a/b/c.tmp --
TODO tmp
-- docs/read me.md --
TODO read
-- inner -> src/main.go --
-- outer -> /etc/passwd --
-- loop -> src --
-- locked/ (0000) --
-- locked/x.go --
TODO locked
`

func glob(w *workplace, input map[string]any) file.GlobOut {
	w.t.Helper()
	a := w.call(file.Glob(w.deps()), input)
	require.NoError(w.t, a.err)
	return a.Data.(file.GlobOut)
}

func TestGlobListsFiles(t *testing.T) {
	w := newWorkplace(t, webapp)
	require.NoError(t, w.fs.Mkdir("/etc", 0o755))
	w.put("/etc/passwd", "outside")
	for pattern, want := range map[string][]string{
		"*.go":                {"a.go"},
		"./*.go":              {"a.go"},
		"**/*.go":             {"a.go", "src/main.go", "src/main_test.go"},
		"src/*":               {"src/.gitignore", "src/app.gen.ts", "src/app.ts", "src/main.go", "src/main_test.go", "src/only-here"},
		"src/*.{ts,go}":       {"src/app.gen.ts", "src/app.ts", "src/main.go", "src/main_test.go"},
		"s?c/[am]*.go":        {"src/main.go", "src/main_test.go"},
		"**/.*":               {".env", ".gitignore", "src/.gitignore"},
		".git/**":             {},
		"{inner,outer,loop}*": {"inner"},
		"src":                 {},
		"docs/**":             {"docs/a/b/c.tmp", "docs/read me.md"},
		"/repo/src/main*.go":  {"src/main.go", "src/main_test.go"},
		"/repo/a.go":          {"a.go"},
		"**/nothing-such":     {},
	} {
		assert.Equal(t, want, glob(w, map[string]any{"pattern": pattern}).Files, pattern)
	}
	assert.Equal(t, []string{"src/app.ts"}, glob(w, map[string]any{"pattern": "app.ts", "path": "src"}).Files, "paths are relative to the working directory")
	assert.Equal(t, "No files found.", w.ok(file.Glob(w.deps()), map[string]any{"pattern": "*.zig"}))
	assert.Contains(t, w.ok(file.Glob(w.deps()), map[string]any{"pattern": "**/x.go"}), "[1 folder could not be read.]")
	w.c.State.Dir = "/elsewhere"
	assert.Equal(t, []string{"/repo/a.go"}, glob(w, map[string]any{"pattern": "*.go", "path": "/repo"}).Files)
}

func TestGlobPutsTheNewestFirst(t *testing.T) {
	w := newWorkplace(t, "-- b --\n-- c --\n-- a --\n")
	assert.Equal(t, []string{"a", "b", "c"}, glob(w, map[string]any{"pattern": "*"}).Files)
	require.NoError(t, w.fs.Chtimes("/repo/c", time.Unix(9, 0), time.Unix(9, 0)))
	assert.Equal(t, []string{"c", "a", "b"}, glob(w, map[string]any{"pattern": "*"}).Files)
}

func TestGlobListsAHundred(t *testing.T) {
	w := newWorkplace(t, "")
	for i := range 101 {
		w.put(fmt.Sprintf("/repo/f%03d", i), "")
	}
	out := glob(w, map[string]any{"pattern": "*"})
	assert.Len(t, out.Files, 100)
	assert.True(t, out.Truncated)
	assert.Equal(t, 101, out.Total)
	assert.Contains(t, w.ok(file.Glob(w.deps()), map[string]any{"pattern": "*"}), "[Truncated: 100 of 101 files are listed.")
	w.c.GlobLimit = 3
	assert.Len(t, glob(w, map[string]any{"pattern": "*"}).Files, 3)
	w.c.GlobLimit = 101
	assert.False(t, glob(w, map[string]any{"pattern": "*"}).Truncated)
}

func TestGlobRefuses(t *testing.T) {
	w := newWorkplace(t, "-- a --\n")
	g := file.Glob(w.deps())
	w.refused(g, file.CodeMissing, map[string]any{"pattern": "*", "path": "no/such"})
	w.refused(g, file.CodeKind, map[string]any{"pattern": "*", "path": "a"})
	for _, pattern := range []string{"[", "{a", "../*", "a/../../b"} {
		w.refused(g, file.CodePattern, map[string]any{"pattern": pattern})
	}
}

// Glob finds what doublestar matches over a walk that enters every folder: its
// short cuts lose nothing.
func TestGlobAgreesWithDoublestar(t *testing.T) {
	w := newWorkplace(t, "")
	part := rapid.SampledFrom([]string{"a", "b", "ab", "a.go", "b.go", "[x]"})
	var files []string
	for i := range 60 {
		parts := rapid.SliceOfN(part, 1, 4).Example(i)
		name := path.Join(parts...)
		if w.fs.MkdirAll("/repo/"+path.Dir(name), 0o755) != nil {
			continue
		}
		if info, err := w.fs.Stat("/repo/" + name); err == nil && info.IsDir() {
			continue
		}
		w.put("/repo/"+name, "")
		files = append(files, name)
	}
	slices.Sort(files)
	files = slices.Compact(files)
	w.c.GlobLimit = len(files)
	require.Greater(t, len(files), 10)
	hits := 0
	rapid.Check(t, func(r *rapid.T) {
		piece := rapid.SampledFrom([]string{"a", "b", "*", "**", "?", "*.go", "a*", "{a,b}", "{a,b/ab}", "[ab]", `\[x\]`, "a.go"})
		pattern := strings.Join(rapid.SliceOfN(piece, 1, 4).Draw(r, "pattern"), "/")
		want := []string{}
		for _, name := range files {
			if ok, err := doublestar.Match(pattern, name); err == nil && ok {
				want = append(want, name)
			}
		}
		hits += len(want)
		if got := glob(w, map[string]any{"pattern": pattern}).Files; !slices.Equal(got, want) {
			r.Fatalf("%s: got %q, want %q", pattern, got, want)
		}
	})
	assert.Positive(t, hits)
}

func grep(w *workplace, input map[string]any) string {
	w.t.Helper()
	return w.ok(file.Grep(w.deps()), input)
}

func TestGrepFindsFiles(t *testing.T) {
	w := newWorkplace(t, webapp)
	assert.Equal(t, ".env\na.go\ndocs/read me.md\nkeep.log\nsrc/app.ts\nsrc/main.go\nsrc/main_test.go\nsrc/only-here\n[1 folder could not be read.]",
		grep(w, map[string]any{"pattern": "TODO"}), ".git, links, and what .gitignore names are passed over")
	for _, c := range []struct {
		glob, kind, want string
	}{
		{"*.go", "", "a.go src/main.go src/main_test.go"},
		{"*.go !*_test.go", "", "a.go src/main.go"},
		{"!*.go !docs/**", "", ".env keep.log src/app.ts src/only-here"},
		{"src/*.go", "", "src/main.go src/main_test.go"},
		{"/*.go", "", "a.go"},
		{"*.{ts,log}", "", "keep.log src/app.ts"},
		{"", "go", "a.go src/main.go src/main_test.go"},
		{"", "ts", "src/app.ts"},
		{"src/**", "go", "src/main.go src/main_test.go"},
	} {
		got := grep(w, map[string]any{"pattern": "TODO", "glob": c.glob, "type": c.kind})
		assert.Equal(t, strings.ReplaceAll(c.want, " ", "\n")+"\n[1 folder could not be read.]", got, "%s %s", c.glob, c.kind)
	}
	assert.Equal(t, "dist/out.js", grep(w, map[string]any{"pattern": "TODO", "path": "dist/out.js"}), "a file that is named is searched")
	assert.Equal(t, "inner", grep(w, map[string]any{"pattern": "TODO", "path": "inner"}))
	assert.Equal(t, "src/only-here", grep(w, map[string]any{"pattern": "^TODO$", "path": "src", "glob": "only*"}))
}

func TestGrepShowsContent(t *testing.T) {
	w := newWorkplace(t, webapp)
	content := func(more map[string]any) string {
		input := map[string]any{"pattern": "TODO", "path": "src/main.go", "output_mode": "content"}
		maps.Copy(input, more)
		return grep(w, input)
	}
	assert.Equal(t, "src/main.go:4:\t// TODO two", content(nil))
	assert.Equal(t, "src/main.go:\t// TODO two", content(map[string]any{"-n": false}))
	assert.Equal(t, "src/main.go:4:\t// TODO two\nsrc/main.go:5:\trun() // todo three", content(map[string]any{"-i": true}))
	assert.Equal(t, "src/main.go-3-func main() {\nsrc/main.go:4:\t// TODO two", content(map[string]any{"-B": 1}))
	assert.Equal(t, "src/main.go:4:\t// TODO two\nsrc/main.go-5-\trun() // todo three\nsrc/main.go-6-}", content(map[string]any{"-A": 9}))
	assert.Equal(t, "src/main.go-3-func main() {\nsrc/main.go:4:\t// TODO two\nsrc/main.go-5-\trun() // todo three", content(map[string]any{"-C": 1}))
	assert.Equal(t, "src/main.go:1:package main\nsrc/main.go:3:func main() {", content(map[string]any{"pattern": "main"}))
	assert.Equal(t, "src/main.go:1:package main\nsrc/main.go-2-\nsrc/main.go:3:func main() {\nsrc/main.go-4-\t// TODO two",
		content(map[string]any{"pattern": "main", "-A": 1}), "what touches is one stretch")
}

func TestGrepSeparatesStretches(t *testing.T) {
	w := newWorkplace(t, "-- a --\nx\n1\n2\n3\nx\n-- b --\nx\n")
	assert.Equal(t, "a:1:x\na-2-1\n--\na:5:x\n--\nb:1:x",
		grep(w, map[string]any{"pattern": "x", "output_mode": "content", "-A": 1}))
	assert.Equal(t, "a:1:x\na:5:x\nb:1:x", grep(w, map[string]any{"pattern": "x", "output_mode": "content"}))
}

func TestGrepCounts(t *testing.T) {
	w := newWorkplace(t, "-- a --\nx x\nx\n-- b --\nx\n-- c --\ny\n")
	assert.Equal(t, "a:2\nb:1\n[3 in all, in 2 files.]", grep(w, map[string]any{"pattern": "x", "output_mode": "count"}))
	assert.Equal(t, "No matches found.", grep(w, map[string]any{"pattern": "z", "output_mode": "count"}))
}

func TestGrepAcrossLines(t *testing.T) {
	w := newWorkplace(t, "")
	w.put("/repo/a", "func f(\r\n\tx int,\r\n) {\r\n}\r\nend\r\n")
	multi := func(pattern, mode string) string {
		return grep(w, map[string]any{"pattern": pattern, "output_mode": mode, "multiline": true})
	}
	assert.Equal(t, "a:1:func f(\na:2:\tx int,\na:3:) {", multi(`func f\(.*?\) \{$`, "content"))
	assert.Equal(t, "a:1:func f(\na:2:\tx int,", multi("f\\(\n\tx", "content"))
	assert.Equal(t, "a:3:) {", multi("\\) \\{\n", "content"), "a line feed belongs to the line it ends")
	assert.Equal(t, "a:1\n[1 in all, in 1 file.]", multi(`func.*end`, "count"))
	assert.Equal(t, "a:5:end", multi(`^end$`, "content"))
	assert.Equal(t, "a:2:\tx int,\na:3:) {\na:5:end", multi("int|\\)|nt,\n|end", "content"), "each match counts, and a line stands once")
	assert.Equal(t, "a:3\n[3 in all, in 1 file.]", multi("int|\\) |end", "count"))
	assert.Equal(t, "No matches found.", grep(w, map[string]any{"pattern": "func.*end"}))
	assert.Equal(t, "a:5:end", grep(w, map[string]any{"pattern": "^end$", "output_mode": "content"}), "$ stands before a CRLF")
}

func TestGrepShowsParts(t *testing.T) {
	w := newWorkplace(t, "-- a --\nx\nx\n-- b --\nx\n-- c --\nx\n")
	for _, c := range []struct {
		mode        string
		limit, skip int
		want        string
	}{
		{"files_with_matches", 2, 0, "a\nb\n[1 more are not shown. Use offset for them.]"},
		{"files_with_matches", 2, 2, "c"},
		{"files_with_matches", 0, 1, "b\nc"},
		{"files_with_matches", 0, 9, "[The offset is beyond the last find.]"},
		{"content", 1, 1, "a:2:x\n[2 more are not shown. Use offset for them.]"},
		{"count", 1, 2, "c:1\n[4 in all, in 3 files.]"},
	} {
		assert.Equal(t, c.want, grep(w, map[string]any{"pattern": "x", "output_mode": c.mode, "head_limit": c.limit, "offset": c.skip}))
	}
}

func TestGrepSkipsBinaryAndReadsForeignText(t *testing.T) {
	w := newWorkplace(t, "")
	w.put("/repo/binary", "x\x00x\n")
	w.put("/repo/latin", "caf\xe9 x\n")
	w.put("/repo/wide", "\xff\xfex\x00\n\x00")
	w.put("/repo/marked", "\xef\xbb\xbfx\n")
	w.put("/repo/long", strings.Repeat("x", 2100)+"\n")
	assert.Equal(t, "latin:1:caf� x\nlong:1:"+strings.Repeat("x", 2000)+"… [line cut, 100 more characters]\nmarked:1:x\nwide:1:x",
		grep(w, map[string]any{"pattern": "x$", "output_mode": "content"}))
}

func TestGrepRefuses(t *testing.T) {
	w := newWorkplace(t, "-- a --\nx\n")
	g := file.Grep(w.deps())
	for code, input := range map[int][]map[string]any{
		file.CodePattern: {{"pattern": "a(?=b)"}, {"pattern": "a)|(b"}, {"pattern": "a)|(b", "-i": true}, {"pattern": "x", "glob": "["}, {"pattern": "x", "glob": "../*"}},
		file.CodeType:    {{"pattern": "x", "type": "klingon"}},
		file.CodeMissing: {{"pattern": "x", "path": "gone"}},
	} {
		for _, each := range input {
			w.refused(g, code, each)
		}
	}
	assert.Contains(t, w.refused(g, file.CodePattern, map[string]any{"pattern": "a(?=b)"}), "RE2")
	assert.Contains(t, w.refused(g, file.CodePattern, map[string]any{"pattern": strings.Repeat("a", 200_001)}), "200001 bytes; 200000 at most")
	w.ok(g, map[string]any{"pattern": strings.Repeat("a", 200_000)})
	assert.Contains(t, w.refused(g, file.CodeType, map[string]any{"pattern": "x", "type": "pythn"}), "Did you mean python")
}

func TestGitignorePatterns(t *testing.T) {
	for _, c := range []struct{ ignore, found string }{
		{"", "a.txt b/a.txt b/c/a.txt build d/build x{y}"},
		{"a.txt", "build d/build x{y}"},
		{"/a.txt", "b/a.txt b/c/a.txt build d/build x{y}"},
		{"b/", "a.txt build d/build x{y}"},
		{"build/", "a.txt b/a.txt b/c/a.txt build d/build x{y}"},
		{"build", "a.txt b/a.txt b/c/a.txt x{y}"},
		{"b/*.txt", "a.txt b/c/a.txt build d/build x{y}"},
		{"b/**/a.txt", "a.txt build d/build x{y}"},
		{"b/c", "a.txt b/a.txt build d/build x{y}"},
		{"*\n!build", "build"},
		{"a.txt\n!/b/a.txt", "b/a.txt build d/build x{y}"},
		{"#a.txt\n\n  \n/", "a.txt b/a.txt b/c/a.txt build d/build x{y}"},
		{"a.txt  \r\nx{y}", "build d/build"},
		{"[", "a.txt b/a.txt b/c/a.txt build d/build x{y}"},
		{"b/**", "a.txt build d/build x{y}"},
		{"b/**\n!b/a.txt", "a.txt b/a.txt build d/build x{y}"},
		{"**/build/**\n/b/**/", "a.txt b/a.txt build d/build x{y}"},
		{"**", ""},
		{"[[:lower:]][![:alnum:]]*", "build d/build"},
	} {
		w := newWorkplace(t, "-- a.txt --\nfind\n-- b/a.txt --\nfind\n-- b/c/a.txt --\nfind\n-- build --\nfind\n-- d/build --\nfind\n-- x{y} --\nfind\n")
		w.put("/repo/.gitignore", c.ignore)
		c.found = cmp.Or(c.found, "No matches found.")
		assert.Equal(t, c.found, strings.ReplaceAll(grep(w, map[string]any{"pattern": "find"}), "\n", " "), "%q", c.ignore)
	}
}

func TestAnEscapedSpaceEndsAnIgnoredName(t *testing.T) {
	w := newWorkplace(t, "-- a --\nfind\n")
	w.put("/repo/a ", "find")
	w.put("/repo/.gitignore", "a\\ \n")
	assert.Equal(t, "a", grep(w, map[string]any{"pattern": "find"}))
}

func TestGrepKnowsTheIgnoredFilesOfTheFoldersAbove(t *testing.T) {
	tree := "-- .gitignore --\n*.gen\n-- sub/a.gen --\nx\n-- sub/b.txt --\nx\n"
	w := newWorkplace(t, tree)
	assert.Equal(t, "sub/a.gen\nsub/b.txt", grep(w, map[string]any{"pattern": "x", "path": "sub"}), "no repository, nothing above counts")
	w = newWorkplace(t, tree+"-- .git/HEAD --\nx\n")
	assert.Equal(t, "sub/b.txt", grep(w, map[string]any{"pattern": "x", "path": "sub"}))
}

// Content mode finds the lines that going through them one by one finds.
func TestGrepAgreesWithAScanOfTheLines(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		w := newWorkplace(t, "")
		pattern := rapid.SampledFrom([]string{"a", "^a", "b$", "a.*b", "(?i)B", `a\b`, "[^a]", "x*", "^$", "é"}).Draw(r, "pattern")
		before, after := rapid.IntRange(0, 3).Draw(r, "-B"), rapid.IntRange(0, 3).Draw(r, "-A")
		end := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(r, "ending")
		re := regexp.MustCompile(pattern)
		var want []file.GrepLine
		for _, name := range []string{"f1", "f2"} {
			lines := rapid.SliceOfN(rapid.StringMatching(`[abé ]{0,4}`), 1, 12).Draw(r, name)
			w.put("/repo/"+name, strings.Join(lines, end)+end)
			want = append(want, naive(re, name, lines, before, after)...)
		}
		a := w.call(file.Grep(w.deps()), map[string]any{"pattern": pattern, "output_mode": "content", "-B": before, "-A": after})
		require.NoError(t, a.err)
		if got := a.Data.(file.GrepOut).Lines; !slices.Equal(got, want) {
			r.Fatalf("%s: got %v, want %v", pattern, got, want)
		}
	})
}

// naive asks each line whether it matches or stands near one that does.
func naive(re *regexp.Regexp, name string, lines []string, before, after int) []file.GrepLine {
	var out []file.GrepLine
	for i, line := range lines {
		near := false
		for j := max(0, i-after); j <= min(len(lines)-1, i+before); j++ {
			near = near || re.MatchString(lines[j])
		}
		if near {
			out = append(out, file.GrepLine{Path: name, Line: i + 1, Text: line, Match: re.MatchString(line)})
		}
	}
	return out
}

func TestSearchesPassOverWhatRulesForbid(t *testing.T) {
	w := newWorkplace(t, "-- a.txt --\nx\n-- secret/key --\nx\n-- asked/b --\nx\n-- sub/.env --\nx\n")
	var err error
	w.c.Rules, err = w.c.Rules.Parse(permission.Project, permission.Deny, "Read(/repo/secret/**)", "Read(.env)")
	require.NoError(t, err)
	w.c.Rules, err = w.c.Rules.Parse(permission.Project, permission.Ask, "Grep(/repo/asked/**)", "Glob(asked/**)")
	require.NoError(t, err)
	assert.Equal(t, "a.txt\n[3 files left out, which permission rules keep from being read.]", grep(w, map[string]any{"pattern": "x"}))
	assert.Equal(t, "a.txt\n[3 files left out, which permission rules keep from being read.]", w.ok(file.Glob(w.deps()), map[string]any{"pattern": "**"}))
	assert.Equal(t, "asked/b", grep(w, map[string]any{"pattern": "x", "path": "asked"}), "a rule that covers the folder was settled before the call")
	w.c.Rules, err = permission.Rules{}.Parse(permission.Project, permission.Ask, "Grep")
	require.NoError(t, err)
	assert.Contains(t, grep(w, map[string]any{"pattern": "x"}), "secret/key", "so was one for the tool")
}

// A rule that allows the files in a folder to be read allows no search of the folders in it.
func TestASearchElsewhereNeedsARuleForAllOfIt(t *testing.T) {
	w := newWorkplace(t, "")
	require.NoError(t, w.fs.MkdirAll("/data/sub/deep", 0o755))
	w.put("/data/a.log", "x")
	w.put("/data/sub/deep/b.log", "x")
	for text, want := range map[string]permission.Behaviour{"Read(/data/*)": permission.Ask, "Read(/data/**)": permission.Allow, "Grep(/data/*)": permission.Allow, "Glob(/data/*)": permission.Allow} {
		var err error
		w.c.Rules, err = permission.Rules{}.Parse(permission.User, permission.Allow, text)
		require.NoError(t, err)
		for _, each := range []*tool.Tool{file.Grep(w.deps()), file.Glob(w.deps())} {
			raw, err := json.Marshal(inputFor(each, "/data/sub"))
			require.NoError(t, err)
			d, _, err := pipeline.Decide(each, raw, w.c, nil)
			require.NoError(t, err)
			if !strings.HasPrefix(text, "G") || strings.HasPrefix(text, each.Name) {
				assert.Equal(t, want, d.Behaviour, "%s by %s", each.Name, text)
			}
		}
		d, _, err := pipeline.Decide(file.Grep(w.deps()), json.RawMessage(`{"pattern":"x","path":"/data/a.log"}`), w.c, nil)
		require.NoError(t, err)
		assert.Equal(t, strings.HasPrefix(text, "Glob"), d.Behaviour == permission.Ask, text)
	}
}

func FuzzGrep(f *testing.F) {
	f.Add("a.b", "a\nb\r\n", "*.txt", true)
	f.Add("", "", "!**/x", false)
	f.Add("(?s)^$", "\xff\xfe\x00", "{a,b", true)
	f.Fuzz(func(t *testing.T, pattern, content, glob string, multiline bool) {
		if pattern == "" {
			return
		}
		w := newWorkplace(t, "")
		w.put("/repo/a.txt", content)
		w.put("/repo/.gitignore", glob+"\n"+content)
		a := w.call(file.Grep(w.deps()), map[string]any{
			"pattern": pattern, "glob": glob, "multiline": multiline, "output_mode": "content", "-C": 1,
		})
		if a.err == nil {
			assert.NotEmpty(t, a.text())
		}
	})
}

// bigTree has 200 files of 200 lines.
func bigTree(b *testing.B) *workplace {
	w := newWorkplace(b, "")
	for i := range 200 {
		dir := fmt.Sprintf("/repo/d%d", i%10)
		require.NoError(b, w.fs.MkdirAll(dir, 0o755))
		w.put(fmt.Sprintf("%s/f%d.go", dir, i), numbered(200))
	}
	return w
}

func BenchmarkGrep(b *testing.B) {
	w := bigTree(b)
	for name, pattern := range map[string]string{"literal": "line 77$", "expression": `l\w+ (77|78)$`} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				grep(w, map[string]any{"pattern": pattern, "output_mode": "count"})
			}
		})
	}
}

func BenchmarkGlob(b *testing.B) {
	w := bigTree(b)
	for b.Loop() {
		w.ok(file.Glob(w.deps()), map[string]any{"pattern": "**/*7.go"})
	}
}

func BenchmarkRead(b *testing.B) {
	w := newWorkplace(b, "-- a.go --\n"+numbered(2000))
	for b.Loop() {
		w.read("a.go")
	}
}
