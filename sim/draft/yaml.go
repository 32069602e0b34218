package draft

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"toolbench/sim/recording"
	"toolbench/sim/replay"
	"toolbench/sim/scenario"
	"toolbench/sim/scenario/check"
	"toolbench/sim/scenario/run"
	"toolbench/sim/stream"
	"toolbench/toolsys/jsonscan"
	"toolbench/toolsys/message"
	"toolbench/toolsys/tool"
)

// text is the scenario's file as far as it is known.
func (s *builder) text() string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	s.head(line)
	line("format: %d\nname: %s", scenario.FormatVersion, s.out.Name)
	line("about: %s", quote(fmt.Sprintf("The recorded conversation keeps its %d turns and %d calls, their inputs, order and results.", s.out.Turns, s.out.Calls)))
	line("tags: [recorded]")
	line("world:")
	line("  only: %s", s.only())
	s.world(line)
	line("  settings: {ENABLE_TOOL_SEARCH: \"false\"}")
	line("  permissions: {mode: bypass}")
	if n := len(s.answers) + 1; n > 100 {
		line("  max_turns: %d", n)
	}
	if n := s.retries(); n > 0 {
		line("  retries: %d # a stream of the recording failed", n)
	}
	s.tools(line)
	line("prompt: %s", quote(cmp.Or(s.prompt, unknownPrompt)))
	if len(s.then) > 0 {
		line("then: # the user's next messages, each time the model had ended")
		for _, text := range s.then {
			line("  - %s", quote(text))
		}
	}
	s.user(line)
	line("stream:")
	line("  cassette: %s", s.out.Cassette)
	s.durations(line)
	line("policy: streaming")
	b.WriteString(s.expect)
	return s.blank(b.String())
}

