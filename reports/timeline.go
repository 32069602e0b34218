package reports

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"toolbench/sim/scenario/check"
)

// Narrowest is the width below which a timeline is drawn wider than the screen:
// there is nothing to see in fewer columns.
const Narrowest = 32

// mostColumns is how wide a timeline is drawn at most, since each lane is kept cell by cell.
const mostColumns = 10_000

// assumedWidth is a timeline's width when the screen has no limit.
const assumedWidth = 100

// effectsPolicy is the name of the policy whose calls start by what they touch.
const effectsPolicy = "effects"

// axisEvery is the number of lanes after which the axis is drawn again, so that it
// is on the screen wherever one scrolls to.
const axisEvery = 40

// Timeline draws one outcome over virtual time: a lane a stream, from the request
// to the last byte, and a lane a call, from ready over queued and running to held
// and emitted. Running time that is hidden by the stream looks different from
// running time that is waited for (J7). What queued calls waited for stands below.
func Timeline(w io.Writer, outcome check.Result, o Options) error {
	p := newPage(w, o)
	p.timeline(outcome)
	return p.end()
}

func (p *page) timeline(outcome check.Result) {
	limit := p.Width
	defer func() { p.Width = limit }()
	p.Width = min(max(cmp.Or(max(p.Width, 0), assumedWidth), Narrowest), mostColumns)
	p.headline(outcome)
	if lanes := lanesOf(outcome); len(lanes) > 0 {
		p.drawLanes(lanes, p.layout(lanes, longest(outcome)))
		p.lines(pack(legend(lanes, glyphsFor(p.ASCII)), 3, p.Width)...)
	}
	p.lines(p.waits(outcome)...)
	if all := ran(outcome); len(all) > 0 {
		p.lines("batches: " + batches(all))
	}
	for _, note := range outcome.Notes {
		p.lines("note: " + Safe(note))
	}
	p.printf("\n")
}

func (p *page) headline(outcome check.Result) {
	p.lines(p.verdict(outcome.Status) + " " + Bold.On(Safe(outcome.Name), p.Color))
	if outcome.About != "" {
		p.lines(Safe(outcome.About))
	}
	if outcome.Status == check.Errored {
		p.lines(Safe(errorText(outcome)))
		return
	}
	facts := "makespan " + p.short(outcome.Makespan)
	if outcome.Serial > 0 {
		facts += fmt.Sprintf(", serial %s, hidden %s", p.short(outcome.Serial), percent(outcome.Hidden))
	}
	if outcome.LowerBound > 0 {
		facts += ", bound " + p.short(outcome.LowerBound)
	}
	if outcome.Policy != "" {
		facts = Safe(outcome.Policy) + ": " + facts
	}
	p.lines(facts)
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

func (p *page) drawLanes(lanes []lane, l layout) {
	for i, lane := range lanes {
		if i%axisEvery == 0 {
			for _, line := range p.axis(l.total, l.columns) {
				p.printf("%s\n", strings.TrimRight(strings.Repeat(" ", l.label+1)+line, " "))
			}
		}
		line := Pad(Cut(lane.label, l.label, p.ASCII), l.label) + " " + p.paintedCells(lane.cells(l))
		if l.note > 0 {
			line += " " + lane.paint.On(Cut(lane.noteText(p.Options), l.note, p.ASCII), p.Color)
		}
		p.printf("%s\n", strings.TrimRight(line, " "))
	}
}

// batches are the partition in a line: [Read x2] [Edit].
func batches(all [][]string) string {
	return strings.Join(each(all, func(batch []string) string { return "[" + strings.Join(counted(batch), " ") + "]" }), " ")
}

// ran are the batches as they ran: by position, but under effects, which has none, the calls
// that ran beside one another.
func ran(outcome check.Result) [][]string {
	if outcome.Policy == effectsPolicy && len(outcome.Calls) > 0 {
		return together(outcome.Calls)
	}
	return outcome.Batches
}

// together are the tools of the main conversation's calls that ran beside one another, in the
// order in which they started.
func together(calls []check.Call) [][]string {
	main := slices.DeleteFunc(slices.Clone(calls), func(c check.Call) bool { return c.Agent != "" || c.Batch == 0 })
	slices.SortStableFunc(main, func(a, b check.Call) int { return cmp.Compare(a.Started, b.Started) })
	var groups [][]string
	var until time.Duration
	for i, c := range main {
		if i == 0 || c.Started >= until {
			groups = append(groups, nil)
		}
		last := len(groups) - 1
		groups[last] = append(groups[last], c.Tool)
		until = max(until, c.Ended)
	}
	return groups
}

// counted joins neighbours of the same name.
func counted(tools []string) []string {
	var words []string
	for i, n := 0, 0; i < len(tools); i += n {
		n = 1
		for i+n < len(tools) && tools[i+n] == tools[i] {
			n++
		}
		word := Safe(tools[i])
		if n > 1 {
			word += fmt.Sprintf(" x%d", n)
		}
		words = append(words, word)
	}
	return words
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
func (o Options) axis(total time.Duration, columns int) []string {
	line, tick := "─", '┬'
	if o.ASCII {
		line, tick = "-", '+'
	}
	labels, ticks := "", []rune(strings.Repeat(line, columns))
	step := tickStep(total, max(1, columns/tickRoom))
	for n := range total/step + 1 {
		at := n * step
		column := columnOf(at, total, columns-1)
		ticks[column] = tick
		text := "0"
		if at > 0 {
			text = o.exact(at)
		}
		if gap := column - Width(labels); (gap > 0 || at == 0) && column+Width(text) <= columns {
			labels += strings.Repeat(" ", gap) + text
		}
	}
	return []string{labels, string(ticks)}
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
func (o Options) waits(outcome check.Result) []string {
	number := map[string]int{}
	for i, c := range outcome.Calls {
		number[c.ID] = i + 1
	}
	return each(waiting(outcome.Calls), func(group wait) string { return group.line(number, outcome.Calls, o) })
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
	took := o.short(g.shortest)
	if longer := o.short(g.worst); longer != took {
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
	return "for " + Safe(g.what) + after
}

// named are the first calls of a list by number and tool.
func named(ids []string, number map[string]int, calls []check.Call) string {
	const most = 4
	words := each(ids[:min(len(ids), most)], func(id string) string {
		if n := number[id]; n > 0 {
			return fmt.Sprintf("#%d %s", n, Safe(calls[n-1].Tool))
		}
		return Safe(id)
	})
	return andMore(words, len(ids))
}
