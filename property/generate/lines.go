package generate

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Writer takes the lines of a document; String gives it.
type Writer struct{ strings.Builder }

// Line writes one line, so many levels in.
func (w *Writer) Line(indent int, format string, args ...any) {
	w.WriteString(strings.Repeat("  ", indent))
	fmt.Fprintf(&w.Builder, format, args...)
	w.WriteByte('\n')
}

// List writes a key with items below it, or nothing if there are none.
func (w *Writer) List(indent int, key string, items []string) {
	if len(items) == 0 {
		return
	}
	w.Line(indent, "%s:", key)
	for _, item := range items {
		w.Line(indent+1, "- %s", item)
	}
}

// Members are those of a mapping on one line.
type Members []string

// Add adds one if it is there.
func (m *Members) Add(is bool, format string, args ...any) {
	if is {
		*m = append(*m, fmt.Sprintf(format, args...))
	}
}

// String gives the mapping.
func (m Members) String() string { return "{" + strings.Join(m, ", ") + "}" }

// Quoted is a text, or texts, as YAML on one line.
func Quoted(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err) // texts have a form
	}
	return string(raw)
}
