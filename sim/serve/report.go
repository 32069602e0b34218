package serve

import "time"

// Report is what the client did with what it was served.
type Report struct {
	Source        string
	Conversations int
	Sessions      []SessionReport
	// Refused are requests that had no answer, the client's fault or not.
	Refused []Refusal
	// Unserved are conversations nobody asked for, by number.
	Unserved []int
}

// Refusal is a request that got an error.
type Refusal struct{ Text, Opening string }

// SessionReport is one client's conversation.
type SessionReport struct {
	// Conversation is the recorded one's number; Opening says how its first user
	// message compares: "same", "other", "unknown".
	Conversation int
	Opening      string
	// Requests were sent, Resent of them again; Answers were given, of Of.
	Requests, Resent, Answers, Of int
	// Calls had to be answered, Results came.
	Calls, Results int
	Checks         []Check
	// Breakpoints are those of the last request, by place.
	Breakpoints []string
	Latencies   []Latency
}

// Latency is the client's own time: from the end of an answer with calls to the next
// request, which has their results.
type Latency struct {
	Turn, Calls int
	Took        time.Duration
}

// Status is what came of a check.
type Status string

// The outcomes of a check.
const (
	Held   Status = "held"
	Failed Status = "failed"
	// Differs is no fault: a client's own tools need not say what was recorded.
	Differs Status = "differs"
	// Untested: nothing came that could be checked.
	Untested Status = "untested"
)

// Check is one promise and what was found.
type Check struct {
	Name, Promise string
	Status        Status
	// Findings are the first that contradict it; More counts the others.
	Findings []Finding
	More     int
}

// Finding contradicts a promise. Turn is the answer, from 1, to which the request at
// fault reacts; 0: the first request.
type Finding struct {
	Turn int
	Text string
}

// Held says whether every check held and no request was refused. That nothing was
// asked is not held either.
func (r *Report) Held() bool {
	for _, s := range r.Sessions {
		for _, c := range s.Checks {
			if c.Status == Failed {
				return false
			}
		}
	}
	return len(r.Sessions) > 0 && len(r.Refused) == 0
}
