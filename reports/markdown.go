package reports

import (
	"bufio"
	"fmt"
	"io"
	"path"
	"regexp"
	"strings"

	"toolbench/sim/scenario/check"
)

// Markdown writes a table and the failures, for job summaries and merge requests.
// Whatever a text contains, it stays text: no markup, no link, no HTML.
func Markdown(w io.Writer, outcomes []check.Result, o Options) error {
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "**%s**\n", Count(outcomes))
	if len(outcomes) > 0 {
		fmt.Fprint(out, "\n| Scenario | Status | Policy | Makespan | Serial | Hidden | Batches | Calls |\n| --- | --- | --- | ---: | ---: | ---: | ---: | ---: |\n")
	}
	for _, outcome := range outcomes {
		for _, cell := range (Options{}).outcome(outcome, escaped, Options{}.verdict(outcome.Status)) {
			fmt.Fprintf(out, "| %v ", cell)
		}
		fmt.Fprintln(out, "|")
	}
	for _, outcome := range outcomes {
		markdownFailure(out, outcome, o)
	}
	return out.Flush()
}

func markdownFailure(w io.Writer, outcome check.Result, o Options) {
	for _, note := range outcome.Notes {
		fmt.Fprintf(w, "\n> %s: %s\n", escaped(outcome.Name), escaped(note))
	}
	if outcome.Status == check.Passed {
		return
	}
	fmt.Fprintf(w, "\n### %s\n", escaped(outcome.Name))
	if outcome.Err != nil {
		fence(w, "text", SafeLines(outcome.Err.Error()))
	}
	for _, f := range outcome.Failures {
		fmt.Fprintf(w, "\n%s%s\n", escaped(f.Expectation), place(f))
		fence(w, "diff", each(difference(f), Safe))
	}
	fence(w, "sh", []string{Safe(o.again(outcome))})
}

func place(f check.Failure) string {
	if f.At == "" {
		return ""
	}
	return " (" + escaped(f.At) + ")"
}

// fence writes a code block whose fence is longer than any run of backticks in it.
func fence(w io.Writer, language string, lines []string) {
	mark := "```"
	for strings.Contains(strings.Join(lines, "\n"), mark) {
		mark += "`"
	}
	fmt.Fprintf(w, "\n%s%s\n%s\n%s\n", mark, language, strings.Join(lines, "\n"), mark)
}

// escaped is a line of text that means itself in Markdown and in a table's cell.
func escaped(s string) string { return markdownEscapes.Replace(Safe(s)) }

var markdownEscapes = strings.NewReplacer("&", "&amp;", "<", "&lt;", `\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`,
	"|", `\|`, "#", `\#`, "~", `\~`, "!", `\!`, ">", `\>`, "@", `\@`, "$", `\$`)

// Annotations writes workflow commands, a line a failure, that GitHub shows at
// the place in the scenario's file (O8). Without a failure it writes nothing.
func Annotations(w io.Writer, outcomes []check.Result, o Options) error {
	out := bufio.NewWriter(w)
	for _, outcome := range outcomes {
		if outcome.Status == check.Errored {
			annotate(out, at(outcome, placeOf(outcome.Err)), outcome.Name, errorText(outcome))
		}
		for _, f := range outcome.Failures {
			message := fmt.Sprintf("expected: %s\nfound: %s\nagain: %s", f.Expected, f.Found, o.again(outcome))
			annotate(out, at(outcome, f.At), outcome.Name+": "+f.Expectation, message)
		}
	}
	return out.Flush()
}

// at is the place as properties. A failure names its file by its base name alone;
// the outcome has the file's whole path.
func at(outcome check.Result, where string) string {
	file, line, column := splitPlace(where)
	if file == "" || path.Base(file) == path.Base(outcome.File) {
		file = outcome.File
	}
	if file == "" {
		return ""
	}
	properties := "file=" + property(file)
	if line != "" {
		properties += ",line=" + line
	}
	if column != "" {
		properties += ",col=" + column
	}
	return properties + ","
}

// placeOf takes the place that leads an error's text, if there is one.
func placeOf(err error) string {
	if err == nil {
		return ""
	}
	place, _, _ := strings.Cut(err.Error(), ": ")
	if _, line, _ := splitPlace(place); line == "" {
		return ""
	}
	return place
}

var placeForm = regexp.MustCompile(`(?s)^(.*?)(?::([0-9]+))?(?::([0-9]+))?$`)

// splitPlace takes "name.yaml:12:3" apart; line and column may be missing.
func splitPlace(where string) (file, line, column string) {
	m := placeForm.FindStringSubmatch(where)
	return m[1], m[2], m[3]
}

func annotate(w io.Writer, where, title, message string) {
	fmt.Fprintf(w, "::error %stitle=%s::%s\n", where, property(title), data(strings.Join(SafeLines(message), "\n")))
}

var (
	dataEscapes     = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	propertyEscapes = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

func data(s string) string     { return dataEscapes.Replace(s) }
func property(s string) string { return propertyEscapes.Replace(Safe(s)) }
