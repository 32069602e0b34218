package reports

import (
	"context"
	_ "embed" // the page's style
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"toolbench/toolsys/render"
	"toolbench/toolsys/tool"
)

// signedPart is a part in its place: a sign and what stands behind it.
type signedPart struct {
	deep  int
	sign  string
	role  render.Role
	nodes []render.Node
}

// signs are those of parts, and where only ASCII can be shown.
var signs = map[string]string{"●": "*", "›": ">", "└": "`", "·": "-", "?": "?", headSign: "=="}

// headSign stands before the title of a conversation.
const headSign = "══"

// draw gives some parts as nodes; grouped puts calls of one tool that follow each other into one.
func (t *Transcript) draw(parts []*part, grouped bool) []signedPart {
	var all []signedPart
	for i := 0; i < len(parts); i++ {
		n, rest := 0, parts[i:] // the calls at the beginning of the rest are drawn as one
		for grouped && n < len(rest) && rest[n].groups() && rest[n].joins(rest[0]) {
			n++
		}
		if n > 1 {
			all = append(all, t.group(parts[i:i+n]))
			i += n - 1
			continue
		}
		all = append(all, t.part(parts[i], grouped)...)
	}
	return all
}

// blanked is done where parts are shown and not where they are made, for groups hold others.
func (t *Transcript) blanked(all []signedPart) []signedPart {
	if t.Blank != nil {
		for i := range all {
			all[i].nodes = render.Each(all[i].nodes, t.Blank)
		}
	}
	return all
}

// settled is how many parts, counted from the beginning, will not change any more, of which those
// before from are known not to. Calls that another may still join to a group may change.
func (t *Transcript) settled(from int, grouped bool) int {
	at := from
	for at < len(t.parts) && t.parts[at].done() {
		at++
	}
	if !grouped || at == from || !t.parts[at-1].groups() || at < len(t.parts) && !t.parts[at].joins(t.parts[at-1]) {
		return at
	}
	last := at - 1
	for at > from && t.parts[at-1].groups() && t.parts[at-1].joins(t.parts[last]) {
		at--
	}
	return at
}

// done reports whether a part will not change any more.
func (p *part) done() bool {
	return p.over && !slices.ContainsFunc(p.within, func(inner *part) bool { return !inner.done() })
}

func (p *part) input() tool.Input { return p.tool.Partly(p.raw) }

func (p *part) joins(other *part) bool {
	return p.tool != nil && p.tool == other.tool && p.name == other.name && p.agent == other.agent
}

// groups reports whether a call is drawn in one with others.
func (p *part) groups() bool {
	if p.tool == nil || !p.done() || p.failed || len(p.asked) > 0 || len(p.within) > 0 {
		return false
	}
	if p.joined == nil { // what is asked at each event that follows
		p.joined = new(groupOf([]*part{p}) != nil)
	}
	return *p.joined
}

func groupOf(parts []*part) []render.Node {
	return parts[0].tool.Draw.Grouped(each(parts, func(p *part) tool.Called[tool.Input, any] {
		return tool.Called[tool.Input, any]{In: p.input(), Outcome: p.answer}
	}))
}

// group draws several calls as one that opens.
func (t *Transcript) group(parts []*part) signedPart {
	var open []render.Node
	for _, p := range parts {
		for _, d := range t.part(p, false) {
			open = append(open, d.nodes...)
		}
	}
	return signedPart{sign: "●", role: render.Good, nodes: []render.Node{render.Fold{Closed: groupOf(parts), Open: open}}}
}

func (t *Transcript) part(p *part, grouped bool) []signedPart {
	if p.tool != nil {
		return t.drawCall(p, grouped)
	}
	text := strings.TrimRight(string(p.text), "\n")
	if strings.TrimSpace(text) == "" || t.Wordless && p.agent == "" && (p.speaks == model || p.speaks == user) {
		return nil
	}
	said := func(sign string, role render.Role) []signedPart {
		return []signedPart{{0, sign, role, render.Bounded([]render.Node{render.Text{Text: text, Role: role}})}}
	}
	switch p.speaks {
	case user:
		return said("›", render.Strong)
	case notice:
		return said("·", render.Warn)
	case heading:
		return said(headSign, render.Accent)
	case thinking:
		return []signedPart{{0, "·", render.Dim, render.Bounded(render.Folded(render.Words("thinking", render.Dim), render.Text{Text: text, Role: render.Dim}))}}
	}
	return said("", render.Plain)
}

