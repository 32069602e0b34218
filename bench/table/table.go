// Package table draws what a comparison measured.
package table

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"toolbench/bench/measure"
	"toolbench/bench/ours"
	"toolbench/reports"
)

// Write writes what a call costs, what becomes of a message, and what it rests on.
func Write(w io.Writer, r measure.Report, width int) error {
	var out strings.Builder
	for _, part := range []struct {
		title string
		grid  reports.Grid
	}{
		{"A call that does nothing, of a message of 8: us, us of processor time, allocations; x: CPU by ours", costs(r)},
		{"A message: ms of 4 reads, 1 write, 2 reads of 10 ms each; ms until the first of 6 calls starts that stream in 10 ms apart, the message after 122; calls answered", messages(r)},
		{"A step by itself, us of processor time", steps(r)},
	} {
		drawn := strings.TrimRight(part.grid.Draw(width, false), "\n")
		out.WriteString(strings.Join(reports.Fold(part.title, width), "\n") + "\n" + drawn + "\n\n")
	}
	for _, note := range notes(r) {
		out.WriteString(strings.Join(reports.Fold(note, width), "\n") + "\n")
	}
	_, err := io.WriteString(w, out.String())
	return err
}

func columns(first string, rest ...string) []reports.Column {
	out := []reports.Column{{Title: first}}
	for _, title := range rest {
		out = append(out, reports.Column{Title: title, Right: true})
	}
	return out
}

func costs(r measure.Report) reports.Grid {
	g := reports.Grid{Columns: columns("Library", "Version", "5 members", "CPU", "Allocs", "1 member", "x calls", "x loop")}
	alone, _ := r.Row(ours.Calls)
	whole, _ := r.Row(ours.Loop)
	for _, row := range r.Rows {
		if row.Five == nil || row.One == nil {
			g.Rows = append(g.Rows, []string{row.Name, row.Version, "-", "-", "-", "-", "-", "-"})
			continue
		}
		g.Rows = append(g.Rows, []string{
			row.Name, row.Version, micros(row.Five.Micros), micros(row.Five.CPU), strconv.FormatFloat(row.Five.Allocs.Median, 'f', 0, 64),
			micros(row.One.Micros), times(row.Five, alone.Five), times(row.Five, whole.Five),
		})
	}
	return g
}

func messages(r measure.Report) reports.Grid {
	g := reports.Grid{Columns: columns("Library", "Makespan", "Overlap", "First", "Order", "1 fails", "Panic", "Cancel", "Left")}
	for _, row := range r.Rows {
		cells := []string{row.Name, "-", "-", "-"}
		if s := row.Span; s != nil {
			cells = []string{row.Name, millis(s.Makespan), always(s.Overlaps, r.Repeats), millis(s.First)}
		}
		g.Rows = append(g.Rows, append(cells, ordered(row.Troubles["order"]), ended(row.Troubles["failure"]),
			ended(row.Troubles["panic"]), answered(row.Troubles["cancel"]), left(row)))
	}
	return g
}

func steps(r measure.Report) reports.Grid {
	g := reports.Grid{Columns: columns("Step", "5 members", "1 member")}
	for _, s := range r.Steps {
		g.Rows = append(g.Rows, []string{s.Name, number(s.Five), number(s.One)})
	}
	return g
}

