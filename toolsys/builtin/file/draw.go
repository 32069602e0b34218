package file

import (
	"path"
	"regexp"
	"strconv"
	"strings"

	"github.com/aymanbagabas/go-udiff"

	"toolbench/toolsys/render"
	"toolbench/toolsys/tool"
)

// doing is what a call does with a file, whose name may not have come yet.
func doing(what, name string) string {
	if name == "" {
		return what + " a file"
	}
	return what + " " + path.Base(name)
}

// shownLines are those of a change or a text that are shown where room is short.
const shownLines = 12

// change draws hunks, of which the first lines stand for all where room is short.
func change(name string, hunks []render.Hunk, cut bool) []render.Node {
	if len(hunks) == 0 {
		return nil
	}
	language := path.Base(name)
	whole := render.Diff{Language: language, Hunks: hunks, Cut: cut}
	lines := 0
	for i, h := range hunks {
		if lines += len(h.Lines); lines <= shownLines {
			continue
		}
		first := append([]render.Hunk{}, hunks[:i+1]...)
		first[i].Lines = h.Lines[:shownLines-(lines-len(h.Lines))]
		for _, later := range hunks[i+1:] {
			lines += len(later.Lines)
		}
		return []render.Node{render.Fold{
			Closed: []render.Node{render.Diff{Language: language, Hunks: first}, render.More(lines - shownLines)},
			Open:   []render.Node{whole},
		}}
	}
	return []render.Node{whole}
}

func hunksOf(patch []Hunk) []render.Hunk {
	return tool.Each(patch, func(h Hunk) render.Hunk {
		return render.Hunk{OldStart: h.OldStart, NewStart: h.NewStart, Lines: h.Lines}
	})
}

// mostCompared is how much text is compared for a drawing.
const mostCompared = 20_000

// between are the lines that differ of two texts whose place in their file is not known.
func between(before, after string) render.Hunk {
	var h render.Hunk
	if len(before)+len(after) <= mostCompared {
		if diff, err := udiff.ToUnifiedDiff("", "", before, udiff.Lines(before, after), contextLines); err == nil {
			for _, part := range diff.Hunks {
				h.Lines = append(h.Lines, hunkOf(part.FromLine, part.Lines).Lines...)
			}
			return h
		}
	}
	for _, side := range []struct{ sign, text string }{{"-", before}, {"+", after}} {
		for line := range strings.Lines(side.text) {
			h.Lines = append(h.Lines, side.sign+strings.TrimSuffix(line, "\n"))
		}
	}
	return h
}

// ended gives a text the line feed at its end that a part of a file need not have.
func ended(text string) string {
	if text == "" || strings.HasSuffix(text, "\n") {
		return text
	}
	return text + "\n"
}

// drawEdit draws the change that is asked for: old text, new text.
func drawEdit(in EditIn) []render.Node {
	return change(in.Path, []render.Hunk{between(ended(in.Old), ended(in.New))}, false)
}

// drawEdited draws the change in its place in the file, where that is known.
func drawEdited(in EditIn, o tool.Outcome[EditOut]) []render.Node {
	if !o.Known {
		return nil
	}
	if o.Data.Kind == "create" {
		return []render.Node{render.Words(o.Data.text(), render.Dim)}
	}
	head := render.Words("Edited "+o.Data.Path+" ("+render.Count(o.Data.Replaced, "replacement")+")", render.Dim)
	return append([]render.Node{head}, change(in.Path, hunksOf(o.Data.Patch), o.Data.PatchCut)...)
}

// drawWrite draws the file's new text.
func drawWrite(in WriteIn) []render.Node {
	if in.Content == "" {
		return nil
	}
	return render.Brief(in.Content, shownLines, func(text string) render.Node { return render.Code{Text: text, Language: path.Base(in.Path), From: 1} })
}

func drawWritten(in WriteIn, o tool.Outcome[WriteOut]) []render.Node {
	if !o.Known || o.Data.Kind == "create" {
		return nil
	}
	return append([]render.Node{render.Words("Wrote "+o.Data.Path, render.Dim)}, change(in.Path, hunksOf(o.Data.Patch), o.Data.PatchCut)...)
}

// drawCellChange draws what became of a cell: the change of its text.
func drawCellChange(in NotebookEditIn, o tool.Outcome[NotebookEditOut]) []render.Node {
	if !o.Known {
		return nil
	}
	first, _, _ := strings.Cut(o.Data.text(), "\n")
	language := map[bool]string{true: "a.md", false: "a.py"}[o.Data.Kind == "markdown"]
	return append([]render.Node{render.Words(first, render.Dim)}, change(language, []render.Hunk{between(ended(o.Data.was), ended(o.Data.Source))}, false)...)
}

