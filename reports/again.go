package reports

import (
	"fmt"
	"strings"

	"toolbench/sim/scenario"
)

// Again is the command that shows an outcome once more, with its seed and policy:
// the same trace, byte for byte (O4).
func Again(o scenario.Outcome) string {
	command := fmt.Sprintf("toolbench run %s --seed %d", Quoted(o.Name), o.Seed)
	if o.Policy != "" {
		command += " --policy " + Quoted(o.Policy)
	}
	return command
}

// Quoted is a word as a POSIX shell takes it.
func Quoted(word string) string {
	plain := func(r rune) bool {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("-_./:@%+=,", r)
	}
	if word != "" && !strings.ContainsFunc(word, func(r rune) bool { return !plain(r) }) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
