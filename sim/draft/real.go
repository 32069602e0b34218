package draft

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"toolbench/sim/draft/tree"
	"toolbench/sim/recording"
	"toolbench/sim/scenario/check"
	"toolbench/toolsys/message"
	"toolbench/toolsys/trace"
)

// ours are the built-ins that a tree is enough for. A shell is none of them: what a
// session's programs did, nobody can rebuild.
var ours = map[string]bool{"Read": true, "Write": true, "Edit": true, "Glob": true, "Grep": true}

// settle chooses the tools and records the cassette: with Real, the built-ins that bear
// a recorded tool's name take its place as long as they give what was recorded. One that
// does not becomes a stand-in again, and all is played anew, since others may have
// followed from it.
func (s *sketch) settle(ctx context.Context) (check.Result, error) {
	s.real = map[string]bool{}
	for _, d := range s.definitions() {
		if s.o.Real && ours[d.Name] {
			s.real[d.Name] = true
		}
	}
	for {
		if err := s.record(ctx); err != nil {
			return check.Result{}, err
		}
		out, err := s.run(ctx)
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
func (s *sketch) differs(f found) (name, why string) {
	for _, turn := range s.Turns {
		for _, c := range turn.Calls {
			r := turn.Result(c.ID)
			at := slices.IndexFunc(f.results, func(e trace.Event) bool { return e.Call == c.ID })
			if !s.real[c.Name] || r == nil || at < 0 || c.Repeated {
				continue
			}
			if !s.agrees(c.Name, *r, f.results[at]) {
				return c.Name, fmt.Sprintf("%s gives something else: %s", c.ID, message.Line(f.results[at].Get("text"), noteChars))
			}
		}
	}
	return "", ""
}

// agrees compares what results say, not how they say it: every agent numbers lines and
// words its success in its own way.
func (s *sketch) agrees(tool string, recorded recording.Result, got trace.Event) bool {
	ok := got.Get("status") == "ok"
	if ok == recorded.IsError {
		return false
	}
	want, text := s.blank(recorded.Text), got.Get("text")
	switch {
	case !ok || tool == "Write" || tool == "Edit":
		return true
	case tool == "Read":
		return tree.SameText(want, text)
	}
	return tree.SameNames(want, text, s.cwd)
}

// files writes what became of the disk, which only real tools change.
func (s *sketch) files(out check.Result) string {
	var b strings.Builder
	for _, e := range out.Trace {
		if e.Kind != trace.File || e.Get("path") == "" {
			continue
		}
		if b.Len() == 0 {
			b.WriteString("  files: # as the session left them\n")
		}
		if content := e.Get("content"); e.Get("is") != "absent" && len(content) <= largestApart {
			fmt.Fprintf(&b, "    %s: {is: %s, equals: %s}\n", quote(e.Get("path")), e.Get("is"), quote(content))
		} else {
			fmt.Fprintf(&b, "    %s: %s\n", quote(e.Get("path")), e.Get("is"))
		}
	}
	return b.String()
}

// only are the built-ins that are offered.
func (s *sketch) only() string {
	if len(s.real) == 0 {
		return "[] # none of the built-in tools: every tool is a stand-in"
	}
	return fmt.Sprintf("[%s] # the built-in tools that give what was recorded; every other tool is a stand-in", strings.Join(slices.Sorted(maps.Keys(s.real)), ", "))
}
