package replay

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"toolbench/sim/cassette"
	"toolbench/sim/recording"
	"toolbench/toolsys/schedule"
	"toolbench/toolsys/trace"
)

// conversation is one that is being replayed, turn by turn.
type conversation struct {
	o       Options
	out     Conversation
	figures []Figure
	// measured is nil once a turn without times was met.
	measured *Figure
	// early is set once the agent was seen to start tools while a stream goes on.
	early bool
	safe  map[string]string // tool -> why
	// reasons counts why calls have no result.
	reasons map[string]int
	// cache is shared by all; tools are its stand-ins for this turn.
	cache *standInCache
	tools *standIns
}

func newConversation(c *recording.Conversation, o Options, tr *standInCache) *conversation {
	s := &conversation{o: o, cache: tr, safe: map[string]string{}, reasons: map[string]int{}, measured: &Figure{Name: "measured"}}
	s.out = Conversation{Number: c.Number, ID: s.blank(c.ID), Agent: s.blank(c.Agent)}
	for _, p := range o.Policies {
		s.figures = append(s.figures, Figure{Name: p.String()})
		if o.Events {
			s.out.Played = append(s.out.Played, Played{Policy: p.String()})
		}
	}
	return s
}

func (s *conversation) blank(text string) string { return cassette.Blank(text, s.o.Secrets...) }

// take counts a turn and replays it under each policy.
func (s *conversation) take(t *recording.Turn) error {
	s.count(t)
	m := measure(t, s.early)
	s.early = s.early || m.early
	assumed := s.prepare(t, m)
	events := Paced(t, *s.o.Pace)
	var run played
	for i, p := range s.o.Policies {
		if i == 0 || len(t.Calls) > 0 { // without calls all policies are alike
			var err error
			if run, err = play(s.tools, events, p, s.o.Seed); err != nil {
				return fmt.Errorf("turn %d, %s: %w", t.Number, p, err)
			}
			s.o.Moved()
		}
		f := &s.figures[i]
		s.keep(i, t.Number, f.Makespan, run.events)
		if s.o.Seen && i == len(s.o.Policies)-1 {
			s.see(t, f.Makespan, run.seen)
		}
		f.Makespan += run.makespan
		f.Serial += run.busy
		now := assumed.under(p, len(run.safe))
		f.Basis = Basis{f.Basis.Pace || now.Pace, f.Basis.Durations || now.Durations, f.Basis.Safety || now.Safety}
		if i == 0 {
			s.once(t, run)
		}
	}
	if d, ok := session(t); !ok {
		s.measured = nil
	} else if s.measured != nil {
		s.measured.Makespan += d
	}
	return nil
}

// keep adds a turn's events to those of its policy, with the times and the number that the
// turn has in the conversation.
func (s *conversation) keep(policy, turn int, began time.Duration, events []trace.Event) {
	if !s.o.Events {
		return
	}
	for _, e := range events {
		e.At += began
		if e.Turn > 0 {
			e.Turn = turn
		}
		s.out.Played[policy].Events = append(s.out.Played[policy].Events, e)
	}
}

// see adds what a person saw of a turn: what the user wrote, then the answer.
func (s *conversation) see(t *recording.Turn, began time.Duration, seen []trace.Seen) {
	for _, text := range t.UserTexts {
		s.out.Seen = append(s.out.Seen, trace.Seen{Event: trace.Event{At: began}, Said: text})
	}
	for _, e := range seen {
		e.At += began
		if e.Turn > 0 {
			e.Turn = t.Number
		}
		s.out.Seen = append(s.out.Seen, e)
	}
}

// count takes what needs no replay.
func (s *conversation) count(t *recording.Turn) {
	o := &s.out
	o.Turns++
	o.Calls += len(t.Calls)
	o.Answered += len(t.Calls) - len(t.Unanswered)
	o.Model = cmp.Or(o.Model, s.blank(t.Model))
	if len(t.Calls) > 1 {
		o.ParallelBatches++
	}
	if !t.InOrder() {
		o.OutOfOrder.add(t.Number)
	}
	if t.ToolsChanged {
		o.ToolsChanged.add(t.Number)
	}
	for _, u := range t.Unanswered {
		s.reasons[s.why(u.Reason)]++
		o.Unanswered.add(Unanswered{t.Number, s.blank(u.Call), s.blank(u.Tool), s.blank(u.Reason)})
	}
}

