package pipeline

// Status is how a call ended. The names appear in traces and reports.
type Status string

// The ways a call ends.
const (
	OK          Status = "ok"
	Failed      Status = "failed"       // the tool ran and reports a failure
	Unknown     Status = "unknown_tool" // no tool has that name
	BadJSON     Status = "bad_json"     // the input was no JSON object
	Invalid     Status = "invalid"      // the input breaks the schema
	Refused     Status = "refused"      // the tool's own validation said no
	Stopped     Status = "stopped"      // a hook stopped the call
	Denied      Status = "denied"       // permission said no
	TimedOut    Status = "timeout"      // its own time limit passed
	Panicked    Status = "panic"        // the tool's code panicked
	Cancelled   Status = "cancelled"    // a sibling failed (J3)
	Interrupted Status = "interrupted"  // the user's new message (J4)
	Aborted     Status = "aborted"      // the conversation was stopped
	Discarded   Status = "discarded"    // the stream was abandoned (J5)
)

// Statuses are all ways a call ends.
func Statuses() []Status {
	return []Status{
		OK, Failed, Unknown, BadJSON, Invalid, Refused, Stopped, Denied, TimedOut, Panicked,
		Cancelled, Interrupted, Aborted, Discarded,
	}
}
