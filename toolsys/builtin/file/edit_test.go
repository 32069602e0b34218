package file_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/text/encoding/unicode"
	"pgregory.net/rapid"

	_ "toolbench/property/seeded"
	"toolbench/toolsys/builtin/file"
)

func edit(old, new string) map[string]any {
	return map[string]any{"file_path": "a.txt", "old_string": old, "new_string": new}
}

// editPlace has one file, which was read.
func editPlace(t testing.TB, content string) *workplace {
	w := newWorkplace(t, "")
	w.put("/repo/a.txt", content)
	w.read("a.txt")
	return w
}

func TestEditReplacesAndShowsTheSurroundings(t *testing.T) {
	w := editPlace(t, numbered(20))
	a := w.call(file.Edit(w.deps()), edit("line 10\n", "ten\nten and a half\n"))
	require.NoError(t, a.err)
	assert.Equal(t, strings.Replace(numbered(20), "line 10\n", "ten\nten and a half\n", 1), w.content("/repo/a.txt"))
	assert.Equal(t, `Edited /repo/a.txt (1 replacement). Around the change it now reads:
     7	line 7
     8	line 8
     9	line 9
    10	ten
    11	ten and a half
    12	line 11
    13	line 12
    14	line 13`, a.text())
	assert.Equal(t, []file.Hunk{{OldStart: 7, OldLines: 7, NewStart: 7, NewLines: 8, Lines: []string{
		" line 7", " line 8", " line 9", "-line 10", "+ten", "+ten and a half", " line 11", " line 12", " line 13",
	}}}, a.Data.(file.EditOut).Patch)
	w.ok(file.Edit(w.deps()), edit("ten and", "eleven and")) // an edit knows its own result
}

func TestEditDemandsOneOccurrence(t *testing.T) {
	w := editPlace(t, "x = 1\ny = 1\nx = 1\nz\nx = 1\n")
	assert.Contains(t, w.refused(file.Edit(w.deps()), file.CodeAmbiguous, edit("x = 1", "x = 2")), "3 times, beginning at lines 1, 3, 5")
	input := edit("x = 1", "x = 2")
	input["replace_all"] = true
	a := w.call(file.Edit(w.deps()), input)
	require.NoError(t, a.err)
	assert.Equal(t, "x = 2\ny = 1\nx = 2\nz\nx = 2\n", w.content("/repo/a.txt"))
	assert.Equal(t, 3, a.Data.(file.EditOut).Replaced)

	w = editPlace(t, strings.Repeat("same\n", 30))
	assert.Contains(t, w.refused(file.Edit(w.deps()), file.CodeAmbiguous, edit("same", "x")), "9, 10, ...")
	w = editPlace(t, "aaa\n")
	w.refused(file.Edit(w.deps()), file.CodeAmbiguous, edit("aa", "b")) // which of the two?
	input = edit("aa", "b")
	input["replace_all"] = true
	w.ok(file.Edit(w.deps()), input)
	assert.Equal(t, "ba\n", w.content("/repo/a.txt"))
}

func TestEditSaysWhyNothingWasFound(t *testing.T) {
	for name, c := range map[string]struct{ content, old, want string }{
		"white space": {"a\n\tif  x {\n\t}\n", "if x {\n}", "At line 2 stands a text that differs only in white space."},
		"last line":   {"a\nb  c", "b c", "At line 2 stands a text that differs only in white space."},
		"line number": {"func main() {}\n", "     1\tfunc main() {", "line number"},
		"bad bytes":   {"a\xffb\n", "a�b", "not valid UTF-8"},
		"nothing":     {"abc\n", "xyz", "must match exactly"},
	} {
		t.Run(name, func(t *testing.T) {
			w := editPlace(t, c.content)
			assert.Contains(t, w.refused(file.Edit(w.deps()), file.CodeNotFound, edit(c.old, "new")), c.want)
		})
	}
}

func TestEditKeepsEncodingAndEndings(t *testing.T) {
	wide := func(s string) string {
		out, err := unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewEncoder().String(s)
		require.NoError(t, err)
		return out
	}
	for name, c := range map[string]struct{ before, old, new, after string }{
		"LF":                {"a\nb\n", "a\nb", "a\nc\nb", "a\nc\nb\n"},
		"CRLF":              {"a\r\nb\r\n", "a\nb", "a\nc\nb", "a\r\nc\r\nb\r\n"},
		"CRLF in both":      {"a\r\nb\r\n", "a\r\nb", "a\r\nc", "a\r\nc\r\n"},
		"LF, given CRLF":    {"a\nb\n", "a\r\nb", "b\r\na", "b\na\n"},
		"mixed":             {"a\r\nb\nc\nd\r\n", "b\nc", "B\nC", "a\r\nB\nC\nd\r\n"},
		"BOM":               {"\xef\xbb\xbfa\n", "a", "b", "\xef\xbb\xbfb\n"},
		"UTF-16":            {wide("ä\r\nb\r\n"), "b", "ö\nü", wide("ä\r\nö\r\nü\r\n")},
		"invalid elsewhere": {"\xff\nb\n", "b", "c", "\xff\nc\n"},
		"no final end":      {"a\nb", "b", "c", "a\nc"},
		"to nothing":        {"a\n", "a\n", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := editPlace(t, c.before)
			w.ok(file.Edit(w.deps()), edit(c.old, c.new))
			assert.Equal(t, c.after, w.content("/repo/a.txt"))
		})
	}
}

