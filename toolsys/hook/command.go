package hook

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"toolbench/toolsys/jsonscan"
	"toolbench/toolsys/message"
	"toolbench/toolsys/permission"
	"toolbench/toolsys/tool"
)

// MaxReply is the longest standard output of a command that is read, in bytes.
const MaxReply = 1 << 20

// exitSaysNo is the exit code by which a command refuses without writing JSON.
const exitSaysNo = 2

// Exec runs a command line in dir with stdin, and env beside the environment it
// sees fit. It gives what the command wrote and its exit code; err is for a command
// that could not be run or was cut off by ctx.
type Exec func(ctx context.Context, command string, stdin []byte, dir string, env []string) (stdout, stderr []byte, code int, err error)

// Command makes h a hook that runs an external command (G3). Where a decision counts,
// as before a call runs, such a hook is a guard: unless h sets it otherwise, its failure
// denies (G4).
//
// On standard input it gets one JSON object with the members event, tool, call,
// turn, agent, dir, mode, input, output (content blocks) and error, those that do
// not apply left out; in its environment HOOK_EVENT and HOOK_TOOL.
//
// With exit code 0 it writes what it wants done to standard output, as
//
//	{"decision": "allow|deny|ask", "reason": "...", "input": {...},
//	 "output": "..." or [blocks], "stop": true, "context": "..."}
//
// each member optional; nothing written leaves the call as it is. Exit code 2
// refuses: the call before it ran, the turn afterwards, with standard error as the
// reason. Every other code is a failure of the hook, and so is output that is no JSON
// object, or a member that makes no sense; the members that do make sense count.
func Command(h Hook, line string, exec Exec) Hook {
	if h.OnFailure == permission.Passthrough && table[h.Event].decision {
		h.OnFailure = permission.Deny
	}
	h.Run = func(ctx context.Context, in Input) (Output, error) {
		stdin, err := json.Marshal(in)
		if err != nil {
			return Output{}, fmt.Errorf("write the hook's input: %w", err)
		}
		env := []string{"HOOK_EVENT=" + string(in.Event), "HOOK_TOOL=" + in.Tool}
		stdout, stderr, code, err := exec(ctx, line, append(stdin, '\n'), in.Dir, env)
		switch {
		case err != nil:
			return Output{}, err
		case code == exitSaysNo:
			return refusal(in.Event, stderr), nil
		case code != 0:
			return Output{}, fmt.Errorf("exit code %d: %s", code, excerpt(stderr))
		}
		return parseReply(stdout)
	}
	return h
}

func refusal(event Event, stderr []byte) Output {
	reason := strings.TrimSpace(string(stderr))
	if table[event].decision {
		return Output{Decision: permission.Deny, Reason: reason}
	}
	return Output{Stop: true, Reason: reason}
}

func parseReply(stdout []byte) (Output, error) {
	text := bytes.TrimSpace(stdout)
	if len(text) == 0 {
		return Output{}, nil
	}
	if len(text) > MaxReply {
		return Output{}, fmt.Errorf("the reply has %d bytes; at most %d are read", len(text), MaxReply)
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(text, &members); err != nil || members == nil {
		return Output{}, fmt.Errorf("the reply is no JSON object: %s", excerpt(text))
	}
	if name, twice := jsonscan.Repeated(text); twice {
		return Output{}, fmt.Errorf("the reply has %q more than once: %s", name, excerpt(text))
	}
	return read(members), nil
}

// read takes each member by itself, so that one which makes no sense does not take
// a denial with it.
func read(members map[string]json.RawMessage) Output {
	var o Output
	garbled := func(name string, err error) {
		if err != nil {
			o.Garbled = append(o.Garbled, fmt.Sprintf("%s: %v", name, err))
		}
	}
	take := func(name string, into any) {
		if raw, ok := members[name]; ok && string(raw) != "null" {
			garbled(name, json.Unmarshal(raw, into))
		}
		delete(members, name)
	}
	var decision string
	take("decision", &decision)
	take("reason", &o.Reason)
	take("stop", &o.Stop)
	take("context", &o.Context)
	take("input", &o.Input)
	if decision != "" {
		var err error
		o.Decision, err = permission.ParseBehaviour(decision)
		garbled("decision", err)
	}
	if raw, ok := members["output"]; ok {
		var err error
		o.Output, err = message.ParseContent(raw)
		garbled("output", err)
		delete(members, "output")
	}
	o.Garbled = append(o.Garbled, unknown(members)...)
	return o
}

func unknown(members map[string]json.RawMessage) []string {
	return tool.Each(slices.Sorted(maps.Keys(members)), func(name string) string { return fmt.Sprintf("there is no member %q", name) })
}

// excerpt is the beginning of what a command wrote, on one line.
func excerpt(b []byte) string {
	const most = 201
	text := message.Line(strings.ToValidUTF8(string(b[:min(len(b), 4*most)]), "?"), most)
	return cmp.Or(text, "(it wrote nothing)")
}
