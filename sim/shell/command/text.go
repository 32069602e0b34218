package command

import (
	"strconv"
	"strings"
)

func padLeft(n, width int) string {
	s := strconv.Itoa(n)
	return strings.Repeat(" ", max(0, width-len(s))) + s
}

// splitLines gives a text's lines without their newlines; ended says whether the last one had one.
func splitLines(s string) (lines []string, ended bool) {
	if s == "" {
		return nil, true
	}
	body, ended := strings.CutSuffix(s, "\n")
	return strings.Split(body, "\n"), ended
}

// binary says whether data looks like no text: it has a NUL byte near its beginning.
func binary(data []byte) bool {
	return strings.IndexByte(string(data[:min(len(data), 8000)]), 0) >= 0
}
