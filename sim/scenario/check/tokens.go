package check

import (
	"fmt"

	"toolbench/sim/scenario"
	"toolbench/toolsys/trace"
)

// bytesPerToken is the rule of the counter bytes4.
const bytesPerToken = 4

func (j *checker) tokens() {
	want := j.e.Tokens
	whole, sent, ok := j.toolBytes()
	if !ok {
		return
	}
	for _, f := range []struct {
		key   string
		bound scenario.Bound
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
func (j *checker) toolBytes() (whole, sent int64, ok bool) {
	for _, e := range j.rec.Events {
		if e.Kind == trace.PoolBuilt && e.Agent == "" {
			whole, sent, ok = e.Int("whole_bytes"), e.Int("sent_bytes"), true
		}
	}
	return whole, sent, ok
}
