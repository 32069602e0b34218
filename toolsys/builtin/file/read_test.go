package file_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io/fs"
	"strings"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/text/encoding/unicode"
	"pgregory.net/rapid"

	"toolbench/toolsys/builtin/file"
	"toolbench/toolsys/message"
	"toolbench/toolsys/permission"
	"toolbench/toolsys/tool"
)

func numbered(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "line %d\n", i+1)
	}
	return b.String()
}

func TestReadNumbersLines(t *testing.T) {
	w := newWorkplace(t, "-- a.txt --\none\n\tindented\n\nlast\n")
	assert.Equal(t, "     1\tone\n     2\t\tindented\n     3\t\n     4\tlast", w.read("a.txt"))
	assert.Equal(t, "     1\tone\n     2\t\tindented\n     3\t\n     4\tlast", w.read("/repo/x/../a.txt"))
}

func TestReadRanges(t *testing.T) {
	w := newWorkplace(t, "-- a.txt --\n"+numbered(10))
	for _, c := range []struct {
		offset, limit int
		want          string
	}{
		{0, 2, "     1\tline 1\n     2\tline 2\n[Shown: lines 1 to 2 of 10. Use offset and limit for others.]"},
		{9, 0, "     9\tline 9\n    10\tline 10\n[Shown: lines 9 to 10 of 10. Use offset and limit for others.]"},
		{9, 500, "     9\tline 9\n    10\tline 10\n[Shown: lines 9 to 10 of 10. Use offset and limit for others.]"},
		{11, 0, "[The offset is beyond the end: the file has 10 lines.]"},
		{1 << 30, 1 << 30, "[The offset is beyond the end: the file has 10 lines.]"},
	} {
		input := map[string]any{"file_path": "a.txt", "offset": c.offset}
		if c.limit > 0 {
			input["limit"] = c.limit
		}
		assert.Equal(t, c.want, w.ok(file.Read(w.deps()), input))
	}
}

func TestReadStopsAtTwoThousandLines(t *testing.T) {
	w := newWorkplace(t, "-- a.txt --\n"+numbered(2001))
	got := w.read("a.txt")
	assert.Contains(t, got, "  2000\tline 2000\n[Shown: lines 1 to 2000 of 2001.")
	assert.NotContains(t, got, "line 2001")
}

func TestReadCutsLongLines(t *testing.T) {
	w := newWorkplace(t, "")
	w.put("/repo/a.txt", strings.Repeat("é", 2001)+"\n"+strings.Repeat("é", 2000)+"\n")
	lines := strings.Split(w.read("a.txt"), "\n")
	assert.Equal(t, "     1\t"+strings.Repeat("é", 2000)+"… [line cut, 1 more characters]", lines[0])
	assert.Equal(t, "     2\t"+strings.Repeat("é", 2000), lines[1])
}

func TestReadRefusesMoreThanTheTokenCap(t *testing.T) {
	w := newWorkplace(t, "")
	w.put("/repo/a.txt", strings.Repeat(strings.Repeat("x", 992)+"\n", 101)) // 1,000 bytes a line when numbered
	msg := w.fails(file.Read(w.deps()), map[string]any{"file_path": "a.txt"})
	assert.Contains(t, msg, "offset and limit")
	assert.Contains(t, msg, "25000")
	w.ok(file.Read(w.deps()), map[string]any{"file_path": "a.txt", "limit": 100})
	_, known := w.c.State.Files.Get("/repo/a.txt")
	assert.True(t, known)
	exact := strings.Repeat(strings.Repeat("x", 992)+"\n", 100) + "y\n" // the last line end is not shown
	w.put("/repo/b.txt", strings.Replace(exact, "x\n", "xx\n", 1))
	assert.Len(t, w.ok(file.Read(w.deps()), map[string]any{"file_path": "b.txt", "limit": 100}), 100_000+len(note(100, 101))+1, "exactly the most is shown")
	w.put("/repo/b.txt", strings.Replace(exact, "x\n", "xxx\n", 1))
	w.fails(file.Read(w.deps()), map[string]any{"file_path": "b.txt", "limit": 100})
}

// note is what stands behind the first lines of more.
func note(shown, all int) string {
	return fmt.Sprintf("[Shown: lines 1 to %d of %d. Use offset and limit for others.]", shown, all)
}

