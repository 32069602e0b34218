package oracle

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"toolbench/property/des"
	"toolbench/sim/scenario/check"
	"toolbench/toolsys/trace"
)

// run is one run of the system. Case is the scheduler case that was run, nil where it
// was something else: then what depends on the case holds.
type run struct {
	Case *des.Case
	check.Result
	// bodies are the requests as an API reads them; nil where nobody read them yet.
	bodies []body
}

var runInvariants = [...]condition[run]{
	{"history-grows", "each request repeats the one before, byte for byte, and adds to it (K2, E6)", expected("requests.grows")},
	{"chunks", "the stream's bytes may be cut anywhere: the same results and state (O2)", expected("chunks")},
	{"same-under", "the whole system gives the same under every policy, where nothing stops anything (O6)", expected("same_under")},
	{"same-trace", "the same case gives the same trace, byte for byte (O4)", expected("repeated")},
	{"result-size", "no result is longer than its tool's limit when it leaves, whatever the disk does (K1, K3)", resultSize},
	{"transcript", "in every request each call is answered once, in call order, by the message behind it, and nothing else is (H5)", ofRequests(WellFormed)},
	{"message-size", "the results of one message fit together: 200,000 characters (K2)", ofRequests(FitTogether)},
	{"taken", "an API takes each request: no text of white space, no thought at the end, no tool that is not offered (H5)", expected("requests")},
	{"hooks-once", "each hook of a call is asked once, in order of registration (G1)", hooksOnce},
	{"times-in-order", "the times of a trace never go backwards, whatever wrote the events", timesInOrder},
	{"progress-first", "no progress, stage or question of a call comes after its end (H4)", nothingAfterTheEnd},
}

// CheckRun gives the first invariant that a run breaks, or nil. The case is nil where
// something other than a scheduler case was run.
func CheckRun(c *des.Case, out check.Result) *Violation {
	r := run{Case: c, Result: out}
	if err := r.read(); err != nil {
		return &Violation{Name: "transcript", Found: err.Error()}
	}
	return first(runInvariants[:], r)
}

// read reads the requests, which takes longer than what is found in them.
func (r *run) read() error {
	for n, sent := range r.Requests {
		var b body
		if err := json.Unmarshal(sent.Bytes(), &b); err != nil {
			return fmt.Errorf("request %d: %w", n+1, err)
		}
		r.bodies = append(r.bodies, b)
	}
	return nil
}

// expected gives what the scenario itself found.
func expected(prefix string) func(run) error {
	return func(out run) error {
		for _, f := range out.Failures {
			if strings.HasPrefix(f.Expectation, prefix) {
				return fmt.Errorf("%s: expected %s, found %s", f.Expectation, f.Expected, f.Found)
			}
		}
		return nil
	}
}

// hooksOnce checks that what ran is a beginning of the call's hooks, in their order; all
// of them unless the call was stopped.
func hooksOnce(r run) error {
	if r.Case == nil {
		return nil
	}
	asked := map[string][]string{}
	for _, e := range r.Trace {
		switch e.Kind() {
		case trace.KindReady:
			asked[e.Call] = nil
		case trace.KindHook:
			asked[e.Call] = append(asked[e.Call], trace.As[trace.Hook](e).Hook)
		}
	}
	for n := range r.Case.Calls() {
		k := r.Case.Call(n)
		var want []string
		for i := range k.Hooks {
			want = append(want, des.HookName(k.ID, i))
		}
		if got := asked[k.ID]; len(got) > 0 && !slices.Equal(got, want) {
			return fmt.Errorf("call %s: asked were %v; it has %v", k.ID, got, want)
		}
	}
	return nil
}

// maxChars is the limit of a tool that names none, note is room for where the rest is.
const (
	maxChars = 50_000
	note     = 1_000
)

func resultSize(r run) error {
	if r.Case == nil {
		return nil
	}
	for _, e := range r.Trace {
		if n := utf8.RuneCountInString(trace.As[trace.Emitted](e).Text); n > maxChars+note {
			return fmt.Errorf("call %s: its result has %d characters", e.Call, n)
		}
	}
	return nil
}

func nothingAfterTheEnd(r run) error {
	over := map[[2]string]bool{} // agents whose answers repeat have calls of the same ids
	for _, e := range r.Trace {
		switch call := [2]string{e.Agent, e.Call}; e.Kind() {
		case trace.KindReady:
			delete(over, call)
		case trace.KindEnded:
			over[call] = true
		case trace.KindProgress, trace.KindStage, trace.KindAsk, trace.KindDecision, trace.KindHook, trace.KindStarted:
			if over[call] {
				return fmt.Errorf("call %s: %s after its end", e.Call, e.Kind())
			}
		}
	}
	return nil
}

func timesInOrder(r run) error {
	for i, e := range r.Trace {
		if i > 0 && e.At < r.Trace[i-1].At {
			return fmt.Errorf("%s at %s comes behind %s at %s", e.Kind(), e.At, r.Trace[i-1].Kind(), r.Trace[i-1].At)
		}
	}
	return nil
}

// Message is one message of a request, as an API reads it.
type Message struct {
	Role    string  `json:"role"`
	Content []Block `json:"content"`
}

// Block is one block of a message.
type Block struct {
	Type    string `json:"type"`
	ID      string `json:"id"`
	For     string `json:"tool_use_id"`
	Content []Part `json:"content"`
}

// Part is one part of a result.
type Part struct {
	Text string `json:"text"`
}

// body is what is looked at of a request.
type body struct {
	Tools    []json.RawMessage `json:"tools"`
	Messages []Message         `json:"messages"`
}

// ofRequests checks the messages of each request.
func ofRequests(holds func([]Message) error) func(run) error {
	return func(r run) error {
		for n := range r.bodies {
			if err := holds(r.bodies[n].Messages); err != nil {
				return fmt.Errorf("request %d: %w", n+1, err)
			}
		}
		return nil
	}
}

// WellFormed checks that the role changes from message to message, that the user begins
// and ends, and that the results of a message answer the calls of the one before it.
func WellFormed(messages []Message) error {
	var open []string
	for i, m := range messages {
		if want := [...]string{"user", "assistant"}[i%2]; m.Role != want {
			return fmt.Errorf("message %d is of %s, not of %s", i+1, m.Role, want)
		}
		calls, results, behind := m.blocks()
		switch {
		case len(m.Content) == 0:
			return fmt.Errorf("message %d is empty", i+1)
		case behind:
			return fmt.Errorf("message %d has a result behind other content", i+1)
		case !slices.Equal(results, open):
			return fmt.Errorf("message %d answers %v; called were %v", i+1, results, open)
		}
		open = calls
	}
	if len(messages)%2 == 0 || len(open) > 0 {
		return fmt.Errorf("the last message is not the user's, or leaves %v open", open)
	}
	return nil
}

// blocks lists the calls and the answered calls of a message; behind: a result stands behind something else.
func (m *Message) blocks() (calls, results []string, behind bool) {
	other := false
	for _, b := range m.Content {
		switch b.Type {
		case "tool_use":
			calls = append(calls, b.ID)
		case "tool_result":
			results = append(results, b.For)
			behind = behind || other
		default:
			other = true
		}
	}
	return calls, results, behind
}

// FitTogether checks the size of the results of each message together.
func FitTogether(messages []Message) error {
	for i := range messages {
		total := 0
		for _, b := range messages[i].Content {
			for _, p := range b.Content {
				total += utf8.RuneCountInString(p.Text)
			}
		}
		if total > maxMessage {
			return fmt.Errorf("message %d: its results have %d characters", i+1, total)
		}
	}
	return nil
}
