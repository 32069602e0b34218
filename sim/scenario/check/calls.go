package check

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"toolbench/sim/scenario"
	"toolbench/toolsys/jsonscan"
	"toolbench/toolsys/message"
	"toolbench/toolsys/tool"
	"toolbench/toolsys/trace"
)

// called checks what the model called. Only the first difference is reported: it causes those
// after it. In a run that ended early, what was not reached is none.
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
		case e.Kind() == trace.KindReady:
			out = append(out, e)
		case e.Kind() == trace.KindDiscarded:
			out = slices.DeleteFunc(out, func(c trace.Event) bool { return c.Call == e.Call && c.Turn == e.Turn })
		}
	}
	return out
}

func isCall(c scenario.CalledExpect, e trace.Event) bool {
	return c.ID == e.Call && c.Tool == e.Tool && (c.Input == nil || jsonscan.Equal([]byte(inputText(c)), []byte(trace.As[trace.Ready](e).Input)))
}

func inputText(c scenario.CalledExpect) string {
	raw, err := jsonscan.Marshal(c.Input)
	if err != nil {
		return err.Error() // a key that is no text: then nothing is equal to it
	}
	return string(raw)
}

// describeWanted words the expectation as describe words a call.
func describeWanted(c scenario.CalledExpect) string {
	text := c.Tool + " " + c.ID
	if c.Input != nil {
		text += " " + short(inputText(c))
	}
	return text
}

func describe(e trace.Event) string {
	return e.Tool + " " + e.Call + " " + short(trace.As[trace.Ready](e).Input)
}

func (j *checker) batches() {
	if j.e.Batches != nil {
		if want, found := nested(j.e.Batches), nested(j.out.Batches); want != found {
			j.offer("batches", want, found, "["+strings.Join(tool.Each(j.out.Batches, scenario.FlowText), ", ")+"]")
		}
	}
	exact(j, "calls", j.e.Calls, len(j.emits))
}

func nested(batches [][]string) string {
	return strings.Join(tool.Each(batches, func(b []string) string { return "[" + strings.Join(b, " ") + "]" }), " ")
}

// call finds a call by id; the last of that id counts.
func (j *checker) call(id string) (Call, bool) {
	for _, c := range slices.Backward(j.out.Calls) {
		if c.ID == id {
			return c, true
		}
	}
	return Call{}, false
}

func (j *checker) times() {
	for _, list := range []struct {
		key   string
		want  map[string]scenario.Bound
		found func(Call) time.Duration
	}{
		{"starts", j.e.Starts, func(c Call) time.Duration { return c.Started }},
		{"ends", j.e.Ends, func(c Call) time.Duration { return c.Ended }},
		{"emits", j.e.Emits, func(c Call) time.Duration { return c.Emitted }},
	} {
		for _, id := range sorted(list.want) {
			if c, ok := j.call(id); ok {
				j.moment(list.key+"."+id, list.want[id], list.found(c))
			} else {
				j.fail(list.key+"."+id, list.want[id].String(), "there is no such call")
			}
		}
	}
	for i, id := range j.e.NotStarted {
		if slices.ContainsFunc(j.rec.Events, func(e trace.Event) bool {
			return e.Call == id && e.Kind() == trace.KindStage && e.Get("stage") == "run"
		}) {
			j.fail(fmt.Sprintf("not_started.%d", i), id+" never runs", "it ran")
		}
	}
	j.bound("max_running", j.e.MaxRunning, float64(maxRunning(j.out.Calls)), "%.0f")
}

func (j *checker) order() {
	if j.e.Order == nil {
		return
	}
	j.list("order", j.e.Order, tool.Each(j.emits, func(e trace.Event) string { return e.Call }))
}

func (j *checker) results() {
	for _, id := range sorted(j.e.Results) {
		want, key := j.e.Results[id], "results."+id
		at := slices.IndexFunc(j.emits, func(e trace.Event) bool { return e.Call == id })
		if at < 0 {
			c, ok := j.call(id)
			if !ok || !reflect.DeepEqual(want, scenario.Answer{Status: c.Status}) {
				j.fail(key, strings.TrimSpace("a result "+want.Status), "none was emitted")
			}
			continue
		}
		j.result(key, want, j.emits[at])
	}
}

// mostWhy is how much of a result is shown to explain a status, in characters.
const mostWhy = 300

func (j *checker) result(key string, want scenario.Answer, e trace.Event) {
	emitted := trace.As[trace.Emitted](e)
	why := func(found string) string {
		return strings.TrimSuffix(found+": "+message.Line(emitted.Text, mostWhy), ": ")
	}
	if want.Status != "" && want.Status != emitted.Status {
		j.offer(key+".status", want.Status, why(emitted.Status), emitted.Status)
	}
	if isError := strconv.FormatBool(emitted.Error); want.Error != nil && *want.Error != emitted.Error {
		j.offer(key+".error", strconv.FormatBool(*want.Error), why(isError), isError)
	}
	j.text(key, emitted.Text, want.Contains, want.Lacks, want.Equals)
	j.bound(key+".chars", want.Chars, float64(len([]rune(emitted.Text))), "%.0f")
}

func (j *checker) waits() {
	for _, id := range sorted(j.e.Waits) {
		if c, ok := j.call(id); ok {
			j.equal("waits."+id, j.e.Waits[id], cmp.Or(c.WaitsFor, "none"))
		} else {
			j.fail("waits."+id, j.e.Waits[id], "there is no such call")
		}
	}
}

func (j *checker) figures() {
	j.moment("makespan", j.e.Makespan, j.out.Makespan)
	j.moment("serial", j.e.Serial, j.out.Serial)
	j.moment("least", j.e.LowerBound, j.out.LowerBound)
	j.bound("hidden", j.e.Hidden, j.out.Hidden, "%.4g%%")
}

// hints checks that exactly these calls had the result that their tool must be loaded first.
func (j *checker) hints() {
	if j.e.Hints == nil {
		return
	}
	var found []string
	for _, e := range j.rec.Events {
		if strings.Contains(trace.As[trace.Emitted](e).Text, "has not been sent yet. Load it first") {
			found = append(found, e.Call)
		}
	}
	j.list("hints", j.e.Hints, found)
}
