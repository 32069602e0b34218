package permission

import (
	"path"
	"slices"
	"strings"
)

// wrappers are commands that run the command in their arguments. A rule that
// forbids a command forbids it behind them too.
var wrappers = map[string]bool{
	"builtin": true, "busybox": true, "chroot": true, "command": true, "doas": true, "env": true, "exec": true,
	"eval": true, "ionice": true, "nice": true, "nohup": true, "setsid": true, "stdbuf": true, "sudo": true,
	"time": true, "timeout": true, "watch": true, "xargs": true,
}

// partUnit is one simple command. A permitting rule sees the text as it is, so
// that an assignment in front (which can change what a program does) is not
// permitted with it.
func partUnit(text string) unit {
	plain := strings.TrimSpace(text)
	var disguises []string // found out on first need: most calls meet no forbidding rule
	return unit{text: text, covered: func(content string, wide bool) bool {
		if !wide {
			return textCovered(content, plain)
		}
		if disguises == nil {
			disguises = readings(plain)
		}
		return slices.ContainsFunc(disguises, func(reading string) bool { return textCovered(content, reading) })
	}}
}

// unparsedUnit is a text that could not be taken apart: no rule permits it, and
// a forbidden command is looked for at every word.
func unparsedUnit(command string) unit {
	whole, suspects := partUnit(command), suspects(command)
	return unit{text: command, covered: func(content string, wide bool) bool {
		return wide && (whole.covered(content, true) ||
			slices.ContainsFunc(suspects, func(s string) bool { return textCovered(content, s) }))
	}}
}

// suspects are the commands that may begin at some word of a text.
func suspects(command string) []string {
	var found []string
	for _, segment := range strings.FieldsFunc(command, isOperator) {
		words := strings.Fields(segment)
		for i := range words {
			found = append(found, asProgram(head(words[i:]))...)
		}
	}
	return found
}

// isOperator knows the characters at which a command may begin or end.
func isOperator(r rune) bool { return strings.ContainsRune(";|&()`\n{}$", r) }

// readings are the ways a simple command can be read: as it stands, with single
// blanks, without assignments, as the plain name of its program, and as
// whatever a wrapper in front may run.
func readings(part string) []string {
	words := strings.Fields(part)
	all := []string{part, strings.Join(words, " ")}
	for len(words) > 0 && isAssignment(words[0]) {
		words = words[1:]
	}
	all = append(all, asProgram(words)...)
	if len(words) > 0 && wrappers[program(words[0])] {
		for i := 1; i < len(words); i++ {
			all = append(all, asProgram(head(words[i:]))...)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// headWords bounds how much of a suspected command is looked at, so that the
// work stays proportional to the text.
const headWords = 32

// head is the beginning of a command.
func head(words []string) []string { return words[:min(len(words), headWords)] }

// asProgram writes a command as it stands and by its program's plain name.
func asProgram(words []string) []string {
	if len(words) == 0 {
		return nil
	}
	rest := strings.Join(words[1:], " ")
	return []string{
		strings.TrimSpace(words[0] + " " + rest),
		strings.TrimSpace(program(words[0]) + " " + rest),
	}
}

// program is a command's name without quotes and folders: "/bin/rm" is rm.
func program(word string) string {
	bare := unquoted.Replace(word)
	if bare == "" {
		return word
	}
	return path.Base(bare)
}

// unquoted takes out what a shell would.
var unquoted = strings.NewReplacer(`"`, "", "'", "", `\`, "")

// isAssignment tells NAME=value from a command.
func isAssignment(word string) bool {
	name, _, has := strings.Cut(word, "=")
	return has && name != "" && strings.Trim(strings.ToLower(name), "abcdefghijklmnopqrstuvwxyz0123456789_+") == ""
}
