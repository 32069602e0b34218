package file_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/toolsys/builtin/file"
	"toolbench/toolsys/permission"
	"toolbench/toolsys/schedule"
	"toolbench/toolsys/settings"
	"toolbench/toolsys/tool"
)

func family(d file.Deps) []*tool.Tool {
	return []*tool.Tool{file.Read(d), file.Write(d), file.Edit(d), file.Glob(d), file.Grep(d), file.NotebookEdit(d)}
}

// inputFor is an input of the tool about a path.
func inputFor(t *tool.Tool, path string) map[string]any {
	return map[string]map[string]any{
		"Read":         {"file_path": path},
		"Write":        {"file_path": path, "content": "x"},
		"Edit":         {"file_path": path, "old_string": "a", "new_string": "b"},
		"Glob":         {"pattern": "**", "path": path},
		"Grep":         {"pattern": "x", "path": path},
		"NotebookEdit": {"notebook_path": path, "cell_id": "a", "new_source": "x"},
	}[t.Name]
}

func TestUNCPathsNeverReachTheFilesystem(t *testing.T) {
	for _, path := range []string{`\\host\share\a.ipynb`, "//host/share/a.ipynb", `/\host\a.ipynb`, `\/host/a.ipynb`} {
		for _, each := range family(file.Deps{FS: noFS{t}}) {
			t.Run(each.Name+" "+path, func(t *testing.T) {
				w := &workplace{t: t, c: newContext()}
				in := w.parse(each, inputFor(each, path))

				assert.Nil(t, each.Validate(in, w.c), "validation lets it pass: permission decides")
				paths := each.Subject(in, w.c).Paths
				require.Len(t, paths, 1)
				assert.True(t, permission.IsUNC(paths[0]), "permission sees a UNC path")
				each.Behaviour.Effects(in, w.c)
				each.Shape.Backfill(inputFor(each, path), w.c)
				_, err := each.Call(context.Background(), in, w.c)
				assert.ErrorContains(t, err, "UNC")
			})
		}
	}
}

func TestAUNCPatternIsAPathToo(t *testing.T) {
	glob := file.Glob(file.Deps{FS: noFS{t}})
	w := &workplace{t: t, c: newContext()}
	in := w.parse(glob, map[string]any{"pattern": `\\host\share\**`})
	assert.Nil(t, glob.Validate(in, w.c))
	assert.Equal(t, []string{`\\host\share\**`}, glob.Subject(in, w.c).Paths)
	_, err := glob.Call(context.Background(), in, w.c)
	assert.ErrorContains(t, err, "UNC")
}

func TestALinkToAShareIsNotFollowed(t *testing.T) {
	w := newWorkplace(t, "-- away.txt -> //host/share/a.txt --\n")
	assert.Contains(t, w.refused(file.Read(w.deps()), file.CodePath, map[string]any{"file_path": "away.txt"}), "UNC")
}

func TestTraitsAndLimits(t *testing.T) {
	type row struct {
		safe, readOnly, edits, deferrable, cancels bool
		class                                      tool.Class
		chars                                      int
		kin                                        []string
	}
	search, fifty := tool.Class{Search: true}, tool.DefaultResultChars
	want := map[string]row{
		"Read":         {safe: true, readOnly: true, cancels: true, class: tool.Class{Read: true}, chars: tool.Unlimited},
		"Write":        {edits: true, chars: fifty, kin: []string{"Edit"}},
		"Edit":         {edits: true, chars: fifty, kin: []string{"Write"}},
		"Glob":         {safe: true, readOnly: true, cancels: true, class: search, chars: 100_000, kin: []string{"Read"}},
		"Grep":         {safe: true, readOnly: true, cancels: true, class: search, chars: fifty, kin: []string{"Read"}},
		"NotebookEdit": {edits: true, deferrable: true, chars: fifty, kin: []string{"Edit", "Write"}},
	}
	w := newWorkplace(t, "")
	for _, each := range family(w.deps()) {
		in := w.parse(each, inputFor(each, "a.ipynb"))
		b := each.Behaviour
		safe := b.Safe(in)
		readOnly := b.ReadOnly(in)
		destructive := b.Destructive(in)
		enabled, _ := each.Enabled(settings.Settings{})
		got := row{
			safe: safe, readOnly: readOnly, edits: b.EditsFiles, deferrable: each.Loading.Deferrable,
			cancels: b.Interrupt == tool.Cancel, class: b.Class(in), chars: each.Limit.ResultChars,
			kin: each.Subject(in, w.c).Kin,
		}
		assert.Equal(t, want[each.Name], got, each.Name)
		assert.True(t, enabled)
		assert.False(t, destructive)
	}
}

func TestEveryToolPresentsItself(t *testing.T) {
	w := newWorkplace(t, "")
	long := "src/" + strings.Repeat("deep/", 20) + "a.ipynb"
	for _, each := range family(w.deps()) {
		in := w.parse(each, inputFor(each, long))
		words := len(strings.Fields(each.Hint))
		assert.True(t, 3 <= words && words <= 10, "hint of %s has %d words", each.Name, words)
		lines := strings.Count(each.Prompt(tool.PromptOptions{}), "\n")
		assert.True(t, 5 <= lines && lines <= 40, "prompt of %s has %d lines", each.Name, lines)
		assert.NotEqual(t, each.Name, each.Present.Activity(in), each.Name)
		assert.NotEmpty(t, each.Present.Summary(in))
		assert.LessOrEqual(t, len([]rune(each.Present.Summary(in))), tool.SummaryChars)
		assert.NotEmpty(t, each.Describe(in))
		assert.NotEmpty(t, each.Shape.Classifier(in))
		_, err := each.Input.Schema()
		assert.NoError(t, err)
		require.NotNil(t, each.Output)
		_, err = each.Output.Schema()
		assert.NoError(t, err)
	}
	read := file.Read(w.deps())
	in := w.parse(read, map[string]any{"file_path": long})
	assert.Equal(t, "Reading a.ipynb", read.Present.Activity(in))
	assert.True(t, strings.HasSuffix(read.Present.Summary(in), "deep/a.ipynb"), "the end of a path means most")
}

