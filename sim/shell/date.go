package shell

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/itchyny/timefmt-go"
)

// runDate is date [-u] [-d TIME] [-r FILE] [+FORMAT]; the clock cannot be set.
func runDate(p *proc, o options) int {
	at, err := p.timeOf(o)
	if err != nil {
		return p.fail(exitFailure, "%v", err)
	}
	format := "+%a %b %e %H:%M:%S %Z %Y"
	switch {
	case len(o.rest) > 1:
		return p.fail(exitFailure, "extra operand '%s'", o.rest[1])
	case len(o.rest) == 1:
		format = o.rest[0]
	}
	format, ok := strings.CutPrefix(format, "+")
	if !ok {
		return p.fail(exitFailure, "cannot set date: Operation not permitted")
	}
	n := fmt.Sprintf("%09d", at.Nanosecond()) // which the library does not write; the locale is C
	format = strings.NewReplacer("%%", "%%", "%N", n, "%3N", n[:3], "%6N", n[:6], "%9N", n).Replace(format)
	return p.printed(timefmt.Format(at.UTC(), format) + "\n")
}

// timeOf is the time that -d or -r name, or else now.
func (p *proc) timeOf(o options) (time.Time, error) {
	now := p.System.Now()
	switch o.last("d", "r") {
	case "d":
		return parseDate(o.get("d", ""), now.UTC())
	case "r":
		info, err := p.Files.Stat(o.get("r", ""))
		if err != nil {
			return now, fmt.Errorf("%s: %s", o.get("r", ""), reason(err))
		}
		return info.ModTime(), nil
	}
	return now, nil
}

// dateLayouts are the fixed forms -d takes.
var dateLayouts = [...]string{
	time.RFC3339Nano, "2006-01-02T15:04:05", "2006-01-02 15:04:05 -0700", "2006-01-02 15:04:05 MST",
	"2006-01-02 15:04:05", "2006-01-02 15:04", "2006-01-02", "20060102",
}

// parseDate reads @SECONDS, a fixed form, now, today, yesterday and tomorrow.
func parseDate(s string, now time.Time) (time.Time, error) {
	if seconds, ok := strings.CutPrefix(s, "@"); ok {
		n, err := strconv.ParseInt(seconds, 10, 64)
		if err != nil {
			return now, fmt.Errorf("invalid date '%s'", s)
		}
		return time.Unix(n, 0).UTC(), nil
	}
	if days, ok := map[string]int{"now": 0, "today": 0, "yesterday": -1, "tomorrow": 1}[strings.ToLower(s)]; ok {
		return now.AddDate(0, 0, days), nil
	}
	for _, layout := range dateLayouts {
		if at, err := time.Parse(layout, s); err == nil {
			return at.UTC(), nil
		}
	}
	return now, fmt.Errorf("invalid date '%s'", s)
}

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