func TestReadDecodes(t *testing.T) {
	wide := func(order unicode.Endianness) string {
		s, err := unicode.UTF16(order, unicode.UseBOM).NewEncoder().String("ä\r\nb\n")
		require.NoError(t, err)
		return s
	}
	for name, c := range map[string]struct{ content, want string }{
		"CRLF":          {"a\r\nb\r\n", "     1\ta\n     2\tb"},
		"no final end":  {"a\nb", "     1\ta\n     2\tb"},
		"BOM":           {"\xef\xbb\xbfa\n", "     1\ta"},
		"UTF-16 LE":     {wide(unicode.LittleEndian), "     1\tä\n     2\tb"},
		"UTF-16 BE":     {wide(unicode.BigEndian), "     1\tä\n     2\tb"},
		"invalid UTF-8": {"a\xe9\xffb\n", "     1\ta��b\n[The file is not valid UTF-8: 2 bytes shown as �.]"},
		"empty":         {"", "[The file exists but is empty.]"},
		"only a BOM":    {"\xef\xbb\xbf", "[The file exists but is empty.]"},
		"one line feed": {"\n", "     1\t"},
		"a lone CR":     {"a\rb\n", "     1\ta\rb"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorkplace(t, "")
			w.put("/repo/a.txt", c.content)
			assert.Equal(t, c.want, w.read("a.txt"))
		})
	}
}

// Whatever the bytes, reading the lines one by one gives what reading them all
// does.
func TestReadRangesAgreeWithTheWhole(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		w := newWorkplace(t, "")
		lines := rapid.SliceOfN(rapid.StringMatching(`[a-zé\t ]{0,8}`), 1, 12).Draw(r, "lines")
		end := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(r, "ending")
		w.put("/repo/a.txt", strings.Join(lines, end)+end)
		whole := strings.Split(w.read("a.txt"), "\n")
		if len(whole) != len(lines) {
			r.Fatalf("%d lines shown of %d", len(whole), len(lines))
		}
		for i, line := range whole {
			if line != fmt.Sprintf("%6d\t%s", i+1, lines[i]) {
				r.Fatalf("line %d is %q", i+1, line)
			}
			one := w.ok(file.Read(w.deps()), map[string]any{"file_path": "a.txt", "offset": i + 1, "limit": 1})
			if first, _, _ := strings.Cut(one, "\n"); first != line {
				r.Fatalf("alone it is %q, in the whole %q", first, line)
			}
		}
	})
}

func TestReadErrorsAreClear(t *testing.T) {
	w := newWorkplace(t, "-- main.go --\npackage main\n-- main_test.go --\nx\n-- src/util.ts --\nx\n-- x.json --\nx\n-- secret (0000) --\nx\n")
	w.put("/repo/blob", "a\x00b")
	for name, want := range map[string]string{
		"src":             "is a folder",
		"mian.go":         "Did you mean /repo/main.go",
		"src/util.js":     "Did you mean /repo/src/util.ts",
		"x.py":            "Did you mean /repo/x.json?",
		"no/such/dir/a":   "The last folder of that path that exists is /repo.",
		"nothing-like-it": "/repo/nothing-like-it does not exist.",
		"main.go/x":       "does not exist",
		"blob":            "binary file of 3 bytes",
		"secret":          "permission denied",
	} {
		assert.Contains(t, w.fails(file.Read(w.deps()), map[string]any{"file_path": name}), want)
	}
}

// What is suggested in the place of a missing file is a list of names, and rules leave the same out of it as of a search.
func TestNothingThatRulesForbidIsSuggested(t *testing.T) {
	w := newWorkplace(t, "-- secret/prod.key --\nx\n-- a.key --\nx\n-- a.pem --\nx\n-- way -> secret --\n")
	for _, behaviour := range []permission.Behaviour{permission.Ask, permission.Deny} {
		for _, rules := range [][]string{{"Read(secret/**)", "Read(**/*.key)"}, {"Read(**)"}, {"Read"}} {
			var err error
			w.c.Rules, err = permission.Rules{}.Parse(permission.Project, behaviour, rules...)
			require.NoError(t, err)
			for _, name := range []string{"secret/prod.ke", "way/prod.ke", "a.ke"} {
				for _, each := range []*tool.Tool{file.Read(w.deps()), file.Edit(w.deps()), file.Grep(w.deps()), file.Glob(w.deps())} {
					err := w.call(each, inputFor(each, name)).err
					require.ErrorContains(t, err, "does not exist", "%s of %s", each.Name, name)
					assert.NotContains(t, err.Error(), ".key", "%s of %s beside %s", each.Name, name, rules)
				}
			}
		}
	}
	w.c.Rules = permission.Rules{}
	assert.Contains(t, w.fails(file.Read(w.deps()), map[string]any{"file_path": "secret/prod.ke"}), "Did you mean /repo/secret/prod.key?")
}

