package replay

import (
	"encoding/json"

	"toolbench/sim/recording"
)

// Beside tells which calls of a turn provably ran beside another, by their place in the
// message, as the recording's times say (O3). Without times there is no proof.
func Beside(t *recording.Turn) []bool { return measure(t, false).beside }

// StartsEarly says that a result was there before its message was complete: the agent
// starts tools while the stream goes on (O3).
func StartsEarly(t *recording.Turn) bool { return measure(t, false).early }

// Commanded tells inputs that say what to do in a language of their own, as a shell's
// do: that one such call ran beside another proves nothing of the next.
func Commanded(input json.RawMessage) bool { return commanded(input) }
