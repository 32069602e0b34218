package reports_test

import (
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"
	"pgregory.net/rapid"

	"toolbench/reports"
	"toolbench/toolsys/render"
)

// everyNode has a node of each kind, with a text of the caller's in each place.
func everyNode(text string) []render.Node {
	spans := []render.Span{{Text: text, Role: render.Role(text)}, {Text: text, Role: render.Good, Link: render.Link{URL: text}}, render.At(text, 3)}
	inner := []render.Node{
		render.Line{Spans: spans}, render.Text{Text: text, Role: render.Bad}, render.Code{Text: text, Language: "go", From: 9},
		render.Diff{Language: "a.go", Hunks: []render.Hunk{{OldStart: 1, NewStart: 1, Lines: []string{" " + text, "-" + text, "+" + text, text}}}, Cut: true},
		render.List{Items: []render.Item{{Mark: render.Done, Spans: spans}, {Spans: spans}}},
		render.Table{Heads: []string{text, "b"}, Rows: [][]string{{text, text, text}}}, render.Image{Media: text, Bytes: 3}, render.Progress{Text: text, Done: 1, Total: 4},
	}
	return append(inner, render.Group{Head: spans, Nodes: inner}, render.Fold{Closed: inner[:1], Open: inner})
}

const nastyText = "\x1b[2J\x1b]8;;javascript:alert(1)\x07x\x1b\\\u009b31m\r<script>alert('1')</script>\" onload=\"x\u202egnp\u2066\x00\t\nsecond </pre><img src=x onerror=alert(1)>"

func TestNodesInATerminal(t *testing.T) {
	nodes := []render.Node{
		render.Group{Head: []render.Span{{Text: "Edit", Role: render.Strong}, {Text: "(a.go)"}}, Nodes: []render.Node{
			render.Diff{Language: "a.go", Hunks: []render.Hunk{{OldStart: 9, NewStart: 9, Lines: []string{" func f() {", "-\treturn", "+\treturn // done and a comment that is long", " }"}}}},
		}},
		render.List{Items: []render.Item{{Mark: render.Done, Spans: []render.Span{{Text: "one"}}}, {Mark: render.Active, Spans: []render.Span{{Text: "two"}}}, {Mark: render.Pending, Spans: []render.Span{{Text: "three"}}}}},
		render.Table{Heads: []string{"name", "n"}, Rows: [][]string{{"long name", "1"}, {"b", "22"}}},
		render.Code{Text: "package a\n\nfunc f()", Language: "go", From: 99},
		render.Image{Media: "image/png", Bytes: 1}, render.Progress{Text: "files", Done: 5, Total: 10},
	}
	nodes = append(nodes, render.Brief("1\n2\n3\n4", 2, render.Plainly(render.Plain))...)
	assert.Equal(t, `Edit(a.go)
   9   func f() {
  10 -     return
  10 +     return // done
       and a comment that is
       long
  11   }
☑ one
▶ two
☐ three
name       n
long name  1
b          22
 99  package a
100  
101  func f()
[image/png, 1 byte]
██████████░░░░░░░░░░ 5 of 10
files
1
2
… 2 more lines`, strings.Join(reports.Terminal{Width: 28}.Lines(nodes), "\n"))
	nodes = append(nodes, render.Words("… a × b … and a line that is long …", render.Plain), render.Table{Heads: []string{"a × b…", "c"}, Rows: [][]string{{"×…", "d"}}})
	for _, l := range (reports.Terminal{ASCII: true, Width: 16}).Lines(nodes) {
		assert.LessOrEqual(t, len(l), 16, "%q", l)
	}
	plain := reports.Terminal{ASCII: true, Verbose: true}.Lines(nodes)
	for _, l := range plain {
		assert.Regexp(t, `^[ -~]*$`, l)
	}
	assert.Equal(t, []string{"1", "2", "3", "4"}, plain[len(plain)-7:len(plain)-3])
}

// Colours and links are asked for; a link leads to a file or the web and nowhere else.
// What is folded loses blanks at its breaks, and nothing else.
func TestNodesThatAreFoldedKeepTheirWords(t *testing.T) {
	assert.Equal(t, []string{"aaaa", "    ", "b"}, reports.Terminal{Width: 4}.Lines([]render.Node{render.Words("aaaa      b", render.Plain)}))
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`([abé…世]{0,6} {0,6}){0,6}`).Draw(t, "text")
		lines := reports.Terminal{Width: rapid.IntRange(2, 9).Draw(t, "width")}.Lines([]render.Node{render.Words(text, render.Plain)})
		assert.Equal(t, strings.ReplaceAll(text, " ", ""), strings.ReplaceAll(strings.Join(lines, ""), " ", ""))
	})
}

func TestColoursAndLinksAreAskedFor(t *testing.T) {
	nodes := []render.Node{render.Line{Spans: []render.Span{render.At("/repo/src/a b.go", 3), {Text: "page", Link: render.Link{URL: "https://example.com/x"}}, {Text: "bad", Link: render.Link{URL: "javascript:alert(1)"}}}}}
	assert.Equal(t, []string{"/repo/src/a b.go:3pagebad"}, reports.Terminal{}.Lines(nodes))
	assert.Equal(t, []string{"\x1b[36m/repo/src/a b.go:3\x1b[0mpagebad"}, reports.Terminal{Colour: true}.Lines(nodes))
	linked := reports.Terminal{Links: true}.Lines(nodes)[0]
	assert.Equal(t, "\x1b]8;;file:///repo/src/a%20b.go#L3\x1b\\/repo/src/a b.go:3\x1b]8;;\x1b\\\x1b]8;;https://example.com/x\x1b\\page\x1b]8;;\x1b\\bad", linked)
	code := reports.Terminal{Colour: true}.Lines([]render.Node{render.Code{Text: "func f() {}", Language: "go"}})
	assert.Contains(t, code[0], "\x1b[35mfunc\x1b[0m", "a keyword")
}

