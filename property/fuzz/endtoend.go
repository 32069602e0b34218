package fuzz

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"toolbench/property/des"
	"toolbench/property/generate"
	"toolbench/sim/scenario"
	"toolbench/sim/scenario/check"
	"toolbench/sim/scenario/run"
	"toolbench/toolsys/trace"
)

// Patience is how much real time one case may take before it counts as hung.
const Patience = 20 * time.Second

// EndToEnd runs a case as a scenario and gives its log, with the run it is read from. The
// log holds no entry that only the whole system has.
func EndToEnd(ctx context.Context, c *des.Case) (*des.Log, check.Result, error) {
	sc, err := scenario.Parse("case.yaml", []byte(generate.SchedulerScenario(c, "case", "One case.", nil)))
	if err != nil {
		return nil, check.Result{}, fmt.Errorf("the case makes no scenario: %w", err)
	}
	if len(c.Interrupts) == 0 { // a message that nothing was answered to joins the one before
		sc.Expect.Requests.Grows = new(true)
	}
	if policiesAgree(c) {
		sc.Expect.SameUnder, sc.Expect.Chunks = otherPolicies(c.Policy), []int{1 + int(c.Seed/4%64)}
	}
	options := run.Options{Seed: c.Seed, Patience: Patience}
	out := run.Scenario(ctx, sc, options)
	if out.Err != nil {
		return nil, out, out.Err
	}
	if c.Seed%16 == 5 { // another run costs as much again
		again := run.Scenario(ctx, sc, options)
		if again.Err == nil && again.Digest != out.Digest {
			out.Failures = append(out.Failures, check.Failure{Expectation: "repeated", Expected: out.Digest, Found: again.Digest})
		}
	}
	log, err := readTrace(c, out.Trace)
	return log, out, err
}

// policiesAgree reports whether no failure, message, fault or safe call's modifier can make policies
// differ (O6). One such case in four is run under the others too, and with its bytes cut into
// other pieces: it costs further runs.
func policiesAgree(c *des.Case) bool {
	if len(c.Interrupts)+len(c.Faults) > 0 || c.Seed%4 != 0 {
		return false
	}
	for n := range c.Calls() {
		if k := c.Call(n); k.StopsSiblings || k.Safe && k.Modifies {
			return false
		}
	}
	return true
}

func otherPolicies(policy string) []string {
	return slices.DeleteFunc(Policies(), func(p string) bool { return p == policy })
}

var kinds = map[trace.Kind]des.Kind{
	trace.KindRequest: des.Request, trace.KindReady: des.Ready, trace.KindStarted: des.Started, trace.KindCancel: des.Cancelled,
	trace.KindEscalate: des.Escalated, trace.KindAsk: des.Asked, trace.KindDecision: des.Decided, trace.KindEnded: des.Ended,
	trace.KindApplied: des.Applied, trace.KindDropped: des.Dropped, trace.KindEmitted: des.Emitted, trace.KindDiscarded: des.Discarded,
	trace.KindInterrupt: des.Interrupt, trace.KindFallback: des.Fallback, trace.KindTurnEnd: des.Committed, trace.KindRunEnd: des.Over,
}

// readTrace reads a trace as a log.
func readTrace(c *des.Case, events []trace.Event) (*des.Log, error) {
	index := map[string]int16{}
	for n := range c.Calls() {
		index[c.Call(n).ID] = int16(n)
	}
	log := &des.Log{}
	var state trace.StateView
	for _, ev := range events {
		if s, ok := ev.Data.(trace.State); ok {
			state = s.State
		}
		what, ok := kinds[ev.Kind()]
		if _, answered := ev.Data.(trace.Answer); answered || !ok {
			continue
		}
		e := des.Entry{At: ev.At, Kind: what, Turn: int16(ev.Turn), Call: -1}
		if ev.Call != "" {
			n, known := index[ev.Call]
			if !known {
				return nil, fmt.Errorf("the trace names a call %q that nobody made", ev.Call)
			}
			e.Call = n
		}
		var err error
		if e.Code, err = codeOf(ev); err != nil {
			return nil, err
		}
		log.Entries = append(log.Entries, e)
	}
	for id := range strings.FieldsSeq(state.Env["LOG"]) { // whose modifiers the state at the end is made of
		log.State = append(log.State, index[id])
	}
	return log, nil
}

func codeOf(ev trace.Event) (uint8, error) {
	switch data := ev.Data.(type) {
	case trace.Ended:
		return codeOfStatus(data.Status)
	case trace.Emitted:
		return codeOfStatus(data.Status)
	case trace.Cancel:
		return uint8(des.CauseOf(data.Cause)), nil
	case trace.Decision:
		if data.Behaviour != "allow" {
			return 1, nil
		}
	case trace.RunEnd:
		if data.Error != "" {
			return 1, nil
		}
	}
	return 0, nil
}

func codeOfStatus(status string) (uint8, error) {
	s, ok := des.StatusOf(status)
	if !ok {
		return 0, fmt.Errorf("the trace has a status %q that no case has", status)
	}
	return uint8(s), nil
}
