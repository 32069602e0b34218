package check

import (
	"slices"
	"time"

	"toolbench/sim/scenario"
	"toolbench/sim/secret"
	"toolbench/toolsys/message"
	"toolbench/toolsys/schedule"
	"toolbench/toolsys/trace"
)

// Status is the verdict on one scenario.
type Status string

// Passed: all expectations held. Failed: one did not. Error: the scenario could
// not be run, because its file is invalid or the harness failed.
const (
	Passed  Status = "passed"
	Failed  Status = "failed"
	Errored Status = "error"
)

// Result is what came of one scenario. Times are virtual, from its start.
type Result struct {
	Name  string
	About string
	Tags  []string
	// File is where the scenario stands, "" when it was made in memory.
	File   string
	Status Status
	Policy string
	Seed   uint64
	// Makespan is the whole run; Serial is what it would take with each stream
	// followed by each of its calls, one after the other; Hidden is the share of Serial
	// that passed beside other work, in percent (J7). Time in which nothing is at work,
	// as between the user's messages, is in the makespan alone.
	Makespan, Serial time.Duration
	Hidden           float64
	// LowerBound is the lower bound: no policy could be faster with these calls, their
	// arrivals and times, what they read and write, and the limit (J8).
	LowerBound time.Duration
	// Batches are the partition of each turn's calls, by tool name (I1).
	Batches [][]string
	Calls   []Call
	Streams []Stream
	// Failures are the expectations that did not hold.
	Failures []Failure
	// Err is why there is no verdict; Invalid distinguishes a bad file from a failure of
	// the harness itself.
	Err     error
	Invalid bool
	// Digest identifies the trace: equal digests, equal runs (O4).
	Digest string
	// Trace is the whole record.
	Trace []trace.Event
	// Requests are the bodies that were sent to the model, in order. Dropped are the places
	// of those that were given up before they reached it: faults do not count them.
	Requests []message.Body
	Dropped  []int
	// Took is the real time; it is in no digest and in no comparison.
	Took time.Duration
	// Notes are worth a line and no failure: recorded interactions left over in a
	// scenario that does not forbid them, tools loaded unvalidated.
	Notes []string
}

// Call is one call's way through the run.
type Call struct {
	ID, Tool string
	// Agent is "" in the main conversation.
	Agent       string
	Turn, Batch int
	// Ready: its block completed. Started: the scheduler let it go. Ended: it was
	// done. Emitted: its result left. A call that never started has Started and
	// Ended at the moment it was answered.
	Ready, Started, Ended, Emitted time.Duration
	Status                         string
	Safe                           bool
	// WaitsFor is what a queued call waited for: "stream", "exclusive", "limit",
	// "order", "effects"; "" when it started at once. On are the calls it waited for.
	WaitsFor string
	On       []string

	// ran reports whether it was started; touches is what it then declared to read and write.
	ran     bool
	touches *schedule.Footprint
}

// Stream is one response of the model.
type Stream struct {
	Agent string
	Turn  int
	// Sent: the request left. First: the first event came. End: the last one.
	Sent, First, End time.Duration
	// Cut is true when it broke off and was abandoned.
	Cut bool
}

// Failure is one expectation that did not hold.
type Failure struct {
	Expectation string `json:"expectation" jsonschema:"Named as in the file: batches, files./repo/a.go."`
	Expected    string `json:"expected"`
	Found       string `json:"found"`
	At          string `json:"at" jsonschema:"The place in the scenario's file: name.yaml:12."`

	// instead is what to write in the file for the expectation to hold, as YAML; ""
	// when only a person can decide, and stays is then why, if there is more to it.
	instead, stays string
}

// Record is what a run left behind, which the checks read.
type Record struct {
	Events []trace.Event
	Digest string
	// Requests are the bodies sent to the model, Dropped the places of those that were
	// given up before they reached it.
	Requests []message.Body
	Dropped  []int
	// GivenUp are the numbers of the requests whose answer was not read to its end.
	GivenUp []int
	// Servers are what reached the MCP servers, by their names.
	Servers map[string]Received
	// Misses are requests without a recorded answer, Leftover recorded interactions that
	// were not asked for, Notes what else the transport reports.
	Misses, Leftover, Notes []string
	// Err is the error the conversation ended with.
	Err error
	// Gates are the catalogue's funnels by profile.
	Gates map[string]Funnel
	// Limit is how many calls may run at once (I2).
	Limit int
}

// Received is what reached an MCP server: the calls and those of them that were cancelled, and
// how many connections were opened and then closed by the client.
type Received struct {
	Called, Cancelled []string
	Opened, Closed    int
}

// Funnel is what the gates of one profile leave in and take out.
type Funnel struct {
	In, Out int
	Reasons map[string]string
}

// Redact keeps secrets that stand in a recording or in the world out of what reports
// print of it (O5): a failure quotes both.
func (out *Result) Redact() {
	if len(out.Failures)+len(out.Notes) == 0 {
		return
	}
	finder := secret.New()
	for i := range out.Failures {
		f := &out.Failures[i]
		f.Expected, f.Found = finder.Text(f.Expected, nil), finder.Text(f.Found, nil)
	}
	for i, n := range out.Notes {
		out.Notes[i] = finder.Text(n, nil)
	}
}

// Stays is why Update leaves the expectation as it is.
func (f Failure) Stays() string {
	switch {
	case f.stays != "":
		return f.stays
	case f.instead == "":
		return "only a person can know what it is to be"
	}
	return "the file does not write it as one plain value or a list in brackets; write " + f.instead + " there"
}

// Update gives a scenario's file with the expectations that failed brought up to date,
// and the failures that only a person can resolve.
func Update(data []byte, failures []Failure) (updated []byte, left []Failure, err error) {
	values := map[string]string{}
	for _, f := range failures {
		if f.instead != "" {
			values["expect."+f.Expectation] = f.instead
		}
	}
	updated, unplaced, err := scenario.Update(data, values)
	if err != nil {
		return nil, nil, err
	}
	for _, f := range failures {
		if f.instead == "" || slices.Contains(unplaced, "expect."+f.Expectation) {
			left = append(left, f)
		}
	}
	return updated, left, nil
}
