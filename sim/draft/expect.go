package draft

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"toolbench/sim/recording"
	"toolbench/sim/scenario/check"
	"toolbench/toolsys/message"
	"toolbench/toolsys/tool"
	"toolbench/toolsys/trace"
)

// found is what a run came to, in the order in which it happened.
type found struct {
	calls, results []trace.Event
	requests       int
}

func look(out check.Result) found {
	var f found
	for _, e := range out.Trace {
		drop := func(kept trace.Event) bool { return kept.Call == e.Call && kept.Turn == e.Turn }
		switch e.Kind() {
		case trace.KindReady:
			f.calls = append(f.calls, e)
		case trace.KindEmitted:
			f.results = append(f.results, e)
		case trace.KindDiscarded:
			f.calls, f.results = slices.DeleteFunc(f.calls, drop), slices.DeleteFunc(f.results, drop)
		case trace.KindRequest:
			f.requests++
		}
	}
	return f
}

// Expectations are what a run found, as a scenario's text. Grows is whether each request
// begins with the one before it.
func Expectations(out check.Result, grows bool) string {
	f := look(out)
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("expect:")
	line("  requests: {count: %d, grows: %t}", f.requests, grows)
	line("  calls: %d", len(f.results))
	nameless := func(e trace.Event) bool { return e.Tool == "" } // an expectation has to name it
	all := tool.Each(f.results, func(r trace.Event) string { return r.Call })
	if len(f.calls) > 0 && !slices.ContainsFunc(f.calls, nameless) {
		line("  called: # the calls as the model made them")
		for _, c := range f.calls {
			line("    - {id: %s, tool: %s, input: %s}", quote(c.Call), quote(c.Tool), flow(gjson.Parse(trace.As[trace.Ready](c).Input)))
		}
		line("  batches:")
		for _, batch := range out.Batches {
			line("    - [%s]", list(batch))
		}
		line("  order: [%s]", list(all))
		head := "  results:\n"
		for i, r := range f.results {
			if !slices.Contains(all[:i], r.Call) && !slices.Contains(all[i+1:], r.Call) {
				line("%s    %s: %s", head, quote(r.Call), result(r))
				head = ""
			}
		}
	}
	line("  makespan: %s", out.Makespan)
	return b.String()
}

// whole is how many characters of a result are compared one by one; of longer ones
// the beginning and the length, since the request that carries them is compared anyway.
const (
	whole     = 200
	beginning = 60
	noteChars = 2*beginning + 1
)

func result(r trace.Event) string {
	text := trace.As[trace.Emitted](r).Text
	if chars := []rune(text); len(chars) > whole {
		return fmt.Sprintf("{status: %s, contains: %s, chars: %d}", trace.As[trace.Emitted](r).Status, quote(string(chars[:beginning])), len(chars))
	}
	return fmt.Sprintf("{status: %s, equals: %s}", trace.As[trace.Emitted](r).Status, quote(text))
}

func list(words []string) string { return strings.Join(tool.Each(words, quote), ", ") }

// remark notes what was assumed, and where the run is not what was recorded.
func (s *builder) remark(out check.Result) {
	s.remarkPace()
	s.remarkCalls(look(out))
	if s.closed {
		s.note("the recording ends with calls or breaks off: a last answer was added to the stream")
	}
	s.remarkUser()
	var lost, unfit []string
	for _, d := range s.definitions() {
		switch {
		case s.real[d.Name]:
		case len(d.Schema) == 0:
			lost = append(lost, d.Name)
		case !sound(d):
			unfit = append(unfit, d.Name)
		}
	}
	s.noteAll(lost, "the recording has no schema of %s: any object is taken")
	s.noteAll(unfit, "the schema of %s cannot be used: any object is taken")
}

// mostNotes is how many notes of one kind are listed one by one.
const mostNotes = 5

func (s *builder) some(notes []string, more string) {
	for _, n := range notes[:min(len(notes), mostNotes)] {
		s.note("%s", n)
	}
	if n := len(notes) - mostNotes; n > 0 {
		s.note("%d %s", n, more)
	}
}

