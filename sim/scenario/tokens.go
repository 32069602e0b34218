package scenario

import (
	"fmt"

	"toolbench/toolsys/trace"
)

// TokenExpect is what the tools of the last request cost, in tokens at four bytes
// each (E8): definitions as they are sent and the list of deferred names. The
// messages, and what searches loaded into them, are not in it.
type TokenExpect struct {
	// Whole is what all tools of the pool would cost whole; Sent is what was sent of
	// them.
	Whole Bound `yaml:"whole"`
	Sent  Bound `yaml:"sent"`
	// Saved is the share of Whole that was not sent, in percent.
	Saved Bound `yaml:"saved"`
}

// bytesPerToken is the rule of the counter bytes4.
const bytesPerToken = 4

func (j *judgement) tokens() {
	want := j.e.Tokens
	whole, sent, ok := j.toolBytes()
	if !ok {
		return
	}
	for _, f := range []struct {
		key   string
		bound Bound
		found float64
		form  string
	}{
		{"tokens.whole", want.Whole, float64(whole / bytesPerToken), "%.0f"},
		{"tokens.sent", want.Sent, float64(sent / bytesPerToken), "%.0f"},
		{"tokens.saved", want.Saved, 100 * (1 - float64(sent)/float64(max(1, whole))), "%.2f%%"},
	} {
		if f.bound.Set() && !f.bound.Holds(f.found) {
			found := fmt.Sprintf(f.form, f.found)
			j.offer(f.key, f.bound.String(), found, found)
		}
	}
}

// toolBytes are those of the main conversation's last request.
func (j *judgement) toolBytes() (whole, sent int64, ok bool) {
	for _, e := range j.rec.events {
		if e.Kind == trace.PoolBuilt && e.Agent == "" {
			whole, sent, ok = e.Int("whole_bytes"), e.Int("sent_bytes"), true
		}
	}
	return whole, sent, ok
}
