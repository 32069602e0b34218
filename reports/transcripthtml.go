package reports

import (
	"context"
	_ "embed" // the page's style
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"toolbench/toolsys/tool"
)

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