func TestEditWithNothingToReplaceCreates(t *testing.T) {
	w := newWorkplace(t, "-- empty.txt --\n-- full.txt --\nx\n")
	create := func(name string) map[string]any {
		return map[string]any{"file_path": name, "old_string": "", "new_string": "one\r\ntwo\n"}
	}
	text := w.ok(file.Edit(w.deps()), create("dir/new.txt"))
	assert.Equal(t, "Created /repo/dir/new.txt.", text)
	assert.Equal(t, "one\r\ntwo\n", w.content("/repo/dir/new.txt"))
	w.refused(file.Edit(w.deps()), file.CodeNotRead, create("empty.txt"))
	w.read("empty.txt")
	w.ok(file.Edit(w.deps()), create("empty.txt"))
	assert.Equal(t, "one\r\ntwo\n", w.content("/repo/empty.txt"))
	w.read("full.txt")
	w.refused(file.Edit(w.deps()), file.CodeExists, create("full.txt"))
	w.refused(file.Edit(w.deps()), file.CodeMissing, map[string]any{"file_path": "gone", "old_string": "a", "new_string": "b"})
	w.refused(file.Edit(w.deps()), file.CodeKind, create("full.txt/x"))
}

func TestEditRefuses(t *testing.T) {
	w := newWorkplace(t, "-- a.txt --\n"+numbered(3)+"-- n.ipynb --\n{}\n-- dir/ --\n")
	w.refused(file.Edit(w.deps()), file.CodeNotRead, edit("line 1", "x"))
	w.refused(file.Edit(w.deps()), file.CodeSame, edit("line 1", "line 1"))
	w.refused(file.Edit(w.deps()), file.CodeSame, map[string]any{"file_path": "a.txt", "old_string": "line", "new_string": "line", "replace_all": true})
	w.refused(file.Edit(w.deps()), file.CodeNotebook, map[string]any{"file_path": "n.ipynb", "old_string": "{}", "new_string": "x"})
	w.refused(file.Edit(w.deps()), file.CodeKind, map[string]any{"file_path": "dir", "old_string": "{}", "new_string": "x"})

	w.ok(file.Read(w.deps()), map[string]any{"file_path": "a.txt", "limit": 1})
	w.ok(file.Edit(w.deps()), edit("line 1\n", "one\n")) // a part is enough to edit
	seen, _ := w.c.State.Files.Get("/repo/a.txt")
	assert.True(t, seen.Partial, "but it stays a part")
	w.put("/repo/a.txt", "line 1\n")
	w.refused(file.Edit(w.deps()), file.CodeChanged, edit("line 1", "x"))

	w.put("/repo/a.txt", "\xff\xfe\x00\xd8a\x00") // UTF-16 with half a pair
	w.read("a.txt")
	w.refused(file.Edit(w.deps()), file.CodeKind, edit("a", "b"))
}

func genLines(r *rapid.T, label string) []string {
	return rapid.SliceOfN(rapid.StringMatching(`[abé]{0,3}`), 1, 8).Draw(r, label)
}

// An edit and the same edit backwards give the same bytes, in every encoding
// and with either line ending.
func TestReverseEditRestoresTheBytes(t *testing.T) {
	reversed := 0
	rapid.Check(t, func(r *rapid.T) {
		end := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(r, "ending")
		mark := rapid.SampledFrom([]string{"", "\xef\xbb\xbf"}).Draw(r, "mark")
		body := strings.Join(genLines(r, "lines"), "\n") + "\n"
		from := rapid.IntRange(0, len(body)-1).Draw(r, "from")
		to := rapid.IntRange(from+1, len(body)).Draw(r, "to")
		old := strings.ToValidUTF8(body[from:to], "")
		fresh := "<" + strings.Join(genLines(r, "new"), "\n") + ">" // < and > make it unique
		before := mark + strings.ReplaceAll(body, "\n", end)
		if old == "" || strings.Count(before, "\n") == strings.Count(old, "\n") {
			return // with its last line ending gone, a file no longer shows which it used
		}
		w := editPlace(t, before)
		if w.call(file.Edit(w.deps()), edit(old, fresh)).err != nil {
			return // not unique
		}
		want := mark + strings.ReplaceAll(strings.Replace(body, old, fresh, 1), "\n", end)
		if got := w.content("/repo/a.txt"); got != want {
			r.Fatalf("%q with %q for %q gave %q", before, fresh, old, got)
		}
		if err := w.call(file.Edit(w.deps()), edit(fresh, old)).err; err != nil {
			r.Fatal(err)
		}
		if got := w.content("/repo/a.txt"); got != before {
			r.Fatalf("%q came back as %q", before, got)
		}
		reversed++
	})
	assert.Positive(t, reversed)
}

