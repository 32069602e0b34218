package tree

import (
	"regexp"
	"strconv"
	"strings"
)

// passage is what a result shows of a file.
type passage struct {
	from     int
	lines    []string
	whole    bool // nothing says that there is more
	numbered bool
	sign     string // behind the numbers
	listing  bool   // it is a folder
}

var (
	// number is a line's number in front of it, in the forms agents use; the sign after
	// it is the same in all lines.
	number = regexp.MustCompile(`^ {0,8}(\d{1,7})(→|\t|\| ?|: ?|:)(.*)$`)
	// more are the words that say a file goes on, ended those that say it does not.
	more  = regexp.MustCompile(`(?i)(more lines|truncated|use .?(offset|view_range)|showing lines|lines omitted|file has more|line cut)`)
	ended = regexp.MustCompile(`(?i)^\(?end of file\b`)
	// wrapped are lines that stand around a file's text.
	wrapped  = regexp.MustCompile(`^\s*</?(file|content|path|type|file_content|document|output)\b[^<>]*>([^<>]*</(path|type)>)?\s*$`)
	reminder = regexp.MustCompile(`(?s)\s*<system-reminder>.*?</system-reminder>\s*$`)
	folder   = regexp.MustCompile(`(?i)^here('|’)?(re|s|re'?s| are|'re)? (the )?files and directories|<type>directory</type>`)
)

// defaultLines is how many lines readers show where nobody says how many.
const defaultLines = 2000

// text reads a result as a passage of a file; offset is the first line asked for.
func text(result string, offset int) passage {
	if folder.MatchString(result) {
		return passage{listing: true}
	}
	for reminder.MatchString(result) {
		result = reminder.ReplaceAllString(result, "")
	}
	p, ok := withNumbers(strings.Split(result, "\n"))
	if ok {
		return p
	}
	if len(p.lines) > 2 && p.sure() { // numbered, and something else as well
		return passage{listing: true}
	}
	lines, whole := bare(strings.Split(result, "\n"))
	return passage{from: max(1, offset), lines: lines, whole: whole && len(lines) != defaultLines}
}

// mostStrays is how many lines without a number may stand around those with one.
const mostStrays = 3

// withNumbers takes the run of lines that are numbered, each by one more. Where the
// sign is one that texts have too, every line has to be.
func withNumbers(all []string) (passage, bool) {
	p := passage{whole: true, numbered: true}
	sign, strays := "", 0
	for _, line := range all {
		line = strings.TrimSuffix(line, "\r")
		m := number.FindStringSubmatch(line)
		n := 0
		if m != nil {
			n, _ = strconv.Atoi(m[1]) // seven digits always fit
		}
		switch {
		case m != nil && len(p.lines) == 0 && strays <= mostStrays:
			p.from, sign = n, m[2]
			p.lines = append(p.lines, m[3])
		case m != nil && strings.TrimSpace(m[2]) == strings.TrimSpace(sign) && n == p.from+len(p.lines):
			p.lines = append(p.lines, m[3])
		case strings.TrimSpace(line) == "" || wrapped.MatchString(line):
		case ended.MatchString(line):
			return p.sound(sign, strays)
		case more.MatchString(line) && len(line) < 300:
			p.whole = false
		default:
			if strays++; strays > mostStrays {
				return p.sound(sign, strays)
			}
		}
	}
	return p.sound(sign, strays)
}

// sure: no text has this sign behind a number by chance.
func (p passage) sure() bool { return p.sign == "→" || p.sign == "\t" }

func (p passage) sound(sign string, strays int) (passage, bool) {
	p.sign = sign
	ok := len(p.lines) > 0 && p.from > 0 && (p.sure() && strays <= mostStrays || strays <= 1 && len(p.lines) > strays)
	if len(p.lines) == defaultLines {
		p.whole = false
	}
	if n := len(p.lines); n > 1 && p.lines[n-1] == "" {
		p.lines = p.lines[:n-1] // what stands after the last line feed
	}
	for i, line := range p.lines { // a line that was cut is not known
		if at := strings.Index(line, "… [line cut, "); at >= 0 {
			p.lines[i] = line[:at]
		}
	}
	return p, ok
}

// bare takes a text without numbers, and what was written around it away.
func bare(all []string) ([]string, bool) {
	whole := true
	for len(all) > 0 && (strings.TrimSpace(all[len(all)-1]) == "" || wrapped.MatchString(all[len(all)-1]) || note(all[len(all)-1])) {
		whole = whole && !more.MatchString(all[len(all)-1])
		all = all[:len(all)-1]
	}
	for len(all) > 0 && wrapped.MatchString(all[0]) {
		all = all[1:]
	}
	for i, line := range all { // what a tool left out in the middle
		if strings.Contains(line, "truncated") && strings.ContainsAny(line[:1], "[.(<…") {
			return all[:i], false
		}
	}
	return all, whole
}

// note is what a tool adds below a text.
func note(line string) bool {
	line = strings.TrimSpace(line)
	return len(line) < 300 && line != "" && strings.ContainsAny(line[:1], "[(.<…") && (more.MatchString(line) || ended.MatchString(line))
}
