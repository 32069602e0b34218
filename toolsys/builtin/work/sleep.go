package work

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"toolbench/toolsys/tool"
)

// SleepIn is what Sleep takes (SPEC L).
type SleepIn struct {
	Seconds float64 `json:"seconds" minimum:"0" maximum:"3600" jsonschema:"How long to wait, in seconds; fractions are allowed"`
}

// SleepOut is what Sleep answers with.
type SleepOut struct {
	// Seconds is how long the call waited by the conversation's clock.
	Seconds float64 `json:"seconds"`
}

// Sleep waits without holding a shell, an hour at most; the user's new message
// ends the wait (SPEC L, J4). It needs nothing but the clock of its context.
func Sleep() *tool.Tool {
	return tool.Must(tool.Def[SleepIn, SleepOut]{
		Name:        "Sleep",
		Coordinates: true,
		Describe:    func(in SleepIn) string { return "Wait " + seconds(in.Seconds) },
		Texts:       prompts.Of("sleep"),
		Call:        tool.Data(sleep),
		Text:        func(out SleepOut) string { return "Waited " + seconds(out.Seconds) + "." },
		// What is sent after a wait must not be sent before it.
		Traits: tool.Looks(tool.Class{}, func(SleepIn, *tool.Context) []string { return []string{"inbox"} }),
		View:   tool.Doing("Sleep", "Waiting ", func(in SleepIn) string { return seconds(in.Seconds) }),
	})
}

func sleep(ctx context.Context, in SleepIn, c *tool.Context) (SleepOut, error) {
	began := c.Clock.Now()
	wait := time.Duration(in.Seconds * float64(time.Second))
	if err := c.Clock.Sleep(ctx, "tool/"+c.CallID, wait); err != nil {
		return SleepOut{}, fmt.Errorf("the wait ended early, after %s: %w", seconds(c.Clock.Now().Sub(began).Seconds()), err)
	}
	return SleepOut{Seconds: c.Clock.Now().Sub(began).Seconds()}, nil
}

func seconds(s float64) string { return strconv.FormatFloat(s, 'f', -1, 64) + " s" }