// A lexer that does not come to its end colours nothing, and the text is there.
func TestCodeIsShownWhateverItsLexerDoes(t *testing.T) {
	text := strings.Repeat("~", 100)
	for range 2 {
		shown := reports.Terminal{Colour: true}.Lines([]render.Node{render.Code{Text: text, Language: "a.jungle"}})
		assert.Equal(t, []string{text}, shown)
	}
}

// Whatever stands in nodes: a terminal is sent no sequence but our own, no line is wider
// than it may be, and all that a search finds is shown (M2, M3).
func TestNodesAreHarmlessInATerminal(t *testing.T) {
	texts := rapid.OneOf(rapid.Just(nastyText), rapid.String(), rapid.StringOf(rapid.RuneFrom([]rune("a \t\n\r\x1b]\\\u202e\u009b<>&\"'…世é`+-"))))
	rapid.Check(t, func(t *rapid.T) {
		nodes := everyNode(texts.Draw(t, "text"))
		wide := reports.Terminal{Verbose: true}.Lines(nodes)
		for _, l := range wide {
			require.True(t, isHarmless(l), "%q", l)
		}
		shown := strings.Join(wide, "\n")
		for word := range strings.FieldsSeq(render.String(nodes, true)) {
			require.Contains(t, shown, strings.TrimLeft(word, "+-"))
		}
		width := rapid.IntRange(20, 120).Draw(t, "width")
		for _, l := range (reports.Terminal{Width: width, Colour: true, Links: true}).Lines(nodes) {
			require.LessOrEqual(t, reports.Width(withoutLinks(l)), width, "%q", l)
			require.True(t, isHarmless(withoutLinks(unpaint(l))), "%q", l)
		}
	})
}

// isHarmless does not ask the code that it checks.
func isHarmless(line string) bool {
	return !strings.ContainsFunc(line, func(r rune) bool {
		return unicode.IsControl(r) || unicode.In(r, unicode.Bidi_Control, unicode.Zl, unicode.Zp)
	})
}

var (
	paints = regexp.MustCompile("\x1b\\[[0-9;]*m")
	links  = regexp.MustCompile("\x1b\\]8;;(?:(?:file|https?)://[!-~]*)?\x1b\\\\")
)

func unpaint(line string) string      { return paints.ReplaceAllString(line, "") }
func withoutLinks(line string) string { return links.ReplaceAllString(line, "") }

// Whatever stands in nodes, it is text on a page: no element, no attribute, no address but
// of a file or the web (M3).
func TestNodesAreHarmlessAsHTML(t *testing.T) {
	texts := rapid.OneOf(rapid.Just(nastyText), rapid.Just("javascript:alert(1)"), rapid.Just("data:text/html,x"), rapid.Just("//evil.example/a"), rapid.String())
	rapid.Check(t, func(t *rapid.T) {
		text := texts.Draw(t, "text")
		root, err := html.Parse(strings.NewReader(reports.NodesHTML(everyNode(text))))
		require.NoError(t, err)
		for n := range root.Descendants() {
			if n.Type != html.ElementNode {
				continue
			}
			require.Contains(t, []string{"html", "head", "body", "div", "span", "pre", "ul", "li", "table", "tbody", "tr", "th", "td", "a", "details", "summary", "progress"}, n.Data)
			for _, a := range n.Attr {
				switch a.Key {
				case "href":
					require.Regexp(t, `^(file:///|https?://)`, a.Val)
				case "class":
					require.Regexp(t, `^[a-z0-9 -]*$`, a.Val)
				default:
					require.Contains(t, []string{"rel", "value", "max"}, a.Key)
				}
			}
		}
	})
}

// A picture is shown within its page, with words for it; what is none, or too large, or
// could run something, is words alone.
func TestPicturesOnAPage(t *testing.T) {
	const dot = "R0lGODlhAQABAAAAACH5BAEKAAEALAAAAAABAAEAAAICTAEAOw=="
	page := reports.NodesHTML([]render.Node{render.Image{Media: "image/gif", Bytes: 37, Data: dot}})
	assert.Contains(t, page, `<img alt="[image/gif, 37 bytes]" src="data:image/gif;base64,`+dot+`">`)
	for _, bad := range []render.Image{
		{Media: "image/svg+xml", Data: dot}, {Media: "image/gif\" onload=\"x", Data: dot}, {Media: "image/gif", Data: "\"><script>"}, {Media: "image/gif"}, {Media: "application/pdf", Data: dot},
	} {
		assert.NotContains(t, reports.NodesHTML([]render.Node{bad}), "<img")
	}
	large := render.Image{Media: "image/png", Data: strings.Repeat("AAAA", 1_000_000)}
	assert.Equal(t, 2, strings.Count(reports.NodesHTML([]render.Node{large, large, large, large}), "<img"), "a page holds so much and no more")
}
