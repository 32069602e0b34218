package hook

import (
	"encoding/json"
	"fmt"

	"toolbench/toolsys/permission"
)

// powers say which parts of an Output count at an event.
type powers struct{ input, decision, output bool }

// table holds every event. Stop, context and messages count at all of them.
var table = map[Event]powers{
	PreToolUse:         {input: true, decision: true},
	PostToolUse:        {output: true},
	PostToolUseFailure: {output: true},
	PermissionDenied:   {},
	Elicitation:        {input: true, decision: true},
	ElicitationResult:  {input: true, decision: true},
}

// sift takes out of o what cannot count at event and says what it was.
func sift(event Event, o Output) (Output, []string) {
	can, garbled := table[event], o.Garbled
	drop := func(format string, args ...any) {
		garbled = append(garbled, fmt.Sprintf(format, args...))
	}
	if o.Input != nil {
		switch {
		case !can.input:
			drop("an input has no meaning at %s", event)
			o.Input = nil
		case !isObject(o.Input):
			drop("the input is no JSON object")
			o.Input = nil
		}
	}
	if o.Decision != permission.Passthrough {
		switch {
		case !can.decision:
			drop("a decision has no meaning at %s", event)
			o.Decision = permission.Passthrough
		case o.Decision > permission.Deny:
			drop("there is no decision %d", o.Decision)
			o.Decision = permission.Passthrough
		}
	}
	if o.Output != nil && !can.output {
		drop("an output has no meaning at %s", event)
		o.Output = nil
	}
	return o, garbled
}

func isObject(raw json.RawMessage) bool {
	var members map[string]json.RawMessage
	return json.Unmarshal(raw, &members) == nil && members != nil
}