// drawSymbols draws what a language server found as places that lead there.
func drawSymbols(_ LSPIn, o tool.Outcome[LSPOut]) []render.Node {
	switch {
	case o.Known && o.Data.Text != "":
		return render.Brief(o.Data.Text, 6, render.Plainly(render.Plain))
	case !o.Known || len(o.Data.Found) == 0:
		return nil
	}
	var list render.List
	for _, s := range o.Data.Found {
		spans := []render.Span{render.At(s.Path, s.Line)}
		if what := strings.TrimSpace(s.Kind + " " + s.Name); what != "" {
			spans = append(spans, render.Span{Text: "  " + what})
		}
		if s.Within != "" {
			spans = append(spans, render.Span{Text: " in " + s.Within, Role: render.Dim})
		}
		if text := strings.TrimSpace(s.Text); text != "" {
			spans = append(spans, render.Span{Text: "  " + text, Role: render.Dim})
		}
		list.Items = append(list.Items, render.Item{Spans: spans})
	}
	if o.Data.Omitted > 0 {
		list.Items = append(list.Items, render.Item{Spans: render.More(o.Data.Omitted).Spans})
	}
	return render.Folded(render.Words("Found "+render.Count(len(o.Data.Found)+o.Data.Omitted, "place"), render.Dim), list)
}

// drawMemory draws what is written to the memory.
func drawMemory(in MemoryIn) []render.Node {
	switch in.Command {
	case "create":
		return drawWrite(WriteIn{Path: in.Path, Content: in.FileText})
	case "str_replace":
		return drawEdit(EditIn{Path: in.Path, Old: in.OldStr, New: in.NewStr})
	case "insert":
		return change(in.Path, []render.Hunk{between("", ended(in.InsertText))}, false)
	}
	return nil
}

// drawCell draws the cell's new text.
func drawCell(in NotebookEditIn) []render.Node {
	head := render.Words(strings.TrimSpace(in.mode()+" cell "+in.Cell), render.Dim)
	language := "python"
	if in.Kind == "markdown" {
		language = "markdown"
	}
	if in.source() == "" {
		return []render.Node{head}
	}
	return append([]render.Node{head}, render.Brief(in.source(), shownLines, func(text string) render.Node {
		return render.Code{Text: text, Language: language}
	})...)
}

// grepRow is a line of Grep's with its place.
var grepRow = regexp.MustCompile(`^([^:\n]+):(\d+):(.*)$`)

// drawFound draws matches as places that lead to them, behind how many there are. It reads
// the text, which recordings have as well.
func drawFound(in GrepIn, o tool.Outcome[GrepOut]) []render.Node {
	text := strings.TrimRight(o.Text, "\n")
	if text == "" {
		return nil
	}
	var list render.List
	places := 0
	for line := range strings.SplitSeq(text, "\n") {
		item := render.Item{Spans: []render.Span{{Text: line}}}
		m := grepRow.FindStringSubmatch(line)
		switch {
		case in.mode() == "content" && m != nil:
			n, _ := strconv.Atoi(m[2]) // digits; more than an int holds is no line
			item.Spans = []render.Span{render.At(m[1], n), {Text: ":" + m[3]}}
			places++
		case in.mode() == "files_with_matches" && strings.ContainsAny(line, "/.") && !strings.Contains(line, " "):
			item.Spans = []render.Span{render.At(line, 0)}
			places++
		}
		list.Items = append(list.Items, item)
	}
	what := "line"
	if in.mode() == "files_with_matches" {
		what = "file"
	}
	if o.Known {
		return render.Folded(render.Words("Found "+render.Count(o.Data.Matches, "match")+" in "+render.Count(o.Data.In, "file"), render.Dim), list)
	}
	return render.Folded(render.Words("Found "+render.Count(max(places, 1), what), render.Dim), list)
}

// drawFiles draws the files that match, behind how many there are.
func drawFiles(_ GlobIn, o tool.Outcome[GlobOut]) []render.Node {
	if !o.Known {
		return nil
	}
	if o.Data.Total == 0 {
		return []render.Node{render.Words("Found no files", render.Dim)}
	}
	list := render.List{Items: tool.Each(o.Data.Files, func(name string) render.Item { return render.Item{Spans: []render.Span{render.At(name, 0)}} })}
	for _, note := range o.Data.Notes {
		list.Items = append(list.Items, render.Item{Spans: []render.Span{{Text: note, Role: render.Dim}}})
	}
	return render.Folded(render.Words("Found "+render.Count(o.Data.Total, "file"), render.Dim), list)
}

// numberedRow is a line as Read gives it.
var numberedRow = regexp.MustCompile(`^ *(\d+)(?:\t|→)(.*)$`)

// drawRead draws a text as code of its language, behind how many lines were read.
func drawRead(in ReadIn, o tool.Outcome[ReadOut]) []render.Node {
	if o.Known && o.Data.Kind != "text" {
		return nil
	}
	var code, rest []string
	first := 0
	for i, line := range strings.Split(strings.TrimRight(o.Text, "\n"), "\n") {
		m := numberedRow.FindStringSubmatch(line)
		switch {
		case m == nil && i == 0:
			return nil
		case m == nil || len(rest) > 0:
			rest = append(rest, line)
		default:
			if i == 0 {
				first, _ = strconv.Atoi(m[1])
			}
			code = append(code, m[2])
		}
	}
	nodes := []render.Node{render.Code{Text: strings.Join(code, "\n"), Language: path.Base(in.Path), From: first}}
	if len(rest) > 0 {
		nodes = append(nodes, render.Text{Text: strings.Join(rest, "\n"), Role: render.Dim})
	}
	return render.Folded(render.Words("Read "+render.Count(len(code), "line"), render.Dim), nodes...)
}
