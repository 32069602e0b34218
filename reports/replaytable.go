package reports

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"

	"toolbench/reports/screen"
	"toolbench/sim/replay"
)

// ReplayTable writes a row a conversation, with the time that each policy takes and
// what that rests on; below, what is wrong with the recordings, which calls have no
// result and why, and what else is to be known (O8). No line is wider than the
// screen.
func ReplayTable(w io.Writer, all []replay.Report, skipped []Skipped, o Options) error {
	out := bufio.NewWriter(w)
	if g := replayGrid(all, o); len(g.Rows) > 0 {
		drawn, err := g.Draw(o.Width, o.ASCII)
		if err != nil {
			return err
		}
		fmt.Fprintln(out, drawn)
	}
	for _, r := range all {
		section(out, r.File, remarks(r), o)
	}
	for _, s := range skipped {
		section(out, s.File, []string{"skipped: " + s.Reason}, o)
	}
	fold(out, "", Summary(all, len(skipped)), o)
	return out.Flush()
}

// section writes a file's name and, indented below it, what is to be said of it.
func section(w io.Writer, file string, lines []string, o Options) {
	if len(lines) == 0 {
		return
	}
	fold(w, "", file, o)
	for _, line := range lines {
		fold(w, "  ", line, o)
	}
}

// fold writes a line of unsafe text, its continuation further in.
func fold(w io.Writer, indent, line string, o Options) {
	room := 0 // no limit
	if o.Width > 0 {
		room = max(1, o.Width-len(indent)-2)
	}
	for i, part := range screen.Fold(screen.Safe(line), room) {
		if i > 0 {
			part = "  " + part
		}
		fmt.Fprintln(w, indent+part)
	}
}

// nameWidth keeps a long file name from making a list of a table.
const nameWidth = 28

func replayGrid(all []replay.Report, o Options) screen.Grid {
	policies, measured := figureNames(all)
	g := screen.Grid{Columns: []screen.Column{
		{Title: "Recording"}, {Title: "Turns", Right: true}, {Title: "Answered", Right: true},
		{Title: "Parallel", Right: true}, {Title: "Order"},
	}}
	if measured {
		g.Columns = append(g.Columns, screen.Column{Title: "Measured", Right: true})
	}
	for _, p := range policies {
		g.Columns = append(g.Columns, screen.Column{Title: strings.ToUpper(p[:1]) + p[1:], Right: true})
	}
	g.Columns = append(g.Columns, screen.Column{Title: "Hidden", Right: true}, screen.Column{Title: "Assumed"})
	whole, names := rowNames(all, o)
	for n, r := range all {
		for i := range r.Conversations {
			g.Names = append(g.Names, rowName(whole[n], r, i))
			g.Rows = append(g.Rows, replayRow(rowName(names[n], r, i), &r.Conversations[i], policies, measured, o))
		}
	}
	return g
}

// figureNames are the policies that were compared, and whether any session was
// measured.
func figureNames(all []replay.Report) (policies []string, measured bool) {
	for _, r := range all {
		for _, c := range r.Conversations {
			measured = measured || c.Measured != nil
			if policies == nil {
				for _, f := range c.Figures {
					policies = append(policies, f.Name)
				}
			}
		}
	}
	return policies, measured
}

// replayRow shows one conversation. Hidden is the last policy's, which is the
// fastest; assumed what any of the figures rests on.
func replayRow(name string, c *replay.Conversation, policies []string, measured bool, o Options) []string {
	order := "call"
	if !c.InOrder() {
		order = screen.Yellow.On("other", o.Color)
	}
	row := []string{name, strconv.Itoa(c.Turns), fmt.Sprintf("%d/%d", c.Answered, c.Calls), strconv.Itoa(c.ParallelBatches), order}
	if measured {
		text := ""
		if c.Measured != nil {
			text = short(c.Measured.Makespan, o.ASCII)
		}
		row = append(row, text)
	}
	hidden, assumed := "", "nothing"
	for _, p := range policies {
		text := ""
		for _, f := range c.Figures {
			if f.Name != p {
				continue
			}
			text, hidden = short(f.Makespan, o.ASCII), percent(f.Hidden)
			if basis, ok := strings.CutPrefix(f.Basis.String(), "assumed: "); ok {
				assumed = basis
			}
		}
		row = append(row, text)
	}
	return append(row, hidden, assumed)
}

func rowName(name string, r replay.Report, i int) string {
	if len(r.Conversations) > 1 {
		name += " #" + strconv.Itoa(r.Conversations[i].Number)
	}
	return name
}

// remarks are what a table cannot say of a recording.
func remarks(r replay.Report) []string {
	var out []string
	say := func(format string, args ...any) {
		out = append(out, fmt.Sprintf(format, args...))
	}
	for _, p := range r.Problems {
		say("%s", strings.TrimPrefix(p.Place+": "+p.Text, ": "))
	}
	if r.MoreProblems > 0 {
		say("%s more", plural(r.MoreProblems, "problem", "problems"))
	}
	if r.Err != nil {
		say("%s", strings.TrimPrefix(r.Err.Error(), r.File+": "))
	}
	for _, c := range r.Conversations {
		for _, text := range conversationRemarks(&c) {
			if len(r.Conversations) > 1 {
				text = fmt.Sprintf("conversation %d: %s", c.Number, text)
			}
			say("%s", text)
		}
	}
	if len(r.Ignored) > 0 {
		say("not read: %s", ignored(r))
	}
	return out
}

func ignored(r replay.Report) string {
	words := make([]string, len(r.Ignored))
	for i, c := range r.Ignored {
		words[i] = strconv.Itoa(c.N) + " " + c.What
	}
	return strings.Join(words, ", ")
}

func conversationRemarks(c *replay.Conversation) []string {
	var out []string
	if n := c.OutOfOrder.N; n > 0 {
		out = append(out, "results are not in call order in "+turns(c.OutOfOrder))
	}
	if c.ToolsChanged.N > 0 {
		out = append(out, "the tools changed before "+turns(c.ToolsChanged))
	}
	for _, why := range c.Why {
		out = append(out, plural(why.N, "call", "calls")+" without a result: "+why.What)
	}
	for _, b := range c.Broken.First {
		first, _, _ := strings.Cut(b.Text, "\n")
		out = append(out, fmt.Sprintf("turn %d: the input of %s %s breaks its schema: %s", b.Turn, b.Tool, b.Call, first))
	}
	if more := c.Broken.N - len(c.Broken.First); more > 0 {
		out = append(out, plural(more, "input more breaks its", "inputs more break their")+" schema")
	}
	return append(out, c.Notes.First...)
}

// turns words a list of turns.
func turns(list replay.List) string {
	words := make([]string, len(list.First))
	for i, n := range list.First {
		words[i] = strconv.Itoa(n)
	}
	text := "turn " + strings.Join(words, ", ")
	if more := list.N - len(list.First); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