// Validation comes before permission, so its answer about a folder outside the
// roots must not show what is there.
func TestSuggestionsStayWithinTheRoots(t *testing.T) {
	w := newWorkplace(t, "-- away -> /etc --\n")
	require.NoError(t, w.fs.Mkdir("/etc", 0o755))
	w.put("/etc/shadow", "x")
	for _, name := range []string{"/etc/shadov", "away/shadov", "/etc/no/such"} {
		msg := w.refused(file.Edit(w.deps()), file.CodeMissing, map[string]any{"file_path": name, "old_string": "a", "new_string": "b"})
		assert.NotContains(t, msg, "shadow")
		assert.NotContains(t, msg, "last folder")
	}
}

func TestReadTellsWhatItSaw(t *testing.T) {
	w := newWorkplace(t, "-- a.txt --\n"+numbered(5)+"-- link -> a.txt --\n")
	hash := tool.HashOf([]byte(numbered(5)))
	seen := func() tool.FileSeen {
		s, ok := w.c.State.Files.Get("/repo/a.txt")
		require.True(t, ok)
		return s
	}
	part := map[string]any{"file_path": "a.txt", "offset": 2, "limit": 3}
	w.ok(file.Read(w.deps()), part)
	assert.Equal(t, tool.FileSeen{Path: "/repo/a.txt", Hash: hash, Partial: true, Offset: 2, Limit: 3}, seen())
	w.read("a.txt")
	assert.Equal(t, tool.FileSeen{Path: "/repo/a.txt", Hash: hash}, seen())
	w.ok(file.Read(w.deps()), part)
	assert.Equal(t, tool.FileSeen{Path: "/repo/a.txt", Hash: hash}, seen(), "what was seen whole stays so")
	w.read("link")
	assert.Equal(t, tool.FileSeen{Path: "/repo/a.txt", Hash: hash}, seen(), "a link's file is remembered under its own name")
}

func TestReadShowsImages(t *testing.T) {
	picture := image.NewRGBA(image.Rect(0, 0, 2, 2))
	var pngs, jpegs, gifs bytes.Buffer
	require.NoError(t, png.Encode(&pngs, picture))
	require.NoError(t, jpeg.Encode(&jpegs, picture, nil))
	require.NoError(t, gif.Encode(&gifs, picture, nil))
	for media, content := range map[string]string{
		"image/png": pngs.String(), "image/jpeg": jpegs.String(), "image/gif": gifs.String(),
		"image/webp": "RIFF\x24\x00\x00\x00WEBPVP8 \x18\x00\x00\x00",
	} {
		w := newWorkplace(t, "")
		w.put("/repo/picture", content) // the content decides what it is, not the name
		a := w.call(file.Read(w.deps()), map[string]any{"file_path": "picture"})
		require.NoError(t, a.err)
		assert.Equal(t, []message.Block{message.Image(media, base64.StdEncoding.EncodeToString([]byte(content)))}, a.Blocks)
	}
}

func TestReadKnowsNoHugeFiles(t *testing.T) {
	w := newWorkplace(t, "")
	w.put("/repo/a.log", "")
	f, err := w.fs.OpenFile("/repo/a.log", 2, 0)
	require.NoError(t, err)
	require.NoError(t, f.Truncate(64<<20+1))
	require.NoError(t, f.Close())
	assert.Contains(t, w.fails(file.Read(w.deps()), map[string]any{"file_path": "a.log"}), "too large")
}

// sized is a filesystem whose files claim a size.
type sized struct {
	afero.Fs
	size int64
}

func (s sized) Stat(name string) (fs.FileInfo, error) {
	info, err := s.Fs.Stat(name)
	return claim{info, s.size}, err
}

type claim struct {
	fs.FileInfo
	size int64
}

func (c claim) Size() int64 { return c.size }

// A file of the largest size that is read is read, and none that is larger.
func TestTheLargestFileIsRead(t *testing.T) {
	w := newWorkplace(t, "-- a.log --\none\n")
	deps := w.deps()
	deps.FS = sized{w.fs, 64 << 20}
	a := w.call(file.Read(deps), map[string]any{"file_path": "a.log"})
	require.NoError(t, a.err)
	assert.Equal(t, "     1\tone", a.text())
	deps.FS = sized{w.fs, 64<<20 + 1}
	assert.Contains(t, w.fails(file.Read(deps), map[string]any{"file_path": "a.log"}), "67108865 bytes, of 67108864 at most")
}
