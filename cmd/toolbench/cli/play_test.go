package cli_test

import (
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/cmd/toolbench/cli"
	"toolbench/reports"
	"toolbench/sim/scenario/run"
)

// paper is what a terminal shows of what is drawn over; a piece of text is a write.
type paper struct{ lines []string }

var erasing = regexp.MustCompile("^\x1b\\[([0-9]+)A\r\x1b\\[J")

func (p *paper) Write(data []byte) (int, error) {
	text := string(data)
	if m := erasing.FindStringSubmatch(text); m != nil {
		n, _ := strconv.Atoi(m[1]) // digits
		p.lines = p.lines[:len(p.lines)-n]
		text = text[len(m[0]):]
	}
	if text != "" {
		p.lines = append(p.lines, strings.Split(strings.TrimSuffix(text, "\n"), "\n")...)
	}
	return len(data), nil
}

// What was drawn bit by bit is in the end what is drawn at once, groups and all, in a third of the
// suite: nothing stands twice, and nothing is lost with what was drawn over. In between no
// more is drawn over than the screen has room for, and no line is wider.
func TestPlayingEndsInWhatIsPrinted(t *testing.T) {
	b := cli.Scenarios()
	cases, broken := b.Find(b.Suite, ".")
	require.Empty(t, broken)
	grouped := 0
	for i, c := range cases {
		if strings.HasPrefix(c.File, "mustfail") || c.Scenario == nil || i%3 != 0 {
			continue
		}
		watched := &run.Watched{}
		c.Run(t.Context(), run.Options{Seed: 1, Watched: watched})
		for _, height := range []int{0, 12} {
			at := &paper{}
			live := reports.Live{W: at, Height: height, Screen: reports.Terminal{Width: 60, ASCII: true}, Transcript: &reports.Transcript{}}
			for k, e := range watched.Seen {
				live.Transcript.Take(e)
				if height == 0 || k%5 == 0 {
					live.Draw()
				}
			}
			live.End()
			want := live.Transcript.Lines(live.Screen)
			require.Equal(t, strings.Join(want, "\n"), strings.Join(at.lines, "\n"), "%s at height %d", c.Name, height)
			for _, l := range want {
				require.LessOrEqual(t, reports.Width(l), 60, "%s: %q", c.Name, l)
				grouped += strings.Count(l, " x2 ")
			}
		}
	}
	assert.Positive(t, grouped)
}
