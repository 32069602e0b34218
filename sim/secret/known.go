package secret

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
)

// Known is a value known to be secret, and the name that a report gives it.
type Known struct{ Name, Value string }

// encodable is how long a value must be for its hexadecimal and base64 to be distinguished
// from chance.
const encodable = 6

// MinKnown is how long a known value must be to be looked for, in bytes.
const MinKnown = 4

// patternsOf are the texts that give a known value away. Escapes are taken off before
// (see unescaped); what is left is spelling, case, hexadecimal and base64.
func patternsOf(known []Known) []pattern {
	var all []pattern
	seen := map[string]bool{}
	for _, k := range known {
		value := strings.TrimSpace(k.Value)
		if len(value) < MinKnown {
			continue
		}
		for _, form := range forms(value) {
			if len(form) >= MinKnown && !seen[form] {
				seen[form] = true
				all = append(all, pattern{form, func(_ string, at int) (int, int, bool) { return at, at + len(form), true }, "known value of " + k.Name})
			}
		}
	}
	// Longest first: one secret may be the beginning of another.
	slices.SortStableFunc(all, func(a, b pattern) int { return len(b.text) - len(a.text) })
	return all
}

// forms are the ways of writing a value that taking off escapes does not undo.
func forms(value string) []string {
	spellings := spellings(value)
	out := slices.Clone(spellings)
	if len(value) < encodable {
		return out
	}
	for _, s := range spellings {
		digits := hex.EncodeToString([]byte(s))
		out = append(out, digits, strings.ToUpper(digits))
		out = append(out, within64(s)...)
	}
	return out
}

// spellings are the value as it stands, in other cases, escaped (for where it went on
// into base64 or hexadecimal), and unescaped (for where its own signs look like
// escapes, and are taken off with the others).
func spellings(value string) []string {
	var out []string
	for _, v := range []string{value, strings.ToUpper(value), strings.ToLower(value)} {
		out = append(out, v, inJSON(v), url.QueryEscape(v), url.PathEscape(v))
		for bare := v; ; {
			out = append(out, strings.ReplaceAll(bare, " ", "+"), bare)
			if v := flat(bare, mailed); v != nil {
				out = append(out, v.text)
			}
			read := unescaped(bare)
			if read == nil {
				break
			}
			bare = read.text
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func inJSON(value string) string {
	b, err := json.Marshal(value)
	if err != nil {
		return value // cannot be: a string
	}
	return string(b[1 : len(b)-1])
}

// within64 is the value within longer base64: what of its digits depends on it alone,
// at each of the three alignments, in both alphabets. Digits at the edges that carry
// bits of a neighbour are left out here and taken along when they are blanked.
func within64(value string) []string {
	var out []string
	for skip := range 3 {
		padded := append(make([]byte, skip), value...)
		from := (skip*8 + 5) / 6
		to := len(padded) * 8 / 6
		if to-from < MinKnown {
			continue
		}
		out = append(out, base64.RawStdEncoding.EncodeToString(padded)[from:to], base64.RawURLEncoding.EncodeToString(padded)[from:to])
	}
	return out
}

// minValue is how long a variable's value must be: a shorter one stands everywhere.
const minValue = 8

// FromEnv gives the values of variables ("NAME=value") whose names are those of
// secrets, and the passwords of addresses among the others. Paths are none.
func FromEnv(env []string) []Known {
	var out []Known
	for _, pair := range env {
		name, value, ok := strings.Cut(pair, "=")
		if !ok || len(value) < minValue {
			continue
		}
		if u, err := url.Parse(value); err == nil && u.User != nil {
			if password, ok := u.User.Password(); ok && len(password) >= MinKnown {
				out = append(out, Known{name, password})
			}
			continue
		}
		secret := slices.ContainsFunc(strings.Split(strings.ToUpper(name), "_"), func(word string) bool { return slices.Contains(data().Variables, word) })
		if secret && !strings.HasPrefix(value, "/") && !strings.HasPrefix(value, "./") && !strings.Contains(value, ":/") {
			out = append(out, Known{name, value})
		}
	}
	return out
}
