package reports

import (
	"bufio"
	"fmt"
	"io"
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
		for _, cell := range (Options{}).outcome(outcome, escaped, verdict(outcome.Status).word) {
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
		fence(w, "diff", safeAll(difference(f)))
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
func escaped(s string) string {
	var b strings.Builder
	for _, r := range Safe(s) {
		switch {
		case r == '&':
			b.WriteString("&amp;")
			continue
		case r == '<':
			b.WriteString("&lt;")
			continue
		case strings.ContainsRune("\\`*_[]|#~!>@$", r):
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}
