package stream

import (
	"math/rand/v2"
	"unicode/utf8"
)

// How likely a delta ends at a place, in percent. Recorded streams split where
// it hurts an incremental parser most - within strings, behind a backslash,
// within numbers - and scripted ones do so on purpose, more often than chance.
const (
	afterBackslash = 50
	inNumber       = 30
	inString       = 10
	elsewhere      = 8
	inProse        = 12
)

// splitJSON cuts JSON text into pieces at odd places, never inside a rune: a
// delta is itself a JSON string and cannot hold half of one.
func splitJSON(s string, rng *rand.Rand) []string {
	var inside, escaped bool
	return split(s, rng, func(prev byte) int {
		switch {
		case escaped:
			escaped = false
			return inString
		case inside && prev == '\\':
			escaped = true
			return afterBackslash
		case prev == '"':
			inside = !inside
			return inString
		case inside:
			return inString
		case '0' <= prev && prev <= '9', prev == '-', prev == '.':
			return inNumber
		}
		return elsewhere
	})
}

// splitText cuts prose into pieces of a few characters each.
func splitText(s string, rng *rand.Rand) []string {
	return split(s, rng, func(byte) int { return inProse })
}

// split walks the runes and cuts behind one with the chance that odds gives
// for its last byte. No piece is empty.
func split(s string, rng *rand.Rand, odds func(prev byte) int) []string {
	var pieces []string
	from := 0
	for i := 0; i < len(s); {
		_, n := utf8.DecodeRuneInString(s[i:])
		i += n
		if chance := odds(s[i-1]); i < len(s) && rng.IntN(100) < chance {
			pieces = append(pieces, s[from:i])
			from = i
		}
	}
	if from < len(s) {
		pieces = append(pieces, s[from:])
	}
	return pieces
}

// cutText returns the first n bytes, or fewer so as not to break a rune.
func cutText(s string, n int) string {
	if n >= len(s) {
		return s
	}
	n = max(n, 0)
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