// The patch that an edit leaves for display turns the old text into the new one.
func TestPatchesDescribeTheChange(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		var lines []string
		for _, gap := range rapid.SliceOfN(rapid.IntRange(0, 12), 1, 8).Draw(r, "gaps") {
			lines = append(append(lines, slices.Repeat([]string{"same"}, gap)...), "x")
		}
		before := strings.Join(lines, "\n") + rapid.SampledFrom([]string{"", "\n"}).Draw(r, "end")
		w := editPlace(t, before)
		input := edit("x", rapid.SampledFrom([]string{"y", "y\nz", "", "y\n\n"}).Draw(r, "new"))
		input["replace_all"] = true
		a := w.call(file.Edit(w.deps()), input)
		require.NoError(t, a.err)
		if got := patched(r, before, a.Data.(file.EditOut).Patch); got != w.content("/repo/a.txt") {
			r.Fatalf("patch gives %q, the file is %q", got, w.content("/repo/a.txt"))
		}
	})
}

func TestWritesLeaveAPatchToo(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		line := rapid.SampledFrom([]string{"a\n", "b\n", "c\n", "\n"})
		before := strings.Join(rapid.SliceOfN(line, 0, 30).Draw(r, "before"), "")
		after := strings.Join(rapid.SliceOfN(line, 0, 30).Draw(r, "after"), "") + rapid.SampledFrom([]string{"", "end"}).Draw(r, "end")
		w := editPlace(t, before)
		a := w.call(file.Write(w.deps()), map[string]any{"file_path": "a.txt", "content": after})
		require.NoError(t, a.err)
		if got := patched(r, before, a.Data.(file.WriteOut).Patch); got != after {
			r.Fatalf("patch gives %q, the file is %q", got, after)
		}
	})
}

// patched applies hunks as patch(1) would, holding their own numbers to account.
func patched(r *rapid.T, before string, hunks []file.Hunk) string {
	old := strings.SplitAfter(before, "\n")
	if old[len(old)-1] == "" {
		old = old[:len(old)-1]
	}
	var out []string
	at := 0
	for _, h := range hunks {
		out = append(out, old[at:h.OldStart-1]...)
		at = h.OldStart - 1
		if h.NewStart != len(out)+1 {
			r.Fatalf("a hunk claims to start at new line %d, it does at %d", h.NewStart, len(out)+1)
		}
		for i, l := range h.Lines {
			content := l[1:] + "\n"
			if i+1 < len(h.Lines) && h.Lines[i+1][0] == '\\' {
				content = l[1:]
			}
			switch l[0] {
			case ' ', '-':
				if old[at] != content {
					r.Fatalf("hunk line %q stands against %q", l, old[at])
				}
				at++
			}
			if l[0] == ' ' || l[0] == '+' {
				out = append(out, content)
			}
		}
	}
	return strings.Join(append(out, old[at:]...), "")
}

func TestHugeReplacementsKeepAPatchOfBoundedSize(t *testing.T) {
	w := editPlace(t, strings.Repeat("x\n1\n2\n3\n4\n5\n6\n7\n8\n", 1000))
	input := edit("x", "y")
	input["replace_all"] = true
	a := w.call(file.Edit(w.deps()), input)
	require.NoError(t, a.err)
	out := a.Data.(file.EditOut)
	assert.Equal(t, 1000, out.Replaced)
	assert.True(t, out.PatchCut)
	assert.Len(t, out.Patch, 500)
	assert.Less(t, len(a.text()), 2000)
	assert.Contains(t, a.text(), "[more of the change is not shown]")
	assert.Zero(t, strings.Count(w.content("/repo/a.txt"), "x"))
}

func BenchmarkEdit(b *testing.B) {
	for _, lines := range []int{100, 10_000} {
		b.Run(fmt.Sprint(lines, "-lines"), func(b *testing.B) {
			w := editPlace(b, numbered(lines)[7:]+"line 1\n")
			one, two := edit("line 50\n", "line fifty\n"), edit("line fifty\n", "line 50\n")
			for b.Loop() {
				w.ok(file.Edit(w.deps()), one)
				w.ok(file.Edit(w.deps()), two)
			}
		})
	}
}
