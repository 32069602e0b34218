package cassette

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"toolbench/sim/stream"
)

// OffsetsHeader is the response header that carries the times of a body's
// events: whole microseconds, separated by commas; the first counts from the
// moment the request was sent, each other from the event before it. So
// "400000,0,12500" are events at 400 ms, 400 ms and 412.5 ms. A response that
// is no stream has one number: when its body was complete.
const OffsetsHeader = "X-Toolbench-Event-Offsets"

func times(events []stream.Event) []time.Duration {
	at := make([]time.Duration, len(events))
	for i, e := range events {
		at[i] = e.At
	}
	return at
}

// formatOffsets rounds each time down to a tick, not each difference, so that
// rounding does not add up.
func formatOffsets(at []time.Duration) string {
	var b []byte
	var last int64
	for i, d := range at {
		if i > 0 {
			b = append(b, ',')
		}
		us := d.Microseconds()
		b = strconv.AppendInt(b, us-last, 10)
		last = us
	}
	return string(b)
}

func parseOffsets(text string) ([]time.Duration, error) {
	parts := strings.Split(text, ",")
	at := make([]time.Duration, len(parts))
	var sum int64
	for i, p := range parts {
		us, err := strconv.ParseInt(strings.TrimSpace(p), 10, 64)
		if err != nil || us < 0 || us > math.MaxInt64/1000-sum {
			return nil, fmt.Errorf("%s: number %d, %q, is no count of microseconds", OffsetsHeader, i+1, p)
		}
		sum += us
		at[i] = time.Duration(sum) * time.Microsecond
	}
	return at, nil
}
