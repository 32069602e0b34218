package reports

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"time"

	"toolbench/reports/screen"
	"toolbench/sim/scenario"
)

// Narrowest is the width below which a timeline is drawn wider than the screen:
// there is nothing to see in fewer columns.
const Narrowest = 32

// assumedWidth is a timeline's width when the screen has no limit.
const assumedWidth = 100

// axisEvery is the number of lanes after which the axis is drawn again, so that it
// is on the screen wherever one scrolls to.
const axisEvery = 40

// Timeline draws one outcome over virtual time: a lane a stream, from the request
// to the last byte, and a lane a call, from ready over queued and running to held
// and emitted. Running time that is hidden by the stream looks different from
// running time that is waited for (J7). What queued calls waited for stands below.
func Timeline(w io.Writer, outcome scenario.Outcome, o Options) error {
	out := bufio.NewWriter(w)
	if o.Width < 1 {
		o.Width = assumedWidth
	}
	o.Width = max(o.Width, Narrowest)
	headline(out, outcome, o)
	if lanes := lanesOf(outcome); len(lanes) > 0 {
		drawLanes(out, lanes, layoutOf(lanes, longest(outcome), o), o)
		for _, line := range screen.Pack(legend(lanes, glyphsFor(o.ASCII)), 3, o.Width) {
			put(out, "", line, o)
		}
	}
	for _, line := range waits(outcome, o) {
		put(out, "", line, o)
	}
	if len(outcome.Batches) > 0 {
		put(out, "", "batches: "+batches(outcome.Batches), o)
	}
	for _, note := range outcome.Notes {
		put(out, "", "note: "+screen.Safe(note), o)
	}
	fmt.Fprintln(out)
	return out.Flush()
}

func headline(w io.Writer, outcome scenario.Outcome, o Options) {
	v := verdict(outcome.Status)
	put(w, "", v.paint.On(v.word, o.Color)+" "+screen.Bold.On(screen.Safe(outcome.Name), o.Color), o)
	if outcome.About != "" {
		put(w, "", screen.Safe(outcome.About), o)
	}
	if outcome.Status == scenario.Errored {
		put(w, "", screen.Safe(errorText(outcome)), o)
		return
	}
	facts := fmt.Sprintf("makespan %s, serial %s, hidden %s", short(outcome.Makespan, o.ASCII), short(outcome.Serial, o.ASCII), percent(outcome.Hidden))
	if outcome.Least > 0 {
		facts += ", bound " + short(outcome.Least, o.ASCII)
	}
	if outcome.Policy != "" {
		facts = screen.Safe(outcome.Policy) + ": " + facts
	}
	put(w, "", facts, o)
}

// longest is the last instant to be drawn.
func longest(outcome scenario.Outcome) time.Duration {
	end := outcome.Makespan
	for _, s := range outcome.Streams {
		end = max(end, s.End)
	}
	for _, c := range outcome.Calls {
		end = max(end, c.Ended, c.Emitted)
	}
	return end
}

func drawLanes(w io.Writer, lanes []lane, l layout, o Options) {
	for i, lane := range lanes {
		if i%axisEvery == 0 {
			for _, line := range axis(l.total, l.columns, o.ASCII) {
				fmt.Fprintln(w, strings.TrimRight(strings.Repeat(" ", l.label+1)+line, " "))
			}
		}
		line := screen.Pad(screen.Cut(lane.label, l.label, o.ASCII), l.label) + " " + inked(lane.cells(l), o)
		if l.note > 0 {
			line += " " + lane.paint().On(screen.Cut(lane.noteText(o.ASCII), l.note, o.ASCII), o.Color)
		}
		fmt.Fprintln(w, strings.TrimRight(line, " "))
	}
}

// batches are the partition in a line: [Read x2] [Edit].
func batches(all [][]string) string {
	words := make([]string, len(all))
	for i, batch := range all {
		words[i] = "[" + strings.Join(counted(batch), " ") + "]"
	}
	return strings.Join(words, " ")
}

// counted joins neighbours of the same name.
func counted(tools []string) []string {
	var words []string
	for i := 0; i < len(tools); {
		n := 1
		for i+n < len(tools) && tools[i+n] == tools[i] {
			n++
		}
		word := screen.Safe(tools[i])
		if n > 1 {
			word += fmt.Sprintf(" x%d", n)
		}
		words = append(words, word)
		i += n
	}
	return words
}
