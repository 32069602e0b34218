package reports

import (
	"encoding/base64"
	"fmt"
	"html"
	"slices"
	"strconv"
	"strings"

	"toolbench/toolsys/render"
)

// markup writes nodes as HTML. Every text passes through words, and nothing else of a node
// reaches the page but as a class or a number (M3).
type markup struct {
	strings.Builder
	// places makes places in files links.
	places bool
	// pictures are the bytes of those that were shown.
	pictures int
}

// words writes a text in which nothing is markup.
func (m *markup) words(text string) { m.WriteString(html.EscapeString(render.ShownLine(text))) }

func (m *markup) nodes(nodes []render.Node) {
	for _, n := range nodes {
		m.node(n)
	}
}

func (m *markup) node(n render.Node) {
	switch n := n.(type) {
	case render.Line:
		m.block("line", "", func() { m.spans(n.Spans) })
	case render.Text:
		m.block("text", n.Role, func() { m.lines(n.Text) })
	case render.Code:
		m.code(n)
	case render.Diff:
		m.diff(n)
	case render.List:
		m.list(n)
	case render.Group:
		m.block("group", "", func() {
			m.block("line", "", func() { m.spans(n.Head) })
			m.nodes(n.Nodes)
		})
	case render.Fold:
		m.fold(n)
	case render.Table:
		m.table(n)
	case render.Image:
		m.image(n)
	case render.Progress:
		m.block("line", render.Dim, func() {
			if n.Total > 0 {
				fmt.Fprintf(m, `<progress value="%d" max="%d"></progress> `, n.Done, n.Total)
			}
			m.words(n.String())
		})
	}
}

// block is a division of a class and, where there is one, a role.
func (m *markup) block(class string, role render.Role, inside func()) {
	fmt.Fprintf(m, `<div class="%s">`, classes(class, role))
	inside()
	m.WriteString("</div>\n")
}

// classes are the names of a class and a role; a role that no theme has is left out, for
// tools name roles.
func classes(class string, role render.Role) string {
	if _, known := rolePaint[role]; known {
		return strings.TrimSpace(class + " r-" + string(role))
	}
	return class
}

func (m *markup) lines(text string) {
	for i, l := range render.Shown(text) {
		if i > 0 {
			m.WriteString("\n")
		}
		m.words(l)
	}
}

func (m *markup) spans(spans []render.Span) {
	for _, s := range spans {
		class := classes("", s.Role)
		switch to := linkTo(s.Link); {
		case to != "" && (m.places || s.Link.Path == ""):
			fmt.Fprintf(m, `<a class="%s" href="%s" rel="noreferrer">`, class, html.EscapeString(to))
			m.words(s.Text)
			m.WriteString("</a>")
		default:
			m.span(class, s.Text)
		}
	}
}

// span is a text of a class; without one it is the text alone.
func (m *markup) span(class, text string) {
	if class == "" {
		m.words(text)
		return
	}
	fmt.Fprintf(m, `<span class="%s">`, class)
	m.words(text)
	m.WriteString("</span>")
}

// pictureTypes are the media of pictures that a page may show: none of them can run
// anything.
var pictureTypes = []string{"image/png", "image/jpeg", "image/gif", "image/webp"}

// image shows a picture within the page, with what it is in words beside it. Of what is no
// picture, and of one too many, there are the words alone.
func (m *markup) image(n render.Image) {
	data, err := base64.StdEncoding.DecodeString(n.Data)
	if err == nil && len(data) > 0 && slices.Contains(pictureTypes, n.Media) && m.pictures+len(data) <= mostPictures {
		m.pictures += len(data)
		fmt.Fprintf(m, `<img alt="%s" src="data:%s;base64,%s">`, html.EscapeString(n.String()), n.Media, base64.StdEncoding.EncodeToString(data))
	}
	m.block("line", render.Dim, func() { m.words(n.String()) })
}

// mostPictures is how many bytes of pictures a page holds, so that it opens at once.
const mostPictures = 8_000_000

func (m *markup) row(row []token) {
	for _, t := range row {
		m.span(t.kind, t.text)
	}
}

func (m *markup) code(n render.Code) {
	m.WriteString(`<pre class="code">`)
	for i, row := range highlight(n.Language, render.Shown(n.Text)) {
		if n.From > 0 {
			fmt.Fprintf(m, `<span class="number">%d</span>`, n.From+i)
		}
		m.row(row)
		m.WriteString("\n")
	}
	m.WriteString("</pre>\n")
}

func (m *markup) diff(n render.Diff) {
	m.WriteString(`<pre class="code diff">`)
	for i, h := range n.Hunks {
		if i > 0 {
			m.WriteString("<span class=\"r-dim\">…</span>\n")
		}
		rows := numbered(h)
		for k, row := range highlight(n.Language, each(rows, func(r numberedLine) string { return r.text })) {
			class := map[string]string{"+": "added", "-": "removed", " ": "same"}[rows[k].sign]
			fmt.Fprintf(m, `<span class="%s">`, class)
			if rows[k].number != "" {
				fmt.Fprintf(m, `<span class="number">%s</span>`, rows[k].number)
			}
			m.WriteString(rows[k].sign + " ")
			m.row(row)
			m.WriteString("\n</span>")
		}
	}
	if n.Cut {
		m.WriteString(`<span class="r-dim">`)
		m.words(render.Onward)
		m.WriteString("\n</span>")
	}
	m.WriteString("</pre>\n")
}

func (m *markup) list(n render.List) {
	m.WriteString("<ul>\n")
	for _, item := range n.Items {
		fmt.Fprintf(m, `<li class="mark-%s">`, strconv.Itoa(int(item.Mark)))
		m.words(marks[item.Mark][0])
		m.spans(item.Spans)
		m.WriteString("</li>\n")
	}
	m.WriteString("</ul>\n")
}

func (m *markup) fold(n render.Fold) {
	m.WriteString("<details><summary>")
	if len(n.Closed) == 0 {
		m.WriteString(`<span class="r-dim">more</span>`)
	}
	m.WriteString(`<div class="closed">`)
	m.nodes(n.Closed)
	m.WriteString("</div></summary>\n")
	m.nodes(n.Open)
	m.WriteString("</details>\n")
}

func (m *markup) table(n render.Table) {
	m.WriteString("<table>\n")
	for i, row := range append([][]string{n.Heads}, n.Rows...) {
		cell := "td"
		if i == 0 {
			cell = "th"
		}
		m.WriteString("<tr>")
		for _, text := range row {
			m.WriteString("<" + cell + ">")
			m.words(text)
			m.WriteString("</" + cell + ">")
		}
		m.WriteString("</tr>\n")
	}
	m.WriteString("</table>\n")
}

// NodesHTML writes nodes as a piece of HTML.
func NodesHTML(nodes []render.Node) string {
	m := markup{places: true}
	m.nodes(nodes)
	return m.String()
}
