package shell

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// seconds reads a time as sleep and timeout take it: a number, with s, m, h or d behind it.
func seconds(s string) (time.Duration, error) {
	body := strings.TrimRight(s, "smhd")
	unit, known := map[string]time.Duration{"": time.Second, "s": time.Second, "m": time.Minute, "h": time.Hour, "d": 24 * time.Hour}[s[len(body):]]
	if body == "infinity" || body == "inf" {
		return math.MaxInt64, nil
	}
	n, err := strconv.ParseFloat(body, 64)
	if err != nil || !known || n < 0 || math.IsNaN(n) || strings.ContainsAny(body, "xX_pP") {
		return 0, fmt.Errorf("invalid time interval '%s'", s)
	}
	if n*float64(unit) >= math.MaxInt64 {
		return math.MaxInt64, nil
	}
	return time.Duration(n * float64(unit)), nil
}

// longerBy adds two times; what is longer than any time stays the longest there is.
func longerBy(a, b time.Duration) time.Duration {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}
