package scenario

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"

	"toolbench/toolsys/trace"
)

// called checks what the model called. One difference is told, the first: those after
// it say nothing more. In a run that ended early, what was not reached is none.
func (j *judgement) called() {
	if j.e.Called == nil {
		return
	}
	found := calledIn(j.rec.events)
	early := len(j.rec.misses) > 0
	for i := range max(len(j.e.Called), len(found)) {
		key := fmt.Sprintf("called.%d", i)
		switch {
		case i >= len(found):
			if !early {
				j.fail(key, j.e.Called[i].String(), "no further call")
			}
			return
		case i >= len(j.e.Called):
			j.fail("called", "no further call", describe(found[i]))
			return
		case !j.e.Called[i].is(found[i]):
			j.fail(key, j.e.Called[i].String(), describe(found[i]))
			return
		}
	}
}

// calledIn are the main conversation's calls that stayed, as the model made them.
func calledIn(events []trace.Event) []trace.Event {
	var out []trace.Event
	for _, e := range events {
		switch {
		case e.Agent != "":
		case e.Kind == trace.Ready:
			out = append(out, e)
		case e.Kind == trace.Discarded:
			out = slices.DeleteFunc(out, func(c trace.Event) bool { return c.Call == e.Call && c.Turn == e.Turn })
		}
	}
	return out
}

func (c CalledExpect) is(e trace.Event) bool {
	return c.ID == e.Call && c.Tool == e.Tool && (c.Input == nil || reflect.DeepEqual(asJSON(c.text()), asJSON(e.Get("input"))))
}

func (c CalledExpect) text() string {
	raw, err := json.Marshal(c.Input)
	if err != nil {
		return err.Error() // a key that is no text: then nothing is equal to it
	}
	return string(raw)
}

// asJSON decodes a text; what is no JSON stands for itself.
func asJSON(text string) any {
	var v any
	if json.Unmarshal([]byte(text), &v) != nil {
		return text
	}
	return v
}

// String words the expectation as describe words a call.
func (c CalledExpect) String() string {
	text := c.Tool + " " + c.ID
	if c.Input != nil {
		text += " " + short(c.text())
	}
	return text
}

func describe(e trace.Event) string { return e.Tool + " " + e.Call + " " + short(e.Get("input")) }

// schema is the input's, as JSON.
func (o OwnTool) schema() json.RawMessage {
	raw, err := json.Marshal(o.Schema)
	if err != nil {
		return json.RawMessage(`"` + err.Error() + `"`) // no schema: building the tool says so
	}
	return raw
}
