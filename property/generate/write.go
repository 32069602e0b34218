package generate

import (
	"fmt"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"time"

	"toolbench/property/des"
)

// writer takes the lines of a scenario's file.
type writer struct{ strings.Builder }

// line writes one line, so many levels in.
func (w *writer) line(indent int, format string, args ...any) {
	w.WriteString(strings.Repeat("  ", indent))
	fmt.Fprintf(&w.Builder, format, args...)
	w.WriteByte('\n')
}

// keys writes keys with their values, each on a line; see members.
func (w *writer) keys(indent int, pairs ...any) {
	for _, m := range members(pairs) {
		w.line(indent, "%s", m)
	}
}

// list writes a key with items below it, or nothing if there are none.
func (w *writer) list(indent int, key string, items []string) {
	if len(items) == 0 {
		return
	}
	w.line(indent, "%s:", key)
	for _, item := range items {
		w.line(indent+1, "- %s", item)
	}
}

// user writes what the person permits and answers, and the messages of the user.
func (w *writer) user(permits, answers []string, interrupts []time.Duration) {
	var messages []string
	for i, at := range interrupts {
		messages = append(messages, mapping("at", at, "text", fmt.Sprintf("Message %d.", i+1)))
	}
	if len(permits)+len(answers)+len(messages) > 0 {
		w.line(0, "user:")
		w.list(1, "permits", permits)
		w.list(1, "answers", answers)
		w.list(1, "says", messages)
	}
}

// faultLines are faults, each as YAML on one line.
func faultLines(all []des.Fault) []string {
	var lines []string
	for _, f := range all {
		lines = append(lines, strconv.Quote(f.String()))
	}
	return lines
}

// flow is a value that is YAML already.
type flow string

// inBraces is a mapping of members that are YAML already.
func inBraces(all []string) flow {
	if len(all) == 0 {
		return ""
	}
	return flow("{" + strings.Join(all, ", ") + "}")
}

// mapping is a mapping on one line; see members.
func mapping(pairs ...any) string { return "{" + strings.Join(members(pairs), ", ") + "}" }

// members are keys with their values, which come in turn. A value that is nothing (zero,
// false, "", no member) is left out with its key.
func members(pairs []any) (all []string) {
	for i := 0; i < len(pairs); i += 2 {
		if v := reflect.ValueOf(pairs[i+1]); v.IsZero() || v.Kind() == reflect.Slice && v.Len() == 0 {
			continue
		}
		all = append(all, fmt.Sprintf("%s: %s", pairs[i], text(pairs[i+1])))
	}
	return all
}

// plain is what YAML takes for a text without quotes, whatever it is.
var plain = regexp.MustCompile(`^[A-Za-z_/][A-Za-z0-9_./-]*$`)

// text is a value as YAML on one line.
func text(v any) string {
	switch v := v.(type) {
	case flow:
		return string(v)
	case string:
		if plain.MatchString(v) && !words[v] {
			return v
		}
		return strconv.Quote(v)
	case []string:
		items := make([]string, len(v))
		for i, item := range v {
			items[i] = text(item)
		}
		return "[" + strings.Join(items, ", ") + "]"
	}
	return fmt.Sprint(v)
}

// words are plain texts that YAML takes for something else.
var words = map[string]bool{"true": true, "false": true, "null": true}
