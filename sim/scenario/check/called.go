package check

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"

	"toolbench/sim/scenario"
	"toolbench/toolsys/trace"
)

// called checks what the model called. One difference is told, the first: those after
// it say nothing more. In a run that ended early, what was not reached is none.
func (j *checker) called() {
	if j.e.Called == nil {
		return
	}
	found := calledIn(j.rec.Events)
	early := len(j.rec.Misses) > 0
	for i := range max(len(j.e.Called), len(found)) {
		key := fmt.Sprintf("called.%d", i)
		switch {
		case i >= len(found):
			if !early {
				j.fail(key, describeWanted(j.e.Called[i]), "no further call")
			}
			return
		case i >= len(j.e.Called):
			j.fail("called", "no further call", describe(found[i]))
			return
		case !isCall(j.e.Called[i], found[i]):
			j.fail(key, describeWanted(j.e.Called[i]), describe(found[i]))
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

func isCall(c scenario.CalledExpect, e trace.Event) bool {
	return c.ID == e.Call && c.Tool == e.Tool && (c.Input == nil || reflect.DeepEqual(asJSON(inputText(c)), asJSON(e.Get("input"))))
}

func inputText(c scenario.CalledExpect) string {
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

// describeWanted words the expectation as describe words a call.
func describeWanted(c scenario.CalledExpect) string {
	text := c.Tool + " " + c.ID
	if c.Input != nil {
		text += " " + short(inputText(c))
	}
	return text
}

func describe(e trace.Event) string { return e.Tool + " " + e.Call + " " + short(e.Get("input")) }