// What a tool answers with must fit the schema it publishes for it.
func TestDataFitsTheOutputSchema(t *testing.T) {
	w := newWorkplace(t, "-- a.go --\npackage a\n-- n.ipynb --\n"+notebook45)
	w.read("a.go")
	w.read("n.ipynb")
	for _, each := range []struct {
		tool  *tool.Tool
		input map[string]any
	}{
		{file.Read(w.deps()), map[string]any{"file_path": "a.go"}},
		{file.Edit(w.deps()), map[string]any{"file_path": "a.go", "old_string": "a\n", "new_string": "b\n"}},
		{file.Write(w.deps()), map[string]any{"file_path": "a.go", "content": "package c\n"}},
		{file.Glob(w.deps()), map[string]any{"pattern": "**"}},
		{file.Grep(w.deps()), map[string]any{"pattern": "package", "output_mode": "content"}},
		{file.NotebookEdit(w.deps()), map[string]any{"notebook_path": "n.ipynb", "cell_id": "two", "new_source": "x"}},
	} {
		a := w.call(each.tool, each.input)
		require.NoError(t, a.err, each.tool.Name)
		raw, err := json.Marshal(a.Data)
		require.NoError(t, err)
		s, err := each.tool.Output.Schema()
		require.NoError(t, err)
		assert.Empty(t, s.Validate(raw), each.tool.Name)
	}
}

func TestObserversSeeAbsolutePaths(t *testing.T) {
	w := newWorkplace(t, "")
	for name, want := range map[string]string{"a.go": "/repo/a.go", "~/b": "/home/user/b", "/c/../d": "/d"} {
		raw := map[string]any{"file_path": name}
		read := file.Read(w.deps())
		read.Shape.Backfill(raw, w.c)
		read.Shape.Backfill(raw, w.c)
		assert.Equal(t, want, raw["file_path"])
	}
}

func TestEffectsNameEveryNameOfAFile(t *testing.T) {
	w := newWorkplace(t, "-- a.go --\nx\n-- b.go -> a.go --\n-- src/c.go --\nx\n-- far -> near --\n-- near -> src --\n")
	effects := func(each *tool.Tool, input map[string]any) tool.Effects {
		return each.Behaviour.Effects(w.parse(each, input), w.c)
	}
	both := []string{"/repo/b.go", "/repo/a.go"}
	assert.Equal(t, tool.Effects{Reads: both}, effects(file.Read(w.deps()), map[string]any{"file_path": "b.go"}))
	assert.Equal(t, tool.Effects{Reads: both, Writes: append(slices.Clone(both), schedule.OrderKey)},
		effects(file.Edit(w.deps()), map[string]any{"file_path": "b.go", "old_string": "x", "new_string": "y"}))
	assert.Equal(t, tool.Effects{Reads: []string{"/repo/src", "/repo/src/**"}},
		effects(file.Glob(w.deps()), map[string]any{"pattern": "/repo/src/**"}))
	assert.Equal(t, tool.Effects{Reads: []string{"/repo/far/c.go", "/repo/near/c.go", "/repo/src/c.go"}},
		effects(file.Read(w.deps()), map[string]any{"file_path": "far/c.go"}), "a link on the way may be another's target")
}

func TestEffectsKnowWhatIsLookedAtBesideAFile(t *testing.T) {
	w := newWorkplace(t, "-- a.go --\nx\n-- src/c.go --\nx\n")
	effects := func(each *tool.Tool, input map[string]any) tool.Effects {
		return each.Behaviour.Effects(w.parse(each, input), w.c)
	}
	assert.Equal(t, []string{"/repo/b.go", "/repo/**"}, effects(file.Read(w.deps()), map[string]any{"file_path": "b.go"}).Reads,
		"a missing file's neighbours are named")
	assert.Equal(t, []string{"/repo/new/deep/x", "/repo/new/deep", "/repo/new", schedule.OrderKey},
		effects(file.Write(w.deps()), map[string]any{"file_path": "new/deep/x", "content": ""}).Writes, "folders are made")
	assert.Equal(t, []string{"/repo/src", "/repo/src/**", "/repo/.gitignore", "/repo/.git", "/.gitignore", "/.git"},
		effects(file.Grep(w.deps()), map[string]any{"pattern": "x", "path": "src"}).Reads, "folders above list what is ignored")
}

func TestPathsThatAreNone(t *testing.T) {
	w := newWorkplace(t, "-- loop -> loop --\n")
	for _, name := range []string{" ", "a\x00b", "loop"} {
		w.refused(file.Read(w.deps()), file.CodePath, map[string]any{"file_path": name})
	}
	w.c.State.Dir, w.c.Home = "", ""
	w.refused(file.Read(w.deps()), file.CodePath, map[string]any{"file_path": "a.go"})
}

func TestACancelledContextStopsReads(t *testing.T) {
	w := newWorkplace(t, "-- a.go --\npackage a\n")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, each := range []*tool.Tool{file.Read(w.deps()), file.Glob(w.deps()), file.Grep(w.deps())} {
		input := inputFor(each, ".")
		if each.Name == "Read" {
			input = inputFor(each, "a.go")
		}
		_, err := each.Call(ctx, w.parse(each, input), w.c)
		assert.ErrorIs(t, err, context.Canceled, each.Name)
	}
}
