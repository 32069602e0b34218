package command

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/itchyny/timefmt-go"
)

// date [-u] [-d TIME] [-r FILE] [-I[FMT]] [-R] [+FORMAT]; the clock cannot be set.
func runDate(p *Proc) int {
	o, ok := p.parse("ud:r:I::R", "utc>u", "universal>u", "date=>d", "reference=>r", "iso-8601?>I", "rfc-email>R", "rfc-3339=")
	if !ok {
		return exitUsage
	}
	at := p.System.Now()
	var err error
	switch o.last("d", "r") {
	case "d":
		at, err = parseDate(o.get("d", ""), at)
	case "r":
		info, statErr := p.Files.Stat(o.get("r", ""))
		if statErr != nil {
			return p.failure(o.get("r", ""), statErr)
		}
		at = info.ModTime()
	}
	if err != nil {
		return p.fail(exitFailure, "%v", err)
	}
	format, err := dateFormat(o)
	if err != nil {
		return p.fail(exitFailure, "%v", err)
	}
	if p.print(strftime(format, at.UTC())+"\n") != nil {
		return exitFailure
	}
	return 0
}

func dateFormat(o options) (string, error) {
	if len(o.rest) > 1 {
		return "", fmt.Errorf("extra operand '%s'", o.rest[1])
	}
	if len(o.rest) == 1 {
		format, ok := strings.CutPrefix(o.rest[0], "+")
		if !ok {
			return "", fmt.Errorf("cannot set date: Operation not permitted")
		}
		return format, nil
	}
	precision := map[string]string{"": "%Y-%m-%d", "date": "%Y-%m-%d", "hours": "%Y-%m-%dT%H%:z", "minutes": "%Y-%m-%dT%H:%M%:z", "seconds": "%Y-%m-%dT%H:%M:%S%:z", "ns": "%Y-%m-%dT%H:%M:%S,%N%:z"}
	switch o.last("I", "R", "rfc-3339") {
	case "I":
		format, ok := precision[o.get("I", "")]
		if !ok {
			return "", fmt.Errorf("invalid argument '%s' for '--iso-8601'", o.get("I", ""))
		}
		return format, nil
	case "R":
		return "%a, %d %b %Y %H:%M:%S %z", nil
	case "rfc-3339":
		return strings.Replace(strings.Replace(precision[o.get("rfc-3339", "")], "T", " ", 1), ",", ".", 1), nil
	}
	return "%a %b %e %H:%M:%S %Z %Y", nil
}

// dateLayouts are the fixed forms -d takes.
var dateLayouts = [...]string{time.RFC3339Nano, "2006-01-02T15:04:05", "2006-01-02 15:04:05.999999999 -0700", "2006-01-02 15:04:05 -0700", "2006-01-02 15:04:05 MST", "2006-01-02 15:04:05", "2006-01-02 15:04", "2006-01-02", "20060102",
	"2006/01/02", "01/02/2006", "Jan 2 2006", "Jan 2, 2006", "2 Jan 2006", "Mon, 02 Jan 2006 15:04:05 -0700", "Mon Jan _2 15:04:05 MST 2006", "Mon Jan _2 15:04:05 2006", "15:04:05", "15:04"}

// parseDate reads @SECONDS, a fixed form, now, today, yesterday and tomorrow.
func parseDate(s string, now time.Time) (time.Time, error) {
	now = now.UTC()
	s = strings.TrimSpace(s)
	if seconds, ok := strings.CutPrefix(s, "@"); ok {
		n, err := strconv.ParseFloat(seconds, 64)
		if err != nil {
			return now, fmt.Errorf("invalid date '%s'", s)
		}
		return time.Unix(0, 0).Add(time.Duration(n * float64(time.Second))).UTC(), nil
	}
	if at, ok := dateBase(s, now); ok {
		return at, nil
	}
	return now, fmt.Errorf("invalid date '%s'", s)
}

func dateBase(s string, now time.Time) (time.Time, bool) {
	switch strings.ToLower(s) {
	case "", "now", "today":
		return now, true
	case "yesterday":
		return now.AddDate(0, 0, -1), true
	case "tomorrow":
		return now.AddDate(0, 0, 1), true
	case "midnight":
		return now.Truncate(24 * time.Hour), true
	}
	for _, layout := range dateLayouts {
		at, err := time.Parse(layout, s)
		if err != nil {
			continue
		}
		if at.Year() == 0 { // a time of today
			at = at.AddDate(now.Year(), int(now.Month())-1, now.Day()-1)
		}
		return at.UTC(), true
	}
	return now, false
}

// strftime fills date's directives; the locale is C. The library has no nanoseconds.
func strftime(format string, t time.Time) string {
	nanoseconds := fmt.Sprintf("%09d", t.Nanosecond())
	for digits, form := range []string{"%N", "", "", "%3N", "", "", "%6N", "", "", "%9N"} {
		if form != "" {
			format = strings.ReplaceAll(format, form, nanoseconds[:cmp.Or(digits, 9)])
		}
	}
	return timefmt.Format(t, format)
}