// notes are the line on what ours may cost, what the figures rest on and what is
// not there.
func notes(r measure.Report) []string {
	var out []string
	if line := allowance(r); line != "" {
		out = append(out, line)
	}
	out = append(out,
		"Overlap: the write ran beside a read (under effects: of other files). Order: results in call order. Panic: one of 5 calls panics. Cancel: the caller gives up after 20 ms. *: the conversation ended with an error there. Left: goroutines 100 ms after a failure or cancellation.",
		fmt.Sprintf("%s %s, %d CPUs, %s. Median of %d, order shuffled in each repeat with seed %d, %s a cost.", r.Go, r.System, r.CPUs, r.Date, r.Repeats, r.Seed, r.Budget))
	if r.Quick {
		out = append(out, "Quick: workers ran beside each other, so the times say nothing.")
	}
	for _, row := range r.Rows {
		for _, problem := range row.Problems {
			out = append(out, fmt.Sprintf("%s: %s", row.Name, reports.Safe(problem)))
		}
	}
	for _, m := range r.Missing {
		out = append(out, fmt.Sprintf("Not measured: %s: %s", m.Name, reports.Safe(m.Reason)))
	}
	return out
}

// allowance holds ours against the fastest tools node plus what it does not do, by
// processor time, which a busy machine disturbs least.
func allowance(r measure.Report) string {
	bare, known := r.Row(ours.Against)
	mine, ok := r.Row(ours.Calls)
	if !known || !ok || bare.Five == nil || mine.Five == nil {
		return ""
	}
	allowed, sum := work(bare.Five), []string{number(work(bare.Five))}
	for _, s := range r.Steps {
		if s.Name == ours.DecodeStep || s.Name == ours.ValidateStep {
			allowed += s.Five
			sum = append(sum, number(s.Five))
		}
	}
	verdict := "within"
	if work(mine.Five) > allowed {
		verdict = "above"
	}
	return fmt.Sprintf("Allowed: %s + decode + validation = %s = %s us of processor time. %s: %s us, %.1f times, %s.",
		ours.Against, strings.Join(sum, " + "), number(allowed), ours.Calls, number(work(mine.Five)), work(mine.Five)/allowed, verdict)
}

// work is a call's processor time; where that is not known, its time.
func work(c *measure.CostFigures) float64 {
	if c.CPU.Median > 0 {
		return c.CPU.Median
	}
	return c.Micros.Median
}

func micros(f measure.Figure) string { return number(f.Median) }

// number has three digits that count.
func number(v float64) string {
	switch {
	case v >= 100:
		return strconv.FormatFloat(v, 'f', 0, 64)
	case v >= 10:
		return strconv.FormatFloat(v, 'f', 1, 64)
	}
	return strconv.FormatFloat(v, 'f', 2, 64)
}

func millis(f measure.Figure) string { return strconv.FormatFloat(f.Median, 'f', 1, 64) }

func times(a, of *measure.CostFigures) string {
	if of == nil || work(of) == 0 {
		return "-"
	}
	return strconv.FormatFloat(work(a)/work(of), 'f', 2, 64)
}

// always words a count of repeats.
func always(n, of int) string {
	switch n {
	case 0:
		return "no"
	case of:
		return "yes"
	}
	return fmt.Sprintf("%d of %d", n, of)
}

func ordered(all []measure.FaultOutcome) string {
	n := 0
	for _, t := range all {
		if t.Ordered && !t.Died {
			n++
		}
	}
	return always(n, len(all))
}

// answered is the worst of the repeats: how many calls have a result, or that the
// process is no more.
func answered(all []measure.FaultOutcome) string {
	if len(all) == 0 {
		return "-"
	}
	worst := all[0]
	for _, t := range all {
		if t.Died {
			return "dies"
		}
		if t.Answered < worst.Answered {
			worst = t
		}
	}
	return fmt.Sprintf("%d/%d", worst.Answered, worst.Calls)
}

// ended is answered with a mark where the library gave up the conversation.
func ended(all []measure.FaultOutcome) string {
	for _, t := range all {
		if t.Error != "" && !t.Died {
			return answered(all) + "*"
		}
	}
	return answered(all)
}

// left is the most goroutines that a failure or a cancellation left behind.
func left(row measure.Row) string {
	most := 0
	for _, name := range []string{"failure", "cancel"} {
		for _, t := range row.Troubles[name] {
			most = max(most, t.Left)
		}
	}
	return strconv.Itoa(most)
}
