package schedule

import "fmt"

// Policy says how the calls of one message are run (J8).
type Policy uint8

// The policies, from the slowest to the fastest that is still obviously right.
const (
	// Serial runs one call after the other once the stream has ended.
	Serial Policy = iota
	// Batch runs batches (I1) once the stream has ended.
	Batch
	// Streaming starts calls while the stream still runs (J1).
	Streaming
	// Effects starts calls while the stream still runs, and lets one overtake another
	// where neither writes what the other reads or writes (J8).
	Effects
)

var policyNames = [...]string{Serial: "serial", Batch: "batch", Streaming: "streaming", Effects: "effects"}

func (p Policy) String() string {
	if int(p) < len(policyNames) {
		return policyNames[p]
	}
	return fmt.Sprintf("policy(%d)", p)
}

// ParsePolicy reads a policy's name.
func ParsePolicy(name string) (Policy, error) {
	for p, n := range policyNames {
		if n == name {
			return Policy(p), nil
		}
	}
	return 0, fmt.Errorf("unknown policy %q: use serial, batch, streaming or effects", name)
}

// rules is what a policy means to the core, as data: the transitions are shared.
type rules struct {
	// holds: nothing starts before the stream has ended.
	holds bool
	// alone: calls never run beside each other.
	alone bool
	// drops: a safe call's modifier is dropped; otherwise it waits for the end of
	// its batch (B3).
	drops bool
	// effects: calls start when nothing before them conflicts; modifiers act in call
	// order, with their results.
	effects bool
}

var policyRules = [...]rules{
	Serial:    {holds: true, alone: true},
	Batch:     {holds: true},
	Streaming: {drops: true},
	Effects:   {effects: true},
}
