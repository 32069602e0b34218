package capture

import (
	"fmt"
	"strings"
)

// Mode says when the network is used.
type Mode string

// The modes, as the VCR family knows them.
const (
	// ReplayOnly never uses it: what the cassette does not have is an error.
	ReplayOnly Mode = "replay-only"
	// Once records when there is no cassette, and replays otherwise.
	Once Mode = "once"
	// NewEpisodes replays what the cassette has and records the rest behind it.
	NewEpisodes Mode = "new-episodes"
	// All records everything anew.
	All Mode = "all"
)

// Modes lists them, the safest first.
func Modes() []string {
	return []string{string(ReplayOnly), string(Once), string(NewEpisodes), string(All)}
}

// ParseMode reads a mode's name.
func ParseMode(text string) (Mode, error) {
	for _, m := range Modes() {
		if m == text {
			return Mode(m), nil
		}
	}
	return "", fmt.Errorf("use %s", strings.Join(Modes(), ", "))
}

// Records says whether a session may use the network, given whether there is a
// cassette.
func (m Mode) Records(exists bool) bool {
	return m == All || m == NewEpisodes || m == Once && !exists
}
