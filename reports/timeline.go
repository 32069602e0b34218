package reports

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"toolbench/reports/screen"
	"toolbench/sim/scenario/check"
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
func Timeline(w io.Writer, outcome check.Result, o Options) error {
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

func headline(w io.Writer, outcome check.Result, o Options) {
	v := verdict(outcome.Status)
	put(w, "", v.paint.On(v.word, o.Color)+" "+screen.Bold.On(screen.Safe(outcome.Name), o.Color), o)
	if outcome.About != "" {
		put(w, "", screen.Safe(outcome.About), o)
	}
	if outcome.Status == check.Errored {
		put(w, "", screen.Safe(errorText(outcome)), o)
		return
	}
	facts := fmt.Sprintf("makespan %s, serial %s, hidden %s", short(outcome.Makespan, o.ASCII), short(outcome.Serial, o.ASCII), percent(outcome.Hidden))
	if outcome.LowerBound > 0 {
		facts += ", bound " + short(outcome.LowerBound, o.ASCII)
	}
	if outcome.Policy != "" {
		facts = screen.Safe(outcome.Policy) + ": " + facts
	}
	put(w, "", facts, o)
}

// longest is the last instant to be drawn.
func longest(outcome check.Result) time.Duration {
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

// span is one phase of a lane.
type span struct {
	from, to time.Duration
	ink      ink
}

// lane is one line of a timeline.
type lane struct {
	label string
	// took and note stand beside the lane; trouble paints it.
	took    time.Duration
	note    string
	trouble bool
	spans   []span
	// mark is drawn in the cell after its moment, if it is any ink.
	mark   ink
	markAt time.Duration
}

// lanesOf gives each stream's lane with the lanes of its calls below, in the order
// in which the requests left; calls that belong to no stream come last.
func lanesOf(outcome check.Result) []lane {
	var lanes []lane
	drawn := make([]bool, len(outcome.Calls))
	for _, s := range inOrder(outcome.Streams) {
		lanes = append(lanes, streamLane(s))
		for i, c := range outcome.Calls {
			if !drawn[i] && c.Agent == s.Agent && c.Turn == s.Turn {
				drawn[i] = true
				lanes = append(lanes, callLane(i, c, s))
			}
		}
	}
	for i, c := range outcome.Calls {
		if !drawn[i] {
			lanes = append(lanes, callLane(i, c, check.Stream{}))
		}
	}
	return lanes
}

func inOrder(streams []check.Stream) []check.Stream {
	return slices.SortedStableFunc(slices.Values(streams), func(a, b check.Stream) int {
		return cmp.Compare(a.Sent, b.Sent)
	})
}

func streamLane(s check.Stream) lane {
	l := lane{
		label: fmt.Sprintf("turn %d", s.Turn),
		took:  s.End - s.Sent,
		spans: []span{{s.Sent, s.First, inkSent}, {s.First, s.End, inkStream}},
	}
	if s.Agent != "" {
		l.label = screen.Safe(s.Agent) + " " + l.label
	}
	if s.Cut {
		l.mark, l.markAt, l.note, l.trouble = inkCut, s.End, "cut", true
	}
	return l
}

// callLane splits the running time at the end of the call's own stream: what runs
// beside the stream is hidden. A stream without times hides nothing.
func callLane(i int, c check.Call, s check.Stream) lane {
	hidden := min(max(s.End, c.Started), c.Ended)
	l := lane{
		label: fmt.Sprintf(" #%d %s", i+1, screen.Safe(c.Tool)),
		took:  c.Ended - c.Started,
		spans: []span{{c.Ready, c.Started, inkQueued}, {c.Ended, c.Emitted, inkHeld}},
		mark:  inkEmitted, markAt: c.Emitted,
	}
	if hidden > c.Started {
		l.spans = append(l.spans, span{c.Started, hidden, inkHidden})
	}
	if hidden < c.Ended || hidden == c.Started {
		l.spans = append(l.spans, span{hidden, c.Ended, inkRunning})
	}
	if c.Status != "" && c.Status != "ok" {
		l.note, l.trouble = screen.Safe(c.Status), true
	}
	return l
}

func (l lane) noteText(ascii bool) string {
	text := short(l.took, ascii)
	if l.note != "" {
		text += " " + l.note
	}
	return text
}

func (l lane) paint() screen.Paint {
	if l.trouble {
		return screen.Red
	}
	return screen.Plain
}

// longSteps are the distances of ticks beyond seconds; below, 1, 2 and 5 do.
var longSteps = []time.Duration{
	time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute, 15 * time.Minute, 30 * time.Minute,
	time.Hour, 2 * time.Hour, 6 * time.Hour, 12 * time.Hour, 24 * time.Hour,
}

// tickStep is the smallest round distance that gives at most most ticks.
func tickStep(total time.Duration, most int) time.Duration {
	enough := func(step time.Duration) bool { return int64(total/step) <= int64(most) }
	for unit := time.Nanosecond; unit <= 10*time.Second; unit *= 10 {
		for _, n := range []time.Duration{1, 2, 5} {
			if step := n * unit; step < time.Minute && enough(step) {
				return step
			}
		}
	}
	for _, step := range longSteps {
		if enough(step) {
			return step
		}
	}
	day := 24 * time.Hour
	return day * (total/day/time.Duration(most) + 1)
}

// tickRoom is the number of columns a tick and its label should have.
const tickRoom = 10

// axis is two lines, columns wide: the labels, and the ticks below.
func axis(total time.Duration, columns int, ascii bool) []string {
	line, tick := "─", '┬'
	if ascii {
		line, tick = "-", '+'
	}
	labels, ticks := "", []rune(strings.Repeat(line, columns))
	step := tickStep(total, max(1, columns/tickRoom))
	for n := range total/step + 1 {
		at := n * step
		column := columnOf(at, total, columns-1)
		ticks[column] = tick
		text := tickLabel(at, ascii)
		if gap := column - screen.Width(labels); (gap > 0 || at == 0) && column+screen.Width(text) <= columns {
			labels += strings.Repeat(" ", gap) + text
		}
	}
	return []string{labels, string(ticks)}
}

func tickLabel(at time.Duration, ascii bool) string {
	if at == 0 {
		return "0"
	}
	text := at.String()
	for _, zero := range []string{"m0s", "h0m"} {
		if strings.HasSuffix(text, zero) {
			text = text[:len(text)-2]
		}
	}
	if ascii {
		text = strings.ReplaceAll(text, "µ", "u")
	}
	return text
}

// wait is a run of neighbouring calls that waited for the same.
type wait struct {
	first, last     int
	shortest, worst time.Duration
	what            string
	safe            bool
	on              []string
}

// waits lists what queued calls waited for, a line for neighbours that waited for
// the same: 200 calls behind one edit are one line.
func waits(outcome check.Result, o Options) []string {
	number := map[string]int{}
	for i, c := range outcome.Calls {
		number[c.ID] = i + 1
	}
	var lines []string
	for _, group := range waiting(outcome.Calls) {
		lines = append(lines, group.line(number, outcome.Calls, o))
	}
	return lines
}

func waiting(calls []check.Call) []wait {
	var groups []wait
	for i, c := range calls {
		if c.WaitsFor == "" {
			continue
		}
		took := c.Started - c.Ready
		if last := len(groups) - 1; last >= 0 && groups[last].joins(i, c) {
			g := &groups[last]
			g.last, g.shortest, g.worst = i, min(g.shortest, took), max(g.worst, took)
			continue
		}
		groups = append(groups, wait{i, i, took, took, c.WaitsFor, c.Safe, c.On})
	}
	return groups
}

func (g wait) joins(i int, c check.Call) bool {
	return g.last == i-1 && g.what == c.WaitsFor && g.safe == c.Safe && slices.Equal(g.on, c.On)
}

func (g wait) line(number map[string]int, calls []check.Call, o Options) string {
	who := fmt.Sprintf("#%d waited", g.first+1)
	if g.last > g.first {
		who = fmt.Sprintf("#%d to #%d waited", g.first+1, g.last+1)
	}
	took := short(g.shortest, o.ASCII)
	if longer := short(g.worst, o.ASCII); longer != took {
		took += " to " + longer
	}
	return fmt.Sprintf("%s %s %s", who, took, g.reason(named(g.on, number, calls)))
}

// reason describes what the calls waited for; on names the calls in their way.
func (g wait) reason(on string) string {
	after := ""
	if on != "" {
		after = ": after " + on
	}
	switch {
	case g.what == "stream":
		return "for the stream to end"
	case g.what == "exclusive" && g.safe:
		return "for an exclusive call" + after
	case g.what == "exclusive":
		return "to run alone" + after
	case g.what == "limit":
		return "for a free place" + after
	case g.what == "effects":
		return "for what it reads or writes" + after
	case g.what == "order":
		return "for its turn" + after
	}
	return "for " + screen.Safe(g.what) + after
}

// named are the first calls of a list by number and tool.
func named(ids []string, number map[string]int, calls []check.Call) string {
	const most = 4
	var words []string
	for _, id := range ids[:min(len(ids), most)] {
		if n := number[id]; n > 0 {
			words = append(words, fmt.Sprintf("#%d %s", n, screen.Safe(calls[n-1].Tool)))
		} else {
			words = append(words, screen.Safe(id))
		}
	}
	text := strings.Join(words, ", ")
	if more := len(ids) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