// remarkCalls compares calls and results with the recording.
func (s *builder) remarkCalls(f found) {
	var open []string
	for _, turn := range s.Turns {
		for _, u := range turn.Unanswered {
			open = append(open, fmt.Sprintf("%s %s has no recorded result (%s)", u.Tool, u.Call, u.Reason))
		}
	}
	s.some(open, "calls more have no recorded result")
	var disorder []string
	for _, turn := range s.Turns {
		if !turn.InOrder() {
			disorder = append(disorder, fmt.Sprint(turn.Number))
		}
		for _, r := range turn.Results {
			at := slices.IndexFunc(f.results, func(e trace.Event) bool { return e.Call == r.Call })
			switch {
			case at < 0 && turn.Ending == recording.Whole:
				s.note("the result of %s was recorded, but the call does not come to one here", r.Call)
			case at >= 0 && !s.real[f.results[at].Tool] && strings.TrimSpace(trace.As[trace.Emitted](f.results[at]).Text) != strings.TrimSpace(s.blank(r.Text)):
				s.note("the result of %s is not the recorded one: %s", r.Call, message.Line(trace.As[trace.Emitted](f.results[at]).Text, noteChars))
			}
		}
	}
	s.noteAll(disorder, "recorded results that are not in call order, as they are here: turn %s")
}

// ours are the built-ins that a tree is enough for. A shell is none of them: what a
// session's programs did, nobody can rebuild.
var ours = map[string]bool{"Read": true, "Write": true, "Edit": true, "Glob": true, "Grep": true}

// settle chooses the tools and records the cassette: with Real, the built-ins that bear a recorded tool's name take
// its place as long as they give what was recorded. One that does not becomes a stand-in again, and all is played
// anew, since others may have followed from it.
func (s *builder) settle(ctx context.Context) (check.Result, error) {
	s.real = map[string]bool{}
	for _, d := range s.definitions() {
		if s.o.Real && ours[d.Name] {
			s.real[d.Name] = true
		}
	}
	for {
		out, err := s.recordAndRun(ctx)
		if err != nil || out.Status != check.Passed || len(s.real) == 0 {
			return out, err
		}
		name, why := s.differs(look(out))
		if name == "" {
			s.note("the system's own tools give what was recorded, the same lines, names and success in words of their own: %s", strings.Join(slices.Sorted(maps.Keys(s.real)), ", "))
			return out, nil
		}
		delete(s.real, name)
		s.note("%s stays a stand-in: %s", name, why)
	}
}

// differs finds the first call of a built-in that does not come to what was recorded.
func (s *builder) differs(f found) (name, why string) {
	for _, turn := range s.Turns {
		for _, c := range turn.Calls {
			r := turn.Result(c.ID)
			at := slices.IndexFunc(f.results, func(e trace.Event) bool { return e.Call == c.ID })
			if s.real[c.Name] && r != nil && at >= 0 && !c.Repeated && !s.agrees(c.Name, *r, f.results[at]) {
				return c.Name, fmt.Sprintf("%s gives something else: %s", c.ID, message.Line(trace.As[trace.Emitted](f.results[at]).Text, noteChars))
			}
		}
	}
	return "", ""
}

// agrees reports whether results have the same content, be the form what it may: every agent numbers lines and
// words its success in its own way.
func (s *builder) agrees(tool string, recorded recording.Result, got trace.Event) bool {
	ok := trace.As[trace.Emitted](got).Status == "ok"
	if ok == recorded.IsError {
		return false
	}
	want, text := s.blank(recorded.Text), trace.As[trace.Emitted](got).Text
	switch {
	case !ok || tool == "Write" || tool == "Edit":
		return true
	case tool == "Read":
		return sameText(want, text)
	}
	return sameNames(want, text, s.cwd)
}

// files writes what became of the disk, which only real tools change.
func (s *builder) files(out check.Result) string {
	var b strings.Builder
	for _, e := range out.Trace {
		f, ok := e.Data.(trace.File)
		if !ok {
			continue
		}
		if b.Len() == 0 {
			b.WriteString("  files: # as the session left them\n")
		}
		if f.Is != "absent" && len(f.Content) <= largestApart {
			fmt.Fprintf(&b, "    %s: {is: %s, equals: %s}\n", quote(f.Path), f.Is, quote(f.Content))
		} else {
			fmt.Fprintf(&b, "    %s: %s\n", quote(f.Path), f.Is)
		}
	}
	return b.String()
}

// only are the built-ins that are offered.
func (s *builder) only() string {
	if len(s.real) == 0 {
		return "[] # none of the built-in tools: every tool is a stand-in"
	}
	return fmt.Sprintf("[%s] # the built-in tools that give what was recorded; every other tool is a stand-in", strings.Join(slices.Sorted(maps.Keys(s.real)), ", "))
}
