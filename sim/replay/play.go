package replay

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"toolbench/sim/clock"
	"toolbench/sim/recording"
	"toolbench/sim/stream"
	"toolbench/toolsys"
	"toolbench/toolsys/loop"
	"toolbench/toolsys/message"
	"toolbench/toolsys/permission"
	"toolbench/toolsys/pipeline"
	"toolbench/toolsys/schedule"
	"toolbench/toolsys/settings"
	"toolbench/toolsys/tool"
	"toolbench/toolsys/trace"
)

// played is what one run of a turn came to.
type played struct {
	makespan time.Duration
	// busy is the stream and all calls, one after the other.
	busy time.Duration
	// safe are the calls' safety, in call order.
	safe []bool
	// refused are the calls that the pipeline did not let through; their turn is not set.
	refused []BrokenInput
	events  []trace.Event
	seen    []trace.Seen
}

// errOver ends a conversation whose recorded turn has been played.
var errOver = errors.New("the recorded turn is over")

// errUnended is a defect of the system that is run.
var errUnended = errors.New("the session did not end its turn")

// play runs one turn under a policy, inside a bubble of its own.
func play(s *standIns, events []stream.Event, policy schedule.Policy, seed uint64) (played, error) {
	w := &watch{started: map[string]time.Duration{}}
	err := clock.Bubble(func() error {
		gate := clock.Open(seed)
		defer gate.Close()
		s.data.gate = gate
		return run(s, gate, events, policy, w)
	})
	return w.played, err
}

// run wires the system as a program would, with the stand-ins for tools, and sends one message.
func run(s *standIns, gate *clock.Gate, events []stream.Event, policy schedule.Policy, w *watch) error {
	ctx := context.Background()
	door := tool.Clock{Now: gate.Now, Sleep: gate.Sleep, Go: gate.Go}
	tools := slices.SortedFunc(maps.Values(s.tools), func(a, b *tool.Tool) int { return strings.Compare(a.Name, b.Name) })
	sys, err := toolsys.New(toolsys.Config{Keep: func(string, string) error { return nil }, Clock: door, Tools: tools, Trace: w.take})
	if err != nil {
		return err
	}
	config := settings.External()
	config.ToolSearch.Kind = settings.Off
	session, err := sys.Open(loop.Config{
		Model: model(gate, events), Settings: config, Policy: policy, ModelName: "recorded", NonInteractive: true,
		Handlers: pipeline.Handlers{Clock: door, Since: gate.Since, Trace: w.take},
		State:    tool.State{Dir: "/", Root: "/", Mode: permission.Bypass},
		Watch: func(_ string, data []byte) {
			w.seen = append(w.seen, trace.Seen{Event: trace.Event{At: gate.Since()}, Streamed: data})
		},
	})
	if err != nil {
		return err
	}
	// An error is how a stream that was cut, or the end of the recording, shows here:
	// the trace has all of it, and without its end the run has failed.
	_, sent := session.Send(ctx, message.UserText("Go."))
	closed := sys.Close(ctx)
	if !w.over {
		return errors.Join(errUnended, sent, closed)
	}
	return closed
}

// model answers the first request with the recorded stream, and no other.
func model(gate *clock.Gate, events []stream.Event) loop.Model {
	asked := false
	return func(ctx context.Context, _ message.Request, on func([]byte) error) error {
		if asked {
			return errOver
		}
		asked = true
		start := gate.Since()
		for i, e := range events {
			// Deltas in between, on whose time nothing depends, are handed over with what follows: most waiting is spared.
			decides := e.Type != "content_block_delta" && e.Type != "ping" || i == len(events)-1
			if wait := start + e.At - gate.Since(); wait > 0 && decides {
				if err := gate.Sleep(ctx, "stream", wait); err != nil {
					return err
				}
			}
			if err := on(e.Data); err != nil {
				return err
			}
		}
		return nil
	}
}

// watch reads off the trace what a run came to.
type watch struct {
	played
	over    bool
	streams time.Duration
	started map[string]time.Duration
}

func (w *watch) take(e trace.Event) {
	if w.over {
		return
	}
	w.events = append(w.events, e)
	w.seen = append(w.seen, trace.Seen{Event: e})
	switch e.Kind() {
	case trace.KindReady:
		w.safe = append(w.safe, trace.As[trace.Ready](e).Safe)
	case trace.KindBlockDone, trace.KindStreamEnd, trace.KindFirstByte:
		w.streams = e.At
	case trace.KindStarted:
		w.started[e.Call] = e.At
	case trace.KindEnded:
		if from, ok := w.started[e.Call]; ok {
			w.busy += e.At - from
		}
	case trace.KindEmitted:
		switch emitted := trace.As[trace.Emitted](e); pipeline.Status(emitted.Status) {
		case pipeline.Invalid, pipeline.BadJSON:
			w.refused = append(w.refused, BrokenInput{Call: e.Call, Tool: e.Tool, Text: emitted.Text})
		}
	case trace.KindTurnEnd, trace.KindRunEnd:
		w.over = true
		w.makespan = e.At
		w.busy += w.streams
		if e.Kind() == trace.KindRunEnd { // the stream broke off: it ended then
			w.busy += max(0, e.At-w.streams)
		}
	}
}

// Paced gives a turn's events their times: the recorded ones, else those of the assumed pace (O2).
func Paced(t *recording.Turn, assumed stream.Pace) []stream.Event {
	if t.Pace != recording.Unknown {
		return t.Events
	}
	if t.First.Known {
		assumed.FirstByte = t.First.At
	}
	events := assumed.Apply(t.Events)
	if !t.Streamed && len(events) > 0 { // it was all there at once, at the end
		end := events[len(events)-1].At
		for i := range events {
			events[i].At = end
		}
	}
	return events
}
