package reports

import (
	"strings"
	"time"

	"toolbench/reports/screen"
)

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