// drawCall draws a call by its tool, and below it what came of it. What a wrapper calls is
// drawn in its place.
func (t *Transcript) drawCall(p *part, grouped bool) []signedPart {
	within := t.draw(p.within, grouped)
	if p.wraps && p.over && p.tool.Behaviour.Wrapper && !p.failed {
		return within
	}
	in := p.input()
	all := []signedPart{{0, "●", p.look(), p.use(in)}}
	all = append(all, each(p.asked, func(a string) signedPart {
		return signedPart{1, "?", render.Warn, []render.Node{render.Words(a, render.Warn)}}
	})...)
	role, nodes := p.came(in)
	if last := len(p.within) - 1; last >= 0 && p.within[last].repeated(nodes) {
		within = t.draw(p.within[:last], grouped)
	}
	for _, d := range within {
		d.deep++
		all = append(all, d)
	}
	if len(nodes) > 0 {
		all = append(all, signedPart{1, "└", role, nodes})
	}
	return all
}

// repeated reports whether the last words of an agent stand in what came of its call.
func (p *part) repeated(nodes []render.Node) bool {
	return p.tool == nil && p.speaks == model && len(p.text) > 0 &&
		strings.Contains(render.String(nodes, true), strings.Join(render.Shown(strings.TrimRight(string(p.text), "\n")), "\n"))
}

// unsaid is the answer of a call without the lines that stand in those of the calls it made.
func (p *part) unsaid() tool.Outcome[any] {
	said := map[string]bool{}
	for _, inner := range p.within {
		for l := range strings.Lines(inner.answer.Text) {
			said[strings.TrimSpace(l)] = true
		}
	}
	answer := p.answer
	answer.Text = strings.Join(slices.DeleteFunc(strings.Split(answer.Text, "\n"), func(l string) bool { return said[strings.TrimSpace(l)] }), "\n")
	return answer
}

// look is the colour of a call's sign.
func (p *part) look() render.Role {
	switch {
	case p.failed:
		return render.Bad
	case p.over:
		return render.Good
	}
	return render.Accent
}

// use is what a call is given.
func (p *part) use(in tool.Input) []render.Node {
	head := p.tool.Head(in, p.stage == streaming || p.stage == running)
	if p.agent != "" {
		head = append(head, render.Span{Text: "  " + p.agent, Role: render.Dim})
	}
	nodes := []render.Node{render.Line{Spans: head}}
	changed := p.stage == answered && !p.failed && p.answer.Known && render.HasDiff(p.tool.Draw.Result(in, p.answer))
	if changed { // which stands for what was asked for
		return nodes
	}
	return append(nodes, p.tool.Draw.Use(in)...)
}

// given is what a call is given, and gave what came of it, where both stand apart.
func (p *part) given() []render.Node {
	in := p.input()
	return append([]render.Node{render.Line{Spans: p.tool.Head(in, false)}}, p.tool.Draw.Use(in)...)
}

func (p *part) gave() []render.Node {
	_, nodes := p.came(p.input())
	return nodes
}

// came is what came of a call, or how far it is.
func (p *part) came(in tool.Input) (render.Role, []render.Node) {
	switch {
	case p.stage == queued:
		return render.Dim, p.tool.Draw.Queued(in)
	case p.stage == running && len(p.within) > 0: // which shows how far it is
		return render.Dim, nil
	case p.stage == running:
		return render.Dim, p.tool.Draw.Progress(in, p.reports)
	case tool.Unwanted(p.status):
		return render.Warn, p.tool.Draw.Rejected(in, p.answer)
	case p.failed:
		return render.Bad, p.tool.Draw.Error(in, p.unsaid())
	case p.stage == answered:
		return render.Dim, p.tool.Draw.Result(in, p.answer)
	}
	return render.Dim, nil
}

