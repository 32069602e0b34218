package render_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"toolbench/toolsys/render"
)

func TestAFoldHidesOnlyWhatIsNotShown(t *testing.T) {
	short := render.Brief("a\nb", 3, render.Plainly(render.Plain))
	assert.False(t, render.Hides(short))
	assert.Equal(t, "a\nb\nc", render.String(render.Brief("a\nb\nc", 3, render.Plainly(render.Plain)), false), "nothing is left to count")
	long := render.Brief("a\nb\nc\nd\n", 3, render.Plainly(render.Plain))
	assert.True(t, render.Hides(long))
	assert.Equal(t, "a\nb\nc\n… 1 more line", render.String(long, false))
	assert.Equal(t, "a\nb\nc\nd", render.String(long, true))
	assert.True(t, render.Hides([]render.Node{render.Group{Nodes: long}}))
	wide := render.Brief(strings.Repeat("世", 200), 3, render.Plainly(render.Plain))
	assert.True(t, render.Hides(wide))
	assert.Equal(t, strings.Repeat("世", 133)+"… (201 more bytes)", render.String(wide, false))
	assert.Equal(t, strings.Repeat("世", 200), render.String(wide, true))
	assert.False(t, render.Hides(render.Folded(render.Words("nothing", render.Dim))))
}

func TestAChangeIsFoundWhereverItStands(t *testing.T) {
	change := render.Diff{Hunks: []render.Hunk{{Lines: []string{"+a"}}}}
	assert.True(t, render.HasDiff([]render.Node{render.Group{Nodes: []render.Node{change}}}))
	assert.True(t, render.HasDiff([]render.Node{render.Fold{Open: []render.Node{change}}}))
	assert.False(t, render.HasDiff([]render.Node{render.Group{Nodes: []render.Node{render.Code{Text: "+a"}}}}))
}

// What would take a screen for ever is cut, and each cut is marked.
func TestNodesAreBounded(t *testing.T) {
	line := strings.Repeat("x", 1<<20)
	nodes := render.Bounded([]render.Node{render.Text{Text: line}, render.Code{Text: strings.Repeat("y\n", 10_000)}})
	text := render.String(nodes, true)
	assert.Less(t, len(text), 10_000)
	assert.Contains(t, text, "… (1044576 more bytes)")
	assert.Contains(t, text, "… 8001 more lines")

	var items []render.Item
	for range 3000 {
		items = append(items, render.Item{Spans: []render.Span{{Text: "i"}}})
	}
	hunk := render.Hunk{Lines: strings.Split(strings.Repeat("+z\n", 5000), "\n")}
	text = render.String(render.Bounded([]render.Node{render.List{Items: items}, render.Diff{Hunks: []render.Hunk{hunk, hunk}}}), true)
	assert.Contains(t, text, "… 1000 more lines")
	assert.Contains(t, text, render.Onward)
	assert.Equal(t, 2000, strings.Count(text, "+z"))
	text = render.String(render.Bounded([]render.Node{render.Fold{Open: []render.Node{render.Group{Nodes: []render.Node{render.Text{Text: strings.Repeat("x\n", 2500)}}}}}}), true)
	assert.Contains(t, text, "… 501 more lines", "what says how much was left out stays")
}

// What is just as long as the bound is shown whole, and one more is what is counted as left out.
func TestOnlyWhatIsBeyondTheBoundIsCut(t *testing.T) {
	of := func(n int) map[string]render.Node {
		parts := make([]render.Node, n)
		items := make([]render.Item, n)
		rows := make([][]string, n)
		lines := make([]string, n)
		for i := range n {
			parts[i] = render.Text{Text: "x"}
			items[i] = render.Item{Spans: []render.Span{{Text: "x"}}}
			rows[i] = []string{"x"}
			lines[i] = "+x"
		}
		return map[string]render.Node{
			"group": render.Group{Nodes: parts}, "list": render.List{Items: items}, "table": render.Table{Rows: rows},
			"diff": render.Diff{Hunks: []render.Hunk{{Lines: lines[:1]}, {Lines: lines[1:]}}},
			"text": render.Text{Text: strings.Join(lines, "\n")}, "line": render.Text{Text: strings.Repeat("x", n)},
		}
	}
	for kind, most := range map[string]int{"group": 400, "list": 2000, "table": 2000, "diff": 2000, "text": 2000, "line": 4000} {
		whole, over := of(most)[kind], of(most + 1)[kind]
		assert.Equal(t, render.String([]render.Node{whole}, true), render.String(render.Bounded([]render.Node{whole}), true), kind)
		cut := render.String(render.Bounded([]render.Node{over}), true)
		want := "… 1 more"
		switch kind {
		case "diff":
			want = render.Onward
		case "line":
			want = "… (1 more byte)"
		}
		assert.Contains(t, cut, want, kind)
	}
	// A change that ends at the bound takes no further hunk, however short.
	diff := of(2000)["diff"].(render.Diff)
	diff.Hunks = append(diff.Hunks, render.Hunk{Lines: []string{"+y"}})
	text := render.String(render.Bounded([]render.Node{diff}), true)
	assert.NotContains(t, text, "+y")
	assert.Contains(t, text, render.Onward)
	// A character is never cut in two.
	wide := render.Bounded([]render.Node{render.Text{Text: "x" + strings.Repeat("é", 2000)}})
	assert.Equal(t, "x"+strings.Repeat("é", 1999)+"… (2 more bytes)", render.String(wide, true))
}

func TestProgressNamesATotalWhereThereIsOne(t *testing.T) {
	assert.Equal(t, "2 of 5 files", render.Progress{Done: 2, Total: 5, Text: "files"}.String())
	assert.Equal(t, "files", render.Progress{Done: 2, Text: "files"}.String())
}

// Each reaches every text, so that a secret stands nowhere.
func TestEachReachesEveryText(t *testing.T) {
	s := []render.Span{{Text: "secret", Link: render.Link{Path: "secret", URL: "secret"}}}
	all := []render.Node{
		render.Line{Spans: s}, render.Text{Text: "secret"}, render.Code{Text: "secret", Language: "secret"},
		render.Diff{Language: "secret", Hunks: []render.Hunk{{Lines: []string{"+secret"}}}}, render.List{Items: []render.Item{{Spans: s}}},
		render.Table{Heads: []string{"secret"}, Rows: [][]string{{"secret"}}}, render.Image{Media: "secret"}, render.Progress{Text: "secret"},
	}
	all = append(all, render.Group{Head: s, Nodes: all}, render.Fold{Closed: all, Open: all})
	blanked := render.Each(all, func(text string) string { return strings.ReplaceAll(text, "secret", "_") })
	assert.NotContains(t, render.String(blanked, true), "secret")
	assert.NotContains(t, render.String(blanked, false), "secret")
	assert.Contains(t, render.String(all, true), "secret")
}

func TestShownIsHarmless(t *testing.T) {
	assert.Equal(t, []string{`a\x1b[31m`, "    b", `\u202ec`, "d�"}, render.Shown("a\x1b[31m\r\n\tb\n\u202ec\nd\xff\n"))
	assert.Equal(t, `\x9b \u0600 \ufeff \U000e0001`, render.Safe("\u009b \u0600 \ufeff \U000e0001"), "each in the shortest way that a reader knows")
}
