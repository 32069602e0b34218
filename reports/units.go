package reports

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// short is a duration in three significant digits, for people: 250µs, 1.25s, 2h3m.
func short(d time.Duration, ascii bool) string {
	text := d.Round(grain(d)).String()
	for _, zero := range []string{"m0s", "h0m"} {
		if strings.HasSuffix(text, zero) {
			text = text[:len(text)-2]
		}
	}
	if ascii {
		text = strings.ReplaceAll(text, "µ", "u")
	}
	return text
}

// grain is what a duration may be rounded to without a reader missing it.
func grain(d time.Duration) time.Duration {
	switch size := d.Abs(); {
	case size >= time.Hour:
		return time.Minute
	case size >= time.Minute:
		return time.Second
	default:
		grain := time.Nanosecond
		for size/grain >= 1000 {
			grain *= 10
		}
		return grain
	}
}

// percent is a share for people: "37.5 %" without needless digits.
func percent(p float64) string {
	return strconv.FormatFloat(rounded(p, 10), 'f', -1, 64) + "%"
}

// rounded keeps 1/parts of a unit; what is no number counts nothing.
func rounded(x, parts float64) float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return 0
	}
	if x = math.Round(x*parts) / parts; x == 0 {
		return 0 // not -0
	}
	return x
}

// millis is a duration in milliseconds, exactly and without an exponent.
func millis(d time.Duration) string {
	sign, ns := "", uint64(d)
	if d < 0 {
		sign, ns = "-", -ns
	}
	return sign + decimal(ns, 6)
}

// seconds is a duration in seconds, exactly and without an exponent.
func seconds(d time.Duration) string {
	return decimal(uint64(max(0, d)), 9)
}

// decimal is n divided by ten to the power of places.
func decimal(n uint64, places int) string {
	digits := strconv.FormatUint(n, 10)
	if pad := places + 1 - len(digits); pad > 0 {
		digits = strings.Repeat("0", pad) + digits
	}
	whole, fraction := digits[:len(digits)-places], strings.TrimRight(digits[len(digits)-places:], "0")
	if fraction == "" {
		return whole
	}
	return whole + "." + fraction
}
