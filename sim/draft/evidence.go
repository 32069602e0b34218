package draft

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"toolbench/sim/recording"
	"toolbench/sim/replay"
	"toolbench/sim/stream"
)

// evidence is what a recording's times show of the whole session's calls.
type evidence struct {
	// early: the agent started tools while the stream went on.
	early bool
	// beside are the tools that ran beside others, by name.
	beside map[string]bool
	// commands are calls that did so, but take a language of their own: that proves nothing of the next.
	commands []string
}

func (t *conversation) evidence() evidence {
	e := evidence{beside: map[string]bool{}}
	for _, turn := range t.Turns {
		e.early = e.early || replay.StartsEarly(turn)
		for i, beside := range replay.Beside(turn) {
			switch c := turn.Calls[i]; {
			case beside && replay.HasCommand(c.Input):
				e.commands = append(e.commands, c.Name+" "+c.ID)
			case beside:
				e.beside[c.Name] = true
			}
		}
	}
	return e
}

// Why a stand-in is marked safe.
const (
	safeByFlag       = "as given by --safe"
	safeByAnnotation = "its definition marks it as read-only"
	ranSafe          = "ran beside others in the recording"
)

// safety is why a stand-in may run beside others; "" when nothing shows it.
func (s *builder) safety(d recording.Definition) string {
	switch {
	case s.o.Safe.Match(cmp.Or(s.recorded[d.Name], d.Name)):
		return safeByFlag
	case d.ReadOnly:
		return safeByAnnotation
	case s.seen.beside[d.Name]:
		return ranSafe
	}
	return ""
}

// shared are the tools whose calls run beside others here, real ones included.
func (s *builder) shared() map[string]bool {
	all := map[string]bool{}
	for _, d := range s.definitions() {
		if s.real[d.Name] {
			all[d.Name] = slices.Contains([]string{"Read", "Glob", "Grep"}, d.Name)
		} else {
			all[d.Name] = s.safety(d) != ""
		}
	}
	return all
}

// slack is what clocks and the writing of a log may be off.
const slack = 50 * time.Millisecond

// spans are how long the calls of a turn ran, by their place: as the recorder itself measured it, else from when the
// call could start, the way calls are run here, to its result, so that each ends when it did.
func (s *builder) spans(turn *recording.Turn, shared map[string]bool) []recording.Moment {
	out := make([]recording.Moment, len(turn.Calls))
	beside := replay.Beside(turn)
	var streamed, all, alone time.Duration // alone: when the last exclusive call had ended
	if n := len(turn.Events); n > 0 {
		streamed = turn.Events[n-1].At
	}
	for i, c := range turn.Calls {
		r := turn.Result(c.ID)
		if r == nil || c.Repeated {
			continue
		}
		start, floor := streamed, all
		if c.Ready.Known && (s.seen.early || len(turn.Calls) == 1) {
			start = c.Ready.At
		}
		if shared[c.Name] {
			floor = alone
		} else if beside[i] { // it ran beside others, and does not here
			floor = 0
		}
		out[i] = took(turn, c, *r, max(start, floor))
		if r.At.Known {
			all = max(all, r.At.At)
			if !shared[c.Name] {
				alone = max(alone, r.At.At)
			}
		}
	}
	return out
}

// took is one call's span; it is not known without times.
func took(turn *recording.Turn, c recording.Call, r recording.Result, start time.Duration) recording.Moment {
	switch {
	case r.Took.Known && (!r.At.Known || !c.Ready.Known || r.Took.At <= r.At.At-c.Ready.At+slack):
		return recording.Moment{At: r.Took.At.Truncate(stream.Tick), Known: true}
	case r.At.Known && turn.Pace != recording.Unknown:
		return recording.Moment{At: max(0, r.At.At-start).Truncate(stream.Tick), Known: true}
	}
	return recording.Moment{}
}

// remarkPace is what the makespan rests on.
func (s *builder) remarkPace() {
	var assumed []string
	if slices.ContainsFunc(s.Turns, func(t *recording.Turn) bool { return t.Pace != recording.Exact }) {
		assumed = append(assumed, "the pace of the stream")
	}
	shared := s.shared()
	unknown := func(m recording.Moment) bool { return !m.Known }
	if slices.ContainsFunc(s.Turns, func(t *recording.Turn) bool { return slices.ContainsFunc(s.spans(t, shared), unknown) }) {
		assumed = append(assumed, "durations")
	}
	s.noteAll(assumed, "the makespan rests on assumptions: %s")
	waited := func(r recording.Result) bool { return r.At.Known && !r.Took.Known }
	if !s.seen.early && slices.ContainsFunc(s.Turns, func(t *recording.Turn) bool {
		return len(t.Calls) > 1 && t.Pace != recording.Unknown && slices.ContainsFunc(t.Results, waited)
	}) {
		s.note("no call is seen to start before its stream ended: durations count from that end, and calls start earlier here")
	}
	s.remarkSafety(shared)
}

// remarkSafety is which calls run beside others, and which only did.
func (s *builder) remarkSafety(shared map[string]bool) {
	safe := false
	var ran []string
	for _, d := range s.definitions() {
		safe = safe || shared[d.Name] || s.real[d.Name]
		if !s.real[d.Name] && s.safety(d) == ranSafe {
			ran = append(ran, d.Name)
		}
	}
	s.noteAll(ran, "marked safe, since they "+ranSafe+": %s; what has no such mark runs alone")
	if !safe && s.out.Calls > 1 {
		s.note("no tool is known to be safe, so that all calls run one by one: mark those that only read with `safe: true`, then `toolbench run --update`")
	}
	var commands []string
	for _, c := range s.seen.commands {
		if name, _, _ := strings.Cut(c, " "); !shared[name] {
			commands = append(commands, fmt.Sprintf("%s %s, and runs alone here: that one command may, proves nothing of the next", c, ranSafe))
		}
	}
	s.some(commands, "calls more with commands did so")
}
