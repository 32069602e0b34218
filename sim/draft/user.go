package draft

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"toolbench/sim/recording"
	"toolbench/sim/scenario/check"
	"toolbench/sim/stream"
	"toolbench/toolsys/message"
	"toolbench/toolsys/tool"
	"toolbench/toolsys/trace"
)

// interjection is the user's message while the model was at work: after a turn of the recording that did not end.
type interjection struct {
	turn *recording.Turn
	text string
	// at is when it comes here.
	at time.Duration
}

// ask lays out the user's messages between a turn and the next. One after a
// stream had failed goes with the one before it, as the request is sent again.
func (s *builder) ask(turn, next *recording.Turn) {
	text := s.blank(s.prompts[next.Number])
	whole := turn.Ending == recording.Whole
	if whole {
		s.answered = turn
	}
	switch {
	case text == "" && ends(turn):
		s.made = append(s.made, fmt.Sprint(next.Number))
		s.then = append(s.then, unknownPrompt)
	case whole && ends(turn):
		s.then = append(s.then, text)
	case text == "" || text == s.blank(s.prompts[turn.Number]): // a request that is sent again has nothing new
	case s.answered == nil:
		s.prompt = paragraphs(s.prompt, text)
		s.moved = append(s.moved, fmt.Sprint(next.Number))
	case ends(s.answered):
		s.then[len(s.then)-1] = paragraphs(s.then[len(s.then)-1], text)
		s.moved = append(s.moved, fmt.Sprint(next.Number))
	default: // it came while the calls of the last whole answer were at work
		if last := len(s.between) - 1; last >= 0 && s.between[last].turn == s.answered {
			s.between[last].text = paragraphs(s.between[last].text, text)
			return
		}
		s.between = append(s.between, interjection{turn: s.answered, text: text})
	}
}

func paragraphs(a, b string) string { return strings.TrimSpace(a + "\n\n" + b) }

// interject sends the user's messages where the recorded ones came while calls ran: the message goes out with their
// results (J4). Where no call takes time, or it would change what comes of the calls, it is left out and reported.
func (s *builder) interject(ctx context.Context, out check.Result) (check.Result, error) {
	for i, b := range s.between {
		if at, ok := whileRunning(out, b.turn); ok {
			s.between[i].at = at
			s.interjections = append(s.interjections, s.between[i])
		}
	}
	if len(s.interjections) == 0 {
		return out, nil
	}
	again, err := s.recordAndRun(ctx)
	if err == nil && again.Status == check.Passed && sameResults(out, again) {
		return again, nil
	}
	s.interjections = nil
	return s.recordAndRun(ctx)
}

// recordAndRun records the cassette and runs the scenario.
func (s *builder) recordAndRun(ctx context.Context) (check.Result, error) {
	if err := s.record(ctx); err != nil {
		return check.Result{}, err
	}
	return s.run(ctx)
}

// whileRunning finds an instant at which the last of a turn's calls run, and no other
// waits: a message then stops nothing.
func whileRunning(out check.Result, turn *recording.Turn) (time.Duration, bool) {
	var from, to time.Duration
	of := 0 // the run's own number of the turn
	for _, e := range out.Trace {
		its := slices.ContainsFunc(turn.Calls, func(c recording.Call) bool { return c.ID == e.Call })
		if its && (e.Kind() == trace.KindStarted || e.Kind() == trace.KindEnded) {
			of = e.Turn
		}
	}
	for _, e := range out.Trace {
		switch {
		case of == 0 || e.Turn != of:
		case e.Kind() == trace.KindStarted || e.Kind() == trace.KindStreamEnd:
			from = max(from, e.At)
		case e.Kind() == trace.KindEnded:
			to = max(to, e.At)
		}
	}
	at := (from + (to-from)/2).Truncate(stream.Tick)
	return at, from < at && at < to
}

// sameResults reports whether two runs came to the same, at the same time.
func sameResults(a, b check.Result) bool {
	sent := func(e trace.Event) trace.Emitted {
		r := trace.As[trace.Emitted](e)
		r.Data, r.Content = nil, nil // for drawing alone, and not to be compared
		return r
	}
	same := func(x, y trace.Event) bool { return x.Call == y.Call && x.At == y.At && sent(x) == sent(y) }
	return a.Makespan == b.Makespan && slices.EqualFunc(look(a).results, look(b).results, same)
}

// remarkUser is what of the user's words is made up, cut, or not here.
func (s *builder) remarkUser() {
	if s.prompts[1] == "" {
		s.note("the user's message is not in the recording: `prompt` is made up")
	}
	s.noteAll(s.made, "the user's message before turn %s is not in the recording: %q is made up", unknownPrompt)
	s.noteAll(s.moved, "the user's message before turn %s, after a stream had failed, stands with the one before that")
	for _, turn := range s.long {
		if turn <= len(s.Turns) {
			s.note("the user's message before turn %d is cut after %d bytes", turn, recording.MaxUserText)
		}
	}
	var lost []string
	for _, b := range s.between {
		here := slices.ContainsFunc(s.interjections, func(x interjection) bool { return x.turn == b.turn })
		if !here && slices.Contains(s.Turns, b.turn) {
			lost = append(lost, fmt.Sprintf("the user's message after turn %d, while the model was at work, is left out: %s", b.turn.Number, message.Line(b.text, noteChars)))
		}
	}
	s.some(lost, "messages more came while the model was at work, and are left out")
	after := tool.Each(s.interjections, func(say interjection) string { return fmt.Sprint(say.turn.Number) })
	s.noteAll(after, "the user's messages while calls ran, or before they were answered, come halfway through the last of them: turn %s")
	isAttached := func(line string) bool { return slices.Contains(attached, line) }
	if slices.ContainsFunc(s.Turns, func(turn *recording.Turn) bool {
		return slices.ContainsFunc(strings.Split(s.prompts[turn.Number], "\n"), isAttached)
	}) {
		s.note("the user sent more than text: it stands as [image], [document] and the like")
	}
}

// attached are what stands for a user's content that is no text.
var attached = []string{"[image]", "[document]", "[file]", "[container_upload]"}

// user writes the user's messages while calls run.
func (s *builder) user(line func(string, ...any)) {
	if len(s.interjections) == 0 {
		return
	}
	line("user:")
	line("  says: # while calls run, as in the recording")
	for _, x := range s.interjections {
		line("    - {at: %s, text: %s} # after turn %d", x.at, quote(x.text), x.turn.Number)
	}
}