// head are the comments on top: where it comes from and what to look at.
func (s *builder) head(line func(string, ...any)) {
	line("%s", strings.TrimSuffix(schemaLine, "\n"))
	line("# Drafted from %s (%s), conversation %d of %d, by `toolbench init --from`.", oneLine(s.source), s.format, s.Number, s.of)
	line("# It passes as it stands, and fails when a call is reordered, dropped or changed.")
	if len(s.out.Notes) > 0 {
		line("#")
		line("# Before you keep it:")
	}
	for _, n := range s.out.Notes {
		line("# - %s", oneLine(n))
	}
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// tools writes the stand-ins.
func (s *builder) tools(line func(string, ...any)) {
	defs := slices.DeleteFunc(s.definitions(), func(d recording.Definition) bool { return s.real[d.Name] })
	if len(defs) == 0 {
		return
	}
	line("  tools:")
	for _, d := range defs {
		line("    - name: %s", quote(d.Name))
		if text := s.blank(d.Description); text != "" {
			line("      about: %s", quote(text))
		}
		if why := s.safety(d); why != "" {
			line("      safe: true # %s", why)
		}
		if len(d.Callers) > 0 {
			line("      callers: [%s]", strings.Join(tool.Each(d.Callers, quote), ", "))
		}
		line("      result_chars: %d", tool.Unlimited)
		if sound(d) {
			line("      schema: %s", flow(gjson.ParseBytes(d.Schema)))
		}
		s.results(d.Name, line)
	}
}

// results writes what a tool answers, by call.
func (s *builder) results(name string, line func(string, ...any)) {
	var failed []string
	head := "      answers:\n"
	done := map[string]bool{}
	for _, turn := range s.Turns {
		for _, c := range turn.Calls {
			if c.Name != name || done[c.ID] {
				continue
			}
			done[c.ID] = true
			text, bad := "(no result was recorded)", true
			if r := turn.Result(c.ID); r != nil {
				text, bad = s.blank(r.Text), r.IsError
			}
			line("%s        %s: %s", head, quote(c.ID), quote(text))
			head = ""
			if bad {
				failed = append(failed, quote(c.ID))
			}
		}
	}
	if len(failed) > 0 {
		line("      failed_calls: [%s]", strings.Join(failed, ", "))
	}
}

// durations writes what calls take: by id where it was measured, else by tool.
func (s *builder) durations(line func(string, ...any)) {
	var rows []string
	seen := map[string]bool{}
	add := func(key string, d time.Duration, why string) {
		if !seen[key] {
			seen[key] = true
			rows = append(rows, fmt.Sprintf("  %s: %s # %s", quote(key), d, why))
		}
	}
	shared := s.shared()
	for _, turn := range s.Turns {
		spans := s.spans(turn, shared)
		for i, c := range turn.Calls {
			if spans[i].Known {
				add(c.ID, spans[i].At, "measured")
			} else if d, ok := s.o.Durations.Of(cmp.Or(s.recorded[c.Name], c.Name)); ok {
				add(c.Name, d, "given")
			} else {
				add(c.Name, replay.DefaultDuration, "assumed")
			}
		}
	}
	if len(rows) > 0 {
		line("durations:")
		line("%s", strings.Join(rows, "\n"))
	}
}

// sound reports whether a tool can be built, and sent, with its own schema.
func sound(d recording.Definition) bool {
	r := gjson.ParseBytes(d.Schema)
	_, err := tool.Build(tool.Def[json.RawMessage, string]{
		Name: "stand_in", Description: "A stand-in.", InputSchema: d.Schema, Call: func(context.Context, json.RawMessage, *tool.Context) (r tool.Result[string], err error) { return },
	})
	return err == nil && r.IsObject() && !check.Unfit(r)
}

// quote writes a text as a YAML scalar: JSON's strings are some.
func quote(text string) string { return string(jsonscan.AppendQuoted(nil, text)) }

// flow writes a JSON value as YAML in one line, members in their order.
func flow(v gjson.Result) string {
	var parts []string
	switch {
	case v.IsObject():
		var keys []string
		v.ForEach(func(key, value gjson.Result) bool {
			if !slices.Contains(keys, key.Str) { // a key given twice is an error in YAML
				keys = append(keys, key.Str)
				parts = append(parts, quote(key.Str)+": "+flow(value))
			}
			return true
		})
		return "{" + strings.Join(parts, ", ") + "}"
	case v.IsArray():
		return "[" + strings.Join(tool.Each(v.Array(), flow), ", ") + "]"
	case v.Type == gjson.String:
		return quote(v.Str)
	}
	return v.Raw
}

// unknownPrompt stands for the user's message where the recording does not hold it.
const unknownPrompt = "Go on."

// script lays out the model's answers and the user's messages in between.
func (s *builder) script() {
	s.prompt = s.blank(s.prompts[1])
	for i, turn := range s.Turns {
		s.out.Calls += len(turn.Calls)
		s.out.Answered += len(turn.Calls) - len(turn.Unanswered)
		s.answers = append(s.answers, s.blankEvents(replay.Paced(turn, s.o.Pace)))
		if i+1 < len(s.Turns) {
			s.ask(turn, s.Turns[i+1])
		}
	}
	if !ends(s.Turns[len(s.Turns)-1]) {
		s.end()
	}
}

// end adds a last answer to a stream that ends with calls, or breaks off.
func (s *builder) end() {
	s.closed = true
	s.answers = append(s.answers, stream.Script(stream.Turn{ID: "msg_end", Blocks: []stream.Block{{Kind: stream.Text, Text: "(The recording ends here.)"}}}))
}

// record makes the cassette. How often the system asks is seen only when it does: an
// answer that it does not take for an end needs no prompt, and the other way round.
func (s *builder) record(ctx context.Context) error {
	for range len(s.Turns) + 3 {
		sc, err := s.save()
		if err != nil {
			return err
		}
		asked, ended, err := run.Record(ctx, sc, filepath.Join(s.dir, filepath.FromSlash(s.out.Cassette)), s.answers...)
		switch n := len(s.answers); {
		case err != nil:
			return err
		case asked == n && ended == nil:
			return nil
		case asked > n && !s.closed:
			s.end()
		case asked > n && len(s.then) > 0:
			last := len(s.then) - 1
			if s.then[last] != unknownPrompt {
				s.note("the user's last message is left out, since the model is not at its end there: %s", message.Line(s.then[last], noteChars))
			}
			s.then = s.then[:last]
		case asked < n && ended == nil:
			s.note("the conversation ends early here: %q was added, for the model to go on", unknownPrompt)
			s.then = append(s.then, unknownPrompt)
		default:
			return fmt.Errorf("%w: it ends after %d of %d answers: %w", ErrFails, asked, n, ended)
		}
	}
	return fmt.Errorf("%w: its answers and prompts do not fit together", ErrFails)
}