// shown are some of the parts, each where it stands: those of an agent whose call is not
// known are as far in as the agent is deep.
func (t *Transcript) shown(from, to int, grouped bool) []signedPart {
	var all []signedPart
	parts := t.parts[min(from, to):to]
	for len(parts) > 0 {
		n := 1
		for n < len(parts) && parts[n].agent == parts[0].agent {
			n++
		}
		for _, d := range t.draw(parts[:n], grouped) {
			d.deep += strings.Count(parts[0].agent, ".") + min(len(parts[0].agent), 1) // below the main conversation
			all = append(all, d)
		}
		parts = parts[n:]
	}
	return t.blanked(all)
}

// Lines are all parts, as a terminal has them.
func (t *Transcript) Lines(screen Terminal) []string {
	return screen.parts(t.shown(0, len(t.parts), !screen.Verbose))
}

// deepest is how far in a part is drawn; what is deeper stands there too.
const deepest = 8

// parts draws parts of a conversation.
func (t Terminal) parts(all []signedPart) (lines []string) {
	for _, d := range all {
		indent := strings.Repeat("  ", min(d.deep, deepest))
		if t.Width > 0 {
			indent = indent[:min(len(indent), t.Width/4)]
		}
		sign := d.sign
		if t.ASCII {
			sign = signs[sign]
		}
		if sign != "" {
			sign += " "
		}
		for _, l := range t.below(len(indent)).hung(sign, rolePaint[d.role], d.nodes) {
			lines = append(lines, strings.TrimRight(indent+l, " "))
		}
	}
	return lines
}

// Question is what a person is shown of a call that is asked about, all of it.
func (t *Transcript) Question(screen Terminal, name string, input []byte) []string {
	tl := t.toolOf("", name)
	screen.Verbose = true
	return screen.Lines(tl.Asked(tl.Partly(input)))
}

// Blank blanks secrets in what is drawn.
func (o Options) Blank() func(string) string {
	finder := o.finder()
	return func(text string) string { return finder.Text(text, nil) }
}

//go:embed viewer/transcript.css
var transcriptStyle string

// HTML writes the conversation as one page that opens from disk. It runs nothing and asks
// for nothing: its own policy allows its style alone, by hash.
func (t *Transcript) HTML(w io.Writer, title string) error {
	m := markup{places: t.Places}
	fmt.Fprintf(&m, "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src data:; style-src '%s'\">\n", sourceHash(transcriptStyle))
	m.WriteString("<meta name=\"viewport\" content=\"width=device-width\"><title>")
	m.words(title)
	m.WriteString("</title>\n<style>" + transcriptStyle + "</style></head><body>\n<h1>")
	m.words(title)
	m.WriteString("</h1>\n<main>\n")
	for _, d := range t.shown(0, len(t.parts), true) {
		if d.sign == headSign {
			m.WriteString("<h2>")
			m.nodes(d.nodes)
			m.WriteString("</h2>\n")
			continue
		}
		fmt.Fprintf(&m, `<div class="part deep-%d"><span class="%s">`, min(d.deep, deepest), classes("sign", d.role))
		m.words(d.sign)
		m.WriteString("</span><div>\n")
		m.nodes(d.nodes)
		m.WriteString("</div></div>\n")
	}
	m.WriteString("</main></body></html>\n")
	_, err := io.WriteString(w, m.String())
	return err
}

// plainTool draws a tool of which only the name is known; its summary is the first short
// text of its input.
func plainTool(name string) *tool.Tool {
	return tool.Must(tool.Def[json.RawMessage, string]{
		Name: "unknown", Description: "A tool that is not here.", InputSchema: json.RawMessage(`{"type":"object"}`),
		Call: func(context.Context, json.RawMessage, *tool.Context) (tool.Result[string], error) {
			return tool.Result[string]{}, fmt.Errorf("%s is not here", name)
		},
		View: tool.View[json.RawMessage]{
			Title:   func(json.RawMessage) string { return name },
			Summary: tool.FirstText, Activity: func(raw json.RawMessage) string { return strings.TrimSpace(name + " " + tool.FirstText(raw)) },
		},
	})
}