// maxReasons is how many reasons are counted each by itself: some hold texts of the recording.
const maxReasons = 20

func (s *conversation) why(reason string) string {
	reason = s.blank(reason)
	if _, known := s.reasons[reason]; !known && len(s.reasons) >= maxReasons {
		return "other reasons"
	}
	return reason
}

// prepare sets what the stand-ins answer from for a turn, and gives what is assumed of it.
func (s *conversation) prepare(t *recording.Turn, m measured) Basis {
	s.offer(t)
	assumed := Basis{Pace: t.Pace != recording.Exact && len(t.Events) > 0}
	st := s.tools.data
	st.turn, st.took, st.alone = t, map[string]time.Duration{}, map[string]bool{}
	for i, c := range t.Calls {
		if c.Repeated || c.Cut {
			continue
		}
		d := m.took[i]
		if !d.Known {
			assumed.Durations = true
			if d.At, d.Known = s.o.Durations.Of(c.Name); !d.Known {
				d.At = DefaultDuration
			}
		}
		st.took[c.ID] = d.At
		if m.beside[i] {
			st.alone[c.Name+"\x00"+string(c.Input)] = true
			if !HasCommand(c.Input) {
				s.markSafe(c.Name, "measured")
			}
		}
	}
	st.safe = s.safe
	for _, c := range t.Calls {
		if because := s.safe[c.Name]; !st.isSafe(c.Name, c.Input) || because == given {
			assumed.Safety = true
		}
	}
	return assumed
}

// Why a tool is taken for safe.
const (
	annotated = "annotations"
	given     = "given"
)

func (s *conversation) markSafe(name, because string) {
	if _, known := s.safe[name]; !known {
		s.safe[name] = because
	}
}

// offer gives the turn its stand-ins and marks those that are safe.
func (s *conversation) offer(t *recording.Turn) {
	s.tools = s.cache.forTurn(t)
	for _, d := range t.Tools {
		if d.ReadOnly {
			s.markSafe(d.Name, annotated)
		}
		s.give(d.Name)
	}
	for _, c := range t.Calls {
		s.tools.add(recording.Definition{Name: c.Name, Callers: anyone}) // for transcripts, which define none
		s.give(c.Name)
	}
	for _, note := range s.tools.notes {
		s.out.Notes.add(s.blank(note))
	}
	s.tools.notes = nil
}

var anyone = []string{"direct", "code_execution_20250825", "code_execution_20260120", "code_execution_20260521"}

func (s *conversation) give(name string) {
	if s.o.Safe.Match(name) {
		s.markSafe(name, given)
	}
}

// once takes from the first run what is the same under every policy.
func (s *conversation) once(t *recording.Turn, run played) {
	s.out.Batches += len(schedule.Partition(run.safe))
	for _, r := range run.refused {
		s.out.Broken.add(BrokenInput{t.Number, s.blank(r.Call), s.blank(r.Tool), strings.TrimSpace(s.blank(r.Text))})
	}
}

// finish gives the conversation's report.
func (s *conversation) finish() Conversation {
	for i := range s.figures {
		s.figures[i].setHidden()
	}
	s.out.Figures = s.figures
	if s.measured != nil && s.out.Turns > 0 && len(s.figures) > 0 {
		s.measured.Serial = s.figures[0].Serial
		s.measured.setHidden()
		s.out.Measured = s.measured
	}
	s.out.Why = counts(s.reasons)
	for _, name := range slices.Sorted(maps.Keys(s.safe)) {
		s.out.Safe = append(s.out.Safe, SafeTool{s.blank(name), s.safe[name]})
	}
	return s.out
}
